# about     A GAN: the discriminator sees detached samples, the generator goes through a discriminator that it does not change.
"""Train a small GAN on points of a ring."""

import argparse
import math

import paddle
import paddle.nn.functional as F
from paddle import nn


def mlp(sizes):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers.append(nn.LeakyReLU(0.2))
    return nn.Sequential(*layers)


def ring(n):
    angle = paddle.rand([n]) * 2 * math.pi
    return paddle.stack([paddle.cos(angle), paddle.sin(angle)], axis=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    paddle.seed(3)
    generator, critic = mlp([2, 16, 2]), mlp([2, 16, 1])
    g_opt = paddle.optimizer.Adam(args.lr, parameters=generator.parameters())
    d_opt = paddle.optimizer.Adam(args.lr, parameters=critic.parameters())
    ones, zeros = paddle.ones([32, 1]), paddle.zeros([32, 1])
    for step in range(args.steps):
        real, noise = ring(32), paddle.randn([32, 2])
        fake = generator(noise)
        d_loss = F.binary_cross_entropy_with_logits(critic(real), ones) + F.binary_cross_entropy_with_logits(
            critic(fake.detach()), zeros
        )
        d_opt.clear_grad()
        d_loss.backward()
        d_opt.step()
        g_loss = F.binary_cross_entropy_with_logits(critic(fake), ones)
        g_opt.clear_grad()
        g_loss.backward()
        g_opt.step()
        print(step, float(d_loss), float(g_loss))


if __name__ == "__main__":
    main()
