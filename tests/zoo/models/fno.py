"""Fourier neural operator: complex weights for low frequencies, a convolution of width one beside them."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SpectralConv2d(nn.Layer):
    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.out_channels = out_channels
        self.modes1, self.modes2 = modes1, modes2
        scale = 1 / (in_channels * out_channels)
        uniform = nn.initializer.Uniform(0, scale)
        shape = [in_channels, out_channels, modes1, modes2, 2]
        self.weights1 = self.create_parameter(shape, default_initializer=uniform)
        self.weights2 = self.create_parameter(shape, default_initializer=uniform)

    def compl_mul2d(self, input, weights):
        return paddle.einsum("bixy,ioxy->boxy", input, paddle.as_complex(weights))

    def forward(self, x):
        batchsize = x.shape[0]
        x_ft = paddle.fft.rfft2(x)
        out_ft = paddle.zeros([batchsize, self.out_channels, x.shape[-2], x.shape[-1] // 2 + 1], dtype=x_ft.dtype)
        low, high = self.modes1, self.modes2
        out_ft[:, :, :low, :high] = self.compl_mul2d(x_ft[:, :, :low, :high], self.weights1)
        out_ft[:, :, -low:, :high] = self.compl_mul2d(x_ft[:, :, -low:, :high], self.weights2)
        return paddle.fft.irfft2(out_ft, s=(x.shape[-2], x.shape[-1]))


class FNO2d(nn.Layer):
    def __init__(self, modes, width, depth):
        super().__init__()
        self.fc0 = nn.Linear(3, width)
        self.convs = nn.LayerList([SpectralConv2d(width, width, modes, modes) for _ in range(depth)])
        self.ws = nn.LayerList([nn.Conv2D(width, width, 1) for _ in range(depth)])
        self.fc1 = nn.Linear(width, 12)
        self.fc2 = nn.Linear(12, 1)

    def get_grid(self, shape):
        rows, columns = shape[1], shape[2]
        kind = paddle.get_default_dtype()
        gridx, gridy = paddle.meshgrid(
            paddle.linspace(0, 1, rows, dtype=kind), paddle.linspace(0, 1, columns, dtype=kind)
        )
        grid = paddle.stack([gridx, gridy], axis=-1).unsqueeze(0)
        return grid.tile([shape[0], 1, 1, 1])

    def forward(self, x):
        x = paddle.concat([x, self.get_grid(x.shape)], axis=-1)
        x = self.fc0(x).transpose([0, 3, 1, 2])
        for i, (conv, w) in enumerate(zip(self.convs, self.ws, strict=True)):
            x = conv(x) + w(x)
            if i + 1 < len(self.convs):
                x = F.gelu(x)
        x = x.transpose([0, 2, 3, 1])
        return self.fc2(F.gelu(self.fc1(x)))


class LpLoss:
    def __call__(self, x, y):
        count = x.shape[0]
        diff = paddle.norm(x.reshape([count, -1]) - y.reshape([count, -1]), 2, 1)
        return paddle.mean(diff / paddle.norm(y.reshape([count, -1]), 2, 1))


def network():
    return FNO2d(modes=2, width=4, depth=2)


def loss(net):
    rng = np.random.RandomState(0)
    kind = paddle.get_default_dtype()
    a = paddle.to_tensor(rng.rand(2, 8, 8, 1).astype(kind))
    u = paddle.to_tensor(rng.rand(2, 8, 8, 1).astype(kind))
    return LpLoss()(net(a), u)


def build():
    net = network()
    return loss(net), net
