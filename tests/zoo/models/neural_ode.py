"""A neural differential equation: the slope is a net, the way is four Runge-Kutta steps, the loss is along it."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn


class ODEFunc(nn.Layer):
    def __init__(self, dim=2, hidden=10):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def forward(self, t, y):
        return self.net(y**3) * (1 + 0.1 * t)


def rk4_step(func, t, dt, y):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return y + (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6


def odeint(func, y0, times):
    way = [y0]
    for start, end in itertools.pairwise(times):
        way.append(rk4_step(func, start, end - start, way[-1]))
    return paddle.stack(way)


def network():
    return ODEFunc()


def loss(net):
    kind = paddle.get_default_dtype()
    times = np.linspace(0.0, 1.0, 5)
    spiral = np.stack([np.exp(-times) * np.cos(4 * times), np.exp(-times) * np.sin(4 * times)], axis=-1)
    target = paddle.to_tensor(spiral[:, None].astype(kind))
    predicted = odeint(net, target[0], times.tolist())
    return paddle.mean(paddle.abs(predicted[1:] - target[1:]))


def build():
    net = network()
    return loss(net), net
