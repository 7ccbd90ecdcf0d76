"""Diffusion: a U-Net that knows the time says which noise was added to a picture, with attention at the bottom."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = paddle.exp(-math.log(max_period) * paddle.arange(0, half, dtype=paddle.get_default_dtype()) / half)
    args = timesteps[:, None].astype(freqs.dtype) * freqs[None]
    return paddle.concat([paddle.cos(args), paddle.sin(args)], axis=-1)


class ResBlock(nn.Layer):
    def __init__(self, channels, emb_channels, out_channels):
        super().__init__()
        self.in_layers = nn.Sequential(
            nn.GroupNorm(2, channels), nn.Silu(), nn.Conv2D(channels, out_channels, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.Silu(), nn.Linear(emb_channels, 2 * out_channels))
        self.out_norm = nn.GroupNorm(2, out_channels)
        self.out_layers = nn.Sequential(nn.Silu(), nn.Conv2D(out_channels, out_channels, 3, padding=1))
        same = channels == out_channels
        self.skip_connection = nn.Identity() if same else nn.Conv2D(channels, out_channels, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        scale, shift = paddle.chunk(self.emb_layers(emb)[:, :, None, None], 2, axis=1)
        h = self.out_layers(self.out_norm(h) * (1 + scale) + shift)
        return self.skip_connection(x) + h


class AttentionBlock(nn.Layer):
    def __init__(self, channels, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.GroupNorm(2, channels)
        self.qkv = nn.Conv1D(channels, channels * 3, 1)
        self.proj_out = nn.Conv1D(channels, channels, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        flat = x.reshape([b, c, h * w])
        qkv = self.qkv(self.norm(flat)).reshape([b * self.num_heads, -1, h * w])
        q, k, v = paddle.split(qkv, 3, axis=1)
        scale = 1 / math.sqrt(math.sqrt(c // self.num_heads))
        weight = F.softmax(paddle.einsum("bct,bcs->bts", q * scale, k * scale), axis=-1)
        a = paddle.einsum("bts,bcs->bct", weight, v).reshape([b, c, h * w])
        return (flat + self.proj_out(a)).reshape([b, c, h, w])


class UNetModel(nn.Layer):
    def __init__(self, channels=4):
        super().__init__()
        emb = 2 * channels
        self.channels = channels
        self.time_embed = nn.Sequential(nn.Linear(channels, emb), nn.Silu(), nn.Linear(emb, emb))
        self.conv_in = nn.Conv2D(1, channels, 3, padding=1)
        self.down1 = ResBlock(channels, emb, channels)
        self.downsample = nn.Conv2D(channels, channels, 3, stride=2, padding=1)
        self.middle = ResBlock(channels, emb, emb)
        self.attention = AttentionBlock(emb)
        self.upsample = nn.Conv2D(emb, channels, 3, padding=1)
        self.up1 = ResBlock(2 * channels, emb, channels)
        self.out = nn.Sequential(nn.GroupNorm(2, channels), nn.Silu(), nn.Conv2D(channels, 1, 3, padding=1))

    def forward(self, x, timesteps):
        emb = self.time_embed(timestep_embedding(timesteps, self.channels))
        h = self.down1(self.conv_in(x), emb)
        middle = self.attention(self.middle(self.downsample(h), emb))
        up = self.upsample(F.interpolate(middle, scale_factor=2, mode="nearest"))
        return self.out(self.up1(paddle.concat([up, h], axis=1), emb))


class GaussianDiffusion:
    def __init__(self, timesteps=20):
        betas = np.linspace(1e-3, 0.2, timesteps)
        alphas = np.cumprod(1.0 - betas)
        dtype = paddle.get_default_dtype()
        self.sqrt_alphas = paddle.to_tensor(np.sqrt(alphas).astype(dtype))
        self.sqrt_one_minus = paddle.to_tensor(np.sqrt(1.0 - alphas).astype(dtype))

    def q_sample(self, x_start, t, noise):
        a, s = (paddle.gather(v, t).reshape([-1, 1, 1, 1]) for v in (self.sqrt_alphas, self.sqrt_one_minus))
        return a * x_start + s * noise


def network():
    return UNetModel()


def loss(net):
    rng = np.random.default_rng(28)
    dtype = paddle.get_default_dtype()
    x = paddle.to_tensor(rng.standard_normal([2, 1, 8, 8]).astype(dtype))
    noise = paddle.to_tensor(rng.standard_normal([2, 1, 8, 8]).astype(dtype))
    t = paddle.to_tensor(rng.integers(0, 20, [2]))
    return F.mse_loss(net(GaussianDiffusion().q_sample(x, t, noise), t), noise)


def build():
    net = network()
    return loss(net), net
