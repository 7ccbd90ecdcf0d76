"""DeepONet: a branch for the function at its sensors, a trunk for the point, their inner product the antiderivative."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn


class MLP(nn.Layer):
    def __init__(self, sizes, activation):
        super().__init__()
        self.linears = nn.LayerList()
        for fan_in, fan_out in itertools.pairwise(sizes):
            self.linears.append(nn.Linear(fan_in, fan_out))
            nn.initializer.XavierUniform()(self.linears[-1].weight)
        self.act = activation

    def forward(self, x):
        for linear in self.linears[:-1]:
            x = self.act(linear(x))
        return self.linears[-1](x)


class DeepONet(nn.Layer):
    def __init__(self, num_loc, num_features, hidden):
        super().__init__()
        self.branch_net = MLP([num_loc, hidden, num_features], nn.ReLU())
        self.trunk_net = MLP([1, hidden, num_features], nn.Tanh())
        self.b = self.create_parameter(
            shape=(1,), attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.0)), is_bias=True
        )

    def forward(self, u, y):
        u_features = self.branch_net(u)
        y_features = paddle.tanh(self.trunk_net(y))
        G_u = paddle.einsum("bi,bi->b", u_features, y_features)
        return paddle.reshape(G_u, [-1, 1]) + self.b


def network():
    return DeepONet(num_loc=12, num_features=8, hidden=10)


def loss(net):
    rng = np.random.RandomState(3)
    kind = paddle.get_default_dtype()
    sensors = np.linspace(0, 1, 12)
    waves = rng.randint(1, 4, size=(10, 1))
    y = rng.rand(10, 1)
    u = np.cos(waves * np.pi * sensors)
    antiderivative = np.sin(waves * np.pi * y) / (waves * np.pi)
    out = net(paddle.to_tensor(u.astype(kind)), paddle.to_tensor(y.astype(kind)))
    return nn.functional.mse_loss(out, paddle.to_tensor(antiderivative.astype(kind)))


def build():
    net = network()
    return loss(net), net
