"""MLP-Mixer: one perceptron over places, one over channels, in turns."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def mlp(features, hidden):
    return nn.Sequential(nn.Linear(features, hidden), nn.GELU(approximate=True), nn.Linear(hidden, features))


class MixerBlock(nn.Layer):
    def __init__(self, dim, seq_len, mlp_ratio=(0.5, 2.0)):
        super().__init__()
        tokens_dim, channels_dim = (int(x * dim) for x in mlp_ratio)
        self.norm1 = nn.LayerNorm(dim, epsilon=1e-6)
        self.mlp_tokens = mlp(seq_len, tokens_dim)
        self.norm2 = nn.LayerNorm(dim, epsilon=1e-6)
        self.mlp_channels = mlp(dim, channels_dim)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose((0, 2, 1))).transpose((0, 2, 1))
        return x + self.mlp_channels(self.norm2(x))


class MlpMixer(nn.Layer):
    def __init__(self, img_size=16, patch=4, embed_dim=12, depth=3, num_classes=5):
        super().__init__()
        self.patch = patch
        self.stem = nn.Linear(3 * patch * patch, embed_dim)
        self.blocks = nn.Sequential(*[MixerBlock(embed_dim, (img_size // patch) ** 2) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim, epsilon=1e-6)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        patches = F.unfold(x, self.patch, strides=self.patch).transpose((0, 2, 1))
        x = self.norm(self.blocks(self.stem(patches)))
        return self.head(x.mean(axis=1))


def network():
    return MlpMixer()


def loss(net):
    rng = np.random.default_rng(18)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net
