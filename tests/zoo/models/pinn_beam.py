"""A physics-informed net of fourth order: the Euler-Bernoulli beam, clamped on one side, free on the other."""

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.autograd import jacobian


class Beam(nn.Layer):
    def __init__(self, width=8):
        super().__init__()
        self.hidden = nn.LayerList([nn.Linear(1, width), nn.Linear(width, width)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for linear in self.hidden:
            x = F.tanh(linear(x))
        return self.out(x)


def derivative(y, x, order):
    for _ in range(order):
        (y,) = paddle.grad(y.sum(), x, create_graph=True)
    return y


def network():
    return Beam()


def loss(net):
    x = paddle.linspace(0.0, 1.0, 8, dtype=paddle.get_default_dtype()).reshape([-1, 1])
    x.stop_gradient = False
    inside = derivative(net(x), x, 4) + 1.0
    left = paddle.zeros([1])
    right = paddle.ones([1, 1])
    left.stop_gradient = right.stop_gradient = False
    at_left, at_right = net(left) - 0.05, net(right)
    slope = jacobian(at_left, left)[:]
    curvature = derivative(at_right, right, 2)
    shear = derivative(curvature, right, 1)
    return (
        inside.square().mean()
        + at_left.square().sum()
        + slope.square().sum()
        + curvature.square().sum()
        + shear.square().sum()
    )


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
    cost = loss(model)
    cost.backward()
    optimizer.step()
