"""Operators that take elements by their places, or put them there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row


def forwards(index: Any, size: int) -> Any:
    """Places counted from the front: those below 0 count from the end.

    Args:
        size: of the axis; below 0 where it is not known, and then all places must count from the front.
    """
    if size < 0:
        return index
    below = paddle.less_than(index, paddle.zeros_like(index))
    return index + paddle.cast(below, kind_of(index)) * size


def _places(n: OnnxNode, i: int, size: int) -> Any:
    """Operand *i*, places along an axis of that size."""
    array = n.array(i)
    if array is None:
        index = n[i]
        return forwards(index, size)
    if size < 0 and array.size and array.min() < 0:
        raise Lacking("places that count from the end of a size that is not known")
    if array.size and size >= 0 and (array.min() < -size or array.max() >= size):
        raise Malformed(f"it takes element {int(array.min())} to {int(array.max())} of {size}")
    if array.size and array.min() < 0:
        return paddle.assign(np.where(array < 0, array + size, array))
    return n[i]


_END = (1 << 31) - 1
"""A place behind every axis."""


@row("Gather")
def _gather(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 0)
    axis = axis + len(x.shape) if axis < 0 else axis
    if axis == 0 and len(x.shape) == 2 and n.entry(0).learnt:
        return F.embedding(n[1], x)
    array = n.array(1)
    if array is not None and array.ndim == 0 and x.shape[axis] < 0:
        place = int(array)
        end = place + 1 if place != -1 else _END
        return paddle.squeeze(paddle.slice(x, [axis], [place], [end]), axis=[axis])
    index = _places(n, 1, x.shape[axis])
    shape = list(index.shape)
    if array is not None and array.ndim == 0:
        place = int(array) % x.shape[axis]
        return paddle.squeeze(paddle.slice(x, [axis], [place], [place + 1]), axis=[axis])
    if len(shape) == 1:
        return paddle.gather(x, index, axis=axis)
    row_of = paddle.reshape(index, [-1])
    y = paddle.gather(x, row_of, axis=axis)
    whole = [*x.shape[:axis], *shape, *x.shape[axis + 1 :]]
    if whole.count(-1) > 1:
        parts = [paddle.shape(x)[:axis], paddle.shape(index), paddle.shape(x)[axis + 1 :]]
        return paddle.reshape(
            y, paddle.concat([p for p, k in zip(parts, (axis, len(shape), len(x.shape) - axis - 1), strict=True) if k])
        )
    return paddle.reshape(y, whole)


@row("GatherElements")
def _gather_elements(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 0) % len(n[0].shape)
    index = _places(n, 1, x.shape[axis])
    return paddle.take_along_axis(x, index, axis, broadcast=False)


@row("GatherND")
def _gather_nd(n: OnnxNode) -> Any:
    x, index, batch = n[0], n[1], n.whole("batch_dims", 0)
    depth = index.shape[-1]
    limits = x.shape[batch : batch + depth]
    index = _each_forwards(index, limits)
    if not batch:
        return paddle.gather_nd(x, index)
    outer = list(x.shape[:batch])
    if any(d < 0 for d in outer):
        raise Lacking("batches of a size that is not known")
    grid = np.stack(np.meshgrid(*map(np.arange, outer), indexing="ij"), -1).astype("int64")
    between = list(index.shape[batch:-1])
    grid = np.broadcast_to(grid.reshape(*outer, *[1] * len(between), batch), (*outer, *between, batch))
    whole = paddle.concat([paddle.assign(np.ascontiguousarray(grid)), paddle.cast(index, "int64")], axis=-1)
    return paddle.gather_nd(x, whole)


def _each_forwards(index: Any, limits: Any) -> Any:
    """Tuples of places, counted from the front along every axis."""
    if any(d < 0 for d in limits):
        return index
    below = paddle.cast(paddle.less_than(index, paddle.zeros_like(index)), kind_of(index))
    return index + below * paddle.assign(np.asarray(limits, kind_of(index)))


_REDUCES = {"none": "assign", "add": "add", "mul": "multiply", "max": "amax", "min": "amin"}


@row("Scatter", "ScatterElements")
def _scatter_elements(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 0) % len(n[0].shape)
    index, how = _places(n, 1, x.shape[axis]), n.text("reduction", "none")
    if how not in _REDUCES:
        raise Malformed(f"it reduces by {how!r}")
    return paddle.put_along_axis(x, index, n[2], axis, reduce=_REDUCES[how], broadcast=False)


@row("ScatterND")
def _scatter_nd(n: OnnxNode) -> Any:
    """By way of the places of the elements in one row."""
    x, index, updates, how = n[0], n[1], n[2], n.text("reduction", "none")
    depth, shape = index.shape[-1], list(x.shape)
    if any(d < 0 for d in shape):
        raise Lacking("a size that is not known")
    index = paddle.cast(_each_forwards(index, shape[:depth]), "int64")
    if how == "add":
        return paddle.scatter_nd_add(x, index, updates)
    inner = math.prod(shape[depth:])
    strides = [math.prod(shape[j + 1 :]) for j in range(depth)]
    begin = paddle.sum(index * paddle.assign(np.asarray(strides, "int64")), axis=-1)
    places = paddle.reshape(begin, [-1, 1]) + paddle.assign(np.arange(inner, dtype="int64").reshape(1, -1))
    y = paddle.put_along_axis(
        paddle.reshape(x, [-1]),
        paddle.reshape(places, [-1]),
        paddle.reshape(updates, [-1]),
        0,
        reduce=_REDUCES[how],
        broadcast=False,
    )
    return paddle.reshape(y, shape)


@row("TensorScatter")
def _append_rows(n: OnnxNode) -> Any:
    """Rows of a cache, from a place of each sample on."""
    x, update = n[0], n[1]
    axis = n.whole("axis", -2) % len(x.shape)
    steps, most = update.shape[axis], x.shape[axis]
    if steps < 0 or any(d < 0 for d in update.shape):
        raise Lacking("a size that is not known")
    along = [steps if i == axis else 1 for i in range(len(x.shape))]
    place = paddle.assign(np.arange(steps, dtype="int64").reshape(along))
    if n.has(2):
        place = place + paddle.reshape(paddle.cast(n[2], "int64"), [-1] + [1] * (len(x.shape) - 1))
    if n.text("mode", "linear") == "circular":
        if most < 0:
            raise Lacking("a circle of a size that is not known")
        place = paddle.mod(place, paddle.full_like(place, most))
    return paddle.put_along_axis(x, paddle.expand(place, update.shape), update, axis, broadcast=False)


@row("Compress")
def _compress(n: OnnxNode) -> Any:
    x = n[0]
    condition = n.array(1)
    if not n.holds("axis"):
        x, axis = paddle.reshape(x, [-1]), 0
    else:
        axis = n.whole("axis", 0) % len(x.shape)
    if condition is None:
        places = paddle.reshape(paddle.nonzero(n[1]), [-1])
    else:
        places = paddle.assign(np.flatnonzero(condition).astype("int64"))
    return paddle.gather(x, places, axis=axis)


@row("NonZero")
def _nonzero(n: OnnxNode) -> Any:
    return paddle.transpose(paddle.nonzero(n[0]), [1, 0])


@row("OneHot")
def _one_hot(n: OnnxNode) -> Any:
    index, depth = n[0], int(n.ints(1, "a depth")[0])
    off, on = (paddle.reshape(p, []) for p in paddle.split(n[2], 2, axis=0))
    axis = n.whole("axis", -1)
    rank = len(index.shape)
    whole = paddle.cast(index, "int64")
    place = paddle.unsqueeze(forwards(whole, depth), [rank])
    ones = paddle.equal(place, paddle.assign(np.arange(depth, dtype="int64")))
    axis = axis + rank + 1 if axis < 0 else axis
    order = list(range(rank))
    order.insert(axis, rank)
    chosen = paddle.transpose(ones, order)
    return paddle.where(chosen, on, off)


@row("ReverseSequence")
def _reverse_sequence(n: OnnxNode) -> Any:
    x, lengths = n[0], n[1]
    time, batch = n.whole("time_axis", 0), n.whole("batch_axis", 1)
    steps = x.shape[time]
    if steps < 0:
        raise Lacking("a sequence of a length that is not known")
    along = [1] * len(x.shape)
    along[time] = steps
    place = paddle.assign(np.arange(steps, dtype="int64").reshape(along))
    of = [1] * len(x.shape)
    of[batch] = -1
    length = paddle.reshape(paddle.cast(lengths, "int64"), of)
    turned = paddle.where(paddle.less_than(place, length), length - 1 - place, place + paddle.zeros_like(length))
    return paddle.take_along_axis(x, paddle.expand(turned, x.shape), time, broadcast=False)


@row("Unique")
def _unique(n: OnnxNode) -> Any:
    if not n.whole("sorted", 1):
        raise Lacking("distinct elements in the order in which they come")
    x = n[0]
    axis = n.whole("axis") if n.holds("axis") else None
    return tuple(
        paddle.unique(
            x,
            return_index=True,
            return_inverse=True,
            return_counts=True,
            axis=None if axis is None else axis % len(x.shape),
        )
    )
