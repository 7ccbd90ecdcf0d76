"""Operators that compute element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle

from ....core.spec import dtype, promote
from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, is_tensor, is_whole, kind_of
from ..values import SymbolicSize, as_number
from .rows import row

UNARY = {
    "abs": "abs",
    "acos": "acos",
    "acosh": "acosh",
    "asin": "asin",
    "asinh": "asinh",
    "atan": "atan",
    "atanh": "atanh",
    "ceil": "ceil",
    "cos": "cos",
    "cosh": "cosh",
    "digamma": "digamma",
    "erf": "erf",
    "erfinv": "erfinv",
    "exp": "exp",
    "expm1": "expm1",
    "floor": "floor",
    "frac": "frac",
    "lgamma": "lgamma",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "neg": "neg",
    "reciprocal": "reciprocal",
    "rsqrt": "rsqrt",
    "sigmoid": "sigmoid",
    "sign": "sign",
    "sin": "sin",
    "sinc": "sinc",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "tan": "tan",
    "tanh": "tanh",
    "trunc": "trunc",
}
"""Operator -> the public function of one tensor that computes the same, of real numbers where those come out."""

TOLD = {
    "bitwise_not": "bitwise_not",
    "isfinite": "isfinite",
    "isinf": "isinf",
    "isnan": "isnan",
    "logical_not": "logical_not",
    "signbit": "signbit",
    "conj": "conj",
    "imag": "imag",
    "angle": "angle",
    "view_as_real": "as_real",
    "view_as_complex": "as_complex",
}
"""The same, where the operand keeps its type."""

BINARY = {
    "atan2": "atan2",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "copysign": "copysign",
    "floor_divide": "floor_divide",
    "fmax": "fmax",
    "fmin": "fmin",
    "fmod": "fmod",
    "hypot": "hypot",
    "logaddexp": "logaddexp",
    "maximum": "maximum",
    "minimum": "minimum",
    "mul": "multiply",
    "remainder": "remainder",
}
"""Operator -> the function of two tensors whose shapes are broadcast; both are cast to the type of what comes out."""

COMPARED = {
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater_than",
    "le": "less_equal",
    "lt": "less_than",
    "ne": "not_equal",
    "greater": "greater_than",
    "greater_equal": "greater_equal",
    "less": "less_than",
    "less_equal": "less_equal",
    "not_equal": "not_equal",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
}
"""The same; both are cast to the type that holds both."""


def one(x: Any, kind: str) -> Any:
    """A number as a tensor of no axis; a tensor in that type."""
    x = as_number(x)
    if is_tensor(x):
        return cast(x, kind)
    if isinstance(x, complex) and not kind.startswith("complex"):
        raise Unsound(f"the complex number {x} in the place of one of {kind}")
    return paddle.full([], bool(x) if kind == "bool" else (int(x) if is_whole(kind) else x), kind)


def common_type(x: Any, y: Any) -> str:
    """The type that holds two operands, as PyTorch finds it: numbers only matter where they are of a higher kind."""
    if is_tensor(x) and is_tensor(y):
        a, b = dtype(kind_of(x)), dtype(kind_of(y))
        ranks = [_rank(a.name), _rank(b.name)]
        if ranks[0] != ranks[1] and (len(x.shape) == 0) != (len(y.shape) == 0):
            return a.name if ranks[0] > ranks[1] else b.name
        if ranks[0] == ranks[1] and (len(x.shape) == 0) != (len(y.shape) == 0):
            return b.name if len(x.shape) == 0 else a.name
        return str(np.promote_types(a.numpy, b.numpy)) if max(ranks) < 2 else promote(a, b).name
    tensor, number = (x, y) if is_tensor(x) else (y, x)
    if not is_tensor(tensor):
        raise Missing("two numbers in the place of tensors")
    kind = kind_of(tensor)
    if isinstance(number, float) and _rank(kind) < 2:
        return "float32"
    return (
        "int64" if isinstance(number, (int, SymbolicSize)) and not isinstance(number, bool) and kind == "bool" else kind
    )


def _rank(kind: str) -> int:
    return 0 if kind == "bool" else 1 if is_whole(kind) else 3 if kind.startswith("complex") else 2


_NARROW = ("int8", "uint8", "int16")


def compute_wide(function: Callable[..., Any], *operands: Any) -> Any:
    """Compute *function* on whole numbers of few bits, by way of 32 bits: kernels compute with these."""
    kind = kind_of(operands[0])
    if kind not in _NARROW:
        return function(*operands)
    made = function(*(paddle.cast(v, "int32") for v in operands))
    return made if kind_of(made) == "bool" else paddle.cast(made, kind)


def _unary(name: str) -> Callable[[Pt2Node], Any]:
    return lambda n: getattr(paddle, name)(cast(n.tensor("self"), n.made.kind))


def _declared(name: str) -> Callable[[Pt2Node], Any]:
    return lambda n: getattr(paddle, name)(n.tensor("self"))


def _binary(name: str) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        kind = n.made.kind
        return compute_wide(getattr(paddle, name), one(n("self"), kind), one(n("other"), kind))

    return emit


def _compare(name: str) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        x, y = n("self"), n("other")
        kind = common_type(x, y)
        return compute_wide(getattr(paddle, name), one(x, kind), one(y, kind))

    return emit


for _kind, _name in UNARY.items():
    row(f"aten.{_kind}")(_unary(_name))
for _kind, _name in TOLD.items():
    row(f"aten.{_kind}")(_declared(_name))
for _kind, _name in BINARY.items():
    row(f"aten.{_kind}")(_binary(_name))
for _kind, _name in COMPARED.items():
    row(f"aten.{_kind}")(_compare(_name))
row("aten.bitwise_left_shift", "aten.__lshift__")(_binary("bitwise_left_shift"))
row("aten.bitwise_right_shift", "aten.__rshift__")(_binary("bitwise_right_shift"))
row("aten.__and__")(_binary("bitwise_and"))
row("aten.__or__")(_binary("bitwise_or"))
row("aten.__xor__")(_binary("bitwise_xor"))
row("aten.multiply")(_binary("multiply"))


def scale_by(x: Any, factor: Any) -> Any:
    """*x* times a number; itself where that is 1."""
    return x if not is_tensor(factor) and factor == 1 else x * factor


def _sum(n: Pt2Node, x: Any, y: Any, sign: int) -> Any:
    kind = n.made.kind
    alpha = n("alpha", 1)
    y, x = as_number(y), as_number(x)
    if not is_tensor(y) and not is_tensor(alpha) and is_tensor(x) and kind not in ("bool", *_NARROW):
        step = y * alpha * sign
        return cast(x, kind) + (int(step) if is_whole(kind) else step)
    x, y = one(x, kind), scale_by(one(y, kind), alpha)
    return compute_wide(paddle.add if sign > 0 else paddle.subtract, x, y)


@row("aten.add")
def _add(n: Pt2Node) -> Any:
    if n.made.kind == "bool":
        return paddle.logical_or(one(n("self"), "bool"), one(n("other"), "bool"))
    return _sum(n, n("self"), n("other"), 1)


@row("aten.sub", "aten.subtract")
def _subtract(n: Pt2Node) -> Any:
    return _sum(n, n("self"), n("other"), -1)


@row("aten.rsub")
def _reverse(n: Pt2Node) -> Any:
    return _sum(n, n("other"), n("self"), -1)


@row("aten.mul.Scalar", "aten.mul.Tensor")
def _multiply(n: Pt2Node) -> Any:
    x, y, kind = n("self"), as_number(n("other")), n.made.kind
    if not is_tensor(y) and not isinstance(y, complex) and kind not in ("bool", *_NARROW):
        return cast(x, kind) * (int(y) if is_whole(kind) else float(y))
    if kind == "bool":
        return paddle.logical_and(one(x, "bool"), one(y, "bool"))
    return compute_wide(paddle.multiply, one(x, kind), one(y, kind))


@row("aten.div", "aten.divide", "aten.true_divide")
def _divide(n: Pt2Node) -> Any:
    x, y, kind, mode = n("self"), as_number(n("other")), n.made.kind, n("rounding_mode", None)
    if mode is None:
        if not is_tensor(y) and is_tensor(x) and y:
            return cast(x, kind) / float(y)
        return paddle.divide(one(x, kind), one(y, kind))
    a, b = one(x, kind), one(y, kind)
    if mode == "floor":
        return compute_wide(paddle.floor_divide, a, b) if is_whole(kind) else paddle.floor(paddle.divide(a, b))
    if not is_whole(kind):
        return paddle.trunc(paddle.divide(a, b))
    sign = compute_wide(paddle.multiply, paddle.sign(a), paddle.sign(b))
    return compute_wide(paddle.multiply, sign, compute_wide(paddle.floor_divide, paddle.abs(a), paddle.abs(b)))


@row("aten.fmod")
def _remainder(n: Pt2Node) -> Any:
    """With the sign of what is divided."""
    x, y = one(n("self"), n.made.kind), one(n("other"), n.made.kind)
    return paddle.sign(x) * paddle.mod(paddle.abs(x), paddle.abs(y))


@row("aten.pow")
def _power(n: Pt2Node) -> Any:
    x, y, kind = n("self"), as_number(n("exponent")), n.made.kind
    if is_tensor(x) and not is_tensor(y):
        if y == 2:
            return paddle.square(cast(x, kind))
        return paddle.pow(cast(x, kind), int(y) if is_whole(kind) else float(y))
    return paddle.pow(one(x, kind), one(y, kind))


@row("aten.clamp", "aten.clip")
def _clamp(n: Pt2Node) -> Any:
    x, low, high, kind = n.tensor("self"), n("min", None), n("max", None), n.made.kind
    x = cast(x, kind)
    if not is_tensor(low) and not is_tensor(high) and not is_whole(kind):
        low, high = (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))
        return paddle.clip(x, min(low, high), high)
    x = x if low is None else compute_wide(paddle.maximum, x, one(low, kind))
    return x if high is None else compute_wide(paddle.minimum, x, one(high, kind))


@row("aten.clamp_min")
def _lower_bound(n: Pt2Node) -> Any:
    x, low = cast(n.tensor("self"), n.made.kind), n("min")
    if is_tensor(low) or is_whole(n.made.kind):
        return compute_wide(paddle.maximum, x, one(low, n.made.kind))
    return paddle.clip(x, float(low), math.inf)


@row("aten.clamp_max")
def _upper_bound(n: Pt2Node) -> Any:
    x, high = cast(n.tensor("self"), n.made.kind), n("max")
    if is_tensor(high) or is_whole(n.made.kind):
        return compute_wide(paddle.minimum, x, one(high, n.made.kind))
    return paddle.clip(x, -math.inf, float(high))


@row("aten.where")
def _where(n: Pt2Node) -> Any:
    if "self" not in n.arguments:
        raise Missing("where, of a condition alone")
    return paddle.where(cast(n.tensor("condition"), "bool"), *_spread(n))


def _spread(n: Pt2Node) -> tuple[Any, Any]:
    """Both operands in the type that comes out; paddle's ``where`` broadcasts them."""
    return one(n("self"), n.made.kind), one(n("other"), n.made.kind)


