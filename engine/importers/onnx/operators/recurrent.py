"""Recurrent layers, round by round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .elementwise import cast
from .rows import row

Function = Callable[[Any], Any]


def _affine(a: float, b: float) -> Function:
    return lambda x: x * a + b


_ACTIVATIONS: dict[str, tuple[Callable[..., Function], tuple[float, float]]] = {
    "affine": (_affine, (1.0, 0.0)),
    "elu": (lambda a, b: lambda x: F.elu(x, alpha=a), (1.0, 0.0)),
    "hardsigmoid": (lambda a, b: lambda x: F.hardsigmoid(x, slope=a, offset=b), (0.2, 0.5)),
    "leakyrelu": (lambda a, b: lambda x: F.leaky_relu(x, negative_slope=a), (0.01, 0.0)),
    "relu": (lambda a, b: F.relu, (0.0, 0.0)),
    "scaledtanh": (lambda a, b: lambda x: paddle.tanh(x * b) * a, (1.0, 1.0)),
    "sigmoid": (lambda a, b: F.sigmoid, (0.0, 0.0)),
    "softplus": (lambda a, b: F.softplus, (0.0, 0.0)),
    "softsign": (lambda a, b: F.softsign, (0.0, 0.0)),
    "tanh": (lambda a, b: paddle.tanh, (0.0, 0.0)),
    "thresholdedrelu": (lambda a, b: lambda x: F.thresholded_relu(x, threshold=a), (1.0, 0.0)),
}
"""Name -> what makes the function of two numbers, and these where the node does not say them."""


class RecurrentLayer:
    """A recurrent layer: its weights, direction by direction.

    Args:
        gates: how many there are.
        usual: the names of the activations of one direction.
    """

    def __init__(self, n: OnnxNode, gates: int, usual: list[str]) -> None:
        self.n = n
        self.gates = gates
        direction = n.text("direction", "forward")
        if direction not in ("forward", "reverse", "bidirectional"):
            raise Malformed(f"its direction is {direction!r}")
        self.backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
        self.batch_first = bool(n.whole("layout", 0))
        self.x = paddle.transpose(n[0], [1, 0, 2]) if self.batch_first else n[0]
        self.steps, self.batch = self.x.shape[0], self.x.shape[1]
        if self.steps < 1 or self.steps > 4096:
            raise Lacking("a sequence of a length that is not known, or of more than 4096 steps")
        self.size = n.whole("hidden_size", n[2].shape[-1])
        self.clip = n.real("clip", 0.0)
        self.activations = self._functions(usual * len(self.backwards))
        self.lengths = n.get(4)

    def _functions(self, usual: list[str]) -> list[Function]:
        names = self.n.texts("activations", usual)
        alphas, betas = self.n.reals("activation_alpha", []), self.n.reals("activation_beta", [])
        functions = []
        for i, name in enumerate(names):
            if name.lower() not in _ACTIVATIONS:
                raise Lacking(f"the activation {name}")
            make, (alpha, beta) = _ACTIVATIONS[name.lower()]
            functions.append(make(alphas[i] if i < len(alphas) else alpha, betas[i] if i < len(betas) else beta))
        if len(functions) < len(usual):
            raise Malformed(f"it has {len(functions)} activations instead of {len(usual)}")
        return functions

    def operand(self, i: int, direction: int) -> Any:
        """Operand *i* for one direction; None where it is left out."""
        whole = self.n.get(i)
        return (
            None if whole is None else paddle.squeeze(paddle.slice(whole, [0], [direction], [direction + 1]), axis=[0])
        )

    def state(self, i: int, direction: int) -> Any:
        """Return the initial state of the layer: operand *i*, or zeros."""
        if self.n.has(i):
            held = self.n[i]
            axis = 1 if self.batch_first else 0
            return paddle.squeeze(paddle.slice(held, [axis], [direction], [direction + 1]), axis=[axis])
        if self.batch >= 0:
            return paddle.zeros([self.batch, self.size], dtype=kind_of(self.x))
        first = paddle.squeeze(paddle.slice(self.x, [0], [0], [1]), axis=[0])
        return paddle.expand(paddle.sum(first * 0, axis=-1, keepdim=True), [-1, self.size])

    def clip_input(self, x: Any) -> Any:
        """Clip the input of an activation."""
        return paddle.clip(x, -self.clip, self.clip) if self.clip else x

    def run(self, step: Callable[[int], Callable[..., tuple[Any, ...]]], states: int) -> tuple[Any, ...]:
        """All steps in all directions.

        Args:
            step: for a direction, what makes the states after a step of what is fed and the states before.
        """
        outputs, ends = [], []
        rows_of = paddle.unbind(self.x, axis=0) if self.steps > 1 else [paddle.squeeze(self.x, axis=[0])]
        for d, back in enumerate(self.backwards):
            state = tuple(self.state(5 + i, d) for i in range(states))
            once = step(d)
            made: list[Any] = [None] * self.steps
            for t in range(self.steps)[:: -1 if back else 1]:
                after = once(rows_of[t], *state)
                made[t] = after[0]
                if self.lengths is not None:
                    after = self._hold_finished(t, after, state)
                    made[t] = self._hold_finished(t, made[t : t + 1], [paddle.zeros_like(made[t])])[0]
                state = after
            outputs.append(paddle.stack(made, axis=0))
            ends.append(state)
        axis = 1 if self.batch_first else 0
        y = paddle.stack(outputs, axis=1)
        y = paddle.transpose(y, [2, 0, 1, 3]) if self.batch_first else y
        return (y, *(paddle.stack([end[i] for end in ends], axis=axis) for i in range(states)))

    def _hold_finished(self, t: int, after: Any, before: Any) -> tuple[Any, ...]:
        """The states of those sequences that have a step *t*; those that are over stay as they were."""
        lasts = paddle.unsqueeze(
            paddle.greater_than(self.lengths, paddle.assign(np.asarray(t, kind_of(self.lengths)))), [1]
        )
        mask = cast(lasts, kind_of(self.x))
        return tuple(a * mask + b * (1 - mask) for a, b in zip(after, before, strict=True))

    def sums(self, d: int) -> tuple[Any, Any, Any, Any]:
        """Weights of what is fed and of the state, and their biases; None without."""
        weight, again, bias = self.operand(1, d), self.operand(2, d), self.operand(3, d)
        if bias is None:
            return weight, again, None, None
        first, second = paddle.split(bias, 2, axis=0)
        return weight, again, first, second


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    y = paddle.matmul(x, weight, transpose_y=True)
    return y if bias is None else y + bias


@row("RNN")
def _plain(n: OnnxNode) -> Any:
    layer = RecurrentLayer(n, 1, ["Tanh"])

    def step(d: int) -> Callable[..., tuple[Any, ...]]:
        weight, again, first, second = layer.sums(d)
        f = layer.activations[d]
        return lambda x, h: (f(layer.clip_input(_linear(x, weight, first) + _linear(h, again, second))),)

    return layer.run(step, 1)


@row("LSTM")
def _long_short(n: OnnxNode) -> Any:
    layer = RecurrentLayer(n, 4, ["Sigmoid", "Tanh", "Tanh"])
    coupled = bool(n.whole("input_forget", 0))

    def step(d: int) -> Callable[..., tuple[Any, ...]]:
        weight, again, first, second = layer.sums(d)
        peep = paddle.split(layer.operand(7, d), 3, axis=0) if n.has(7) else [None] * 3
        f, g, h_of = layer.activations[3 * d : 3 * d + 3]

        def once(x: Any, h: Any, c: Any) -> tuple[Any, ...]:
            gates = _linear(x, weight, first) + _linear(h, again, second)
            i, o, forget, new = paddle.split(gates, 4, axis=-1)
            i = f(layer.clip_input(_add_peephole(i, peep[0], c)))
            forget = 1 - i if coupled else f(layer.clip_input(_add_peephole(forget, peep[2], c)))
            after = forget * c + i * g(layer.clip_input(new))
            o = f(layer.clip_input(_add_peephole(o, peep[1], after)))
            return o * h_of(layer.clip_input(after)), after

        return once

    return layer.run(step, 2)


def _add_peephole(gate: Any, weight: Any, cell: Any) -> Any:
    return gate if weight is None else gate + weight * cell


@row("GRU")
def _gate(n: OnnxNode) -> Any:
    layer = RecurrentLayer(n, 3, ["Sigmoid", "Tanh"])
    resets_after = bool(n.whole("linear_before_reset", 0))

    def step(d: int) -> Callable[..., tuple[Any, ...]]:
        weight, again, first, second = layer.sums(d)
        f, g = layer.activations[2 * d : 2 * d + 2]
        parts = paddle.split(again, 3, axis=0)
        biases = [None] * 3 if second is None else paddle.split(second, 3, axis=0)

        def once(x: Any, h: Any) -> tuple[Any, ...]:
            z, r, new = paddle.split(_linear(x, weight, first), 3, axis=-1)
            z = f(layer.clip_input(z + _linear(h, parts[0], biases[0])))
            r = f(layer.clip_input(r + _linear(h, parts[1], biases[1])))
            again_h = r * _linear(h, parts[2], biases[2]) if resets_after else _linear(r * h, parts[2], biases[2])
            return ((1 - z) * g(layer.clip_input(new + again_h)) + z * h,)

        return once

    return layer.run(step, 1)
