"""CycleGAN: two generators that undo one another, two discriminators, least squares, cycles and identities."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn


class ResnetBlock(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.conv_block = nn.Sequential(
            nn.Pad2D([1, 1, 1, 1], mode="reflect"),
            nn.Conv2D(dim, dim, kernel_size=3, bias_attr=False),
            nn.InstanceNorm2D(dim, weight_attr=False, bias_attr=False),
            nn.ReLU(),
            nn.Pad2D([1, 1, 1, 1], mode="reflect"),
            nn.Conv2D(dim, dim, kernel_size=3, bias_attr=False),
            nn.InstanceNorm2D(dim, weight_attr=False, bias_attr=False),
        )

    def forward(self, x):
        return x + self.conv_block(x)


class ResnetGenerator(nn.Layer):
    def __init__(self, ngf=4, n_blocks=1):
        super().__init__()
        norm = nn.InstanceNorm2D
        model = [nn.Pad2D(1, mode="reflect"), nn.Conv2D(3, ngf, 3), norm(ngf), nn.ReLU()]
        model += [nn.Conv2D(ngf, ngf * 2, 3, stride=2, padding=1), norm(ngf * 2), nn.ReLU()]
        model += [ResnetBlock(ngf * 2) for _ in range(n_blocks)]
        model += [nn.Conv2DTranspose(ngf * 2, ngf, 3, stride=2, padding=1, output_padding=1), norm(ngf), nn.ReLU()]
        model += [nn.Pad2D(1, mode="reflect"), nn.Conv2D(ngf, 3, 3), nn.Tanh()]
        self.model = nn.Sequential(*model)

    def forward(self, x):
        return self.model(x)


class NLayerDiscriminator(nn.Layer):
    def __init__(self, ndf=4):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2D(3, ndf, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2D(ndf, ndf * 2, 4, stride=1, padding=1, bias_attr=False),
            nn.InstanceNorm2D(ndf * 2),
            nn.LeakyReLU(0.2),
            nn.Conv2D(ndf * 2, 1, 3, stride=1, padding=1),
        )

    def forward(self, x):
        return self.model(x)


class GANLoss(nn.Layer):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def forward(self, prediction, target_is_real):
        return self.loss(prediction, paddle.full_like(prediction, 1.0 if target_is_real else 0.0))


class CycleGAN(nn.Layer):
    def __init__(self, lambda_a=10.0, lambda_b=10.0, lambda_identity=0.5):
        super().__init__()
        self.weights = lambda_a, lambda_b, lambda_identity
        self.netG_A, self.netG_B = ResnetGenerator(), ResnetGenerator()
        self.netD_A, self.netD_B = NLayerDiscriminator(), NLayerDiscriminator()
        self.gan, self.cycle, self.identity = GANLoss(), nn.L1Loss(), nn.L1Loss()

    def forward(self, real_a, real_b):
        self.real_a, self.real_b = real_a, real_b
        self.fake_b = self.netG_A(real_a)
        self.rec_a = self.netG_B(self.fake_b)
        self.fake_a = self.netG_B(real_b)
        self.rec_b = self.netG_A(self.fake_a)

    def loss_g(self):
        a, b, identity = self.weights
        same = self.identity(self.netG_A(self.real_b), self.real_b) * b
        same = same + self.identity(self.netG_B(self.real_a), self.real_a) * a
        adversarial = self.gan(self.netD_A(self.fake_b), True) + self.gan(self.netD_B(self.fake_a), True)
        cycles = self.cycle(self.rec_a, self.real_a) * a + self.cycle(self.rec_b, self.real_b) * b
        return adversarial + cycles + identity * same

    def loss_d(self, net, real, fake):
        return (self.gan(net(real), True) + self.gan(net(fake.detach()), False)) * 0.5


def set_requires_grad(nets, requires_grad):
    for net in nets:
        for param in net.parameters():
            param.stop_gradient = not requires_grad


def batch(seed):
    rng = np.random.default_rng(seed)
    dtype = paddle.get_default_dtype()
    return [paddle.to_tensor(np.tanh(rng.standard_normal([1, 3, 8, 8])).astype(dtype)) for _ in range(2)]


def network():
    return CycleGAN()


def loss(net):
    net(*batch(0))
    return {
        "G": net.loss_g(),
        "D_A": net.loss_d(net.netD_A, net.real_b, net.fake_b),
        "D_B": net.loss_d(net.netD_B, net.real_a, net.fake_a),
    }


def train(steps=1):
    net = network()
    discriminators = [net.netD_A, net.netD_B]
    both = list(itertools.chain(net.netG_A.parameters(), net.netG_B.parameters()))
    optimizer_g = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=both)
    both = list(itertools.chain(net.netD_A.parameters(), net.netD_B.parameters()))
    optimizer_d = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=both)
    for step in range(steps):
        net(*batch(step))
        set_requires_grad(discriminators, False)
        optimizer_g.clear_grad()
        net.loss_g().backward()
        optimizer_g.step()

        set_requires_grad(discriminators, True)
        optimizer_d.clear_grad()
        net.loss_d(net.netD_A, net.real_b, net.fake_b).backward()
        net.loss_d(net.netD_B, net.real_a, net.fake_a).backward()
        optimizer_d.step()


if __name__ == "__main__":
    train()
