"""Operators that compute element by element, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....ir.variable import Variable
from ..tensors import type_number
from ..writing import GraphWriter, MissingRow, OnnxCall
from .rows import TABLE, writes

UNARY = {
    "abs": "Abs", "assign": "Identity", "ceil": "Ceil", "cos": "Cos", "erf": "Erf", "exp": "Exp", "floor": "Floor",
    "log": "Log", "logical_not": "Not", "reciprocal": "Reciprocal", "relu": "Relu", "share_data": "Identity",
    "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "softplus": "Softplus", "sqrt": "Sqrt", "tanh": "Tanh",
}  # fmt: skip
BINARY = {
    "elementwise_add": "Add", "elementwise_div": "Div", "elementwise_max": "Max", "elementwise_min": "Min",
    "elementwise_mul": "Mul", "elementwise_pow": "Pow", "elementwise_sub": "Sub", "equal": "Equal",
    "greater_equal": "GreaterOrEqual", "greater_than": "Greater", "less_equal": "LessOrEqual", "less_than": "Less",
    "logical_and": "And", "logical_or": "Or",
}  # fmt: skip


def _unary(kind: str) -> Callable[[OnnxCall], Any]:
    return lambda c: c.w.node(kind, c["X"])


def _binary(kind: str) -> Callable[[OnnxCall], Any]:
    def write(c: OnnxCall) -> Any:
        x, y = align(c)
        return c.w.node(kind, x, y)

    return write


def align(c: OnnxCall) -> tuple[str, str]:
    """Both operands; the second one with axes of 1 where the attribute ``axis`` places it elsewhere than at the end."""
    x, y, axis = c.var("X"), c.var("Y"), c.attrs.get("axis", -1)
    if axis in (-1, len(x.shape) - len(y.shape)) or len(x.shape) <= len(y.shape):
        return c["X"], c["Y"]
    behind = len(x.shape) - axis - len(y.shape)
    places = c.w.constant([len(y.shape) + i for i in range(behind)])
    return c["X"], c.w.node("Unsqueeze", c["Y"], places)


for _type, _kind in UNARY.items():
    TABLE[_type] = _unary(_kind)
for _type, _kind in BINARY.items():
    TABLE[_type] = _binary(_kind)


@writes("not_equal")
def _not_equal(c: OnnxCall) -> Any:
    return c.w.node("Not", c.w.node("Equal", c["X"], c["Y"]))


@writes("elementwise_floordiv", "elementwise_mod")
def _divide(c: OnnxCall) -> Any:
    """Quotients are rounded down, and remainders have the sign of the divisor; ``Div`` cuts whole quotients off."""
    w, (x, y), out = c.w, align(c), c.result()
    assert out is not None
    if out.dtype.is_floating:
        down = w.node("Floor", w.node("Div", x, y))
        return down if c.op.type == "elementwise_floordiv" else w.node("Sub", x, w.node("Mul", down, y))
    rest = w.node("Mod", x, y)
    return rest if c.op.type == "elementwise_mod" else w.node("Div", w.node("Sub", x, rest), y)


@writes("square")
def _square(c: OnnxCall) -> Any:
    return c.w.node("Mul", c["X"], c["X"])


@writes("rsqrt")
def _rsqrt(c: OnnxCall) -> Any:
    return c.w.node("Reciprocal", c.w.node("Sqrt", c["X"]))


@writes("silu")
def _silu(c: OnnxCall) -> Any:
    return c.w.node("Mul", c["X"], c.w.node("Sigmoid", c["X"]))


@writes("leaky_relu")
def _leaky(c: OnnxCall) -> Any:
    return c.w.node("LeakyRelu", c["X"], alpha=float(c.attrs["alpha"]))


@writes("hard_swish")
def _hard_swish(c: OnnxCall) -> Any:
    x, w = c.var("X"), c.w
    moved = w.node("Add", c["X"], w.number(c.attrs["offset"], x))
    cut = w.node("Clip", moved, w.number(0, x), w.number(c.attrs["threshold"], x))
    return w.node("Div", w.node("Mul", c["X"], cut), w.number(c.attrs["scale"], x))


@writes("clip")
def _clip(c: OnnxCall) -> Any:
    c.only("Min", "Max")
    x = c.var("X")
    return c.w.node("Clip", c["X"], c.w.number(c.attrs["min"], x), c.w.number(c.attrs["max"], x))


@writes("hard_sigmoid")
def _hard_sigmoid(c: OnnxCall) -> Any:
    return c.w.node("HardSigmoid", c["X"], alpha=float(c.attrs["slope"]), beta=float(c.attrs["offset"]))


@writes("relu6")
def _relu6(c: OnnxCall) -> Any:
    x = c.var("X")
    return c.w.node("Clip", c["X"], c.w.number(0, x), c.w.number(c.attrs.get("threshold", 6.0), x))


@writes("scale")
def _scale(c: OnnxCall) -> Any:
    c.only("ScaleTensor", "BiasTensor")
    x, w = c.var("X"), c.w
    factor, bias, value = c.attrs["scale"], c.attrs["bias"], c["X"]
    if bias and not c.attrs["bias_after_scale"]:
        value = w.node("Add", value, w.number(bias, x))
    value = value if factor == 1 else w.node("Mul", value, w.number(factor, x))
    if bias and c.attrs["bias_after_scale"]:
        value = w.node("Add", value, w.number(bias, x))
    return w.node("Identity", value) if value == c["X"] else value


@writes("pow")
def _power(c: OnnxCall) -> Any:
    c.only("FactorTensor")
    return c.w.node("Pow", c["X"], c.w.number(c.attrs["factor"], c.var("X")))


@writes("cast")
def _cast(c: OnnxCall) -> Any:
    out = c.result()
    assert out is not None
    return c.w.node("Cast", c["X"], to=type_number(out.dtype.name))


@writes("where")
def _where(c: OnnxCall) -> Any:
    return c.w.node("Where", c["Condition"], c["X"], c["Y"])


@writes("sum")
def _sum(c: OnnxCall) -> Any:
    return c.w.node("Sum", *map(c.w.value, c.many("X")))


@writes("gelu")
def _gelu(c: OnnxCall) -> Any:
    x, w = c.var("X"), c.w
    return w.node("Mul", c["X"], _normal(w, c["X"], x, bool(c.attrs.get("approximate"))))


def _normal(w: GraphWriter, value: str, x: Variable, rough: bool) -> str:
    """The probability that a normal number is below *value*."""
    if rough:
        raise MissingRow("approximate")
    error = w.node("Erf", w.node("Mul", value, w.number(1 / math.sqrt(2), x)))
    return w.node("Mul", w.node("Add", error, w.number(1, x)), w.number(0.5, x))


# -- gradients --------------------------------------------------------------------------------------------------------


def reduce_to(w: GraphWriter, value: str, of: Sequence[int], like: Variable, axis: int = -1) -> str:
    """*value*, of the shape *of*, added up over the axes along which *like* was broadcast.

    Args:
        axis: the axis of *value* that the first one of *like* stands at; -1: its last ones are the last.
    """
    rank = len(like.shape)
    first = len(of) - rank if axis == -1 else axis
    inner = [first + i for i, d in enumerate(like.shape) if d == 1 and of[first + i] != 1]
    if inner:
        value = w.node("ReduceSum", value, w.constant(inner), keepdims=1)
    outer = [i for i in range(len(of)) if not first <= i < first + rank]
    return w.node("ReduceSum", value, w.constant(outer), keepdims=0) if outer else value


def _both(compute: Callable[[OnnxCall, str, str, str], tuple[str, str]]) -> Callable[[OnnxCall], Any]:
    """The gradients of an operator of two operands that are broadcast."""

    def write(c: OnnxCall) -> Any:
        x, y, g = c.var("X"), c.var("Y"), c.var("Out@GRAD")
        axis = c.attrs.get("axis", -1) if len(y.shape) < len(x.shape) else -1
        dx, dy = compute(c, *align(c), c["Out@GRAD"])
        made = {}
        if c.result("X@GRAD") is not None:
            made["X@GRAD"] = reduce_to(c.w, dx, g.shape, x)
        if c.result("Y@GRAD") is not None:
            made["Y@GRAD"] = reduce_to(c.w, dy, g.shape, y, axis)
        return made

    return write


TABLE["elementwise_add_grad"] = _both(lambda c, x, y, g: (g, g))
TABLE["elementwise_sub_grad"] = _both(lambda c, x, y, g: (g, c.w.node("Neg", g)))
TABLE["elementwise_mul_grad"] = _both(lambda c, x, y, g: (c.w.node("Mul", g, y), c.w.node("Mul", g, x)))


def _quotient(c: OnnxCall, x: str, y: str, g: str) -> tuple[str, str]:
    w = c.w
    return w.node("Div", g, y), w.node("Neg", w.node("Div", w.node("Mul", g, c["Out"]), y))


TABLE["elementwise_div_grad"] = _both(_quotient)


def _greater(kind: str) -> Callable[[OnnxCall, str, str, str], tuple[str, str]]:
    """Of a maximum or minimum: what arrives goes to the operand that was taken, of equal ones half to each."""

    def compute(c: OnnxCall, x: str, y: str, g: str) -> tuple[str, str]:
        w, arriving = c.w, c.var("Out@GRAD")
        first, equal, zero = w.node(kind, x, y), w.node("Equal", x, y), w.number(0, arriving)
        half = w.node("Mul", g, w.number(0.5, arriving))
        ones = w.node("Where", first, g, zero), w.node("Where", first, zero, g)
        return w.node("Where", equal, half, ones[0]), w.node("Where", equal, half, ones[1])

    return compute


TABLE["elementwise_max_grad"] = _both(_greater("Greater"))
TABLE["elementwise_min_grad"] = _both(_greater("Less"))


def _slope(compute: Callable[[OnnxCall], str]) -> Callable[[OnnxCall], Any]:
    """The gradient of an operator of one operand: what arrives times the slope."""
    return lambda c: c.w.node("Mul", c["Out@GRAD"], compute(c))


def _is_above(c: OnnxCall, slot: str, value: float = 0.0) -> str:
    """1 where an operand is above a number, else 0."""
    v = c.var(slot)
    larger = c.w.node("Greater", c[slot], c.w.number(value, v))
    return c.w.node("Cast", larger, to=type_number(v.dtype.name))


def _sigmoid_slope(c: OnnxCall) -> str:
    w, out = c.w, c.var("Out")
    return w.node("Mul", c["Out"], w.node("Sub", w.number(1, out), c["Out"]))


def _tanh_slope(c: OnnxCall) -> str:
    w, out = c.w, c.var("Out")
    return w.node("Sub", w.number(1, out), w.node("Mul", c["Out"], c["Out"]))


def _erf_slope(c: OnnxCall) -> str:
    w, x = c.w, c.var("X")
    bell = w.node("Exp", w.node("Neg", w.node("Mul", c["X"], c["X"])))
    return w.node("Mul", bell, w.number(2 / math.sqrt(math.pi), x))


def _leaky_slope(c: OnnxCall) -> str:
    w, x, alpha = c.w, c.var("X"), c.attrs["alpha"]
    return w.node("Where", w.node("GreaterOrEqual", c["X"], w.number(0, x)), w.number(1, x), w.number(alpha, x))


def _clip_slope(c: OnnxCall) -> str:
    c.only("Min", "Max")
    w, x = c.w, c.var("X")
    low = w.node("GreaterOrEqual", c["X"], w.number(c.attrs["min"], x))
    high = w.node("LessOrEqual", c["X"], w.number(c.attrs["max"], x))
    return w.node("Cast", w.node("And", low, high), to=type_number(x.dtype.name))


def _relu6_slope(c: OnnxCall) -> str:
    w, out = c.w, c.var("Out")
    low = w.node("Greater", c["Out"], w.number(0, out))
    high = w.node("Less", c["Out"], w.number(c.attrs.get("threshold", 6.0), out))
    return w.node("Cast", w.node("And", low, high), to=type_number(out.dtype.name))


def _hard_sigmoid_slope(c: OnnxCall) -> str:
    w, out = c.w, c.var("Out")
    inside = w.node("And", w.node("Greater", c["Out"], w.number(0, out)), w.node("Less", c["Out"], w.number(1, out)))
    return w.node("Where", inside, w.number(c.attrs["slope"], out), w.number(0, out))


def _power_slope(c: OnnxCall) -> str:
    c.only("FactorTensor")
    w, x, factor = c.w, c.var("X"), c.attrs["factor"]
    return w.node("Mul", w.node("Pow", c["X"], w.number(factor - 1, x)), w.number(factor, x))


def _rsqrt_slope(c: OnnxCall) -> str:
    w, out = c.w, c.var("Out")
    return w.node("Mul", w.node("Pow", c["Out"], w.number(3, out)), w.number(-0.5, out))


def _softplus_slope(c: OnnxCall) -> str:
    if c.attrs.get("beta", 1) != 1:
        raise MissingRow("with a beta")
    return c.w.node("Sigmoid", c["X"])


def _gelu_slope(c: OnnxCall) -> str:
    w, x = c.w, c.var("X")
    below = _normal(w, c["X"], x, bool(c.attrs.get("approximate")))
    half = w.node("Mul", w.node("Mul", c["X"], c["X"]), w.number(-0.5, x))
    bell = w.node("Mul", w.node("Exp", half), w.number(1 / math.sqrt(2 * math.pi), x))
    return w.node("Add", below, w.node("Mul", c["X"], bell))


def _silu_slope(c: OnnxCall) -> str:
    w, x = c.w, c.var("X")
    s = w.node("Sigmoid", c["X"])
    rest = w.node("Mul", c["X"], w.node("Sub", w.number(1, x), s))
    return w.node("Mul", s, w.node("Add", rest, w.number(1, x)))


SLOPES: dict[str, Callable[[OnnxCall], str]] = {
    "abs": lambda c: c.w.node("Sign", c["X"]),
    "cos": lambda c: c.w.node("Neg", c.w.node("Sin", c["X"])),
    "pow": _power_slope,
    "reciprocal": lambda c: c.w.node("Neg", c.w.node("Mul", c["Out"], c["Out"])),
    "relu": lambda c: _is_above(c, "Out"),
    "relu6": _relu6_slope,
    "rsqrt": _rsqrt_slope,
    "sin": lambda c: c.w.node("Cos", c["X"]),
    "softplus": _softplus_slope,
    "sigmoid": _sigmoid_slope,
    "tanh": _tanh_slope,
    "square": lambda c: c.w.node("Mul", c["X"], c.w.number(2, c.var("X"))),
    "exp": lambda c: c["Out"],
    "log": lambda c: c.w.node("Reciprocal", c["X"]),
    "sqrt": lambda c: c.w.node("Div", c.w.number(0.5, c.var("Out")), c["Out"]),
    "erf": _erf_slope,
    "hard_sigmoid": _hard_sigmoid_slope,
    "leaky_relu": _leaky_slope,
    "clip": _clip_slope,
    "gelu": _gelu_slope,
    "silu": _silu_slope,
}
"""Operator -> its slope at each element."""

for _type, _compute in SLOPES.items():
    TABLE[f"{_type}_grad"] = _slope(_compute)


@writes("where_grad")
def _where_gradients(c: OnnxCall) -> Any:
    w, g = c.w, c.var("Out@GRAD")
    zero = w.number(0, g)
    return {
        "X@GRAD": reduce_to(w, w.node("Where", c["Condition"], c["Out@GRAD"], zero), g.shape, c.var("X")),
        "Y@GRAD": reduce_to(w, w.node("Where", c["Condition"], zero, c["Out@GRAD"]), g.shape, c.var("Y")),
    }


@writes("hard_swish_grad")
def _hard_swish_back(c: OnnxCall) -> Any:
    w, x, a = c.w, c.var("X"), c.attrs
    moved = w.node("Add", c["X"], w.number(a["offset"], x))
    low = w.node("Greater", moved, w.number(0, x))
    high = w.node("Less", moved, w.number(a["threshold"], x))
    inside = w.node("Cast", w.node("And", low, high), to=type_number(x.dtype.name))
    cut = w.node("Clip", moved, w.number(0, x), w.number(a["threshold"], x))
    slope = w.node("Add", w.node("Mul", c["X"], inside), cut)
    return w.node("Div", w.node("Mul", c["Out@GRAD"], slope), w.number(a["scale"], x))


@writes("dropout", "dropout_grad")
def _keep(c: OnnxCall) -> Any:
    """The test form: everything is kept, in the proportion that training has."""
    if not c.attrs["is_test"]:
        raise MissingRow("that draws")
    slot, p = "X" if c.op.type == "dropout" else "Out@GRAD", c.attrs["dropout_prob"]
    if c.attrs["dropout_implementation"] == "upscale_in_train" or not p:
        return c.w.node("Identity", c[slot])
    return c.w.node("Mul", c[slot], c.w.number(1 - p, c.var(slot)))
