"""Operators that make one element of several, or of all before it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, kind_of
from .elementwise import one
from .rows import row


def axes_of(n: Pt2Node, name: str = "dim") -> tuple[list[int] | None, bool]:
    """The axes of a reduction, None for all, and whether they stay."""
    axes = n.wholes(name, None)
    rank = len(n.tensor("self").shape)
    if axes is None or (not axes and n.kind not in ("aten.amax", "aten.amin")):
        return None, n.flag("keepdim")
    if any(not -max(rank, 1) <= a < max(rank, 1) for a in axes):
        raise Unsound(f"axes {axes} of a tensor of {rank}")
    return ([a % rank for a in axes] if rank and axes else None), n.flag("keepdim")


@row("aten.sum", "aten.nansum")
def _sum(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    x = cast(n.tensor("self"), n.made.kind)
    return cast((paddle.nansum if n.kind == "aten.nansum" else paddle.sum)(x, axis=axes, keepdim=keep), n.made.kind)


@row("aten.mean", "aten.nanmean")
def _mean(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    x = cast(n.tensor("self"), n.made.kind)
    return (paddle.nanmean if n.kind == "aten.nanmean" else paddle.mean)(x, axis=axes, keepdim=keep)


@row("aten.prod")
def _product(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    return cast(paddle.prod(cast(n.tensor("self"), n.made.kind), axis=axes, keepdim=keep), n.made.kind)


def spread(n: Pt2Node) -> tuple[Any, Any]:
    """The variance, and the mean it is taken from."""
    axes, keep = axes_of(n)
    x = n.tensor("self")
    every = list(range(len(x.shape))) if axes is None else axes
    correction = n("correction", None)
    if correction is None:
        correction = 1 if n.flag("unbiased", True) else 0
    mean = paddle.mean(x, axis=axes, keepdim=True)
    squares = paddle.sum(paddle.square(x - mean), axis=axes, keepdim=keep)
    flat = mean if keep else paddle.mean(x, axis=axes)
    if any(x.shape[a] < 0 for a in every):
        count = paddle.cast(paddle.prod(paddle.gather(paddle.shape(x), _assign(every))), kind_of(x))
        return squares / paddle.maximum(count - float(correction), paddle.zeros_like(count)), flat
    return squares / max(math.prod(x.shape[a] for a in every) - correction, 0), flat


def _assign(places: list[int]) -> Any:
    return paddle.assign(np.asarray(places, "int64"))


@row("aten.var")
def _variance(n: Pt2Node) -> Any:
    return spread(n)[0]


@row("aten.std")
def _deviation(n: Pt2Node) -> Any:
    return paddle.sqrt(spread(n)[0])


@row("aten.var_mean")
def _variance_and_mean(n: Pt2Node) -> Any:
    return spread(n)


@row("aten.std_mean")
def _deviation_and_mean(n: Pt2Node) -> Any:
    variance, mean = spread(n)
    return paddle.sqrt(variance), mean


Function = Callable[..., Any]


def _extreme(function: Function, x: Any, axes: Any, keep: bool) -> Any:
    """The largest or smallest: of truth values and small numbers by way of others."""
    kind = kind_of(x)
    wide = paddle.cast(x, "int32") if kind in ("bool", "int8", "uint8", "int16") else x
    return cast(function(wide, axis=axes, keepdim=keep), kind)


@row("aten.amax", "aten.amin")
def _extremes(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    return _extreme(paddle.amax if n.kind == "aten.amax" else paddle.amin, n.tensor("self"), axes, keep)


@row("aten.max", "aten.min")
def _largest(n: Pt2Node) -> Any:
    """Of all elements their share of the gradient is equal, where several are largest; of an axis the first has it."""
    x, larger = n.tensor("self"), n.kind == "aten.max"
    if "other" in n.arguments:
        function = paddle.maximum if larger else paddle.minimum
        return function(one(x, n.made.kind), one(n("other"), n.made.kind))
    if "dim" not in n.arguments:
        return _extreme(paddle.amax if larger else paddle.amin, x, None, False)
    axis, keep = n.axis(), n.flag("keepdim")
    place = (paddle.argmax if larger else paddle.argmin)(x, axis=axis, keepdim=True)
    value = paddle.take_along_axis(x, place, axis, broadcast=False) if x.shape else x
    return (value, place) if keep or not x.shape else (paddle.squeeze(value, [axis]), paddle.squeeze(place, [axis]))


@row("aten.aminmax")
def _both(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    x = n.tensor("self")
    return _extreme(paddle.amin, x, axes, keep), _extreme(paddle.amax, x, axes, keep)


@row("aten.argmax", "aten.argmin")
def _place(n: Pt2Node) -> Any:
    function = paddle.argmax if n.kind == "aten.argmax" else paddle.argmin
    axis = n.axis() if n("dim", None) is not None else None
    return function(n.tensor("self"), axis=axis, keepdim=n.flag("keepdim"))


@row("aten.all", "aten.any")
def _truth(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    return (paddle.all if n.kind == "aten.all" else paddle.any)(cast(n.tensor("self"), "bool"), axis=axes, keepdim=keep)


@row("aten.logsumexp")
def _log_sum(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    return paddle.logsumexp(cast(n.tensor("self"), n.made.kind), axis=axes, keepdim=keep)


@row("aten.norm", "aten.linalg_vector_norm")
def _norm(n: Pt2Node) -> Any:
    axes, keep = axes_of(n)
    x = cast(n.tensor("self"), n.made.kind)
    order = n("ord" if n.kind.endswith("vector_norm") else "p", 2)
    order = 2.0 if order is None else float(order)
    size = paddle.abs(x)
    if order == 2:
        return _norm_along_each(x, axes, keep) if axes is not None else _root(x, keep)
    if math.isinf(order):
        return (paddle.amax if order > 0 else paddle.amin)(size, axis=axes, keepdim=keep)
    if order == 1:
        return paddle.sum(size, axis=axes, keepdim=keep)
    if order == 0:
        whole = paddle.cast(paddle.not_equal(x, paddle.zeros_like(x)), kind_of(x))
        return paddle.sum(whole, axis=axes, keepdim=keep)
    return paddle.pow(paddle.sum(paddle.pow(size, order), axis=axes, keepdim=keep), 1 / order)


def _norm_along_each(x: Any, axes: list[int], keep: bool) -> Any:
    """The norm along several axes, one after the other: of two at once Paddle's is that of a matrix."""
    for axis in axes:
        x = paddle.norm(x, p=2, axis=axis, keepdim=True)
    return x if keep else paddle.squeeze(x, axes)


