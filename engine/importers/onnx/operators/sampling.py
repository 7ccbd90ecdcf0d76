"""Samples of images at places that a grid names."""

from __future__ import annotations

from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row


@row("AffineGrid", since=20)
def _affine(n: OnnxNode) -> Any:
    return F.affine_grid(n[0], n.ints(1, "a size"), align_corners=bool(n.whole("align_corners", 0)))


@row("GridSample", since=16)
def _grid(n: OnnxNode) -> Any:
    mode, beyond, corners = (
        n.text("mode", "linear"),
        n.text("padding_mode", "zeros"),
        bool(n.whole("align_corners", 0)),
    )
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    if mode == "bicubic":
        return _cubic_samples(n[0], n[1], beyond, corners)
    return F.grid_sample(n[0], n[1], mode=mode, padding_mode=beyond, align_corners=corners)


_A = -0.75
"""The slope of the cubic kernel one element away (Keys 1981), as the standard has it."""


def _weights(t: Any) -> list[Any]:
    """Return the weights of the four elements around a place, *t* behind the second of them."""

    def far(d: Any) -> Any:
        return ((_A * d - 5 * _A) * d + 8 * _A) * d - 4 * _A

    def near_weight(d: Any) -> Any:
        return ((_A + 2) * d - (_A + 3)) * d * d + 1

    return [far(t + 1), near_weight(t), near_weight(1 - t), far(2 - t)]


def _cubic_weights(share: Any, size: int, beyond: str, corners: bool) -> list[tuple[Any, Any]]:
    """For the four elements around each place along an axis: which they are, and what they weigh."""
    at = (share + 1) * ((size - 1) / 2) if corners else ((share + 1) * size - 1) / 2
    first = paddle.floor(at)
    first.stop_gradient = True
    taps = []
    for step, weight in zip(range(-1, 3), _weights(at - first), strict=True):
        place = first + step
        if beyond == "zeros":
            inside = paddle.logical_and(place >= 0, place <= size - 1)
            weight = weight * paddle.cast(inside, kind_of(weight))
        if beyond == "reflection":
            place = _mirror(place, 0.0, size - 1.0) if corners else _mirror(place, -0.5, size - 0.5)
        taps.append((paddle.cast(paddle.clip(place, 0.0, size - 1.0), "int64"), weight))
    return taps


def _mirror(place: Any, low: float, high: float) -> Any:
    """Whole numbers, mirrored at both ends until they lie between them."""
    span = high - low
    if span <= 0:
        return paddle.zeros_like(place)
    way = paddle.mod(paddle.abs(place - low), paddle.full_like(place, 2 * span))
    return paddle.minimum(way, 2 * span - way) + low


def _cubic_samples(x: Any, grid: Any, beyond: str, corners: bool) -> Any:
    """Sixteen elements of each image for each place."""
    shape = [*x.shape, *grid.shape]
    if len(x.shape) != 4:
        raise Malformed(f"it takes cubic samples of a tensor of {len(x.shape)} axes")
    if min(shape) < 0:
        raise Lacking("bicubic samples of a size that is not known")
    if beyond not in ("zeros", "border", "reflection"):
        raise Malformed(f"it fills places outside with {beyond!r}")
    batch, channels, height, width = x.shape
    rows, columns = grid.shape[1:3]
    flat = paddle.reshape(x, [batch, channels, height * width])
    across = _cubic_weights(grid[:, :, :, 0], width, beyond, corners)
    down = _cubic_weights(grid[:, :, :, 1], height, beyond, corners)
    total = None
    for row_at, row_weight in down:
        for column_at, column_weight in across:
            index = paddle.reshape(row_at * width + column_at, [batch, 1, rows * columns])
            index = paddle.expand(index, [batch, channels, rows * columns])
            taken = paddle.reshape(
                paddle.take_along_axis(flat, index, 2, broadcast=False), [batch, channels, rows, columns]
            )
            term = taken * paddle.unsqueeze(row_weight * column_weight, [1])
            total = term if total is None else total + term
    return total
