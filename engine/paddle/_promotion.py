"""Operands in the types in which they meet: casts, and numbers as tensors."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import DtypeError
from gradtool.engine.core.spec import DType, float32
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops.types import promote_operands

from ._dispatch import append


def append_tmp(home: AnyTensor, op_type: str, operands: tuple[AnyTensor | None, ...], attrs: dict[str, Any]) -> Any:
    """Append an operator with one output, which a program calls ``tmp_N``; return the output."""
    return append(home, op_type, operands, attrs, "tmp")


def constant(x: AnyTensor, value: float, like: bool) -> Any:
    """Return *value* in the dtype of *x*, as a scalar or in its shape."""
    attrs: dict[str, Any] = {"value": value, "dtype": x.dtype.code, "shape": x.shape if like else ()}
    if not like or x.spec.known:
        return append_tmp(x, "fill_constant", (), attrs)
    batch = x.shape.index(-1)
    attrs["shape"] = tuple(1 if d == -1 and i != batch else d for i, d in enumerate(x.shape))
    out = append_tmp(
        x, "fill_constant_batch_size_like", (x,), {**attrs, "input_dim_idx": batch, "output_dim_idx": batch}
    )
    out.stop_gradient = True
    return out


def cast(x: AnyTensor, dtype: DType) -> Any:
    """Return *x* in *dtype*, as ``x.astype`` makes it."""
    return append_tmp(x, "cast", (x,), {"in_dtype": x.dtype.code, "out_dtype": dtype.code})


def as_float(x: AnyTensor) -> AnyTensor:
    """Return *x*, cast to float32 unless its type is differentiable."""
    return x if x.dtype.is_differentiable else cast(x, float32)


def unified(x: AnyTensor, y: AnyTensor, op_type: str) -> tuple[AnyTensor, AnyTensor]:
    """Return *x* and *y*, cast to the type in which they meet (:func:`gradtool.engine.ops.types.promote_operands`).

    With a complex tensor, operators on complex numbers take real ones as they are. ``@`` takes the second operand in
    the type of the first, as in Paddle, where that is a floating-point one.

    Raises:
        DtypeError: they do not meet, as an integer and a floating-point tensor, or two integer types (a TypeError).
    """
    if op_type != "where" and (x.dtype.is_complex or y.dtype.is_complex):
        return x, y
    target = promote_operands(op_type, x.spec, y.spec)
    if op_type == "matmul_v2":
        target = x.dtype if x.dtype.is_floating else None
    if target is None:
        raise DtypeError(
            f"{op_type}: X '{x.name}' is {x.dtype.name} and Y '{y.name}' is {y.dtype.name}.",
            hint=f"cast one of them, for example {y.name}.astype({x.dtype.name!r})",
        )
    return (v if v.dtype is target else cast(v, target) for v in (x, y))  # type: ignore[return-value]
