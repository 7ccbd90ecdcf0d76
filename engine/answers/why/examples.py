"""Advice, and the scripts that show it: a script to which it applies, and the same script after it.

A test runs both, and the finding is gone. An advice without such a pair cannot be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...core.records import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of the script that changes a verdict, shown by a pair of scripts.

    Attributes:
        text: what to do, with terms of a framework in braces.
        examples: the names of pairs in :data:`EXAMPLES`; there is at least one.
    """

    text: str
    examples: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.pairs:
            raise ValueError(f"an advice needs an example: {self.text}")

    @property
    def pairs(self) -> Sequence[Example]:
        """The pairs of scripts; raises KeyError for one that is not there."""
        return [EXAMPLES[name] for name in self.examples]


class Example(NamedTuple):
    """A pair of scripts.

    Attributes:
        before: the script that the advice is given about.
        after: the same after it.
        subject: the tensor that is asked about; empty for all parameters.
    """

    before: str
    after: str
    subject: str = ""


BEGIN = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
x = paddle.rand([8, 4])
"""
"""How each script begins; one that calls no backward itself ends with ``loss.backward()``."""

_LAYER = """\
class Own(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return {back}

net = nn.Linear(4, 3)
loss = Own.apply(net(x)).mean()"""

_PROGRAM = """\
paddle.enable_static()
w = paddle.static.create_parameter([4], "float32", name="w")
loss = (w * 2.0).sum()
"""
_TWO = "one, two = nn.Linear(4, 3), nn.Linear(3, 1)\n"
_DEEP = """\
net = nn.Sequential(*[layer for _ in range(24) for layer in (nn.Linear(4, 4{start}), {act})])
loss = (net(x) - 1).square().mean()"""
_SMALL = ", weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0, 0.02))"
_LARGE = ", weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0, 30.0))"
_FIT = ", weight_attr=paddle.ParamAttr(initializer=nn.initializer.Orthogonal())"

EXAMPLES: dict[str, Example] = {
    "detached": Example(
        _TWO + "loss = two(one(x).detach()).mean()",
        _TWO + "loss = two(one(x)).mean()",
    ),
    "as a number": Example(
        _TWO + "loss = two(paddle.ones([8, 3])).mean() + one(x).mean().item()",
        _TWO + "loss = two(paddle.ones([8, 3])).mean() + one(x).mean()",
    ),
    "under no_grad": Example(
        _TWO + "with paddle.no_grad():\n    h = one(x)\nloss = two(h).mean()",
        _TWO + "h = one(x)\nloss = two(h).mean()",
    ),
    "set on a result": Example(
        _TWO + "h = one(x)\nh.stop_gradient = True\nloss = two(h).mean()",
        _TWO + "h = one(x)\nloss = two(h).mean()",
    ),
    "made without": Example(
        "w = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])\nnet = nn.Linear(4, 1)\nloss = net(x * w).mean()",
        "w = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)\nnet = nn.Linear(4, 1)\n"
        "loss = net(x * w).mean()",
        "w",
    ),
    "a constant gradient": Example(
        "net = nn.Linear(4, 1)\nx.stop_gradient = False\n(g,) = paddle.grad(net(x).square().sum(), [x])\n"
        "loss = ((g.square().sum(axis=1) + 1e-6).sqrt() - 1).square().mean() + net(x).mean()",
        "net = nn.Linear(4, 1)\nx.stop_gradient = False\n"
        "(g,) = paddle.grad(net(x).square().sum(), [x], create_graph=True)\n"
        "loss = ((g.square().sum(axis=1) + 1e-6).sqrt() - 1).square().mean() + net(x).mean()",
    ),
    "not retained": Example(
        _TWO + "h = one(x)\nloss = two(h).mean()",
        _TWO + "h = one(x)\nh.retain_grads()\nloss = two(h).mean()",
        "h",
    ),
    "in the no_grad_set": Example(
        _PROGRAM + "paddle.static.append_backward(loss, no_grad_set={'w'})",
        _PROGRAM + "paddle.static.append_backward(loss)",
        "w",
    ),
    "unused": Example(
        _TWO + "loss = two(paddle.ones([8, 3])).mean()",
        _TWO + "loss = two(one(x)).mean()",
    ),
    "no path": Example(
        _TWO + "aside = one(x).mean()\nloss = two(paddle.ones([8, 3])).mean()",
        _TWO + "aside = one(x).mean()\nloss = two(paddle.ones([8, 3])).mean() + aside",
    ),
    "integers": Example(
        "net = nn.Linear(4, 3)\nhead = nn.Linear(3, 1)\nloss = head(net(x).astype('int64').astype('float32')).mean()",
        "net = nn.Linear(4, 3)\nhead = nn.Linear(3, 1)\nloss = head(net(x)).mean()",
    ),
    "a step": Example(
        "net = nn.Linear(4, 3)\nhead = nn.Linear(3, 1)\nh = net(x)\nloss = head(paddle.round(h)).mean()",
        "net = nn.Linear(4, 3)\nhead = nn.Linear(3, 1)\nh = net(x)\n"
        "loss = head(h + (paddle.round(h) - h).detach()).mean()",
    ),
    "argmax as weights": Example(
        "net = nn.Linear(4, 3)\nscale = nn.Linear(1, 1)\n"
        "loss = scale(net(x).argmax(axis=1).astype('float32').unsqueeze(1)).mean()",
        "net = nn.Linear(4, 3)\nscale = nn.Linear(1, 1)\nplaces = paddle.arange(3).astype('float32')\n"
        "loss = scale((F.softmax(net(x), axis=1) * places).sum(axis=1, keepdim=True)).mean()",
    ),
    "dead relu": Example(
        "net = nn.Linear(4, 3, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(-50.0)))\n"
        "loss = (F.relu(net(x)) - 1).square().mean()",
        "net = nn.Linear(4, 3, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(5.0)))\n"
        "loss = (F.relu(net(x)) - 1).square().mean()",
    ),
    "saturated": Example(
        "net = nn.Linear(4, 3, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(90.0)))\n"
        "loss = paddle.tanh(net(x)).mean()",
        "net = nn.Linear(4, 3)\nloss = paddle.tanh(net(x)).mean()",
    ),
    "large inputs": Example(
        "net = nn.Linear(4, 3)\nloss = paddle.tanh(net(x * 1e6)).mean()",
        "net = nn.Linear(4, 3)\nloss = paddle.tanh(net(x)).mean()",
    ),
    "squashed before the loss": Example(
        "net = nn.Linear(4, 3)\nlabel = paddle.zeros([8, 3])\n"
        "loss = F.binary_cross_entropy_with_logits(F.sigmoid(net(x) - 200.0), label).mean()",
        "net = nn.Linear(4, 3)\nlabel = paddle.zeros([8, 3])\n"
        "loss = F.binary_cross_entropy_with_logits(net(x), label).mean()",
    ),
    "cancelled": Example(
        "net = nn.Linear(4, 3)\nloss = (net(x).mean() - net(x).mean() - 1).square()",
        "net = nn.Linear(4, 3)\nloss = (net(x).mean() + net(x).mean() - 1).square()",
    ),
    "one class": Example(
        "net = nn.Linear(4, 1)\nloss = F.softmax(net(x), axis=1).mean()",
        "net = nn.Linear(4, 1)\nloss = F.sigmoid(net(x)).mean()",
    ),
    "vanished": Example(
        _DEEP.format(start=_SMALL, act="nn.Sigmoid()"),
        _DEEP.format(start=_FIT, act="nn.Tanh()"),
    ),
    "exploded": Example(
        _DEEP.format(start=_LARGE, act="nn.LeakyReLU(0.5)"),
        _DEEP.format(start=_FIT, act="nn.LeakyReLU(0.9)"),
    ),
    "clipped": Example(
        "net = nn.Linear(4, 3)\nloss = paddle.clip(net(x) + 100.0, 0.0, 1.0).mean()",
        "net = nn.Linear(4, 3)\nloss = paddle.clip(net(x) + 100.0, 0.0, 1000.0).mean()",
    ),
    "an operator returns None": Example(_LAYER.format(back="None"), _LAYER.format(back="g")),
    "an operator returns zeros": Example(_LAYER.format(back="paddle.zeros_like(g)"), _LAYER.format(back="g")),
    "dropout of all": Example(
        "net = nn.Linear(4, 3)\nloss = (F.dropout(net(x), p=1.0) - 1).square().mean()",
        "net = nn.Linear(4, 3)\nloss = (F.dropout(net(x), p=0.1) - 1).square().mean()",
    ),
    "a factor of 0": Example(
        "net = nn.Linear(4, 3)\nloss = (net(x) * 0.0).mean()",
        "net = nn.Linear(4, 3)\nloss = (net(x) * 0.5).mean()",
    ),
    "normalised alone": Example(
        "net = nn.Linear(4, 1)\nnorm = nn.LayerNorm(1)\nloss = (norm(net(x)) - 1).square().mean()",
        "net = nn.Linear(4, 3)\nnorm = nn.LayerNorm(3)\nloss = (norm(net(x)) - 1).square()[:, 0].mean()",
    ),
}
"""By name of an advice: before it, and after it."""
