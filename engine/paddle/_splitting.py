"""Dividing tensors at places or into nearly equal parts; one dimension made several."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops.infer import broadcast

from ._arguments import dims, integer, integers, tensor
from ._creation import to_tensor
from ._manipulation import concat, reshape, slice, split, transpose


def tensor_split(
    x: Any, num_or_indices: int | Sequence[int], axis: Any = 0, name: str | None = None
) -> list[AnyTensor]:
    """Parts of *x* along *axis*.

    Args:
        num_or_indices: into how many parts, the first of which are one longer where they cannot be equal; or the
            places where to divide.

    >>> from gradtool import paddle
    >>> [part.shape for part in paddle.tensor_split(paddle.zeros([7, 2]), 3)]
    [[3, 2], [2, 2], [2, 2]]
    """
    where = "paddle.tensor_split"
    x = tensor(x, "x", where)
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < x.ndim:
        raise UsageError(f"{where}: axis must be within [-{x.ndim}, {x.ndim}), but received {at}.")
    at %= x.ndim
    size = x.shape[at]
    if size == UNKNOWN:
        raise ShapeError(f"{where}: dimension {at} of '{x.name}' {list(x.shape)} must be known.")
    if isinstance(num_or_indices, (list, tuple)):
        places = [0, *integers(num_or_indices, "num_or_indices", where), size]
        return [slice(x, [at], [a], [b]) for a, b in pairwise(places)]
    count = integer(num_or_indices, "num_or_indices", where)
    if count < 1:
        raise UsageError(f"{where}: there must be at least one part, but received {count}.")
    least, longer = divmod(size, count)
    return split(x, [least + 1] * longer + [least] * (count - longer), at)


def _along(where: str, x: Any, least: int, axis: int, num_or_indices: Any) -> list[AnyTensor]:
    x = tensor(x, "x", where)
    if x.ndim < least:
        raise ShapeError(
            f"{where}: '{x.name}' must have at least {least} dimensions, but its shape is {list(x.shape)}."
        )
    return tensor_split(x, num_or_indices, axis)


def hsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[AnyTensor]:
    """:func:`tensor_split` along the second dimension, or the only one."""
    return _along("paddle.hsplit", x, 1, 1 if tensor(x, "x", "paddle.hsplit").ndim > 1 else 0, num_or_indices)


def vsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[AnyTensor]:
    """:func:`tensor_split` along the first dimension."""
    return _along("paddle.vsplit", x, 2, 0, num_or_indices)


def dsplit(x: Any, num_or_indices: int | Sequence[int], name: str | None = None) -> list[AnyTensor]:
    """:func:`tensor_split` along the third dimension."""
    return _along("paddle.dsplit", x, 3, 2, num_or_indices)


def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> AnyTensor:
    """Dimension *axis* of *x* divided into several, of the sizes *shape*; one of them may be -1."""
    where = "paddle.unflatten"
    x = tensor(x, "x", where)
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < x.ndim:
        raise UsageError(f"{where}: axis must be within [-{x.ndim}, {x.ndim}), but received {at}.")
    at %= x.ndim
    before, after = list(x.shape[:at]), list(x.shape[at + 1 :])
    sizes = dims(shape, "shape", where)
    if sizes.whole is not None:
        parts = [_numbers_of(before, sizes.whole), sizes.whole, _numbers_of(after, sizes.whole)]
        return reshape(x, concat([p for p in parts if p is not None]), name)
    return reshape(x, [*before, *shape, *after], name)


def _numbers_of(sizes: list[int], like: AnyTensor) -> AnyTensor | None:
    """*sizes* as a tensor of the dtype of *like*; None where there are none."""
    return to_tensor(sizes, dtype=like.dtype) if sizes else None


def matrix_transpose(x: Any, name: str | None = None) -> AnyTensor:
    """The last two dimensions of *x* exchanged.

    Raises:
        ShapeError: *x* has fewer than two dimensions (a ValueError).
    """
    x = tensor(x, "x", "paddle.matrix_transpose")
    if x.ndim < 2:
        raise ShapeError(f"paddle.matrix_transpose: '{x.name}' must be at least 2-D, but its shape is {list(x.shape)}.")
    axes = list(range(x.ndim))
    axes[-2:] = axes[:-3:-1]
    return transpose(x, axes, name)


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape of two tensors of these shapes, broadcast against each other.

    Raises:
        ShapeError: a pair of dimensions is neither equal nor 1 (a ValueError).
    """
    return list(broadcast(tuple(x_shape), tuple(y_shape), op="paddle.broadcast_shape"))


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """The shape of tensors of these shapes, broadcast against each other."""
    whole: list[int] = []
    for shape in shapes:
        whole = broadcast_shape(whole, [shape] if isinstance(shape, int) else shape)
    return whole
