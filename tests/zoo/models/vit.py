"""ViT: patches of an image as words, a class token, encoder blocks with the norm first."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class PatchEmbed(nn.Layer):
    def __init__(self, img_size=16, patch_size=8, in_chans=3, embed_dim=12):
        super().__init__()
        self.num_patches = (img_size // patch_size) ** 2
        self.proj = nn.Conv2D(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose((0, 2, 1))


class Attention(nn.Layer):
    def __init__(self, dim, num_heads=3, qkv_bias=True, attn_drop=0.0, proj_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias_attr=qkv_bias)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x):
        n, c = x.shape[1:]
        qkv = self.qkv(x).reshape((-1, n, 3, self.num_heads, c // self.num_heads)).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = q.matmul(k.transpose((0, 1, 3, 2))) * self.scale
        attn = self.attn_drop(F.softmax(attn, axis=-1))
        x = attn.matmul(v).transpose((0, 2, 1, 3)).reshape((-1, n, c))
        return self.proj_drop(self.proj(x))


class Mlp(nn.Layer):
    def __init__(self, in_features, hidden_features, drop=0.0):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_features, in_features)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        x = self.drop(self.act(self.fc1(x)))
        return self.drop(self.fc2(x))


class Block(nn.Layer):
    def __init__(self, dim, num_heads, mlp_ratio=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, epsilon=1e-6)
        self.attn = Attention(dim, num_heads)
        self.norm2 = nn.LayerNorm(dim, epsilon=1e-6)
        self.mlp = Mlp(dim, dim * mlp_ratio)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Layer):
    def __init__(self, embed_dim=12, depth=3, num_heads=3, class_num=5):
        super().__init__()
        self.patch_embed = PatchEmbed(embed_dim=embed_dim)
        normal = nn.initializer.TruncatedNormal(std=0.02)
        self.cls_token = self.create_parameter((1, 1, embed_dim), default_initializer=normal)
        self.pos_embed = self.create_parameter(
            (1, self.patch_embed.num_patches + 1, embed_dim), default_initializer=normal
        )
        self.blocks = nn.LayerList([Block(embed_dim, num_heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim, epsilon=1e-6)
        self.head = nn.Linear(embed_dim, class_num)

    def forward(self, x):
        x = self.patch_embed(x)
        cls_tokens = self.cls_token.expand((x.shape[0], -1, -1))
        x = paddle.concat((cls_tokens, x), axis=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def network():
    return VisionTransformer()


def loss(net):
    rng = np.random.default_rng(1)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2, 1]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net
