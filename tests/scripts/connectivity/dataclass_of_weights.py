# symptom   the scale stays 1
# cause     a weight that is a plain tensor in a dict in a dataclass is detached on its way
# command   why
# verdict   detached
# line      return h * state.weights.extra["scale"].detach()
# affected  state.weights.extra['scale']
from dataclasses import dataclass, field

import paddle
from paddle import nn


@dataclass
class Weights:
    w: paddle.Tensor
    b: paddle.Tensor
    extra: dict = field(default_factory=dict)


@dataclass
class State:
    weights: Weights
    layers: list


def init():
    w, b, scale = paddle.randn([3, 2]), paddle.zeros([2]), paddle.ones([1])
    for t in (w, b, scale):
        t.stop_gradient = False
    return State(Weights(w, b, {"scale": scale}), [nn.Linear(2, 2), nn.Linear(2, 1)])


def forward(state, x):
    h = x @ state.weights.w + state.weights.b
    for layer in state.layers:
        h = paddle.tanh(layer(h))
    return h * state.weights.extra["scale"].detach()


def train():
    paddle.seed(1)
    state = init()
    loss = (forward(state, paddle.randn([5, 3])) - 1).square().mean()
    loss.backward()


train()
