"""Shape rules that many operators share; -1 is a dimension not known until the program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..core.errors import AxisError, DtypeError, OperatorError, ShapeError
from ..core.spec import UNKNOWN, DType, Shape, TensorSpec, bool_, promote
from .opdef import OpDef, Trait


def infer_by_trait(op: OpDef, specs: Sequence[Any], attrs: Mapping[str, Any]) -> TensorSpec:
    """The output spec of an operator whose trait says all there is to say."""
    if Trait.UNARY in op.trait:
        return specs[0]  # type: ignore[no-any-return]
    if Trait.ELEMENTWISE in op.trait:
        x, y = specs[0], specs[1]
        return TensorSpec(broadcast(x.shape, y.shape, attrs.get("axis", -1), op.type), x.dtype)
    if Trait.COMPARE in op.trait:
        x, y = specs[0], specs[1]
        return TensorSpec(broadcast(x.shape, y.shape, -1, op.type), bool_)
    raise OperatorError(f"{op.type} has no shape rule")


def real_shape_rule(op: str) -> Callable[..., TensorSpec]:
    """The shape rule of an operator on real numbers: the spec of its first input, which must not be an integer.

    Raises:
        DtypeError: it is an integer or a truth value (a TypeError).
    """

    def infer(x: TensorSpec, *rest: Any) -> TensorSpec:
        expect_floating(x, "X", op)
        return x

    return infer


def expect_floating(spec: TensorSpec, slot: str, op: str) -> None:
    """Raise :class:`DtypeError` unless *spec* holds real (or complex) numbers."""
    if spec.dtype.is_integer or spec.dtype is bool_:
        raise DtypeError(
            f"{op}: {slot} must hold floating-point numbers, but received {spec.dtype.name}.",
            hint="convert it first, as in paddle.cast(x, 'float32')",
        )


def common_dtype(x: DType, y: DType) -> DType:
    """The dtype of what is computed from *x* and *y*: the first one's but where a rare type meets another."""
    mixed = x is not y and (x.is_rare or y.is_rare) and not (x is bool_ or y is bool_)
    return promote(x, y) if mixed and (x.is_complex or y.is_complex or (x.is_floating and y.is_floating)) else x


def real_part(x: TensorSpec) -> TensorSpec:
    """*x* with the dtype of its parts where it is complex."""
    return x.replace_dtype({"complex64": "float32", "complex128": "float64"}.get(x.dtype.name, x.dtype))


def broadcast(x: Shape, y: Shape, axis: int = -1, op: str = "broadcast") -> Shape:
    """The shape of an elementwise operation; *axis* is the dimension of *x* that *y*'s first one stands at.

    Raises:
        ShapeError: a pair of dimensions is neither equal nor 1.
    """
    if axis not in (-1, len(x) - len(y)) and len(y) <= len(x):
        trailing = len(x) - axis - len(y)
        if axis < 0 or trailing < 0:
            raise ShapeError(f"{op}: axis {axis} does not place Y {list(y)} within X {list(x)}")
        aligned = (*y, *(1,) * trailing)
    else:
        aligned = y
    size = max(len(x), len(aligned))
    a = (1,) * (size - len(x)) + tuple(x)
    b = (1,) * (size - len(aligned)) + tuple(aligned)
    out = [_common(m, n) for m, n in zip(a, b, strict=True)]
    if None in out:
        plain = "the last dimensions must be equal or 1"
        placed = f"Y's dimensions must equal X's from axis {axis} on, or be 1"
        raise ShapeError(f"{op}: cannot broadcast X {list(x)} with Y {list(y)}", hint=plain if axis == -1 else placed)
    return tuple(out)  # type: ignore[arg-type]


def _common(m: int, n: int) -> int | None:
    """The size that two dimensions are broadcast to; None where they cannot be."""
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if UNKNOWN in (m, n):
        return n if m == UNKNOWN else m
    return None


def axis_in(axis: int, ndim: int, op: str) -> int:
    """*axis* counted from the front; raises :class:`ShapeError` when it is out of range."""
    if not -max(ndim, 1) <= axis < max(ndim, 1):
        raise AxisError(f"{op}: axis {axis} is out of range for a tensor of {ndim} dimensions")
    return axis % ndim if ndim else 0


def axes_in(axes: Iterable[int], ndim: int, op: str) -> tuple[int, ...]:
    """*axes* counted from the front, sorted."""
    return tuple(sorted({axis_in(a, ndim, op) for a in axes}))


def product(dims: Iterable[int]) -> int:
    """Number of elements, or -1 when a dimension is not known."""
    total = 1
    for d in dims:
        if d == UNKNOWN:
            return UNKNOWN
        total *= d
    return total


def reduce_shape(shape: Shape, axes: tuple[int, ...], keep: bool) -> Shape:
    """*shape* without *axes*, or with ones in their place."""
    if keep:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)
