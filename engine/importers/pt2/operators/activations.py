"""Activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..node import Pt2Node, cast, kind_of
from .elementwise import scale_by
from .rows import row

SCALED: dict[str, tuple[Callable[..., Any], dict[str, tuple[str, float]]]] = {
    "celu": (F.celu, {"alpha": ("alpha", 1.0)}),
    "hardshrink": (F.hardshrink, {"threshold": ("lambd", 0.5)}),
    "hardswish": (F.hardswish, {}),
    "leaky_relu": (F.leaky_relu, {"negative_slope": ("negative_slope", 0.01)}),
    "log_sigmoid": (F.log_sigmoid, {}),
    "mish": (F.mish, {}),
    "relu": (F.relu, {}),
    "relu6": (F.relu6, {}),
    "selu": (F.selu, {}),
    "silu": (F.silu, {}),
    "softshrink": (F.softshrink, {"threshold": ("lambd", 0.5)}),
    "tanhshrink": (F.tanhshrink, {}),
}
"""Operator -> public function, and for each of its arguments the one of ATen and its default."""


def _scale(function: Callable[..., Any], arguments: dict[str, tuple[str, float]]) -> Callable[[Pt2Node], Any]:
    return lambda n: function(
        n.tensor("self"), **{ours: float(n(name, value)) for ours, (name, value) in arguments.items()}
    )


for _kind, (_function, _arguments) in SCALED.items():
    row(f"aten.{_kind}")(_scale(_function, _arguments))


@row("aten.log_sigmoid_forward")
def _log_sigmoid(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return F.log_sigmoid(x), paddle.zeros([0], dtype=kind_of(x))


@row("aten.hardsigmoid")
def _hard_sigmoid(n: Pt2Node) -> Any:
    return F.hardsigmoid(n.tensor("self"), slope=1 / 6, offset=0.5)


@row("aten.gelu")
def _gelu(n: Pt2Node) -> Any:
    return F.gelu(n.tensor("self"), approximate=n("approximate", "none") == "tanh")


@row("aten.elu")
def _elu(n: Pt2Node) -> Any:
    x, scale, inner = n.tensor("self"), n("scale", 1), n("input_scale", 1)
    return scale_by(F.elu(scale_by(x, inner), alpha=float(n("alpha", 1.0))), scale)


@row("aten.hardtanh")
def _hard_tanh(n: Pt2Node) -> Any:
    return F.hardtanh(n.tensor("self"), float(n("min_val", -1.0)), float(n("max_val", 1.0)))


@row("aten.softplus")
def _softplus(n: Pt2Node) -> Any:
    return F.softplus(n.tensor("self"), beta=float(n("beta", 1)), threshold=float(n("threshold", 20)))


@row("aten.threshold")
def _threshold(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return paddle.where(paddle.greater_than(x, paddle.full_like(x, n("threshold"))), x, paddle.full_like(x, n("value")))


@row("aten.prelu", "aten._prelu_kernel")
def _prelu(n: Pt2Node) -> Any:
    x, slope = n.tensor("self"), n.tensor("weight")
    if len(slope.shape) == 1 and len(x.shape) > 1:
        slope = paddle.reshape(slope, [1, -1] + [1] * (len(x.shape) - 2))
    zero = paddle.zeros_like(x)
    return paddle.where(paddle.greater_than(x, zero), x, slope * x)


@row("aten.glu")
def _gate(n: Pt2Node) -> Any:
    first, second = paddle.split(n.tensor("self"), 2, axis=n.axis(default=-1))
    return first * F.sigmoid(second)


@row("aten.softmax", "aten._softmax", "aten.special_softmax", "aten._safe_softmax")
def _softmax(n: Pt2Node) -> Any:
    return F.softmax(cast(n.tensor("self"), n.made.kind), axis=n.axis())


@row("aten.log_softmax", "aten._log_softmax")
def _log_softmax(n: Pt2Node) -> Any:
    return F.log_softmax(cast(n.tensor("self"), n.made.kind), axis=n.axis())


@row("aten.dropout", "aten.native_dropout")
def _dropout(n: Pt2Node) -> Any:
    x, p = n.tensor("input"), float(n("p"))
    trains = bool(n("train", True))
    y = F.dropout(x, p=p, training=True) if trains and p else x
    if n.kind == "aten.dropout":
        return y
    return y, paddle.not_equal(y, paddle.zeros_like(y)) if trains and p else paddle.ones_like(x, dtype="bool")


@row("aten.feature_dropout")
def _channel_dropout(n: Pt2Node) -> Any:
    x, p = n.tensor("input"), float(n("p"))
    if not n("train", True) or not p:
        return x
    mask = F.dropout(paddle.ones([*x.shape[:2], *[1] * (len(x.shape) - 2)], dtype=kind_of(x)), p=p, training=True)
    return x * mask
