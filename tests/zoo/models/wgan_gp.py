"""WGAN-GP: a critic whose gradient by its input is held to norm 1, and a generator, trained in turns."""

import numpy as np
import paddle
import paddle.nn as nn


class Generator(nn.Layer):
    def __init__(self, latent=6, hidden=16, features=10):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(latent, hidden),
            nn.BatchNorm1D(hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, features),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.model(z)


class Critic(nn.Layer):
    def __init__(self, features=10, hidden=16):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(features, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.model(x)


class WGAN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.generator = Generator()
        self.critic = Critic()


def gradient_penalty(critic, real, fake, mix):
    between = mix * real + (1 - mix) * fake
    between.stop_gradient = False
    scores = critic(between)
    gradients = paddle.grad(scores, between, paddle.ones_like(scores), create_graph=True, retain_graph=True)[0]
    norm = paddle.sqrt(gradients.square().sum(axis=1) + 1e-12)
    return ((norm - 1) ** 2).mean()


class Batch:
    def __init__(self, seed, size=4):
        rng = np.random.default_rng(seed)
        dtype = paddle.get_default_dtype()
        self.real = paddle.to_tensor(np.tanh(rng.standard_normal([size, 10])).astype(dtype))
        self.noise = paddle.to_tensor(rng.standard_normal([size, 6]).astype(dtype))
        self.mix = paddle.to_tensor(rng.uniform(size=[size, 1]).astype(dtype))


def critic_loss(net, batch):
    fake = net.generator(batch.noise).detach()
    penalty = gradient_penalty(net.critic, batch.real, fake, batch.mix)
    return net.critic(fake).mean() - net.critic(batch.real).mean() + 10 * penalty


def generator_loss(net, batch):
    return -net.critic(net.generator(batch.noise)).mean()


def network():
    return WGAN()


def loss(net):
    batch = Batch(0)
    return {"critic": critic_loss(net, batch), "generator": generator_loss(net, batch)}


def train(steps=2):
    net = network()
    opt_critic = paddle.optimizer.Adam(1e-3, beta1=0.0, beta2=0.9, parameters=net.critic.parameters())
    opt_generator = paddle.optimizer.Adam(1e-3, beta1=0.0, beta2=0.9, parameters=net.generator.parameters())
    for step in range(steps):
        batch = Batch(step)
        cost = critic_loss(net, batch)
        opt_critic.clear_grad()
        cost.backward()
        opt_critic.step()

        cost = generator_loss(net, batch)
        opt_generator.clear_grad()
        cost.backward()
        opt_generator.step()


if __name__ == "__main__":
    train()
