"""``paddle.median``; programs take the mean of two in the middle from the smaller half of the elements (Paddle 3.1)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import DTYPES, UNKNOWN
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor

from ._arguments import integer, tensor
from ._creation import assign, cast, zeros
from ._dispatch import apply
from ._logic import isnan
from ._manipulation import flatten, reshape, slice, squeeze
from ._reduction import sum as total
from ._search import topk


def _of_one(x: AnyTensor, mode: str) -> Any:
    """The median of a tensor without dimensions along the axis that it would have."""
    if mode == "min":
        return assign(x), zeros([], "int64")
    return assign(x) if x.dtype.name == "float64" else cast(assign(x), "float32")


def median(x: Any, axis: int | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Any:
    """The middle element of *x* along *axis*, of two in the middle their mean or the smaller; NaN where there is any.

    In dynamic mode, elements that equal the result share its gradient; with an axis and ``min`` the one at the index
    gets all of it. In a program, the mean is made of what ``topk`` picks, and so is its gradient.

    Args:
        axis: all elements when None.
        keepdim: whether the result has dimensions of 1 where elements were gathered.
        mode: ``avg``, or ``min`` for the smaller of two.

    Returns:
        ``avg``: float64 for float64, otherwise float32. ``min``: the dtype of *x*; with an axis also where the element
        stands, or the first NaN, as int64.

    Raises:
        UsageError: an unknown mode or an axis out of range (a ValueError).
        ShapeError: there is no element, or in a program an unknown number (a ValueError).

    >>> import gradtool as paddle
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
    if size in (UNKNOWN, 0):
        raise ShapeError(f"{where}: there must be a known number of elements, at least one, not {list(x.shape)}.")
    shape = [1] * rank if keepdim else []
    if mode == "min":
        value, index, _ = apply("median", line, attrs={"axis": at, "mean": False, "split": axis is None}, name=name)
        if axis is None:
            return reshape(value, shape, name)
        index.stop_gradient = True
        return (value, index) if keepdim else (squeeze(value, at, name), squeeze(index, at))
    kind = "float64" if x.dtype.name == "float64" else "float32"
    if not in_static_mode():
        value = apply("median", line if line.dtype.name == kind else cast(line, kind), attrs={"axis": at})[0]
        return _shaped(value, axis, at, shape, keepdim, name)
    medians = _of_smallest(cast(line, kind) if x.dtype.name in ("bool", "uint8", "int8", "int16") else line, at, kind)
    return _shaped(medians, axis, at, shape, keepdim, name)


def _of_smallest(line: Any, at: int, kind: str) -> AnyTensor:
    """The medians along dimension *at* in a program, of what ``topk`` picks; that dimension then has size 1."""
    size = line.shape[at]
    half = size >> 1
    smaller: Any = topk(line, half + 1, at, largest=False)[0]
    if size % 2:
        middle: Any = cast(slice(smaller, [at], [half], [half + 1]), kind)
    else:
        pair: Any = slice(smaller, [at], [half - 1], [half]), slice(smaller, [at], [half], [half + 1])
        middle = cast(pair[0] + pair[1], kind) / 2
    # A sum over what is no number is no number; everything else adds 0.
    flags: Any = cast(isnan(line), kind)
    medians: AnyTensor = middle + total(flags * line.astype(kind), axis=at, keepdim=True)
    return medians


def _shaped(medians: Any, axis: int | None, at: int, shape: list[int], keepdim: bool, name: str | None) -> AnyTensor:
    """*medians*, in which dimension *at* has size 1, in the shape that is asked for."""
    if axis is None:
        return reshape(medians, shape, name)
    return medians if keepdim else squeeze(medians, at, name)
