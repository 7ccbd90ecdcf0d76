"""Siamese networks: one encoder for two pictures; those of one kind are to be near, others beyond a margin."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Encoder(nn.Layer):
    def __init__(self, dim=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1),
            nn.PReLU(4),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(4, 8, 3, padding=1),
            nn.PReLU(8),
            nn.AvgPool2D(2, 2),
        )
        self.fc = nn.Linear(8 * 2 * 2, dim)

    def forward(self, x):
        return self.fc(paddle.flatten(self.features(x), 1))


class SiameseNetwork(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decide = nn.Linear(6, 1)

    def forward(self, input1, input2):
        one, two = self.encoder(input1), self.encoder(input2)
        return one, two, self.decide(paddle.abs(one - two)).squeeze(-1)


class ContrastiveLoss(nn.Layer):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin
        self.distance = nn.PairwiseDistance(p=2)

    def forward(self, output1, output2, differs):
        d = self.distance(output1, output2)
        return paddle.mean((1 - differs) * d.pow(2) + differs * F.relu(self.margin - d).pow(2))


def network():
    return SiameseNetwork()


def loss(net):
    rng = np.random.default_rng(29)
    dtype = paddle.get_default_dtype()
    first, second = (paddle.to_tensor(rng.standard_normal([4, 1, 8, 8]).astype(dtype)) for _ in range(2))
    differs = paddle.to_tensor(np.array([0, 1, 1, 0]).astype(dtype))
    one, two, score = net(first, second)
    triplet = F.triplet_margin_loss(one, two, paddle.roll(two, 1, 0), margin=1.5)
    contrastive = ContrastiveLoss()(one, two, differs)
    return contrastive + F.binary_cross_entropy_with_logits(score, differs) + 0.5 * triplet


def build():
    net = network()
    return loss(net), net