def _root(x: Any, keep: bool) -> Any:
    norm = paddle.norm(paddle.reshape(x, [-1]), p=2, axis=0)
    return paddle.reshape(norm, [1] * len(x.shape)) if keep else norm


@row("aten.cumsum", "aten.cumprod", "aten.logcumsumexp")
def _cumulate(n: Pt2Node) -> Any:
    x, axis = cast(n.tensor("self"), n.made.kind), n.axis()
    if not x.shape:
        return paddle.assign(x)
    if n.kind == "aten.cumprod":
        return cast(paddle.cumprod(x, dim=axis), n.made.kind)
    return cast((paddle.cumsum if n.kind == "aten.cumsum" else paddle.logcumsumexp)(x, axis=axis), n.made.kind)


@row("aten.cummax", "aten.cummin")
def _cumulative_extreme(n: Pt2Node) -> Any:
    return tuple((paddle.cummax if n.kind == "aten.cummax" else paddle.cummin)(n.tensor("self"), axis=n.axis()))


@row("aten.median")
def _median(n: Pt2Node) -> Any:
    x = n.tensor("self")
    if "dim" not in n.arguments:
        if any(d < 0 for d in x.shape):
            raise Missing("the median of a number of elements that is not known")
        flat = paddle.sort(paddle.reshape(x, [-1]))
        middle = (math.prod(x.shape) - 1) // 2
        return paddle.squeeze(paddle.slice(flat, [0], [middle], [middle + 1]), [0])
    axis = n.axis()
    if x.shape[axis] < 0:
        raise Missing("the median along a size that is not known")
    return tuple(paddle.kthvalue(x, (x.shape[axis] + 1) // 2, axis=axis, keepdim=n.flag("keepdim")))


@row("aten.kthvalue")
def _kth(n: Pt2Node) -> Any:
    return tuple(paddle.kthvalue(n.tensor("self"), n.whole("k"), axis=n.axis(default=-1), keepdim=n.flag("keepdim")))


@row("aten.topk")
def _top(n: Pt2Node) -> Any:
    x, axis, count = n.tensor("self"), n.axis(default=-1), n.whole("k")
    if count < 0 or 0 <= x.shape[axis] < count:
        raise Unsound(f"the {count} largest of {x.shape[axis]}")
    return tuple(paddle.topk(x, count, axis=axis, largest=n.flag("largest", True), sorted=True))


@row("aten.sort", "aten.argsort")
def _sort(n: Pt2Node) -> Any:
    x, axis, down = n.tensor("self"), n.axis(default=-1), n.flag("descending")
    places = paddle.argsort(x, axis=axis, descending=down, stable=True)
    if n.kind == "aten.argsort":
        return places
    return paddle.take_along_axis(x, places, axis, broadcast=False), places


@row("aten.dist")
def _distance(n: Pt2Node) -> Any:
    return paddle.dist(n.tensor("self"), n.tensor("other"), p=float(n("p", 2)))


@row("aten.diff")
def _differences(n: Pt2Node) -> Any:
    if "prepend" in n.arguments or "append" in n.arguments:
        raise Missing("differences with other elements around")
    return paddle.diff(n.tensor("self"), n=n.whole("n", 1), axis=n.axis(default=-1))


@row("aten.trace")
def _trace(n: Pt2Node) -> Any:
    return paddle.trace(n.tensor("self"))


@row("aten.count_nonzero")
def _count(n: Pt2Node) -> Any:
    axes, _ = axes_of(n)
    x = n.tensor("self")
    return paddle.sum(paddle.cast(paddle.not_equal(x, paddle.zeros_like(x)), "int64"), axis=axes)
