"""``paddle.median``, from the smaller half of the elements (as in Paddle 3.1)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.value import AnyTensor

from ._arguments import integer, tensor
from ._creation import cast
from ._logic import isnan
from ._manipulation import flatten, reshape, slice, squeeze
from ._reduction import sum as total
from ._search import topk


def median(
    x: Any, axis: int | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None
) -> AnyTensor:
    """The middle element of *x* along *axis*, or the mean of the two in the middle; NaN where there is any.

    Args:
        axis: all elements when None.
        keepdim: whether the result has dimensions of 1 where elements were gathered.
        mode: ``avg``, the only one in this version.

    Returns:
        float64 for float64, otherwise float32.

    Raises:
        UsageError: an unknown mode or an axis out of range (a ValueError).
        UnsupportedError: the mode ``min``.

    >>> import gradtool as paddle
    >>> paddle.median(paddle.to_tensor([3.0, 1.0, 4.0, 1.0])).item()
    2.0
    """
    where = "paddle.median"
    x = tensor(x, "x", where)
    if mode not in ("avg", "min"):
        raise UsageError(f"Mode {mode} is not supported. Must be avg or min.")
    if mode == "min":
        raise UnsupportedError(f"{where}: mode 'min' is not part of this version of gradtool.", hint="use 'avg'")
    rank = x.ndim
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
    kind = "float64" if x.dtype.name == "float64" else "float32"
    half = size >> 1
    smaller: Any = topk(line, half + 1, at, largest=False)[0]
    if size % 2:
        middle: Any = cast(slice(smaller, [at], [half], [half + 1]), kind)
    else:
        pair: Any = slice(smaller, [at], [half - 1], [half]), slice(smaller, [at], [half], [half + 1])
        middle = cast(pair[0] + pair[1], kind) / 2
    # A sum over what is no number is no number; everything else adds 0.
    flags: Any = cast(isnan(line), kind)
    found: Any = middle + total(flags * line.astype(kind), axis=at, keepdim=True)
    if axis is None:
        return reshape(found, [1] * rank if keepdim else [], name)
    return found if keepdim else squeeze(found, at, name)
