"""Losses and masked softmaxes of ``paddle.incubate``."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UnsupportedError
from gradtool.paddle.nn import functional as F

REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}


def identity_loss(x: Any, reduction: str | int = "none") -> Any:
    """*x* as a loss: itself, its sum or its mean.

    Args:
        reduction: ``"sum"`` or 0, ``"mean"`` or 1, ``"none"`` or 2.

    Raises:
        UnsupportedError: something else (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
    2.0
    """
    number = REDUCTIONS.get(reduction) if isinstance(reduction, str) else reduction
    if number is None or number not in REDUCTIONS.values() or isinstance(number, bool):
        raise UnsupportedError(
            f"paddle.incubate.identity_loss: reduction must be 'sum', 'mean' or 'none', but received {reduction!r}."
        )
    return [paddle.sum, paddle.mean, paddle.assign][number](x)


def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Any:
    """The softmax of ``x + mask`` over the last dimension.

    Args:
        x: ``[batch, heads, length, steps]``.
        mask: ``[batch, 1, length, steps]``.
    """
    return F.softmax(paddle.add(x, mask), axis=-1)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """The softmax over the last dimension of what is not above the diagonal; there it is 0.

    Args:
        x: ``[batch, heads, length, length]``.

    Raises:
        ShapeError: another number of dimensions, or two that differ (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.ones([1, 1, 2, 2])).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    if len(x.shape) != 4 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(
            "softmax_mask_fuse_upper_triangle: x must be [batch, heads, length, length], but its shape is "
            f"{list(x.shape)}."
        )
    hidden = paddle.triu(paddle.full([x.shape[-2], x.shape[-1]], float("-inf"), "float32"), 1)
    return F.softmax(paddle.add(x, paddle.cast(hidden, x.dtype)), axis=-1)