@row("aten.masked_fill")
def _mask(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return paddle.where(cast(n.tensor("mask"), "bool"), one(n("value"), kind_of(x)), x)


@row("aten.round")
def _round(n: Pt2Node) -> Any:
    """Halves go to the even number."""
    x, decimals = n.tensor("self"), n.whole("decimals", 0)
    if is_whole(kind_of(x)):
        return paddle.assign(x)
    factor = 10.0**decimals
    y = scale_by(x, factor)
    rounded = paddle.floor(y + 0.5)
    half = paddle.cast(paddle.equal(rounded - y, paddle.full_like(y, 0.5)), kind_of(y))
    odd = rounded - 2 * paddle.floor(rounded / 2)
    whole = rounded - half * odd
    return whole if decimals == 0 else whole / factor


@row("aten.addcmul")
def _add_product(n: Pt2Node) -> Any:
    x, a, b = (cast(n.tensor(name), n.made.kind) for name in ("self", "tensor1", "tensor2"))
    return x + scale_by(a * b, n("value", 1))


@row("aten.addcdiv")
def _add_quotient(n: Pt2Node) -> Any:
    x, a, b = (cast(n.tensor(name), n.made.kind) for name in ("self", "tensor1", "tensor2"))
    return x + scale_by(a / b, n("value", 1))


@row("aten.lerp")
def _clamp_between(n: Pt2Node) -> Any:
    x, end = n.tensor("self"), n.tensor("end")
    return x + (end - x) * n("weight")


@row("aten.logit")
def _logit(n: Pt2Node) -> Any:
    x, eps = cast(n.tensor("self"), n.made.kind), n("eps", None)
    x = x if eps is None else paddle.clip(x, float(eps), 1 - float(eps))
    return paddle.log(x / (1 - x))


@row("aten.xlogy")
def _x_log_y(n: Pt2Node) -> Any:
    x, y = one(n("self"), n.made.kind), one(n("other"), n.made.kind)
    zero = paddle.equal(x, paddle.zeros_like(x))
    return paddle.where(zero, paddle.zeros_like(x * y), x * paddle.log(y))


@row("aten.nan_to_num")
def _numbers_only(n: Pt2Node) -> Any:
    nan = n("nan", None)
    return paddle.nan_to_num(n.tensor("self"), 0.0 if nan is None else nan, n("posinf", None), n("neginf", None))


@row("aten.real")
def _real(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return paddle.real(x) if kind_of(x).startswith("complex") else x


@row("aten.heaviside")
def _heaviside(n: Pt2Node) -> Any:
    return paddle.heaviside(n.tensor("self"), n.tensor("values"))


@row("aten.isclose")
def _close(n: Pt2Node) -> Any:
    x, y = n.tensor("self"), cast(n.tensor("other"), kind_of(n.tensor("self")))
    return paddle.isclose(x, y, float(n("rtol", 1e-5)), float(n("atol", 1e-8)), n.flag("equal_nan"))


@row("aten.exp2")
def _two_to_the(n: Pt2Node) -> Any:
    return paddle.exp(cast(n.tensor("self"), n.made.kind) * math.log(2))


@row("aten.erfc")
def _erfc(n: Pt2Node) -> Any:
    return 1 - paddle.erf(cast(n.tensor("self"), n.made.kind))


@row("aten.sgn")
def _direction(n: Pt2Node) -> Any:
    return paddle.sgn(n.tensor("self"))


@row("aten.deg2rad")
def _radians(n: Pt2Node) -> Any:
    return cast(n.tensor("self"), n.made.kind) * (math.pi / 180)


@row("aten.rad2deg")
def _degrees(n: Pt2Node) -> Any:
    return cast(n.tensor("self"), n.made.kind) * (180 / math.pi)


@row("aten._to_copy", "aten.to", "aten.type_as", "prims.convert_element_type")
def _cast(n: Pt2Node) -> Any:
    return cast(n.tensor("a" if n.kind.startswith("prims") else "self"), n.made.kind)


@row("aten._conj", "aten.resolve_conj", "aten.resolve_neg", "aten.conj_physical")
def _conjugate(n: Pt2Node) -> Any:
    x = n.tensor("self")
    return paddle.conj(x) if n.kind in ("aten._conj", "aten.conj_physical") else x


@row("aten.clone", "aten.lift_fresh_copy", "aten.alias_copy")
def _copy_into(n: Pt2Node) -> Any:
    return paddle.assign(n.tensor("self"))


@row("aten.fill")
def _fill(n: Pt2Node) -> Any:
    x = n.tensor("self")
    value = n("value")
    if is_tensor(value):
        return paddle.expand(cast(value, kind_of(x)), list(x.shape)) if x.shape else cast(value, kind_of(x))
    return paddle.full_like(x, value)


@row("aten.zero")
def _zero(n: Pt2Node) -> Any:
    return paddle.zeros_like(n.tensor("self"))


@row("aten.copy")
def _copy(n: Pt2Node) -> Any:
    x, source = n.tensor("self"), cast(n.tensor("src"), kind_of(n.tensor("self")))
    return paddle.assign(source) if list(source.shape) == list(x.shape) else paddle.expand(source, list(x.shape))
