"""A physics-informed net of third order: the Korteweg-de Vries equation with unknown coefficients."""

import numpy as np
import paddle
import paddle.nn as nn


class Net(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, width), nn.Silu(), nn.Linear(width, width), nn.Silu(), nn.Linear(width, 1)
        )
        self.lambda_1 = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.0))
        self.lambda_2 = self.create_parameter([1], default_initializer=nn.initializer.Constant(-6.0))

    def forward(self, t, x):
        return self.body(paddle.concat([t, x], axis=1))


def gradients(y, x):
    return paddle.grad([y], [x], grad_outputs=[paddle.ones_like(y)], create_graph=True)[0]


def residual(net, t, x):
    u = net(t, x)
    u_t = gradients(u, t)
    u_x = gradients(u, x)
    u_xx = gradients(u_x, x)
    u_xxx = gradients(u_xx, x)
    return u, u_t + net.lambda_1 * u * u_x + paddle.exp(net.lambda_2) * u_xxx


def network():
    return Net(10)


def loss(net):
    rng = np.random.RandomState(0)
    kind = paddle.get_default_dtype()
    t, x = [paddle.to_tensor(rng.uniform(-1, 1, (10, 1)).astype(kind), stop_gradient=False) for _ in range(2)]
    u, f = residual(net, t, x)
    measured = paddle.cos(np.pi * x.detach())
    return paddle.mean(paddle.square(u - measured)) + paddle.mean(paddle.square(f))


def build():
    net = network()
    return loss(net), net
