"""``paddle.median``, the same operator in both modes."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import DTYPES
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor

from ._arguments import integer, tensor
from ._creation import assign, cast, zeros
from ._dispatch import apply
from ._manipulation import flatten, reshape, squeeze


def _of_one(x: AnyTensor, mode: str) -> Any:
    """The median of a tensor without dimensions along the axis that it would have."""
    if mode == "min":
        return assign(x), zeros([], "int64")
    return assign(x) if x.dtype.name == "float64" else cast(assign(x), "float32")


def median(x: Any, axis: int | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Any:
    """The middle element of *x* along *axis*, of two in the middle their mean or the smaller; NaN where there is any.

    Elements that equal the result share its gradient; with an axis and ``min`` the one at the index gets all of it.

    Args:
        axis: all elements when None.
        keepdim: whether the result has dimensions of 1 where elements were gathered.
        mode: ``avg``, or ``min`` for the smaller of two.

    Returns:
        ``avg``: float64 for float64, otherwise float32. ``min``: the dtype of *x*; with an axis also where the element
        stands, or the first NaN, as int64.

    Raises:
        UsageError: an unknown mode or an axis out of range (a ValueError).
        ShapeError: there is no element (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.median(paddle.to_tensor([3.0, 1.0, 4.0, 1.0])).item()
    2.0
    """
    where = "paddle.median"
    x = tensor(x, "x", where, [d.name for d in DTYPES if not d.is_complex])
    if mode not in ("avg", "min"):
        raise UsageError(f"Mode {mode} is not supported. Must be avg or min.")
    rank = x.ndim
    if axis is not None and not rank and axis in (0, -1):
        return _of_one(x, mode)
    if axis is None:
        line: Any = x if rank == 1 else flatten(x)
        at = 0
    else:
        at = integer(axis, "axis", where)
        if not -rank <= at < rank:
            raise UsageError(f"{where}: axis must be within [-{rank}, {rank}), but received {axis}.")
        line, at = x, at % rank
    size = line.shape[at]
    if not size:
        raise ShapeError(f"{where}: there must be at least one element, not {list(x.shape)}.")
    shape = [1] * rank if keepdim else []
    if mode == "min":
        value, index, _ = apply("median", line, attrs={"axis": at, "mean": False, "split": axis is None}, name=name)
        if axis is None:
            return reshape(value, shape, name)
        if not in_static_mode():
            index.stop_gradient = True
        return (value, index) if keepdim else (squeeze(value, at, name), squeeze(index, at))
    kind = "float64" if x.dtype.name == "float64" else "float32"
    value = apply("median", line if line.dtype.name == kind else cast(line, kind), attrs={"axis": at})[0]
    return _shaped(value, axis, at, shape, keepdim, name)


def _shaped(medians: Any, axis: int | None, at: int, shape: list[int], keepdim: bool, name: str | None) -> AnyTensor:
    """*medians*, in which dimension *at* has size 1, in the shape that is asked for."""
    if axis is None:
        return reshape(medians, shape, name)
    return medians if keepdim else squeeze(medians, at, name)
