"""A physics-informed net of second order: Burgers' equation, with what starts and bounds it, at points inside."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn


class FullyConnected(nn.Layer):
    def __init__(self, num_ins, num_outs, num_layers, hidden_size):
        super().__init__()
        sizes = [num_ins, *[hidden_size] * num_layers]
        self.linears = nn.LayerList([nn.Linear(a, b) for a, b in itertools.pairwise(sizes)])
        self.last = nn.Linear(hidden_size, num_outs)

    def forward(self, *ins):
        y = paddle.concat(ins, axis=-1)
        for linear in self.linears:
            y = paddle.tanh(linear(y))
        return self.last(y)


def jacobian(ys, xs):
    return paddle.grad(ys, xs, create_graph=True, retain_graph=True)[0]


def burgers(net, t, x, nu=0.01 / np.pi):
    u = net(t, x)
    u_t, u_x = jacobian(u, t), jacobian(u, x)
    u_xx = jacobian(u_x, x)
    return u_t + u * u_x - nu * u_xx


def points(count, rng, low, high):
    values = rng.uniform(low, high, size=(count, 1)).astype(paddle.get_default_dtype())
    return paddle.to_tensor(values, stop_gradient=False)


def network():
    return FullyConnected(2, 1, num_layers=3, hidden_size=10)


def loss(net):
    rng = np.random.RandomState(1234)
    t, x = points(12, rng, 0.0, 1.0), points(12, rng, -1.0, 1.0)
    residual = burgers(net, t, x)
    x0 = points(6, rng, -1.0, 1.0)
    start = net(paddle.zeros_like(x0), x0) + paddle.sin(np.pi * x0)
    tb = points(4, rng, 0.0, 1.0)
    edges = paddle.concat([net(tb, paddle.full_like(tb, side)) for side in (-1.0, 1.0)])
    return (residual**2).mean() + (start**2).mean() + (edges**2).mean()


if __name__ == "__main__":
    model = network()
    optimizer = paddle.optimizer.Adam(
        learning_rate=paddle.optimizer.lr.ExponentialDecay(1e-3, 0.9), parameters=model.parameters()
    )
    cost = loss(model)
    cost.backward()
    optimizer.step()
    optimizer.clear_grad()
