"""Operators that take elements by their places, or put them there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, kind_of
from .elementwise import one, scale_by
from .rows import row


def forwards(index: Any, size: int) -> Any:
    """Places counted from the front: those below 0 count from the end."""
    index = cast(index, "int64")
    if size < 0:
        return index
    return paddle.where(paddle.less_than(index, paddle.zeros_like(index)), index + size, index)


@row("aten.embedding")
def _embed(n: Pt2Node) -> Any:
    padding = n.whole("padding_idx", -1)
    weight, index = n.tensor("weight"), cast(n.tensor("indices"), "int64")
    if padding >= 0:
        frozen = paddle.equal(index, paddle.full_like(index, padding))
        rows = F.embedding(index, weight)
        return paddle.where(paddle.unsqueeze(frozen, [len(index.shape)]), rows.detach(), rows)
    return F.embedding(index, weight)


@row("aten.one_hot")
def _one_hot(n: Pt2Node) -> Any:
    count = n.whole("num_classes", -1)
    if count < 1:
        raise Missing("a number of classes that is computed")
    return paddle.cast(F.one_hot(n.tensor("self"), count), "int64")


@row("aten.index_select")
def _select(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    return paddle.index_select(x, forwards(n.tensor("index"), x.shape[axis]), axis=axis)


@row("aten.gather")
def _gather(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    return paddle.take_along_axis(x, forwards(n.tensor("index"), x.shape[axis]), axis, broadcast=False)


@row("aten.take_along_dim")
def _pick_along(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    return paddle.take_along_axis(x, forwards(n.tensor("indices"), x.shape[axis]), axis)


@row("aten.masked_select")
def _choose(n: Pt2Node) -> Any:
    return paddle.masked_select(n.tensor("self"), n.tensor("mask"))


@row("aten.nonzero")
def _nonzero(n: Pt2Node) -> Any:
    return paddle.nonzero(n.tensor("self"))


class PickedPlaces:
    """Elements that the indices of one operator pick from a tensor.

    Attributes:
        order: the axes of the tensor, those that are picked along first.
        picked: how many these are.
        index: the places along them, a tuple of numbers for each that is picked; None where a mask picks.
        front: how many axes of the tensor stand before what is picked.
    """

    def __init__(self, x: Any, indices: list[Any]) -> None:
        if len(indices) > len(x.shape):
            raise Unsound(f"{len(indices)} indices of a tensor of {len(x.shape)} axes")
        at = [i for i, v in enumerate(indices) if v is not None]
        if not at:
            raise Unsound("indices that pick nothing")
        masks = [v for v in indices if v is not None and kind_of(v) in ("bool", "uint8")]
        if masks:
            if len(at) > 1 or at[0] != 0:
                raise Missing("a mask next to other indices")
            self.index = paddle.nonzero(cast(masks[0], "bool"))
            self.order, self.picked, self.front = list(range(len(x.shape))), len(masks[0].shape), 0
            self.shape_of_index: list[int] = [-1]
            return
        rest = [a for a in range(len(x.shape)) if a not in at]
        self.order, self.picked = [*at, *rest], len(at)
        together = at == list(range(at[0], at[0] + len(at)))
        self.front = at[0] if together else 0
        parts = [forwards(indices[a], x.shape[a]) for a in at]
        if len(parts) > 1:
            parts = paddle.broadcast_tensors(parts)
        self.index = paddle.stack(parts, axis=-1)
        self.shape_of_index = list(parts[0].shape)

    def turned(self, x: Any) -> Any:
        """*x* with the axes that are picked along in front."""
        return x if self.order == sorted(self.order) else paddle.transpose(x, self.order)

    def back(self, y: Any) -> Any:
        """Return the picked values, their axes where PyTorch has them."""
        if not self.front:
            return y
        depth = len(self.shape_of_index)
        order = [*range(depth, depth + self.front), *range(depth), *range(depth + self.front, len(y.shape))]
        return paddle.transpose(y, order)

    def forth(self, values: Any, x: Any) -> Any:
        """Values for what is picked, broadcast, with the axes in the order that :meth:`turned` has."""
        inner = [x.shape[a] for a in self.order[self.picked :]]
        depth = len(self.shape_of_index)
        shape = [*inner[: self.front], *self.shape_of_index, *inner[self.front :]]
        if -1 in shape and list(values.shape) != shape:
            if math.prod(values.shape) != 1:
                raise Missing("values for a number of places that is computed")
            size = paddle.shape(paddle.gather_nd(self.turned(x), self.index))
            return paddle.expand(paddle.reshape(values, [1] * (depth + len(inner))), size)
        values = values if list(values.shape) == shape else paddle.expand(values, shape)
        if not self.front:
            return values
        order = [*range(self.front, self.front + depth), *range(self.front), *range(self.front + depth, len(shape))]
        return paddle.transpose(values, order)


def _indices(n: Pt2Node) -> list[Any]:
    indices = n("indices")
    if not isinstance(indices, list):
        raise Unsound("its indices are no list")
    return indices


@row("aten.index", "aten._unsafe_index")
def _index(n: Pt2Node) -> Any:
    x, indices = n.tensor("self"), _indices(n)
    at = [i for i, v in enumerate(indices) if v is not None]
    if len(at) == 1 and len(indices[at[0]].shape) == 1 and kind_of(indices[at[0]]) not in ("bool", "uint8"):
        if at[0] >= len(x.shape):
            raise Unsound(f"an index along axis {at[0]} of {len(x.shape)}")
        return paddle.index_select(x, forwards(indices[at[0]], x.shape[at[0]]), axis=at[0])
    places = PickedPlaces(x, indices)
    return places.back(paddle.gather_nd(places.turned(x), places.index))


@row("aten.index_put", "aten._unsafe_index_put")
def _index_put(n: Pt2Node) -> Any:
    x, indices = n.tensor("self"), _indices(n)
    values = cast(n.tensor("values"), kind_of(x))
    mask = indices[0]
    if len(indices) == 1 and kind_of(mask) == "bool" and math.prod(values.shape) == 1 and not n.flag("accumulate"):
        whole = paddle.reshape(mask, [*mask.shape, *[1] * (len(x.shape) - len(mask.shape))])
        return paddle.where(whole, paddle.reshape(values, []), x)
    places = PickedPlaces(x, indices)
    turned = places.turned(x)
    put = _put(turned, places.index, places.forth(values, x), n.flag("accumulate"))
    if places.order == sorted(places.order):
        return put
    return paddle.transpose(put, [places.order.index(i) for i in range(len(places.order))])


def _put(x: Any, index: Any, values: Any, adds: bool) -> Any:
    """*x* with elements at places along its first axes; what stands there twice is added, or the last one stays."""
    if adds:
        return paddle.scatter_nd_add(x, index, values)
    shape = list(x.shape)
    depth = index.shape[-1]
    if any(d < 0 for d in shape[1:]):
        raise Missing("places in a tensor whose sizes are not known")
    inner = math.prod(shape[depth:])
    strides = [math.prod(shape[j + 1 :]) for j in range(depth)]
    begin = paddle.sum(index * paddle.assign(np.asarray(strides, "int64")), axis=-1)
    places = paddle.reshape(begin, [-1, 1]) + paddle.assign(np.arange(inner, dtype="int64").reshape(1, -1))
    flat = paddle.put_along_axis(
        paddle.reshape(x, [-1]), paddle.reshape(places, [-1]), paddle.reshape(values, [-1]), 0, broadcast=False
    )
    return paddle.reshape(flat, shape)


_REDUCES = {
    "sum": "add",
    "add": "add",
    "prod": "mul",
    "multiply": "mul",
    "mean": "mean",
    "amax": "amax",
    "amin": "amin",
}


@row("aten.scatter", "aten.scatter_add", "aten.scatter_reduce")
def _scatter(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    index = forwards(n.tensor("index"), x.shape[axis])
    source = n("src", None) if "src" in n.arguments else n("value")
    source = cast(source, kind_of(x)) if hasattr(source, "shape") else paddle.full_like(cast(index, kind_of(x)), source)
    if any(s > i >= 0 for s, i in zip(source.shape, index.shape, strict=True)):
        source = paddle.slice(source, list(range(len(index.shape))), [0] * len(index.shape), list(index.shape))
    reduce = "add" if n.kind == "aten.scatter_add" else _REDUCES.get(n("reduce", ""), "assign")
    return paddle.put_along_axis(
        x, index, source, axis, reduce=reduce, include_self=n.flag("include_self", True), broadcast=False
    )


@row("aten.index_add")
def _index_add(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    index = forwards(n.tensor("index"), x.shape[axis])
    return paddle.index_add(x, index, axis, scale_by(cast(n.tensor("source"), kind_of(x)), n("alpha", 1)))


@row("aten.index_fill")
def _index_fill(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    return paddle.index_fill(x, forwards(n.tensor("index"), x.shape[axis]), axis, n("value"))


@row("aten.index_copy")
def _index_copy(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    index = forwards(n.tensor("index"), x.shape[axis])
    order = [axis, *(a for a in range(len(x.shape)) if a != axis)]
    turned = paddle.transpose(x, order)
    values = paddle.transpose(cast(n.tensor("source"), kind_of(x)), order)
    put = _put(turned, paddle.unsqueeze(index, [1]), values, False)
    return paddle.transpose(put, [order.index(i) for i in range(len(order))])


@row("aten.masked_scatter")
def _scatter_masked(n: Pt2Node) -> Any:
    return paddle.masked_scatter(n.tensor("self"), n.tensor("mask"), n.tensor("source"))


@row("aten.take")
def _take(n: Pt2Node) -> Any:
    x = n.tensor("self")
    size = math.prod(x.shape) if all(d >= 0 for d in x.shape) else -1
    return paddle.take(x, forwards(n.tensor("index"), size))


@row("aten.searchsorted", "aten.bucketize")
def _search(n: Pt2Node) -> Any:
    right = n.flag("right") or n("side", None) == "right"
    if n.kind == "aten.bucketize":
        return paddle.bucketize(n.tensor("self"), n.tensor("boundaries"), right=right)
    value = one(n("self"), kind_of(n.tensor("sorted_sequence")))
    return paddle.searchsorted(n.tensor("sorted_sequence"), value, right=right)
