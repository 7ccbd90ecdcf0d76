"""Pools: what windows become."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .convolutions import OnnxWindows
from .rows import row
from .shapes import pad

LARGEST = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


class Pool(OnnxWindows):
    """Windows of a pool; the last of them may reach over the end.

    Attributes:
        over: elements behind the pads that windows reach.
    """

    def __init__(self, n: OnnxNode, x: Any) -> None:
        super().__init__(n, x, n.wholes("kernel_shape") or [])
        self.over = [0] * self.rank
        if n.whole("ceil_mode", 0):
            self._reach_over(x.shape[2:])

    def _reach_over(self, shape: Any) -> None:
        if any(d < 0 for d in shape):
            raise Lacking("ceil_mode over a size that is not known")
        for i, size in enumerate(shape):
            whole, stride = size + self.before[i] + self.after[i], self.strides[i]
            count = -(-(whole - self.reach[i]) // stride) + 1
            if (count - 1) * stride >= size + self.before[i]:
                count -= 1  # the last one would begin behind the tensor
            self.over[i] = max((count - 1) * stride + self.reach[i] - whole, 0)

    @property
    def is_plain(self) -> bool:
        """True if Paddle's pools know windows like these."""
        fits = all(p * 2 <= k for p, k in zip(self.before, self.sizes, strict=True))
        return self.is_even and fits and not any(self.over) and set(self.dilations) == {1}

    def whole(self, x: Any, value: float) -> Any:
        """*x* with all that windows reach."""
        for i in range(self.rank):
            x = pad(x, 2 + i, self.before[i], self.after[i] + self.over[i], value=value)
        return x

    def slices(self, x: Any) -> list[Any]:
        """The first elements of all windows, the second ones, …: *x* has all that they reach."""
        if any(d < 0 for d in x.shape[2:]):
            raise Lacking("dilated windows over a size that is not known")
        counts = [(d - r) // s + 1 for d, r, s in zip(x.shape[2:], self.reach, self.strides, strict=True)]
        axes = list(range(2, 2 + self.rank))
        made = []
        for place in itertools.product(*map(range, self.sizes)):
            starts = [p * d for p, d in zip(place, self.dilations, strict=True)]
            ends = [a + (c - 1) * s + 1 for a, c, s in zip(starts, counts, self.strides, strict=True)]
            made.append(paddle.strided_slice(x, axes, starts, ends, self.strides))
        return made


@row("MaxPool")
def _largest(n: OnnxNode) -> Any:
    x = n[0]
    pool = Pool(n, x)
    kind = kind_of(x)
    if kind.startswith(("int", "uint")):
        wide = paddle.cast(x, "float32")
        return paddle.cast(_largest_of(wide, pool), kind) if len(n.outputs) < 2 else _pool_with_places(n, wide, pool)
    return _largest_of(x, pool) if len(n.outputs) < 2 else _pool_with_places(n, x, pool)


def _largest_of(x: Any, pool: Pool) -> Any:
    if pool.is_plain:
        return LARGEST[pool.rank](x, pool.sizes, stride=pool.strides, padding=pool.before)
    x = pool.whole(x, -math.inf)
    if set(pool.dilations) == {1}:
        return LARGEST[pool.rank](x, pool.sizes, stride=pool.strides)
    return reduce(paddle.maximum, pool.slices(x))


def _pool_with_places(n: OnnxNode, x: Any, pool: Pool) -> Any:
    """The largest elements and where they stand in the whole tensor."""
    if any(d < 0 for d in x.shape):
        raise Lacking("places in a tensor of a size that is not known")
    if set(pool.dilations) != {1}:
        raise Lacking("places of the largest in dilated windows")
    planes = math.prod(x.shape[:2])
    inner = list(x.shape[2:])
    grown = pool.whole(x, -math.inf)
    y, at = LARGEST[pool.rank](grown, pool.sizes, stride=pool.strides, return_mask=True)
    place = np.arange(math.prod(inner)).reshape(inner)
    if n.whole("storage_order", 0):
        place = np.arange(math.prod(inner)).reshape(inner[::-1]).T
    ends = [(b, a + o) for b, a, o in zip(pool.before, pool.after, pool.over, strict=True)]
    place = np.pad(place, ends).reshape(-1).astype("int64")
    flat = paddle.gather(paddle.assign(place), paddle.cast(paddle.reshape(at, [-1]), "int64"))
    base = np.arange(planes, dtype="int64").reshape(*x.shape[:2], *[1] * pool.rank) * math.prod(inner)
    whole = paddle.reshape(flat, at.shape) + paddle.assign(base)
    kind = kind_of(n[0])
    return y if kind_of(y) == kind else paddle.cast(y, kind), whole


@row("AveragePool")
def _average(n: OnnxNode) -> Any:
    x = n[0]
    pool = Pool(n, x)
    counts_pads = bool(n.whole("count_include_pad", 0))
    if pool.is_plain:
        return AVERAGE[pool.rank](x, pool.sizes, stride=pool.strides, padding=pool.before, exclusive=not counts_pads)
    if any(d < 0 for d in x.shape[2:]):
        raise Lacking("pads that differ around a size that is not known")
    ones = np.ones((1, 1, *x.shape[2:]))
    inside = [(b, a) for b, a in zip(pool.before, pool.after, strict=True)]
    ones = np.pad(ones, [(0, 0), (0, 0), *inside], constant_values=float(counts_pads))
    ones = np.pad(ones, [(0, 0), (0, 0), *((0, o) for o in pool.over)])
    counts = _sums(ones, pool)
    total = reduce(paddle.add, pool.slices(pool.whole(x, 0.0)))
    return total / paddle.assign(np.maximum(counts, 1).astype(kind_of(x)))


def _sums(array: Any, pool: Pool) -> Any:
    """The sum of every window of an array."""
    windows = np.lib.stride_tricks.sliding_window_view(array, pool.reach, tuple(range(2, 2 + pool.rank)))
    steps = (slice(None),) * 2 + tuple(slice(None, None, s) for s in pool.strides)
    inner = tuple(slice(None, None, d) for d in pool.dilations)
    return windows[steps + inner].sum(tuple(range(-pool.rank, 0)))


@row("LpPool")
def _power(n: OnnxNode) -> Any:
    x, p = n[0], float(n.whole("p", 2))
    pool = Pool(n, x)
    powers = paddle.pow(paddle.abs(x), p)
    total = reduce(paddle.add, pool.slices(pool.whole(powers, 0.0)))
    return paddle.pow(total, 1 / p)


def _whole(function: Callable[..., Any]) -> Callable[[OnnxNode], Any]:
    return lambda n: function(n[0], axis=list(range(2, len(n[0].shape))), keepdim=True)


row("GlobalAveragePool")(_whole(paddle.mean))
row("GlobalMaxPool")(_whole(paddle.max))


@row("GlobalLpPool")
def _global_power(n: OnnxNode) -> Any:
    p = float(n.whole("p", 2))
    powers = paddle.pow(paddle.abs(n[0]), p)
    return paddle.pow(paddle.sum(powers, axis=list(range(2, len(n[0].shape))), keepdim=True), 1 / p)


@row("MaxUnpool")
def _unpool(n: OnnxNode) -> Any:
    """Elements back to their places in the whole tensor, zeros elsewhere."""
    x, places = n[0], n[1]
    kernel = n.wholes("kernel_shape") or []
    rank = len(kernel)
    strides, pads = n.wholes("strides", [1] * rank), n.wholes("pads", [0] * 2 * rank)
    if any(d < 0 for d in x.shape):
        raise Lacking("places in a tensor of a size that is not known")
    sizes = [
        (d - 1) * s - pads[i] - pads[rank + i] + k
        for i, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    own = [*x.shape[:2], *sizes]
    if n.has(2):
        wanted = n.ints(2, "a shape")
        if math.prod(wanted) < math.prod(own):
            raise Malformed(f"its output is of shape {wanted}")
        own_places = paddle.reshape(places, [-1])
        y = _place(x, own_places, math.prod(own), own)
        for i in range(rank):
            y = pad(y, 2 + i, 0, wanted[2 + i] - own[2 + i])
        return y
    return _place(x, paddle.reshape(places, [-1]), math.prod(own), own)


def _place(x: Any, places: Any, count: int, shape: list[int]) -> Any:
    zeros = paddle.zeros([count], dtype=kind_of(x))
    y = paddle.put_along_axis(zeros, places, paddle.reshape(x, [-1]), 0, broadcast=False)
    return paddle.reshape(y, shape)
