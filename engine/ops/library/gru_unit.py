"""One step of a gated recurrent unit, as programs of Paddle's first versions name it."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..opdef import op
from .placing import _alike

ACTIVATIONS = ("scale", "sigmoid", "tanh", "relu")
"""What the numbers in the attributes stand for; ``scale`` leaves everything as it is."""


def _columns(k, x, size, start, end):
    """The columns from *start* to *end*, in units of *size*."""
    return k.ops.slice(x, axes=(1,), starts=(start * size,), ends=(end * size,))


@compose("Input HiddenPrev Weight Bias Gate ResetHiddenPrev Hidden@GRAD", wrt="Input HiddenPrev Weight Bias")
@op(
    "gru_unit",
    "Input HiddenPrev Weight Bias? -> Gate ResetHiddenPrev Hidden",
    attrs={"activation": 2, "gate_activation": 1, "origin_mode": False},
)
def gru_unit(k, x, hidden, weight, bias, *, activation, gate_activation, origin_mode):
    """The state after one step (Cho et al. 2014); the gates, and what is left of the state before.

    *Input* holds the input's part of update, reset and candidate side by side. In memory *Weight* is the matrix of
    update and reset first, and then that of the candidate. With *origin_mode* the update gate says how much of the old
    state stays, without it how much of the candidate comes.
    """
    size = hidden.shape[1]
    gate, act = (getattr(k.ops, ACTIVATIONS[a]) for a in (gate_activation, activation))
    parts = x if bias is None else k.ops.add(x, bias)
    flat = k.ops.reshape(weight, shape=(1, -1))[0]
    for_gates = k.ops.reshape(_columns(k, flat, size * size, 0, 2), shape=(size, 2 * size))[0]
    for_candidate = k.ops.reshape(_columns(k, flat, size * size, 2, 3), shape=(size, size))[0]
    gates = gate(k.ops.add(_columns(k, parts, size, 0, 2), k.ops.matmul(hidden, for_gates)))
    update, reset = _columns(k, gates, size, 0, 1), _columns(k, gates, size, 1, 2)
    left = k.ops.mul(reset, hidden)
    candidate = act(k.ops.add(_columns(k, parts, size, 2, 3), k.ops.matmul(left, for_candidate)))
    old, new = (hidden, candidate) if origin_mode else (candidate, hidden)
    return k.ops.concat([gates, candidate], axis=1), left, k.ops.add(new, k.ops.mul(update, old - new))


@gru_unit.infer
def _(x, hidden, weight, bias, *, activation, gate_activation):
    for name, number in (("activation", activation), ("gate_activation", gate_activation)):
        if not 0 <= number < len(ACTIVATIONS):
            raise OperatorError(f"gru_unit: {name} must be 0, 1, 2 or 3, but is {number}")
    size = hidden.shape[1] if hidden.ndim == 2 else UNKNOWN
    fits = x.ndim == hidden.ndim == 2 and size != UNKNOWN and _alike((hidden.shape[0], 3 * size), x.shape)
    if not fits or not _alike((size, 3 * size), weight.shape) or (bias is not None and bias.count != 3 * size):
        raise ShapeError(
            f"gru_unit: HiddenPrev {list(hidden.shape)} must be [batch, size], Input {list(x.shape)} "
            f"[batch, 3·size], Weight {list(weight.shape)} [size, 3·size] and Bias [1, 3·size]"
        )
    return x, hidden, hidden


@gru_unit.samples
def _(make):
    yield make(x=(2, 9), hidden=(2, 3), weight=(3, 9), bias=(1, 9))
    yield make(x=(2, 6), hidden=(2, 2), weight=(2, 6), activation=0, gate_activation=1, origin_mode=True)
