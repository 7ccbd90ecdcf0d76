"""Operators that compute element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import gradtool as paddle
from gradtool.engine.core.spec import dtype

from ..node import Node
from ..tensors import kind_of, type_name
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


def _unary(name: str) -> Callable[[Node], Any]:
    return lambda n: getattr(paddle, name)(n[0])


def _binary(name: str) -> Callable[[Node], Any]:
    return lambda n: widened(getattr(paddle, name), n[0], n[1])


_NARROW = ("int8", "uint8", "int16")


def widened(function: Callable[..., Any], *operands: Any) -> Any:
    """What *function* makes of whole numbers of few bits, by way of 32 bits: kernels compute with these."""
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
    """Whether the elements are whole numbers."""
    return kind_of(x).startswith(("int", "uint"))


@row("Identity")
def _identity(n: Node) -> Any:
    entry = n.entry(0)
    if entry.many is not None or entry.array is not None:
        return entry  # shared weights keep their name
    return paddle.assign(n[0])


@row("Round")
def _round(n: Node) -> Any:
    """Halves go to the even number."""
    x = n[0]
    rounded = paddle.floor(x + 0.5)
    half = paddle.cast(paddle.equal(rounded - x, paddle.full_like(x, 0.5)), kind_of(x))
    odd = rounded - 2 * paddle.floor(rounded / 2)
    return rounded - half * odd


@row("IsInf")
def _is_infinite(n: Node) -> Any:
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
def _divide(n: Node) -> Any:
    """Quotients of whole numbers are cut towards zero."""
    return widened(_quotient, n[0], n[1])


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
def _modulo(n: Node) -> Any:
    return widened(_remainder if n.whole("fmod", 0) else paddle.mod, n[0], n[1])


def _remainder(x: Any, y: Any) -> Any:
    """With the sign of what is divided."""
    return paddle.sign(x) * paddle.mod(paddle.abs(x), paddle.abs(y))


@row("Pow")
def _power(n: Node) -> Any:
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
def _largest(n: Node) -> Any:
    return widened(_each(paddle.maximum), *n.every())


@row("Min")
def _smallest(n: Node) -> Any:
    return widened(_each(paddle.minimum), *n.every())


@row("Sum")
def _sum(n: Node) -> Any:
    return reduce(paddle.add, n.every())


@row("Mean")
def _mean(n: Node) -> Any:
    return reduce(paddle.add, n.every()) / len(n)


@row("Where")
def _where(n: Node) -> Any:
    return paddle.where(n[0], n[1], n[2])


@row("Clip")
def _clip(n: Node) -> Any:
    x = n[0]
    if n.opset < 11:
        low, high = n.real("min", -np.inf), n.real("max", np.inf)
        return paddle.clip(x, low, high)
    arrays = [n.array(i) if n.has(i) else None for i in (1, 2)]
    computed = any(n.has(i) and a is None for i, a in zip((1, 2), arrays, strict=True))
    if computed or is_whole(x):
        x = widened(paddle.maximum, x, n[1]) if n.has(1) else paddle.assign(x)
        return widened(paddle.minimum, x, n[2]) if n.has(2) else x
    low, high = n.number(1, -np.inf), n.number(2, np.inf)
    return paddle.clip(x, float(min(low, high)), float(high))


@row("BitShift")
def _shift(n: Node) -> Any:
    left = n.text("direction") == "LEFT"
    return (paddle.bitwise_left_shift if left else paddle.bitwise_right_shift)(n[0], n[1])


@row("Cast")
def _cast(n: Node) -> Any:
    return cast(n[0], type_name(n.whole("to", 0)))


@row("CastLike")
def _cast_like(n: Node) -> Any:
    array = n.array(0)
    if array is not None and not n.entry(0).learnt and array.size <= 1:  # only the type of the other one matters
        return np.asarray(array.astype(dtype(kind_of(n[1])).numpy))
    return cast(n[0], kind_of(n[1]))


def cast(x: Any, kind: str) -> Any:
    """*x* as elements of another type; nothing where it is of that type."""
    return paddle.assign(x) if kind_of(x) == kind else paddle.cast(x, kind)


@row("PRelu")
def _prelu(n: Node) -> Any:
    x, slope = n[0], n[1]
    zero = paddle.zeros_like(x)
    return paddle.maximum(x, zero) + slope * paddle.minimum(x, zero)
