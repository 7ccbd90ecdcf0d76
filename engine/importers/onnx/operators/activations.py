"""Activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row

PLAIN: dict[str, Callable[[Any], Any]] = {
    "HardSwish": lambda x: F.hardswish(x),
    "Mish": lambda x: F.mish(x),
    "Relu": lambda x: F.relu(x),
    "Softsign": lambda x: F.softsign(x),
}

SCALED: dict[str, tuple[Callable[..., Any], dict[str, tuple[str, float]]]] = {
    "Celu": (F.celu, {"alpha": ("alpha", 1.0)}),
    "Elu": (F.elu, {"alpha": ("alpha", 1.0)}),
    "HardSigmoid": (F.hardsigmoid, {"slope": ("alpha", 0.2), "offset": ("beta", 0.5)}),
    "LeakyRelu": (F.leaky_relu, {"negative_slope": ("alpha", 0.01)}),
    "ThresholdedRelu": (F.thresholded_relu, {"threshold": ("alpha", 1.0)}),
}
"""Operator -> public function, and for each of its arguments the attribute and its default."""


def _plain(function: Callable[[Any], Any]) -> Callable[[OnnxNode], Any]:
    return lambda n: function(n[0])


def _scale(function: Callable[..., Any], arguments: dict[str, tuple[str, float]]) -> Callable[[OnnxNode], Any]:
    return lambda n: function(n[0], **{ours: n.real(name, value) for ours, (name, value) in arguments.items()})


for _kind, _function in PLAIN.items():
    row(_kind)(_plain(_function))
for _kind, (_function, _arguments) in SCALED.items():
    row(_kind)(_scale(_function, _arguments))


@row("Selu")
def _selu(n: OnnxNode) -> Any:
    scale, alpha = n.real("gamma", 1.0507009873554805), n.real("alpha", 1.6732632423543772)
    if scale > 1 and alpha >= 0:
        return F.selu(n[0], scale=scale, alpha=alpha)
    return scale * F.elu(n[0], alpha=alpha)


@row("Softplus")
def _softplus(n: OnnxNode) -> Any:
    return F.softplus(n[0], threshold=40.0 if kind_of(n[0]) == "float64" else 20.0)


@row("Gelu")
def _gelu(n: OnnxNode) -> Any:
    return F.gelu(n[0], approximate=n.text("approximate", "none") == "tanh")


@row("Swish")
def _swish(n: OnnxNode) -> Any:
    alpha = n.real("alpha", 1.0)
    return F.silu(n[0]) if alpha == 1 else n[0] * F.sigmoid(n[0] * alpha)


@row("Shrink")
def _shrink(n: OnnxNode) -> Any:
    x, lambd, bias = n[0], n.real("lambd", 0.5), n.real("bias", 0.0)
    zero, edge = paddle.zeros_like(x), paddle.full_like(x, lambd)
    above = paddle.where(paddle.greater_than(x, edge), x - bias, zero)
    return paddle.where(paddle.less_than(x, -edge), x + bias, above)


@row("Softmax", since=13)
def _softmax(n: OnnxNode) -> Any:
    return F.softmax(n[0], axis=n.whole("axis", -1))


@row("LogSoftmax", since=13)
def _log_softmax(n: OnnxNode) -> Any:
    return F.log_softmax(n[0], axis=n.whole("axis", -1))


def flat(x: Any, axis: int) -> Any:
    """*x* as a matrix whose rows are numbered by the axes before *axis*."""
    axis = axis + len(x.shape) if axis < 0 else axis
    rows, columns = x.shape[:axis], x.shape[axis:]
    if all(d >= 0 for d in columns):
        return paddle.reshape(x, [-1, math.prod(columns)] if math.prod(columns) else [math.prod(rows), 0])
    return paddle.reshape(x, [math.prod(rows) if all(d >= 0 for d in rows) else -1, -1])


def _as_matrix(function: Callable[..., Any]) -> Callable[[OnnxNode], Any]:
    """Before version 13 all axes from *axis* on were one."""

    def emit(n: OnnxNode) -> Any:
        x, axis = n[0], n.whole("axis", 1)
        if axis in (-1, len(x.shape) - 1):
            return function(x, axis=-1)
        y = function(flat(x, axis), axis=-1)
        return paddle.reshape(y, paddle.shape(x) if x.shape.count(-1) > 1 else x.shape)

    return emit


row("Softmax")(_as_matrix(F.softmax))
row("LogSoftmax")(_as_matrix(F.log_softmax))


@row("Hardmax")
def _hardmax(n: OnnxNode) -> Any:
    """One where the first of the largest elements is."""
    x = n[0]
    axis = n.whole("axis", -1 if n.opset >= 13 else 1)
    if n.opset < 13 and axis not in (-1, len(x.shape) - 1):
        y = _one_hot(flat(x, axis), -1)
        return paddle.reshape(y, x.shape)
    return _one_hot(x, axis)


def _one_hot(x: Any, axis: int) -> Any:
    axis = axis % len(x.shape)
    ones = F.one_hot(paddle.argmax(x, axis=axis), x.shape[axis])
    order = list(range(len(x.shape) - 1))
    order.insert(axis, len(x.shape) - 1)
    return paddle.cast(paddle.transpose(ones, order), kind_of(x))
