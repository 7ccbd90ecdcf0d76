"""SimCLR: two views of each picture are to find one another among all views of the batch."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class SimCLR(nn.Layer):
    def __init__(self, width=6, projection=4, temperature=0.5):
        super().__init__()
        self.temperature = temperature
        self.backbone = nn.Sequential(
            nn.Conv2D(3, width, 3, stride=2, padding=1, bias_attr=False),
            nn.BatchNorm2D(width),
            nn.ReLU(),
            nn.Conv2D(width, 2 * width, 3, stride=2, padding=1, bias_attr=False),
            nn.BatchNorm2D(2 * width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2D(1),
            nn.Flatten(),
        )
        self.projector = nn.Sequential(
            nn.Linear(2 * width, 2 * width, bias_attr=False),
            nn.BatchNorm1D(2 * width),
            nn.ReLU(),
            nn.Linear(2 * width, projection, bias_attr=False),
        )

    def forward(self, view1, view2):
        h = self.backbone(paddle.concat([view1, view2], axis=0))
        return self.nt_xent(F.normalize(self.projector(h), axis=1))

    def nt_xent(self, z):
        number = z.shape[0]
        similarity = paddle.matmul(z, z, transpose_y=True) / self.temperature
        itself = paddle.eye(number).astype("bool")
        similarity = paddle.where(itself, paddle.full_like(similarity, -1e9), similarity)
        positives = (paddle.arange(number) + number // 2) % number
        return F.cross_entropy(similarity, positives)


def augment(rng, images):
    """A picture mirrored or not, moved, and with noise."""
    mirrored = np.where(rng.uniform(size=[len(images), 1, 1, 1]) < 0.5, images, images[..., ::-1])
    moved = np.roll(mirrored, rng.integers(-1, 2, 2), (2, 3))
    return paddle.to_tensor((moved + 0.1 * rng.standard_normal(images.shape)).astype(paddle.get_default_dtype()))


def network():
    return SimCLR()


def loss(net):
    rng = np.random.default_rng(30)
    images = rng.standard_normal([4, 3, 10, 10])
    return net(augment(rng, images), augment(rng, images))


def build():
    net = network()
    return loss(net), net
