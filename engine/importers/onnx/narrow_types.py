"""Element types that gradtool has not, kept in wider ones: which values they have, and how others become these.

The ``kind`` of a :class:`.node.GraphName` is the type that the file means; its elements are always values of that type.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from gradtool import paddle

from .errors import Lacking

CARRIERS: Final = {
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "int4": "int8",
    "uint4": "uint8",
    "int2": "int8",
    "uint2": "uint8",
    "float8e4m3fn": "float32",
    "float8e4m3fnuz": "float32",
    "float8e5m2": "float32",
    "float8e5m2fnuz": "float32",
    "float8e8m0": "float32",
    "float4e2m1": "float32",
}
"""Types of the standard -> the types of gradtool that hold all of their values (of uint64 those below 2**63)."""

LIMITS: Final = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "uint32": (0, (1 << 32) - 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int2": (-2, 1),
    "uint2": (0, 3),
}
"""The smallest and the largest value of types of whole numbers."""


class Small(NamedTuple):
    """A type of real numbers of few bits.

    Attributes:
        digits: binary ones behind the point.
        least: the exponent of its smallest normal number.
        most: its largest number.
        beyond: what a larger one becomes where it is not cut.
        undefined: what becomes of NaN.
    """

    digits: int
    least: int
    most: float
    beyond: float
    undefined: float = float("nan")


SMALL: Final = {
    "float8e4m3fn": Small(3, -6, 448.0, float("nan")),
    "float8e4m3fnuz": Small(3, -7, 240.0, float("nan")),
    "float8e5m2": Small(2, -14, 57344.0, float("inf")),
    "float8e5m2fnuz": Small(2, -15, 57344.0, float("nan")),
    "float4e2m1": Small(1, 0, 6.0, 6.0, 0.0),
}

NOTE: Final = "elements of the type {} are kept as {}, with the values of that type"
_OVERFLOWS: Final = frozenset(
    ("Add", "BitShift", "BitwiseNot", "CumSum", "MatMul", "Mul", "Neg", "Pow", "ReduceProd", "ReduceSum", "Sub", "Sum")
)
"""Operators whose results may be no values of the type of their operands."""


def round_to_even(x: Any) -> Any:
    """*x* rounded; halves go to the even number."""
    floor = paddle.floor(x + 0.5)
    half = paddle.cast(paddle.equal(floor - x, paddle.full_like(x, 0.5)), x.dtype)
    return floor - half * (floor - 2 * paddle.floor(floor / 2))


def become(x: Any, kind: str, cut: bool = True) -> Any:
    """*x* as values of a type that gradtool has not, in the type that carries it.

    Args:
        cut: real numbers that are too large become the largest one.

    Raises:
        Lacking: it is one of which only values can be read.
    """
    carrier = CARRIERS[kind]
    if kind in SMALL:
        return _nearest(paddle.cast(x, carrier), SMALL[kind], cut)
    if carrier == "float32":
        raise Lacking(f"numbers that are rounded to {kind}")
    return paddle.cast(wrap(paddle.cast(x, "int64"), kind), carrier)


def wrap(x: Any, kind: str) -> Any:
    """Whole numbers as the lowest bits of them say."""
    if kind not in LIMITS:
        return x
    low, high = LIMITS[kind]
    wide = paddle.cast(x, "int64")
    return paddle.cast(paddle.mod(wide - low, paddle.full_like(wide, high - low + 1)) + low, x.dtype)


def _nearest(x: Any, small: Small, cut: bool) -> Any:
    """The nearest number of a type of few bits, in single precision."""
    size = paddle.abs(x)
    held = paddle.clip(size, 2.0**small.least, 2 * small.most)
    exponent = paddle.floor(paddle.log2(held))
    exponent = exponent - paddle.cast(paddle.pow(paddle.full_like(exponent, 2.0), exponent) > held, "float32")
    step = paddle.pow(paddle.full_like(exponent, 2.0), exponent - small.digits)
    limited = paddle.minimum(size, paddle.full_like(size, 4 * small.most))
    rounded = round_to_even(limited / step) * step
    above = rounded > small.most
    largest = paddle.full_like(rounded, small.most if cut else small.beyond)
    made = paddle.where(above, largest, rounded) * paddle.sign(x)
    return paddle.where(paddle.isnan(x), paddle.full_like(x, small.undefined), made)


def result_kind(kinds: list[str], made: Any) -> str:
    """The type that the file means by what an operator makes of operands of *kinds*; empty where it is gradtool's."""
    for kind in kinds:
        carrier = CARRIERS.get(kind)
        if carrier is not None and getattr(made, "dtype", None) is not None:
            return kind if str(made.dtype).rpartition(".")[2] == carrier else ""
    return ""


def settle(operator: str, kind: str, made: Any) -> Any:
    """Return the result of an operator as values of *kind*."""
    return wrap(made, kind) if operator in _OVERFLOWS and kind in LIMITS else made
