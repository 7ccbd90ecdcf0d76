"""MAML: gradient descent on each task's first samples, and the loss after it, through which the start learns."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Sine(nn.Layer):
    def __init__(self, width=8):
        super().__init__()
        shapes = {"w1": [1, width], "b1": [width], "w2": [width, width], "b2": [width], "w3": [width, 1], "b3": [1]}
        for name, shape in shapes.items():
            self.add_parameter(name, self.create_parameter(shape, is_bias=name.startswith("b")))

    def forward(self, x, weights):
        x = F.tanh(F.linear(x, weights["w1"], weights["b1"]))
        x = F.tanh(F.linear(x, weights["w2"], weights["b2"]))
        return F.linear(x, weights["w3"], weights["b3"])


def adapted(net, x, y, inner_lr, steps):
    weights = dict(net.named_parameters())
    for _ in range(steps):
        inner = F.mse_loss(net(x, weights), y)
        grads = paddle.grad(inner, list(weights.values()), create_graph=True)
        weights = {name: w - inner_lr * g for (name, w), g in zip(weights.items(), grads, strict=True)}
    return weights


def tasks(count):
    rng = np.random.RandomState(0)
    kind = paddle.get_default_dtype()
    for _ in range(count):
        amplitude, phase = rng.uniform(0.1, 2.0), rng.uniform(0, np.pi)
        x = rng.uniform(-2, 2, size=(8, 1))
        y = amplitude * np.sin(x + phase)
        yield [paddle.to_tensor(v.astype(kind)) for v in (x[:4], y[:4], x[4:], y[4:])]


def network():
    return Sine()


def loss(net):
    costs = []
    for support_x, support_y, query_x, query_y in tasks(2):
        weights = adapted(net, support_x, support_y, inner_lr=0.1, steps=2)
        costs.append(F.mse_loss(net(query_x, weights), query_y))
    return paddle.stack(costs).mean()


if __name__ == "__main__":
    model = network()
    meta_optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
    cost = loss(model)
    meta_optimizer.clear_grad()
    cost.backward()
    meta_optimizer.step()
