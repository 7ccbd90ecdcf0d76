"""CvT: keys, values and queries come from convolutions, and so do the words of each stage."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class QuickGELU(nn.Layer):
    def forward(self, x):
        return x * F.sigmoid(1.702 * x)


class ConvProjection(nn.Layer):
    def __init__(self, dim, kernel_size, stride):
        super().__init__()
        self.conv = nn.Conv2D(dim, dim, kernel_size, stride, kernel_size // 2, groups=dim, bias_attr=False)
        self.bn = nn.BatchNorm2D(dim)

    def forward(self, x):
        return self.bn(self.conv(x)).flatten(2).transpose([0, 2, 1])


class Attention(nn.Layer):
    def __init__(self, dim, num_heads, with_cls_token):
        super().__init__()
        self.num_heads, self.with_cls_token, self.scale = num_heads, with_cls_token, dim**-0.5
        self.conv_proj_q = ConvProjection(dim, 3, 1)
        self.conv_proj_k = ConvProjection(dim, 3, 2)
        self.conv_proj_v = ConvProjection(dim, 3, 2)
        self.proj_q, self.proj_k, self.proj_v = (nn.Linear(dim, dim) for _ in range(3))
        self.proj = nn.Linear(dim, dim)

    def _heads(self, x):
        b, t, c = x.shape
        return x.reshape([b, t, self.num_heads, c // self.num_heads]).transpose([0, 2, 1, 3])

    def forward(self, x, h, w):
        cls_token = None
        if self.with_cls_token:
            cls_token, x = paddle.split(x, [1, h * w], 1)
        grid = x.transpose([0, 2, 1]).reshape([x.shape[0], -1, h, w])
        q, k, v = self.conv_proj_q(grid), self.conv_proj_k(grid), self.conv_proj_v(grid)
        if cls_token is not None:
            q, k, v = (paddle.concat((cls_token, t), axis=1) for t in (q, k, v))
        q, k, v = self._heads(self.proj_q(q)), self._heads(self.proj_k(k)), self._heads(self.proj_v(v))
        attn = F.softmax(paddle.einsum("bhlk,bhtk->bhlt", q, k) * self.scale, axis=-1)
        x = paddle.einsum("bhlt,bhtv->bhlv", attn, v).transpose([0, 2, 1, 3]).flatten(2)
        return self.proj(x)


class Block(nn.Layer):
    def __init__(self, dim, num_heads, with_cls_token):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, epsilon=1e-5)
        self.attn = Attention(dim, num_heads, with_cls_token)
        self.norm2 = nn.LayerNorm(dim, epsilon=1e-5)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), QuickGELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, h, w):
        x = x + self.attn(self.norm1(x), h, w)
        return x + self.mlp(self.norm2(x))


class Stage(nn.Layer):
    def __init__(self, in_chans, dim, patch, stride, depth, num_heads, with_cls_token):
        super().__init__()
        self.proj = nn.Conv2D(in_chans, dim, patch, stride, patch // 2)
        self.norm = nn.LayerNorm(dim)
        self.cls_token = None
        if with_cls_token:
            self.cls_token = self.create_parameter(
                [1, 1, dim], default_initializer=nn.initializer.TruncatedNormal(std=0.02)
            )
        self.blocks = nn.LayerList([Block(dim, num_heads, with_cls_token) for _ in range(depth)])

    def forward(self, x):
        x = self.proj(x)
        b, c, h, w = x.shape
        x = self.norm(x.flatten(2).transpose([0, 2, 1]))
        if self.cls_token is not None:
            x = paddle.concat((paddle.expand(self.cls_token, [b, 1, c]), x), axis=1)
        for blk in self.blocks:
            x = blk(x, h, w)
        cls_tokens = None
        if self.cls_token is not None:
            cls_tokens, x = paddle.split(x, [1, h * w], 1)
        return x.transpose([0, 2, 1]).reshape([b, c, h, w]), cls_tokens


class CvT(nn.Layer):
    def __init__(self, class_num=5):
        super().__init__()
        self.stage0 = Stage(3, 6, 3, 2, 1, 1, False)
        self.stage1 = Stage(6, 8, 3, 2, 2, 2, True)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, class_num)

    def forward(self, x):
        x, _ = self.stage0(x)
        _, cls_tokens = self.stage1(x)
        return self.head(paddle.squeeze(self.norm(cls_tokens), axis=1))


def network():
    return CvT()


def loss(net):
    rng = np.random.default_rng(17)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net
