"""Pools: what windows become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node
from .convolutions import windows
from .rows import row
from .shapes import pad_along

LARGEST = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_LARGEST = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


def _pool_batch(rank: int, n: Pt2Node, emit: Callable[[Any], Any]) -> Any:
    """Pool a batch, or one of it."""
    x = n.tensor("self")
    if len(x.shape) not in (rank + 1, rank + 2):
        raise Unsound(f"windows over {rank} axes of a tensor of {len(x.shape)}")
    if len(x.shape) == rank + 2:
        return emit(x)
    made = emit(paddle.unsqueeze(x, [0]))
    return tuple(paddle.squeeze(v, [0]) for v in made) if isinstance(made, tuple) else paddle.squeeze(made, [0])


def _sizes(n: Pt2Node, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Of windows: their sizes, strides, and the pads around the tensor."""
    sizes = windows(n, "kernel_size", rank, 1)
    strides = windows(n, "stride", rank, 1) if n("stride", None) else sizes
    pads = windows(n, "padding", rank, 0, 0)
    if any(2 * p > k for p, k in zip(pads, sizes, strict=True)):
        raise Unsound(f"pads {pads} of windows {sizes}")
    return sizes, strides, pads


def _largest(rank: int, places: bool) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        sizes, strides, pads = _sizes(n, rank)
        if set(windows(n, "dilation", rank, 1)) != {1}:
            raise Missing("dilated windows")

        def pool(x: Any) -> Any:
            more = {"return_mask": True} if places else {}
            made = LARGEST[rank](x, sizes, stride=strides, padding=pads, ceil_mode=n.flag("ceil_mode"), **more)
            return (made[0], paddle.cast(made[1], "int64")) if places else made

        return _pool_batch(rank, n, pool)

    return emit


def _average(rank: int) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        sizes, strides, pads = _sizes(n, rank)
        divisor = n("divisor_override", None)
        counts = n.flag("count_include_pad", True)
        if n.flag("ceil_mode") and counts and any(pads):
            raise Missing("averages that count pads, with windows that reach over the end")

        def pool(x: Any) -> Any:
            if divisor is not None:
                for i, p in enumerate(pads):
                    x = pad_along(x, 2 + i, p, p, "constant", 0)
                y = AVERAGE[rank](x, sizes, stride=strides, padding=[0] * rank, ceil_mode=n.flag("ceil_mode"))
                count = 1
                for k in sizes:
                    count *= k
                return y * (count / divisor)
            return AVERAGE[rank](
                x, sizes, stride=strides, padding=pads, ceil_mode=n.flag("ceil_mode"), exclusive=not counts
            )

        return _pool_batch(rank, n, pool)

    return emit


def _adaptive(rank: int, function: Callable[..., Any], places: bool) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        sizes = windows(n, "output_size", rank, 1)

        def pool(x: Any) -> Any:
            if not places:
                return function(x, sizes if rank > 1 else sizes[0])
            made, at = function(x, sizes if rank > 1 else sizes[0], return_mask=True)
            return made, paddle.cast(at, "int64")

        return _pool_batch(rank, n, pool)

    return emit


for _rank in (1, 2, 3):
    row(f"aten.max_pool{_rank}d")(_largest(_rank, False))
    row(f"aten.max_pool{_rank}d_with_indices")(_largest(_rank, True))
    row(f"aten.avg_pool{_rank}d")(_average(_rank))
    row(f"aten.adaptive_avg_pool{_rank}d", f"aten._adaptive_avg_pool{_rank}d")(_adaptive(_rank, ADAPTIVE[_rank], False))
    row(f"aten.adaptive_max_pool{_rank}d")(_adaptive(_rank, ADAPTIVE_LARGEST[_rank], True))
