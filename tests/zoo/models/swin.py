"""Swin: attention inside of windows, shifted in every second block, where a mask parts what is far apart."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def window_partition(x, window_size):
    b, h, w, c = x.shape
    x = x.reshape([b, h // window_size, window_size, w // window_size, window_size, c])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, window_size, window_size, c])


def window_reverse(windows, window_size, h, w):
    b = windows.shape[0] // (h * w // window_size**2)
    x = windows.reshape([b, h // window_size, w // window_size, window_size, window_size, -1])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([b, h, w, -1])


class WindowAttention(nn.Layer):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.dim, self.window_size, self.num_heads = dim, window_size, num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.relative_position_bias_table = self.create_parameter(
            shape=((2 * window_size - 1) ** 2, num_heads),
            default_initializer=nn.initializer.TruncatedNormal(std=0.02),
        )
        coords = paddle.stack(paddle.meshgrid([paddle.arange(window_size), paddle.arange(window_size)]))
        coords_flatten = paddle.flatten(coords, 1)
        relative = (coords_flatten.unsqueeze(2) - coords_flatten.unsqueeze(1)).transpose([1, 2, 0])
        relative[:, :, 0] += window_size - 1
        relative[:, :, 1] += window_size - 1
        relative[:, :, 0] *= 2 * window_size - 1
        self.register_buffer("relative_position_index", relative.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def forward(self, x, mask=None):
        b_, n, c = x.shape
        qkv = self.qkv(x).reshape([b_, n, 3, self.num_heads, c // self.num_heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = paddle.mm(q, k.transpose([0, 1, 3, 2]))
        index = self.relative_position_index.reshape([-1])
        bias = paddle.index_select(self.relative_position_bias_table, index)
        bias = bias.reshape([n, n, -1]).transpose([2, 0, 1])
        attn = attn + bias.unsqueeze(0)
        if mask is not None:
            nw = mask.shape[0]
            attn = attn.reshape([b_ // nw, nw, self.num_heads, n, n]) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.reshape([-1, self.num_heads, n, n])
        attn = self.softmax(attn)
        x = paddle.mm(attn, v).transpose([0, 2, 1, 3]).reshape([b_, n, c])
        return self.proj(x)


class SwinTransformerBlock(nn.Layer):
    def __init__(self, dim, resolution, num_heads, window_size=4, shift_size=0):
        super().__init__()
        self.resolution, self.window_size, self.shift_size = resolution, window_size, shift_size
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window_size, num_heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.register_buffer("attn_mask", self._mask() if shift_size > 0 else None)

    def _mask(self):
        h, w = self.resolution
        img_mask = paddle.zeros((1, h, w, 1))
        slices = (
            slice(0, -self.window_size),
            slice(-self.window_size, -self.shift_size),
            slice(-self.shift_size, None),
        )
        for i, rows in enumerate(slices):
            for j, columns in enumerate(slices):
                img_mask[:, rows, columns, :] = 3 * i + j
        windows = window_partition(img_mask, self.window_size).reshape((-1, self.window_size**2))
        mask = windows.unsqueeze(1) - windows.unsqueeze(2)
        return paddle.where(mask != 0, paddle.full_like(mask, -100.0), paddle.zeros_like(mask))

    def forward(self, x):
        h, w = self.resolution
        b, length, c = x.shape
        shortcut = x
        x = self.norm1(x).reshape([b, h, w, c])
        if self.shift_size > 0:
            x = paddle.roll(x, shifts=(-self.shift_size, -self.shift_size), axis=(1, 2))
        windows = window_partition(x, self.window_size).reshape([-1, self.window_size**2, c])
        windows = self.attn(windows, mask=self.attn_mask).reshape([-1, self.window_size, self.window_size, c])
        x = window_reverse(windows, self.window_size, h, w)
        if self.shift_size > 0:
            x = paddle.roll(x, shifts=(self.shift_size, self.shift_size), axis=(1, 2))
        x = shortcut + x.reshape([b, length, c])
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Layer):
    def __init__(self, resolution, dim):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias_attr=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x):
        h, w = self.resolution
        b, _, c = x.shape
        x = x.reshape([b, h, w, c])
        x = paddle.concat([x[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)], -1)
        return self.reduction(self.norm(x.reshape([b, h * w // 4, 4 * c])))


class SwinTransformer(nn.Layer):
    def __init__(self, embed_dim=8, resolution=8, num_heads=(2, 4), class_num=4):
        super().__init__()
        self.patch_embed = nn.Conv2D(3, embed_dim, kernel_size=2, stride=2)
        self.patch_norm = nn.LayerNorm(embed_dim)
        size = (resolution, resolution)
        self.stage1 = nn.Sequential(
            SwinTransformerBlock(embed_dim, size, num_heads[0]),
            SwinTransformerBlock(embed_dim, size, num_heads[0], shift_size=2),
        )
        self.downsample = PatchMerging(size, embed_dim)
        size = (resolution // 2, resolution // 2)
        self.stage2 = nn.Sequential(SwinTransformerBlock(2 * embed_dim, size, num_heads[1]))
        self.norm = nn.LayerNorm(2 * embed_dim)
        self.avgpool = nn.AdaptiveAvgPool1D(1)
        self.head = nn.Linear(2 * embed_dim, class_num)

    def forward(self, x):
        x = self.patch_norm(self.patch_embed(x).flatten(2).transpose([0, 2, 1]))
        x = self.norm(self.stage2(self.downsample(self.stage1(x))))
        x = self.avgpool(x.transpose([0, 2, 1]))
        return self.head(paddle.flatten(x, 1))


def network():
    return SwinTransformer()


def loss(net):
    rng = np.random.default_rng(16)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 4, [2]))
    return F.cross_entropy(net(images), labels)


def build():
    net = network()
    return loss(net), net
