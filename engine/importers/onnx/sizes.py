"""Lists of sizes that are known in part: a shape that is computed from shapes becomes an attribute.

``Shape`` of a tensor with a batch of any size gives ``[None, 3, 224]``, ``Gather`` and ``Concat`` go on with that, and
``Reshape`` takes what comes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .errors import Malformed
from .node import GraphName, OnnxNode

Sizes = list[int | None]


def follow(node: OnnxNode) -> Sizes | None:
    """The elements of what *node* makes, as far as they are known; None where it makes no list of sizes."""
    follow = _FOLLOWED.get(node.kind)
    return None if follow is None else follow(node)


def shape_of(value: Any) -> Sizes:
    """The sizes of a variable: None for those that are told when it is fed."""
    return [None if d < 0 else int(d) for d in value.shape]


def _shape(node: OnnxNode) -> Sizes | None:
    whole = shape_of(node[0])
    start, end = node.whole("start", 0), node.whole("end", len(whole))
    return whole[slice(*slice(start, end).indices(len(whole)))]


def _gather(node: OnnxNode) -> Sizes | None:
    held, picks = node.entry(0).sizes, node.array(1)
    if held is None or picks is None or picks.ndim > 1:
        return None
    if any(not -len(held) <= int(i) < len(held) for i in picks.reshape(-1)):
        raise Malformed("it takes a size that a shape has not")
    return [held[int(i)] for i in picks.reshape(-1)]


def _join(node: OnnxNode) -> Sizes | None:
    lists = [node.sizes(i) for i in range(len(node))]
    if any(part is None for part in lists):
        return None
    return [size for part in lists if part is not None for size in part]


def _same(node: OnnxNode) -> Sizes | None:
    return node.entry(0).sizes


def _cast(node: OnnxNode) -> Sizes | None:
    return node.entry(0).sizes if node.whole("to") in (6, 7) else None


def _slice(node: OnnxNode) -> Sizes | None:
    held = node.entry(0).sizes
    if held is None:
        return None
    if len(node) > 1:
        bounds = [node.array(i) for i in (1, 2)]
        step = node.array(4) if node.has(4) else None
        if bounds[0] is None or bounds[1] is None or (node.has(4) and step is None):
            return None
        start, end = (int(b.reshape(-1)[0]) for b in bounds if b is not None)
        return held[slice(start, end, 1 if step is None else int(step.reshape(-1)[0]))]
    return held[slice(node.wholes("starts", [0])[0], node.wholes("ends", [len(held)])[0])]


def _compute(compute: Callable[[int, int], int]) -> Callable[[OnnxNode], Sizes | None]:
    def follow(node: OnnxNode) -> Sizes | None:
        a, b = node.sizes_or_none(0), node.sizes_or_none(1)
        if a is None or b is None or (len(a) != len(b) and 1 not in (len(a), len(b))):
            return None
        n = max(len(a), len(b))
        a, b = a * (n // len(a) if a else 0), b * (n // len(b) if b else 0)
        pairs = zip(a, b, strict=True)
        return [None if x is None or y is None else compute(x, y) for x, y in pairs]

    return follow


def _compare(node: OnnxNode) -> Sizes | None:
    """1 where two sizes are equal, 0 where not: one that is not known is none below 0."""
    a, b = node.sizes_or_none(0), node.sizes_or_none(1)
    if a is None or b is None or len(a) != len(b):
        return None
    return [_is_equal(x, y) for x, y in zip(a, b, strict=True)]


def _is_equal(x: int | None, y: int | None) -> int | None:
    if x is not None and y is not None:
        return int(x == y)
    known = x if y is None else y
    return 0 if known is not None and known < 0 else None


def _choose(node: OnnxNode) -> Sizes | None:
    condition = node.array(0)
    which = node.entry(0).sizes if condition is None else [int(c) for c in condition.reshape(-1)[:64]]
    a, b = node.sizes_or_none(1), node.sizes_or_none(2)
    if which is None or a is None or b is None or not len(which) == len(a) == len(b):
        return None
    return [None if w is None else (x if w else y) for w, x, y in zip(which, a, b, strict=True)]


_FOLLOWED: dict[str, Callable[[OnnxNode], Sizes | None]] = {
    "Shape": _shape,
    "Gather": _gather,
    "Concat": _join,
    "Cast": _cast,
    "Squeeze": _same,
    "Unsqueeze": _same,
    "Identity": _same,
    "Reshape": _same,
    "Slice": _slice,
    "Equal": _compare,
    "Where": _choose,
    "Add": _compute(lambda a, b: a + b),
    "Sub": _compute(lambda a, b: a - b),
    "Mul": _compute(lambda a, b: a * b),
    "Div": _compute(lambda a, b: int(a / b) if b else 0),
}
"""By operator."""


def stays_small(kind: str, entries: Sequence[GraphName], most: int) -> bool:
    """Return whether an operator that makes more than it reads stays below *most* elements here."""
    grows = _GROWS.get(kind)
    return grows is None or abs(grows(entries)) <= most


def _product(entry: GraphName) -> float:
    array = entry.array
    return math.prod(float(n) for n in array.reshape(-1)) if array is not None and array.size <= 64 else math.inf


def _spread(entries: Sequence[GraphName]) -> float:
    product = _product(entries[1]) if len(entries) > 1 else 1
    return max(product, 1) * max(entries[0].array.size, 1) if entries[0].array is not None else math.inf


def _span(entries: Sequence[GraphName]) -> float:
    start, end, step = (float(e.array.reshape(-1)[0]) if e.array is not None else math.inf for e in entries[:3])
    return abs(end - start) / abs(step) if step else math.inf


_GROWS: dict[str, Callable[[Sequence[GraphName]], float]] = {
    "ConstantOfShape": lambda entries: _product(entries[0]),
    "Expand": _spread,
    "Tile": _spread,
    "Range": _span,
    "Pad": lambda entries: math.inf,
    "Resize": lambda entries: math.inf,
    "Upsample": lambda entries: math.inf,
    "OneHot": lambda entries: math.inf,
    "Col2Im": lambda entries: math.inf,
    "MelWeightMatrix": lambda entries: math.inf,
    "HannWindow": lambda entries: math.inf,
    "HammingWindow": lambda entries: math.inf,
    "BlackmanWindow": lambda entries: math.inf,
    "CenterCropPad": lambda entries: math.inf,
    "AffineGrid": lambda entries: math.inf,
}
"""Operators that make more than they read: how many elements."""
