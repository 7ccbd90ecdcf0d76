"""Adapters: reading and writing at places."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import adapter


@adapter("__getitem__")
def _(paddle: Any, x: Any, place: Any) -> Any:
    return x[place]


@adapter("gather")
def _(paddle: Any, x: Any, dim: Any, index: Any) -> Any:
    return paddle.take_along_axis(x, index, dim, broadcast=False)


@adapter("take_along_dim")
def _(paddle: Any, x: Any, index: Any, dim: Any = None) -> Any:
    if dim is None:
        x, index, dim = paddle.flatten(x), paddle.flatten(index), 0
    return paddle.take_along_axis(x, index, dim)


@adapter("index_fill")
def _(paddle: Any, x: Any, dim: Any, index: Any, value: Any) -> Any:
    return paddle.index_fill(x, index, dim, value)


@adapter("index_select")
def _(paddle: Any, x: Any, dim: Any, index: Any) -> Any:
    return paddle.index_select(x, index, dim)


@adapter("index_add")
def _(paddle: Any, x: Any, dim: Any, index: Any, value: Any, alpha: Any = 1) -> Any:
    return paddle.index_add(x, index, dim, value * alpha if alpha != 1 else value)


@adapter("index_put")
def _(paddle: Any, x: Any, places: Any, value: Any, accumulate: Any = False) -> Any:
    return paddle.index_put(x, places, value, accumulate)


@adapter("take")
def _(paddle: Any, x: Any, index: Any) -> Any:
    return paddle.take(x, index)


@adapter("scatter")
def _(paddle: Any, x: Any, dim: Any, index: Any, src: Any, reduce: Any = None) -> Any:
    if reduce is None:
        return paddle.put_along_axis(x, index, src, dim, broadcast=False)
    how = {"add": "add", "multiply": "multiply"}[reduce]
    return paddle.put_along_axis(x, index, src, dim, how, broadcast=False)


@adapter("scatter_add")
def _(paddle: Any, x: Any, dim: Any, index: Any, src: Any) -> Any:
    return paddle.put_along_axis(x, index, src, dim, "add", broadcast=False)


for _name in ("sum", "prod", "mean", "amin", "amax"):

    @adapter(f"scatter_reduce.{_name}")
    def _(paddle: Any, x: Any, dim: Any, index: Any, src: Any, reduce: str, include_self: Any = True) -> Any:
        return paddle.scatter_reduce(x, dim, index, src, reduce, include_self=include_self)


@adapter("where")
def _(paddle: Any, x: Any, mask: Any, y: Any) -> Any:
    return paddle.where(mask, x, y)
