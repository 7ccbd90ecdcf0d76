"""Operators that compute element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from gradtool import paddle

from ....core.spec import dtype
from ..narrow_types import CARRIERS, SMALL, become, round_to_even
from ..node import OnnxNode
from ..tensors import declared_type, kind_of, type_name
from .rows import row

UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bitwise_not",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "IsNaN": "isnan",
    "Log": "log",
    "Neg": "neg",
    "Not": "logical_not",
    "Reciprocal": "reciprocal",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}
"""Operator -> the public function of one tensor that computes the same."""

BINARY = {
    "Add": "add",
    "And": "logical_and",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "equal",
    "Greater": "greater_than",
    "GreaterOrEqual": "greater_equal",
    "Less": "less_than",
    "LessOrEqual": "less_equal",
    "Mul": "multiply",
    "Or": "logical_or",
    "Sub": "subtract",
    "Xor": "logical_xor",
}
"""The same of two tensors, whose shapes are broadcast."""


def _unary(name: str) -> Callable[[OnnxNode], Any]:
    return lambda n: getattr(paddle, name)(n[0])


def _binary(name: str) -> Callable[[OnnxNode], Any]:
    return lambda n: compute_wide(getattr(paddle, name), n[0], n[1])


_NARROW = ("int8", "uint8", "int16")


def compute_wide(function: Callable[..., Any], *operands: Any) -> Any:
    """Compute *function* on whole numbers of few bits, by way of 32 bits: kernels compute with these."""
    kind = kind_of(operands[0])
    if kind not in _NARROW or not all(kind_of(v) == kind for v in operands):
        return function(*operands)
    made = function(*(paddle.cast(v, "int32") for v in operands))
    return made if kind_of(made) == "bool" else paddle.cast(made, kind)


for _kind, _name in UNARY.items():
    row(_kind)(_unary(_name))
for _kind, _name in BINARY.items():
    row(_kind)(_binary(_name))


def is_whole(x: Any) -> bool:
    """Return whether the elements are whole numbers."""
    return kind_of(x).startswith(("int", "uint"))


@row("Identity")
def _identity(n: OnnxNode) -> Any:
    entry = n.entry(0)
    if entry.many is not None or entry.array is not None:
        return entry  # shared weights keep their name
    return paddle.assign(n[0])


@row("Round")
def _round(n: OnnxNode) -> Any:
    return round_to_even(n[0])


@row("IsInf")
def _is_infinite(n: OnnxNode) -> Any:
    x = n[0]
    above, below = n.whole("detect_positive", 1), n.whole("detect_negative", 1)
    infinite = paddle.isinf(x)
    zero = paddle.zeros_like(x)
    if above and below:
        return infinite
    if above:
        return paddle.logical_and(infinite, paddle.greater_than(x, zero))
    if below:
        return paddle.logical_and(infinite, paddle.less_than(x, zero))
    return paddle.zeros_like(infinite)


@row("Div")
def _divide(n: OnnxNode) -> Any:
    """Quotients of whole numbers are cut towards zero."""
    return compute_wide(_quotient, n[0], n[1])


def _quotient(x: Any, y: Any) -> Any:
    if not is_whole(x):
        return paddle.divide(x, y)
    quotient = paddle.floor_divide(x, y)
    rest = x - quotient * y
    zero = paddle.zeros_like(rest)
    cut = paddle.logical_and(
        paddle.not_equal(rest, zero), paddle.not_equal(paddle.less_than(x, zero), paddle.less_than(y, zero))
    )
    return quotient + paddle.cast(cut, kind_of(x))


@row("Mod")
def _modulo(n: OnnxNode) -> Any:
    return compute_wide(_remainder if n.whole("fmod", 0) else paddle.mod, n[0], n[1])


def _remainder(x: Any, y: Any) -> Any:
    """With the sign of what is divided."""
    return paddle.sign(x) * paddle.mod(paddle.abs(x), paddle.abs(y))


@row("Pow")
def _power(n: OnnxNode) -> Any:
    x, exponent = n[0], n.array(1)
    kind = kind_of(x)
    if exponent is not None and exponent.size == 1 and exponent.ndim <= len(x.shape) and not is_whole(x):
        entry = n.entry(1)
        if not entry.learnt or exponent.ndim == 0:
            return paddle.square(x) if exponent.item() == 2 else paddle.pow(x, float(exponent.item()))
    y = n[1]
    if is_whole(x) and not is_whole(y):
        return paddle.cast(paddle.pow(paddle.cast(x, "float64"), paddle.cast(y, "float64")), kind)
    return paddle.pow(x, y if kind_of(y) == kind else paddle.cast(y, kind))


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: reduce(function, operands)


@row("Max")
def _largest(n: OnnxNode) -> Any:
    return compute_wide(_each(paddle.maximum), *n.every())


@row("Min")
def _smallest(n: OnnxNode) -> Any:
    return compute_wide(_each(paddle.minimum), *n.every())


@row("Sum")
def _sum(n: OnnxNode) -> Any:
    return reduce(paddle.add, n.every())


@row("Mean")
def _mean(n: OnnxNode) -> Any:
    return reduce(paddle.add, n.every()) / len(n)


@row("Where")
def _where(n: OnnxNode) -> Any:
    return paddle.where(n[0], n[1], n[2])


@row("Clip")
def _clip(n: OnnxNode) -> Any:
    x = n[0]
    if n.opset < 11:
        low, high = n.real("min", -np.inf), n.real("max", np.inf)
        return paddle.clip(x, low, high)
    arrays = [n.array(i) if n.has(i) else None for i in (1, 2)]
    computed = any(n.has(i) and a is None for i, a in zip((1, 2), arrays, strict=True))
    if computed or is_whole(x):
        x = compute_wide(paddle.maximum, x, n[1]) if n.has(1) else paddle.assign(x)
        return compute_wide(paddle.minimum, x, n[2]) if n.has(2) else x
    low, high = n.number(1, -np.inf), n.number(2, np.inf)
    return paddle.clip(x, float(min(low, high)), float(high))


@row("BitShift")
def _shift(n: OnnxNode) -> Any:
    """By more places than a number has, or by less than none, nothing but the sign is left."""
    x, by = n[0], n[1]
    left = n.text("direction") == "LEFT"
    function = paddle.bitwise_left_shift if left else paddle.bitwise_right_shift
    last = dtype(kind_of(x)).size * 8 - 1
    told = n.array(1)
    if kind_of(by) == "uint8" or (told is not None and bool(((told >= 0) & (told <= last)).all())):
        return function(x, by)
    wide = paddle.cast(by, "int32")
    beyond = paddle.logical_or(wide < 0, wide > last)
    cut = paddle.cast(paddle.where(beyond, paddle.full_like(wide, last), wide), kind_of(by))
    shifted = function(x, cut)
    return paddle.where(beyond, paddle.zeros_like(shifted), shifted) if left else shifted


@row("Cast")
def _cast(n: OnnxNode) -> Any:
    number = n.whole("to", 0)
    return _as_type(n, declared_type(number) or type_name(number))


@row("CastLike")
def _cast_like(n: OnnxNode) -> Any:
    array, kind = n.array(0), n.entry(1).kind or kind_of(n[1])
    if array is not None and not n.entry(0).learnt and array.size <= 1 and kind not in CARRIERS:
        return np.asarray(array.astype(dtype(kind).numpy))  # only the type of the other one matters
    return _as_type(n, kind)


def _as_type(n: OnnxNode, kind: str) -> Any:
    """Operand 0 in another type; where that rounds real numbers, and a second cast makes them real again, gradients
    pass both unchanged."""
    x, entry = n[0], n.entry(0)
    if kind not in CARRIERS:
        y = cast(x, kind)
        if entry.real is None or n.folding or kind_of(entry.real) != kind:
            return n.made(y)
        n.builder.note(STRAIGHT)
        return n.made(straight(y, entry.real))
    if kind == entry.kind:
        return n.made(paddle.assign(x), kind, entry.real)
    y = become(x, kind, bool(n.whole("saturate", 1)))
    return n.made(y, kind, x if kind in SMALL and not entry.kind else None)


STRAIGHT = (
    "what rounds real numbers to fewer bits rounds as it says, and gradients pass it unchanged (straight through)"
)


def straight(y: Any, real: Any) -> Any:
    """*y*, which *real* was rounded to, with the gradient of *real*."""
    difference = paddle.assign(y - real)
    difference.stop_gradient = True
    return real + difference


def cast(x: Any, kind: str) -> Any:
    """*x* as elements of another type; nothing where it is of that type."""
    return paddle.assign(x) if kind_of(x) == kind else paddle.cast(x, kind)


@row("PRelu")
def _prelu(n: OnnxNode) -> Any:
    x, slope = n[0], n[1]
    zero = paddle.zeros_like(x)
    return paddle.maximum(x, zero) + slope * paddle.minimum(x, zero)
