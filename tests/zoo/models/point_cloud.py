"""Points in a volume: sparse convolutions that stay at the points and one that does not, pooled and added up."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import sparse
from paddle.sparse import nn


class ResidualBlock(paddle.nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.SubmConv3D(channels, channels, 3, padding=1, bias_attr=False)
        self.bn1 = nn.BatchNorm(channels)
        self.conv2 = nn.SubmConv3D(channels, channels, 3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.conv2(self.relu(self.bn1(self.conv1(x))))
        return self.relu(sparse.add(x, out))


class PointNet(paddle.nn.Layer):
    def __init__(self, channels, width, classes):
        super().__init__()
        self.stem = nn.SubmConv3D(channels, width, 3, padding=1)
        self.block = ResidualBlock(width)
        self.down = nn.Conv3D(width, width * 2, 3, stride=2, padding=1)
        self.act = nn.LeakyReLU(0.1)
        self.pool = nn.MaxPool3D(2, stride=1)
        self.head = paddle.nn.Linear(width * 2, classes)

    def forward(self, x):
        x = self.pool(self.act(self.down(self.block(self.stem(x)))))
        for _ in range(3):
            x = sparse.sum(x, axis=1)
        return self.head(x.to_dense())


def network():
    return PointNet(channels=2, width=6, classes=3)


def loss(net):
    rng = np.random.RandomState(3)
    places = np.stack(np.unravel_index(np.sort(rng.choice(2 * 6**3, 40, replace=False)), (2, 6, 6, 6)))
    values = rng.standard_normal((40, 2)).astype(paddle.get_default_dtype())
    points = sparse.sparse_coo_tensor(places.astype("int64"), values, [2, 6, 6, 6, 2], stop_gradient=False)
    return F.cross_entropy(net(points), paddle.to_tensor(np.array([[0], [2]])))


def build():
    paddle.seed(4)
    net = network()
    return loss(net), net
