"""DeiT: a second token learns from a teacher's answers, beside the one that learns from the labels."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.nn.initializer import Constant, TruncatedNormal

trunc_normal_ = TruncatedNormal(std=0.02)
zeros_ = Constant(value=0.0)
ones_ = Constant(value=1.0)


class DropPath(nn.Layer):
    """Leaves out what a block adds, for some samples (here for none)."""

    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = 1 - self.drop_prob
        mask = paddle.floor(keep + paddle.rand((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype))
        return x / keep * mask


class Attention(nn.Layer):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape([b, n, 3, self.num_heads, c // self.num_heads])
        q, k, v = qkv.unbind(axis=2)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.proj(out.reshape([b, n, c]))


class Block(nn.Layer):
    def __init__(self, dim, num_heads, drop_path):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, num_heads)
        self.drop_path = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.drop_path(self.attn(self.norm1(x)))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class DistilledVisionTransformer(nn.Layer):
    def __init__(self, img_size=16, patch_size=4, embed_dim=8, depth=2, num_heads=2, class_num=5):
        super().__init__()
        self.patch_embed = nn.Conv2D(3, embed_dim, patch_size, patch_size)
        num_patches = (img_size // patch_size) ** 2
        self.pos_embed = self.create_parameter([1, num_patches + 2, embed_dim], default_initializer=zeros_)
        self.add_parameter("pos_embed", self.pos_embed)
        self.cls_token = self.create_parameter([1, 1, embed_dim], default_initializer=zeros_)
        self.dist_token = self.create_parameter([1, 1, embed_dim], default_initializer=zeros_)
        self.blocks = nn.LayerList([Block(embed_dim, num_heads, 0.0) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, class_num)
        self.head_dist = nn.Linear(embed_dim, class_num)
        for token in (self.pos_embed, self.cls_token, self.dist_token):
            trunc_normal_(token)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            trunc_normal_(m.weight)
            zeros_(m.bias)
        elif isinstance(m, nn.LayerNorm):
            zeros_(m.bias)
            ones_(m.weight)

    def forward(self, x):
        b = paddle.shape(x)[0]
        x = self.patch_embed(x).flatten(2).transpose((0, 2, 1))
        cls_tokens = self.cls_token.expand((b, -1, -1))
        dist_token = self.dist_token.expand((b, -1, -1))
        x = paddle.concat((cls_tokens, dist_token, x), axis=1) + self.pos_embed
        for blk in self.blocks:
            x = blk(x)
        x = self.norm(x)
        return self.head(x[:, 0]), self.head_dist(x[:, 1])


def network():
    return DistilledVisionTransformer()


def loss(net):
    rng = np.random.default_rng(15)
    dtype = paddle.get_default_dtype()
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(dtype))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    teacher = paddle.to_tensor(rng.standard_normal([2, 5]).astype(dtype))
    logits, dist = net(images)
    tau = 3.0
    soft = F.kl_div(F.log_softmax(dist / tau, axis=-1), F.softmax(teacher / tau, axis=-1), reduction="batchmean")
    return 0.5 * F.cross_entropy(logits, labels) + 0.5 * soft * tau**2


def build():
    net = network()
    return loss(net), net
