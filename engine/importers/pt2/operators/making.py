"""Operators that make tensors of numbers: constants, ranges, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, is_tensor, is_whole, kind_of
from ..values import SymbolicSize, as_number, elements
from .elementwise import one
from .rows import row

_FILLS = {"zeros": 0, "ones": 1, "empty": 0, "empty_strided": 0, "empty_permuted": 0}


def _sizes(n: Pt2Node) -> list[Any]:
    sizes = n("size")
    if not isinstance(sizes, list) or any(isinstance(s, int) and s < 0 for s in sizes):
        raise Unsound(f"a tensor of shape {sizes}")
    return elements(sizes)


@row("aten.full", "aten.new_full", *(f"aten.{k}" for k in _FILLS), *(f"aten.new_{k}" for k in _FILLS))
def _full(n: Pt2Node) -> Any:
    name = n.kind.removeprefix("aten.").removeprefix("new_")
    value = as_number(n("fill_value")) if name == "full" else _FILLS[name]
    return _fill(_sizes(n), value, n.made.kind)


def _fill(sizes: list[Any], value: Any, kind: str) -> Any:
    if is_tensor(value):
        return paddle.expand(cast(value, kind), sizes) if sizes else cast(value, kind)
    if kind == "bool":
        value = bool(value)
    return paddle.full(sizes, int(value) if is_whole(kind) else value, dtype=kind)


@row("aten.full_like", "aten.zeros_like", "aten.ones_like", "aten.empty_like")
def _make_like(n: Pt2Node) -> Any:
    x = n.tensor("self")
    value = as_number(n("fill_value")) if n.kind == "aten.full_like" else int(n.kind == "aten.ones_like")
    if is_tensor(value):
        return paddle.full_like(x, 0, dtype=n.made.kind) + cast(value, n.made.kind)
    return paddle.full_like(x, value, dtype=n.made.kind)


@row("aten.scalar_tensor")
def _scalar(n: Pt2Node) -> Any:
    return one(n("s"), n.made.kind)


_MOST = 1 << 24


@row("aten.arange")
def _range(n: Pt2Node) -> Any:
    start, end, step = as_number(n("start", 0)), as_number(n("end")), as_number(n("step", 1))
    kind = n.made.kind
    told = [v for v in (start, end, step) if not is_tensor(v)]
    if len(told) == 3:
        if not step or abs((end - start) / step) > _MOST:
            raise Unsound(f"a range from {start} to {end} by {step}")
        return cast(paddle.arange(start, end, step, dtype="int64" if is_whole(kind) else kind), kind)
    return paddle.arange(*(one(v, kind) for v in (start, end, step)), dtype=kind)


@row("aten.linspace")
def _steps(n: Pt2Node) -> Any:
    count = n.whole("steps")
    if not 0 <= count <= _MOST:
        raise Unsound(f"{count} steps")
    return paddle.linspace(n("start"), n("end"), count, dtype=n.made.kind)


@row("aten.eye")
def _eye(n: Pt2Node) -> Any:
    rows, columns = n.whole("n"), n.whole("m", n.whole("n"))
    if not 0 <= rows * columns <= _MOST:
        raise Unsound(f"a matrix of {rows} by {columns}")
    return paddle.eye(rows, columns, dtype=n.made.kind)


@row("aten.tril_indices", "aten.triu_indices")
def _triangle_places(n: Pt2Node) -> Any:
    rows, columns, offset = n.whole("row"), n.whole("col"), n.whole("offset", 0)
    if not 0 <= rows * columns <= _MOST:
        raise Unsound(f"a triangle of {rows} by {columns}")
    find = np.tril_indices if n.kind == "aten.tril_indices" else np.triu_indices
    return paddle.assign(np.stack(find(rows, offset, columns)).astype(n.made.kind))


@row("aten.hann_window")
def _window(n: Pt2Node) -> Any:
    size = n.whole("window_length")
    if not 0 < size <= _MOST:
        raise Unsound(f"a window of {size}")
    over = size if n.flag("periodic", True) else max(size - 1, 1)
    return paddle.assign((0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / over)).astype(n.made.kind))


# -- random numbers ---------------------------------------------------------------------------------------------------


def _shape(n: Pt2Node) -> list[Any]:
    if "size" in n.arguments:
        return _sizes(n)
    x = n.tensor("self")
    if any(d < 0 for d in x.shape):
        every = paddle.cast(paddle.shape(x), "int64")
        return [
            d if d >= 0 else paddle.squeeze(paddle.slice(every, [0], [i], [i + 1]), [0]) for i, d in enumerate(x.shape)
        ]
    return list(x.shape)


def _wide(kind: str) -> str:
    return kind if kind in ("float32", "float64") else "float32"


@row("aten.rand", "aten.rand_like", "aten.uniform")
def _uniform(n: Pt2Node) -> Any:
    low, high = float(n("from", 0.0)), float(n("to", 1.0))
    return cast(paddle.uniform(_shape(n), _wide(n.made.kind), min=low, max=high), n.made.kind)


@row("aten.randn", "aten.randn_like", "aten.normal", "aten.normal_functional")
def _normal(n: Pt2Node) -> Any:
    mean, deviation = n("mean", 0.0), n("std", 1.0)
    if is_tensor(mean) or is_tensor(deviation):
        raise Missing("random numbers with a mean for each")
    x = paddle.standard_normal(_shape(n), _wide(n.made.kind))
    return cast(x * float(deviation) + float(mean) if (mean, deviation) != (0.0, 1.0) else x, n.made.kind)


@row("aten.randint", "aten.randint_like", "aten.random")
def _whole_numbers(n: Pt2Node) -> Any:
    low, high = n.whole("low", n.whole("from", 0)), n.whole("high", n.whole("to", None))
    if high is None or not low < high:
        raise Unsound(f"random numbers from {low} to {high}")
    return cast(paddle.randint(low, high, _shape(n), dtype="int64"), n.made.kind)


@row("aten.randperm")
def _permutation(n: Pt2Node) -> Any:
    count = n("n")
    if isinstance(count, SymbolicSize):
        raise Missing("a permutation of a number that is not known")
    return paddle.randperm(count, dtype=n.made.kind)


@row("aten.bernoulli")
def _bernoulli(n: Pt2Node) -> Any:
    x, p = n.tensor("self"), n("p", None)
    kind = kind_of(x)
    chance = cast(x, _wide(kind)) if p is None else paddle.full_like(cast(x, _wide(kind)), float(p))
    return cast(paddle.bernoulli(chance), n.made.kind)


@row("aten.multinomial")
def _multinomial(n: Pt2Node) -> Any:
    return paddle.multinomial(n.tensor("self"), n.whole("num_samples"), replacement=n.flag("replacement"))
