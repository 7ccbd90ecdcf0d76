"""``paddle.atan2``, ``paddle.fmax``, ``paddle.lerp``, ``paddle.gcd``, …: further functions of two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.spec import float32, float64
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops import registry

from ._arguments import INTEGERS, tensor
from ._complex import conj
from ._creation import cast, full
from ._dispatch import apply
from ._math import multiply, pow, sqrt
from ._reduction import sum
from ._short_names import delivered

BITS = ("uint8", "int8", "int16", *INTEGERS)


def _define(name: str, op_type: str, dtypes: tuple[str, ...] = ()) -> Callable[..., AnyTensor]:
    """``paddle.<name>(x, y)`` of an operator of two tensors.

    As those of ``add`` are, results of operators whose type begins with ``elementwise_`` are called by it alone.
    """
    where = f"paddle.{name}"
    direct = op_type.startswith("elementwise_")

    def function(x: Any, y: Any, name: str | None = None) -> AnyTensor:
        operands = tensor(x, "x", where, dtypes), tensor(y, "y", where, dtypes)
        return apply(op_type, *operands, name=name, direct=direct)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = registry.get_by_type(op_type).doc
    return function


fmax = _define("fmax", "elementwise_fmax")
fmin = _define("fmin", "elementwise_fmin")
gcd = _define("gcd", "gcd", INTEGERS)
heaviside = _define("heaviside", "elementwise_heaviside")
lcm = _define("lcm", "lcm", INTEGERS)
nextafter = _define("nextafter", "nextafter")


def atan2(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """The angle of the points (y, x) to the positive first axis; of whole numbers, in float64."""
    pair = [tensor(v, what, "paddle.atan2") for v, what in ((x, "x"), (y, "y"))]
    if pair[0].dtype is pair[1].dtype and pair[0].dtype.name in INTEGERS:
        pair = [cast(v, float64) for v in pair]
    return apply("atan2", *pair, name=name)  # type: ignore[no-any-return]


def copysign(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """The size of *x* with the sign of *y*, a tensor or a number."""
    x = tensor(x, "x", "paddle.copysign")
    if isinstance(y, (int, float)):
        y = full([], y, x.dtype)
    return apply("copysign", x, tensor(y, "y", "paddle.copysign"), name=name)  # type: ignore[no-any-return]


def _shift(op_type: str) -> Callable[..., AnyTensor]:
    where = f"paddle.{op_type}"

    def function(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None) -> AnyTensor:
        pair = tensor(x, "x", where, BITS), tensor(y, "y", where, BITS)
        result = apply(op_type, *pair, attrs={"is_arithmetic": bool(is_arithmetic)}, name=name)
        return delivered(result, out)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = op_type
    function.__doc__ = registry.get_by_type(op_type).doc
    return function


bitwise_left_shift = _shift("bitwise_left_shift")
bitwise_right_shift = _shift("bitwise_right_shift")


def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> AnyTensor:
    """``x + weight·(y - x)``.

    Args:
        weight: a number or a tensor, which gets no gradient (as in Paddle).
    """
    x = tensor(x, "x", "paddle.lerp")
    if isinstance(weight, (int, float)):
        weight = full([], weight, x.dtype)
    return apply("lerp", x, tensor(y, "y", "paddle.lerp"), weight, name=name)  # type: ignore[no-any-return]


def logaddexp(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """``log(exp(x) + exp(y))``, without overflow."""
    pair = [tensor(v, what, "paddle.logaddexp") for v, what in ((x, "x"), (y, "y"))]
    if pair[0].dtype is pair[1].dtype and pair[0].dtype.name in INTEGERS:
        pair = [cast(v, float32) for v in pair]
    elif pair[0].dtype is not pair[1].dtype and all(v.dtype.is_floating for v in pair):
        kind = float64 if float64 in (pair[0].dtype, pair[1].dtype) else float32
        pair = [v if v.dtype is kind else cast(v, kind) for v in pair]
    return apply("logaddexp", *pair, name=name)  # type: ignore[no-any-return]


def hypot(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """``√(x² + y²)``."""
    pair = (tensor(v, what, "paddle.hypot") for v, what in ((x, "x"), (y, "y")))
    first, second = (pow(v, 2) for v in pair)
    return sqrt(first + second)


def ldexp(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """``x·2^y``; of whole numbers, in float32."""
    x, y = tensor(x, "x", "paddle.ldexp"), tensor(y, "y", "paddle.ldexp")
    kind = float64 if float64 in (x.dtype, y.dtype) else float32
    x, y = (v if v.dtype is kind else cast(v, kind) for v in (x, y))
    return multiply(x, pow(full([], 2.0, kind), y))


def reduce_as(x: Any, target: Any, name: str | None = None) -> AnyTensor:
    """*x*, summed over the dimensions that *target* would be broadcast over to its shape."""
    where = "paddle.reduce_as"
    return apply("reduce_as", tensor(x, "x", where), tensor(target, "target", where), name=name)  # type: ignore[no-any-return]


def vecdot(x: Any, y: Any, axis: int = -1, name: str | None = None) -> AnyTensor:
    """The inner products along *axis*; of complex vectors, *x* is conjugated."""
    x, y = tensor(x, "x", "paddle.vecdot"), tensor(y, "y", "paddle.vecdot")
    return sum(conj(x) * y, axis)
