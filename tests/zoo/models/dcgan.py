"""DCGAN: transposed convolutions make pictures, convolutions tell them from real ones; both learn in turns."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

conv_attr = paddle.ParamAttr(initializer=nn.initializer.Normal(mean=0.0, std=0.02))


class Generator(nn.Layer):
    def __init__(self, nz=6, ngf=4, nc=1):
        super().__init__()
        self.gen = nn.Sequential(
            nn.Conv2DTranspose(nz, ngf * 2, 3, 1, 0, weight_attr=conv_attr, bias_attr=False),
            nn.BatchNorm2D(ngf * 2),
            nn.ReLU(),
            nn.Conv2DTranspose(ngf * 2, ngf, 4, 2, 1, weight_attr=conv_attr, bias_attr=False),
            nn.BatchNorm2D(ngf),
            nn.ReLU(),
            nn.Conv2DTranspose(ngf, nc, 4, 2, 1, weight_attr=conv_attr, bias_attr=False),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.gen(x)


class Discriminator(nn.Layer):
    def __init__(self, ndf=4, nc=1):
        super().__init__()
        self.dis = nn.Sequential(
            nn.Conv2D(nc, ndf, 4, 2, 1, weight_attr=conv_attr, bias_attr=False),
            nn.LeakyReLU(0.2),
            nn.Conv2D(ndf, ndf * 2, 4, 2, 1, weight_attr=conv_attr, bias_attr=False),
            nn.BatchNorm2D(ndf * 2),
            nn.LeakyReLU(0.2),
            nn.Conv2D(ndf * 2, 1, 3, 1, 0, weight_attr=conv_attr, bias_attr=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return paddle.reshape(self.dis(x), [-1])


class DCGAN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.netG = Generator()
        self.netD = Discriminator()


class Batch:
    def __init__(self, seed, size=3):
        rng = np.random.default_rng(seed)
        dtype = paddle.get_default_dtype()
        self.real = paddle.to_tensor(np.tanh(rng.standard_normal([size, 1, 12, 12])).astype(dtype))
        self.noise = paddle.to_tensor(rng.standard_normal([size, 6, 1, 1]).astype(dtype))
        self.ones, self.zeros = paddle.ones([size], dtype), paddle.zeros([size], dtype)


def network():
    return DCGAN()


def loss(net):
    batch, criterion = Batch(0), nn.BCELoss()
    fake = net.netG(batch.noise)
    discriminator = criterion(net.netD(batch.real), batch.ones) + criterion(net.netD(fake.detach()), batch.zeros)
    return {"discriminator": discriminator, "generator": criterion(net.netD(fake), batch.ones)}


def train(steps=2):
    net = network()
    optimizer_d = paddle.optimizer.Adam(parameters=net.netD.parameters(), learning_rate=2e-4, beta1=0.5, beta2=0.999)
    optimizer_g = paddle.optimizer.Adam(parameters=net.netG.parameters(), learning_rate=2e-4, beta1=0.5, beta2=0.999)
    for step in range(steps):
        batch = Batch(step)
        optimizer_d.clear_grad()
        err_real = F.binary_cross_entropy(net.netD(batch.real), batch.ones)
        err_real.backward()
        fake = net.netG(batch.noise)
        err_fake = F.binary_cross_entropy(net.netD(fake.detach()), batch.zeros)
        err_fake.backward()
        optimizer_d.step()

        optimizer_g.clear_grad()
        err_g = F.binary_cross_entropy(net.netD(fake), batch.ones)
        err_g.backward()
        optimizer_g.step()


if __name__ == "__main__":
    train()
