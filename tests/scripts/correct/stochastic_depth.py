# about     blocks that a step leaves out, a loss of every third step, norms that are logged
"""Stochastic depth, and an auxiliary loss every third step."""
import random

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Block(nn.Layer):
    def __init__(self, d):
        super().__init__()
        self.n, self.f = nn.LayerNorm(d), nn.Linear(d, d)

    def forward(self, x):
        return x + F.gelu(self.f(self.n(x)))


class Net(nn.Layer):
    def __init__(self, d=6, n=5, p=0.5):
        super().__init__()
        self.blocks = nn.LayerList([Block(d) for _ in range(n)])
        self.head, self.aux = nn.Linear(d, 2), nn.Linear(d, 1)
        self.p = p

    def forward(self, x):
        for block in self.blocks:
            if self.training and random.random() < self.p:
                continue
            x = block(x)
        return self.head(x), self.aux(x)


def main():
    random.seed(3)
    paddle.seed(0)
    net = Net()
    opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
    history = []
    for step in range(8):
        x = paddle.randn([4, 6])
        logits, aux = net(x)
        loss = F.cross_entropy(logits, (x[:, 0] > 0).astype("int64"))
        if step % 3 == 0:
            loss = loss + 0.1 * F.mse_loss(aux, x[:, :1])
        loss.backward()
        opt.step()
        opt.clear_grad()
        history.append({n: float(p.norm()) for n, p in net.named_parameters()})
    print(len(history), loss.item())


main()
