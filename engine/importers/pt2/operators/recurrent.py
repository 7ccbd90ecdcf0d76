"""Recurrent layers, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, is_tensor
from .rows import row

_MOST_STEPS = 4096

State = tuple[Any, ...]


class Weights:
    """Those of one layer in one direction.

    Args:
        parameters: weights of what is fed and of the state, then their biases where there are any.
    """

    def __init__(self, parameters: list[Any]) -> None:
        self.inner, self.again, self.first, self.second = (*parameters, None, None)[:4]

    def input_part(self, x: Any) -> Any:
        """Return the part of the gates from the input."""
        return _linear(x, self.inner, self.first)

    def state_part(self, h: Any) -> Any:
        """Return the part of the gates from the state."""
        return _linear(h, self.again, self.second)


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    y = paddle.matmul(x, weight, transpose_y=True)
    return y if bias is None else y + bias


def _long_short(weights: Weights) -> Callable[[Any, State], State]:
    def step(x: Any, state: State) -> State:
        h, c = state
        i, forget, new, o = paddle.split(weights.input_part(x) + weights.state_part(h), 4, axis=-1)
        after = F.sigmoid(forget) * c + F.sigmoid(i) * paddle.tanh(new)
        return F.sigmoid(o) * paddle.tanh(after), after

    return step


def _gate(weights: Weights) -> Callable[[Any, State], State]:
    def step(x: Any, state: State) -> State:
        (h,) = state
        own, before = paddle.split(weights.input_part(x), 3, axis=-1), paddle.split(weights.state_part(h), 3, axis=-1)
        r, z = F.sigmoid(own[0] + before[0]), F.sigmoid(own[1] + before[1])
        new = paddle.tanh(own[2] + r * before[2])
        return ((1 - z) * new + z * h,)

    return step


def _plain(function: Callable[[Any], Any]) -> Callable[[Weights], Callable[[Any, State], State]]:
    return lambda weights: lambda x, state: (function(weights.input_part(x) + weights.state_part(state[0])),)


_STEPS: dict[str, Callable[[Weights], Callable[[Any, State], State]]] = {
    "aten.lstm": _long_short,
    "aten.gru": _gate,
    "aten.rnn_tanh": _plain(paddle.tanh),
    "aten.rnn_relu": _plain(F.relu),
}


@row(*(f"{kind}.input" for kind in _STEPS))
def _recurrent(n: Pt2Node) -> Any:
    x, states, parameters = n.tensor("input"), n("hx"), n("params")
    states = [states] if is_tensor(states) else states
    both = 2 if n.flag("bidirectional") else 1
    layers, each = n.whole("num_layers"), 4 if n.flag("has_biases") else 2
    if len(parameters) != layers * both * each:
        raise Missing(f"{len(parameters)} weights of {layers} layers")
    single, first = len(x.shape) == 2, n.flag("batch_first")
    x = paddle.transpose(x, [1, 0, 2]) if first and not single else x
    if single:
        raise Missing("a sequence without a batch")
    if not 0 < x.shape[0] <= _MOST_STEPS:
        raise Missing(f"a sequence of a length that is not known, or of more than {_MOST_STEPS} steps")
    if len(states) != (2 if n.kind == "aten.lstm" else 1):
        raise Unsound(f"{len(states)} states")
    ends: list[State] = []
    dropout = float(n("dropout", 0.0)) if n.flag("train") else 0.0
    for layer in range(layers):
        outputs = []
        for direction in range(both):
            at = layer * both + direction
            step = _STEPS[n.kind](Weights(parameters[at * each : (at + 1) * each]))
            begin = tuple(paddle.squeeze(paddle.slice(s, [0], [at], [at + 1]), [0]) for s in states)
            output, end = _run(step, x, begin, direction == 1)
            outputs.append(output)
            ends.append(end)
        x = paddle.concat(outputs, axis=-1) if both > 1 else outputs[0]
        if dropout and layer + 1 < layers:
            x = F.dropout(x, p=dropout, training=True)
    y = paddle.transpose(x, [1, 0, 2]) if first else x
    return (y, *(paddle.stack([end[i] for end in ends], axis=0) for i in range(len(states))))


def _run(step: Callable[[Any, State], State], x: Any, state: State, backwards: bool) -> tuple[Any, State]:
    """All steps in one direction: what each gives, and the state afterwards."""
    steps = paddle.unbind(x, axis=0) if x.shape[0] > 1 else [paddle.squeeze(x, axis=[0])]
    made: list[Any] = [None] * len(steps)
    for t in range(len(steps))[:: -1 if backwards else 1]:
        state = step(steps[t], state)
        made[t] = state[0]
    return paddle.stack(made, axis=0), state


_CELLS = {"aten.lstm_cell": _long_short, "aten.gru_cell": _gate, "aten.rnn_tanh_cell": _plain(paddle.tanh)}


@row(*_CELLS, "aten.rnn_relu_cell")
def _cell(n: Pt2Node) -> Any:
    states = n("hx")
    states = tuple([states] if is_tensor(states) else states)
    parameters = [n.tensor("w_ih"), n.tensor("w_hh")]
    if n("b_ih", None) is not None:
        parameters += [n.tensor("b_ih"), n.tensor("b_hh")]
    made = _CELLS.get(n.kind, _plain(F.relu))(Weights(parameters))(n.tensor("input"), states)
    return made if n.kind == "aten.lstm_cell" else made[0]
