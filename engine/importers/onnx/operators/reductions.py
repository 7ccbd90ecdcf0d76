"""Operators that make one element of many, or look for elements along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle

from ....core.spec import dtype
from ..node import OnnxNode
from ..tensors import kind_of
from .elementwise import cast, is_whole
from .rows import row


def _axes(n: OnnxNode) -> tuple[Any, bool]:
    """The axes of a reduction, None for all; and whether nothing is reduced."""
    axes = n.wholes("axes") if n.holds("axes") else None
    if n.has(1):
        axes = n.ints(1, "axes")
    nothing = not axes and bool(n.whole("noop_with_empty_axes", 0))
    return (axes or None), nothing


def _same(x: Any) -> Any:
    return x


Function = Callable[..., Any]

_SUM: Function = lambda x, axis, keepdim: cast(paddle.sum(x, axis=axis, keepdim=keepdim), kind_of(x))  # noqa: E731


def _extreme(function: Function) -> Function:
    """The largest or smallest: of truth values by way of whole numbers."""

    def reduce(x: Any, axis: Any, keepdim: bool) -> Any:
        kind = kind_of(x)
        if 0 in x.shape:
            return _empty_extreme(x, axis, keepdim, function is paddle.max)
        whole = paddle.cast(x, "int32") if kind in ("bool", "int8", "uint8", "int16") else x
        return cast(function(whole, axis=axis, keepdim=keepdim), kind)

    return reduce


def _empty_extreme(x: Any, axis: Any, keepdim: bool, largest: bool) -> Any:
    """The largest or smallest of no element: whatever every element is beyond."""
    kind = dtype(kind_of(x))
    limits = (-np.inf, np.inf) if kind.is_floating else (False, True) if kind.name == "bool" else None
    if limits is None:
        info = np.iinfo(kind.numpy)
        limits = info.min, info.max
    axes = tuple(range(len(x.shape))) if axis is None else tuple(axis)
    shape = np.zeros(x.shape).any(axis=axes, keepdims=keepdim).shape
    return paddle.assign(np.full(shape, limits[0 if largest else 1]).astype(kind.numpy))


def _mean(x: Any, axis: Any, keepdim: bool) -> Any:
    if not is_whole(x):
        return paddle.mean(x, axis=axis, keepdim=keepdim)
    return paddle.cast(paddle.mean(paddle.cast(x, "float64"), axis=axis, keepdim=keepdim), kind_of(x))


def _product(x: Any, axis: Any, keepdim: bool) -> Any:
    return cast(paddle.prod(x, axis=axis, keepdim=keepdim), kind_of(x))


REDUCED: dict[str, tuple[Function, Function, Function]] = {
    "ReduceL1": (paddle.abs, _SUM, _same),
    "ReduceL2": (paddle.square, _SUM, paddle.sqrt),
    "ReduceLogSum": (_same, _SUM, paddle.log),
    "ReduceLogSumExp": (_same, lambda x, axis, keepdim: paddle.logsumexp(x, axis=axis, keepdim=keepdim), _same),
    "ReduceMax": (_same, _extreme(paddle.max), _same),
    "ReduceMean": (_same, _mean, _same),
    "ReduceMin": (_same, _extreme(paddle.min), _same),
    "ReduceProd": (_same, _product, _same),
    "ReduceSum": (_same, _SUM, _same),
    "ReduceSumSquare": (paddle.square, _SUM, _same),
}
"""Operator -> what is done to each element, how they become one, and what is done to that."""


def _reduce(before: Function, reduce: Function, after: Function) -> Callable[[OnnxNode], Any]:
    def emit(n: OnnxNode) -> Any:
        axes, nothing = _axes(n)
        x = n[0]
        if nothing:
            y = after(before(x))
            return paddle.assign(y) if y is x else y
        return after(reduce(before(x), axes, bool(n.whole("keepdims", 1))))

    return emit


for _kind, _parts in REDUCED.items():
    row(_kind)(_reduce(*_parts))


@row("ArgMax", "ArgMin")
def _arg(n: OnnxNode) -> Any:
    x, axis, keep = n[0], n.whole("axis", 0), bool(n.whole("keepdims", 1))
    function = paddle.argmax if n.kind == "ArgMax" else paddle.argmin
    if not n.whole("select_last_index", 0):
        return function(x, axis=axis, keepdim=keep)
    return x.shape[axis] - 1 - function(paddle.flip(x, [axis % len(x.shape)]), axis=axis, keepdim=keep)


@row("CumSum")
def _cumulative_sum(n: OnnxNode) -> Any:
    return _cumulate(n, lambda x, axis: cast(paddle.cumsum(x, axis=axis), kind_of(x)), lambda y, x: y - x)


@row("CumProd")
def _cumulative_product(n: OnnxNode) -> Any:
    def shift(y: Any, x: Any) -> Any:
        axis = n.ints(1)[0] % len(x.shape)
        first = paddle.ones_like(paddle.slice(x, [axis], [0], [1]))
        return paddle.concat([first, paddle.slice(y, [axis], [0], [x.shape[axis] - 1])], axis=axis)

    return _cumulate(n, lambda x, axis: cast(paddle.cumprod(x, dim=axis), kind_of(x)), shift)


def _cumulate(n: OnnxNode, function: Callable[[Any, int], Any], exclusive: Callable[[Any, Any], Any]) -> Any:
    x = n[0]
    axis = n.ints(1, "an axis")[0] % len(x.shape)
    reverse = bool(n.whole("reverse", 0))
    x = paddle.flip(x, [axis]) if reverse else x
    y = function(x, axis)
    y = exclusive(y, x) if n.whole("exclusive", 0) else y
    return paddle.flip(y, [axis]) if reverse else y


@row("TopK")
def _top(n: OnnxNode) -> Any:
    k = n.ints(1, "a number of elements")[0] if n.has(1) else n.whole("k", 1)
    return tuple(
        paddle.topk(
            n[0],
            k,
            axis=n.whole("axis", -1),
            largest=bool(n.whole("largest", 1)),
            sorted=True,
        )
    )
