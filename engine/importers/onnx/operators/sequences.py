"""Sequences and optional values, which are followed when the file is read: a program has tensors alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import GraphName, OnnxNode
from .rows import row


def _entries(n: OnnxNode, i: int) -> list[GraphName]:
    many = n.entry(i).many
    if many is None:
        raise Lacking("a sequence that is not known")
    return many


def _sequence(n: OnnxNode, entries: list[GraphName]) -> GraphName:
    made = GraphName(n.outputs[0])
    made.many = entries
    return made


def _place(n: OnnxNode, i: int, count: int) -> int:
    place = n.ints(i, "a place in a sequence")[0]
    if not -count <= place < max(count, 1):
        raise Malformed(f"it takes element {place} of a sequence of {count}")
    return place % count if count else 0


@row("SequenceConstruct", folds=False)
def _construct(n: OnnxNode) -> Any:
    return _sequence(n, [n.entry(i) for i in range(len(n))])


@row("SequenceEmpty", folds=False)
def _empty(n: OnnxNode) -> Any:
    return _sequence(n, [])


@row("SequenceAt", folds=False)
def _element(n: OnnxNode) -> Any:
    entries = _entries(n, 0)
    return entries[_place(n, 1, len(entries))]


@row("SequenceLength", folds=False)
def _length(n: OnnxNode) -> Any:
    return np.asarray(len(_entries(n, 0)), "int64")


@row("SequenceInsert", folds=False)
def _insert(n: OnnxNode) -> Any:
    entries = list(_entries(n, 0))
    place = n.ints(2, "a place in a sequence")[0] if n.has(2) else len(entries)
    entries.insert(place, n.entry(1))
    return _sequence(n, entries)


@row("SequenceErase", folds=False)
def _erase(n: OnnxNode) -> Any:
    entries = list(_entries(n, 0))
    if not entries:
        raise Malformed("it takes an element out of an empty sequence")
    del entries[_place(n, 1, len(entries)) if n.has(1) else -1]
    return _sequence(n, entries)


@row("SplitToSequence", folds=False)
def _split(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 0)
    whole = x.shape[axis]
    if whole < 0:
        raise Lacking("parts of a size that is not known")
    told = n.array(1) if n.has(1) else np.asarray(1)
    if told is None:
        raise Lacking("sizes that are computed")
    sizes = [int(s) for s in told.reshape(-1)]
    if told.ndim == 0:
        sizes = [min(sizes[0], whole - begin) for begin in range(0, whole, max(sizes[0], 1))]
    parts = paddle.split(x, sizes, axis=axis) if len(sizes) > 1 else [paddle.assign(x)]
    if not n.has(1) and not n.whole("keepdims", 1):
        parts = [paddle.squeeze(p, axis=[axis]) for p in parts]
    return _sequence(n, [GraphName("", p) for p in parts])


@row("ConcatFromSequence", folds=False)
def _join(n: OnnxNode) -> Any:
    values = [n.builder.value(e, False) for e in _entries(n, 0)]
    if not values:
        raise Malformed("it joins an empty sequence")
    axis = n.whole("axis", 0)
    return paddle.stack(values, axis=axis) if n.whole("new_axis", 0) else paddle.concat(values, axis=axis)


@row("Optional", "OptionalGetElement", folds=False)
def _optional(n: OnnxNode) -> Any:
    if not n.has(0):
        raise Lacking("an optional value that is not there")
    return n.entry(0)


@row("OptionalHasElement", folds=False)
def _present(n: OnnxNode) -> Any:
    return np.asarray(n.has(0))
