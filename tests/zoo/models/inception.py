"""Inception: branches with windows of several sizes side by side, and two heads that help the deep one."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def conv(inputs, outputs, size, stride=1, padding=0):
    return nn.Sequential(nn.Conv2D(inputs, outputs, size, stride, padding), nn.ReLU())


class Inception(nn.Layer):
    def __init__(self, c0, c1, c2, c3, c4):
        super().__init__()
        self.p1 = conv(c0, c1, 1)
        self.p2 = nn.Sequential(conv(c0, c2[0], 1), conv(c2[0], c2[1], 3, padding=1))
        self.p3 = nn.Sequential(conv(c0, c3[0], 1), conv(c3[0], c3[1], (1, 5), padding=(0, 2)))
        self.p4 = nn.Sequential(nn.MaxPool2D(3, stride=1, padding=1), conv(c0, c4, 1))

    def forward(self, x):
        return paddle.concat([self.p1(x), self.p2(x), self.p3(x), self.p4(x)], axis=1)


class AuxHead(nn.Layer):
    def __init__(self, inputs, classes):
        super().__init__()
        self.pool = nn.AvgPool2D(kernel_size=3, stride=3)
        self.conv = nn.Conv2D(inputs, 6, 1)
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, classes)

    def forward(self, x):
        x = F.relu(self.conv(self.pool(x)))
        return self.fc2(F.relu(self.fc1(paddle.flatten(x, 1))))


class GoogLeNet(nn.Layer):
    def __init__(self, classes=5):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, 2, 1), nn.MaxPool2D(2), nn.LocalResponseNorm(3))
        self.ince3a = Inception(8, 4, (4, 6), (2, 4), 2)
        self.ince3b = Inception(16, 6, (4, 8), (2, 4), 2)
        self.pool3 = nn.MaxPool2D(2, stride=1, ceil_mode=True)
        self.ince4 = Inception(20, 6, (4, 8), (2, 6), 4)
        self.aux = AuxHead(16, classes)
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        x = self.ince3a(self.stem(x))
        aux = self.aux(x) if self.training else None
        x = self.ince4(self.pool3(self.ince3b(x)))
        x = paddle.mean(x, axis=[2, 3])
        return self.fc(x), aux


def network():
    return GoogLeNet()


def loss(net):
    rng = np.random.default_rng(11)
    images = paddle.to_tensor(rng.standard_normal([2, 3, 14, 14]).astype(paddle.get_default_dtype()))
    labels = paddle.to_tensor(rng.integers(0, 5, [2, 1]))
    logits, aux = net(images)
    return F.cross_entropy(logits, labels) + 0.3 * F.cross_entropy(aux, labels)


def build():
    net = network()
    return loss(net), net
