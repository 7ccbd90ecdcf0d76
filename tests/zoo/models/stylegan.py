"""StyleGAN, version 2: a style scales the weights of each convolution, which are normed again; noise is added."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class PixelNorm(nn.Layer):
    def forward(self, inputs):
        return inputs * paddle.rsqrt(paddle.mean(inputs * inputs, 1, keepdim=True) + 1e-8)


class EqualLinear(nn.Layer):
    """A linear layer that scales its weights when it runs, so that all learn at one speed."""

    def __init__(self, in_dim, out_dim, bias_init=0, lr_mul=1.0, activation=False):
        super().__init__()
        normal = nn.initializer.Normal(std=1.0 / lr_mul)
        self.weight = self.create_parameter((in_dim, out_dim), default_initializer=normal)
        constant = nn.initializer.Constant(bias_init)
        self.bias = self.create_parameter((out_dim,), is_bias=True, default_initializer=constant)
        self.scale, self.lr_mul, self.activation = in_dim**-0.5 * lr_mul, lr_mul, activation

    def forward(self, inputs):
        out = F.linear(inputs, self.weight * self.scale, self.bias * self.lr_mul)
        return F.leaky_relu(out, 0.2) * 2**0.5 if self.activation else out


class Upsample(nn.Layer):
    """Twice as large, through the window 1, 3, 3, 1 each way: a matrix over rows, and its like over columns."""

    def __init__(self, size):
        super().__init__()
        matrix = np.zeros([2 * size, size])
        for row, column in np.ndindex(matrix.shape):
            matrix[row, column] = max(0, 0.75 - 0.5 * max(0, abs(row - 2 * column - 0.5) - 0.5))
        self.register_buffer("matrix", paddle.to_tensor(matrix.astype(paddle.get_default_dtype())))

    def forward(self, inputs):
        rows = paddle.matmul(inputs, self.matrix, transpose_y=True).transpose((0, 1, 3, 2))
        return paddle.matmul(rows, self.matrix, transpose_y=True).transpose((0, 1, 3, 2))


class ModulatedConv2D(nn.Layer):
    def __init__(self, in_channel, out_channel, kernel_size, style_dim, demodulate=True, upsample=None):
        super().__init__()
        self.shape = (out_channel, in_channel, kernel_size, kernel_size)
        self.demodulate = demodulate
        self.upsample = upsample
        self.scale = 1 / np.sqrt(in_channel * kernel_size**2)
        self.weight = self.create_parameter((1, *self.shape), default_initializer=nn.initializer.Normal())
        self.modulation = EqualLinear(style_dim, in_channel, bias_init=1)

    def forward(self, inputs, style):
        out_channel, in_channel, k, _ = self.shape
        batch = inputs.shape[0]
        style = self.modulation(style).reshape((batch, 1, in_channel, 1, 1))
        weight = self.scale * self.weight * style
        if self.demodulate:
            demod = paddle.rsqrt((weight * weight).sum([2, 3, 4]) + 1e-8)
            weight = weight * demod.reshape((batch, out_channel, 1, 1, 1))
        if self.upsample is not None:
            inputs = self.upsample(inputs)
        inputs = inputs.reshape((1, batch * in_channel, *inputs.shape[2:]))
        weight = weight.reshape((batch * out_channel, in_channel, k, k))
        out = F.conv2d(inputs, weight, padding=k // 2, groups=batch)
        return out.reshape((batch, out_channel, *out.shape[2:]))


class StyledConv(nn.Layer):
    def __init__(self, in_channel, out_channel, style_dim, upsample=None):
        super().__init__()
        self.conv = ModulatedConv2D(in_channel, out_channel, 3, style_dim, upsample=upsample)
        self.noise = self.create_parameter((1,), default_initializer=nn.initializer.Constant(0.0))
        self.bias = self.create_parameter((1, out_channel, 1, 1), is_bias=True)

    def forward(self, inputs, style, noise):
        out = self.conv(inputs, style)
        return F.leaky_relu(out + self.noise * noise + self.bias, 0.2) * 2**0.5


class ToRGB(nn.Layer):
    def __init__(self, in_channel, style_dim):
        super().__init__()
        self.conv = ModulatedConv2D(in_channel, 3, 1, style_dim, demodulate=False)
        self.bias = self.create_parameter((1, 3, 1, 1), is_bias=True)
        self.upsample = Upsample(4)

    def forward(self, inputs, style, skip=None):
        out = self.conv(inputs, style) + self.bias
        return out if skip is None else out + self.upsample(skip)


class StyleGANv2Generator(nn.Layer):
    def __init__(self, style_dim=6, n_mlp=2, channel=4):
        super().__init__()
        mapping = [EqualLinear(style_dim, style_dim, lr_mul=0.1, activation=True) for _ in range(n_mlp)]
        self.style = nn.Sequential(PixelNorm(), *mapping)
        self.input = self.create_parameter((1, channel, 4, 4), default_initializer=nn.initializer.Normal())
        self.conv1 = StyledConv(channel, channel, style_dim)
        self.to_rgb1 = ToRGB(channel, style_dim)
        self.convs = nn.LayerList(
            [StyledConv(channel, channel, style_dim, Upsample(4)), StyledConv(channel, channel, style_dim)]
        )
        self.to_rgb2 = ToRGB(channel, style_dim)

    def forward(self, z, noises):
        latent = self.style(z)
        out = self.conv1(paddle.tile(self.input, (z.shape[0], 1, 1, 1)), latent, noises[0])
        skip = self.to_rgb1(out, latent)
        for conv, noise in zip(self.convs, noises[1:], strict=True):
            out = conv(out, latent, noise)
        return self.to_rgb2(out, latent, skip), latent


def network():
    return StyleGANv2Generator()


def loss(net):
    """What a discriminator that stays as it is says of the pictures, and how far styles are from their mean."""
    rng = np.random.default_rng(25)
    dtype = paddle.get_default_dtype()
    z = paddle.to_tensor(rng.standard_normal([2, 6]).astype(dtype))
    noises = [paddle.to_tensor(rng.standard_normal([2, 1, n, n]).astype(dtype)) for n in (4, 8, 8)]
    critic = paddle.to_tensor(rng.standard_normal([3, 8, 8]).astype(dtype) / 8)
    fake, latent = net(z, noises)
    spread = (latent - latent.mean(0, keepdim=True)).square().sum(1).mean()
    return F.softplus(-(fake * critic).sum([1, 2, 3])).mean() + 0.1 * spread


def build():
    net = network()
    return loss(net), net
