# symptom   features stay as they are in spite of the domain loss
# cause     an integer division keeps the schedule of the reversal at 0
# command   why
# verdict   zero: multiplied by 0
# line      return -ctx.coeff * dy
# affected  net.side.weight net.side.bias
"""Gradient reversal for domain adaptation; the backward multiplies by a schedule that starts (and stays) at 0."""
import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.autograd import PyLayer


class Reverse(PyLayer):
    @staticmethod
    def forward(ctx, x, coeff):
        ctx.coeff = coeff
        return x * 1.0

    @staticmethod
    def backward(ctx, dy):
        return -ctx.coeff * dy


class DANN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.side = nn.Linear(8, 6)
        self.cls, self.dom = nn.Linear(8, 2), nn.Linear(6, 2)

    def forward(self, x, coeff):
        h = self.feat(x)
        return self.cls(h), self.dom(F.relu(Reverse.apply(self.side(h), coeff)))


def schedule(step, total):
    return 2.0 / (1 + math.exp(-10 * (step // total))) - 1


def main(total=5):
    paddle.seed(0)
    net = DANN()
    opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    for step in range(total):
        x = paddle.randn([8, 4])
        y, d = (x[:, 0] > 0).astype("int64"), (x[:, 1] > 0).astype("int64")
        a, b = net(x, schedule(step, total))
        loss = F.cross_entropy(a, y) + F.cross_entropy(b, d)
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(loss.item())


main()
