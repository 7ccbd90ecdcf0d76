# about     one backward call for each of two losses, on one line
"""Two generators, two discriminators; generators' pass freezes the discriminators and unfreezes them again."""
import itertools
from contextlib import contextmanager

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def mlp(i, o, *, h=12):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


@contextmanager
def frozen(*nets):
    for p in itertools.chain.from_iterable(n.parameters() for n in nets):
        p.stop_gradient = True
    try:
        yield
    finally:
        for p in itertools.chain.from_iterable(n.parameters() for n in nets):
            p.stop_gradient = False


class Pool:
    def __init__(self, size=4):
        self.size, self.items = size, []

    def query(self, x):
        self.items.append(x.detach())
        if len(self.items) > self.size:
            return self.items.pop(0)
        return x.detach()


def adversarial(pred, real):
    return F.mse_loss(pred, paddle.ones_like(pred) if real else paddle.zeros_like(pred))


def main(steps=5):
    paddle.seed(0)
    g_ab, g_ba, d_a, d_b = mlp(2, 2), mlp(2, 2), mlp(2, 1), mlp(2, 1)
    opt_g = paddle.optimizer.Adam(2e-3, beta1=0.5, parameters=g_ab.parameters() + g_ba.parameters())
    opt_d = paddle.optimizer.Adam(2e-3, beta1=0.5, parameters=[*d_a.parameters(), *d_b.parameters()])
    pool_a, pool_b = Pool(), Pool()
    for step in range(steps):
        a, b = paddle.randn([8, 2]), paddle.randn([8, 2]) * 0.3 + 2
        with frozen(d_a, d_b):
            fake_b, fake_a = g_ab(a), g_ba(b)
            cycle = F.l1_loss(g_ba(fake_b), a) + F.l1_loss(g_ab(fake_a), b)
            idt = F.l1_loss(g_ab(b), b) + F.l1_loss(g_ba(a), a)
            loss_g = adversarial(d_b(fake_b), True) + adversarial(d_a(fake_a), True) + 10 * cycle + 5 * idt
            opt_g.clear_grad()
            loss_g.backward()
            opt_g.step()
        opt_d.clear_grad()
        loss_d = 0
        for d, real, fake, pool in ((d_a, a, fake_a, pool_a), (d_b, b, fake_b, pool_b)):
            part = 0.5 * (adversarial(d(real), True) + adversarial(d(pool.query(fake)), False))
            part.backward()
            loss_d += part.item()
        opt_d.step()
        print(step, loss_g.item(), loss_d)


if __name__ == "__main__":
    main()
