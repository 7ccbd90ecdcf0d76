"""Operators that make tensors of numbers: constants, ranges, windows, random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking
from ..node import OnnxNode
from ..tensors import kind_of, type_name
from .elementwise import cast
from .rows import row
from .shapes import size_list


@row("Constant", folds=False)
def _constant(n: OnnxNode) -> Any:
    for name, read in (("value_float", n.real), ("value_int", n.whole)):
        if n.holds(name):
            return np.asarray(read(name), "float32" if name.endswith("float") else "int64")
    for name, read in (("value_floats", n.reals), ("value_ints", n.wholes)):
        if n.holds(name):
            return np.asarray(read(name), "float32" if name.endswith("floats") else "int64")
    array = n.tensor("value")
    if array is None:
        raise Lacking("a constant that is no dense tensor of numbers")
    return array


@row("ConstantOfShape")
def _fill(n: OnnxNode) -> Any:
    value = n.tensor("value")
    value = np.zeros(1, "float32") if value is None else value
    return paddle.full(size_list(n, 0), value.reshape(-1)[0].item(), dtype=value.dtype.name)


@row("Range")
def _range(n: OnnxNode) -> Any:
    return paddle.arange(*(paddle.reshape(x, []) for x in n.every()), dtype=kind_of(n[0]))


@row("EyeLike")
def _eye(n: OnnxNode) -> Any:
    x = n[0]
    kind = type_name(n.whole("dtype")) if n.holds("dtype") else kind_of(x)
    rows, columns = x.shape
    return paddle.assign(np.eye(rows, columns, n.whole("k", 0)).astype(kind))


def _window(compute: Callable[[Any], Any]) -> Callable[[OnnxNode], Any]:
    def emit(n: OnnxNode) -> Any:
        size = n.ints(0, "a size")[0]
        over = size if n.whole("periodic", 1) else size - 1
        angle = np.arange(size) * (2 * math.pi / max(over, 1))
        return compute(angle).astype(type_name(n.whole("output_datatype", 1)))

    return emit


row("HannWindow")(_window(lambda a: 0.5 - 0.5 * np.cos(a)))
row("HammingWindow")(_window(lambda a: 25 / 46 - 21 / 46 * np.cos(a)))
row("BlackmanWindow")(_window(lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a)))


@row("MelWeightMatrix")
def _mel(n: OnnxNode) -> Any:
    bins, length, rate = (int(n.number(i)) for i in range(3))
    low, high = float(n.number(3)), float(n.number(4))
    columns = length // 2 + 1
    ends = [2595 * math.log10(1 + f / 700) for f in (low, high)]
    steps = ends[0] + np.arange(bins + 2) * ((ends[1] - ends[0]) / (bins + 2))
    edges = ((length + 1) * (700 * (10 ** (steps / 2595) - 1)) // rate).astype(int)
    weights = np.zeros((columns, bins))
    for i in range(bins):
        left, middle, right = edges[i : i + 3]
        if left == middle:
            weights[middle, i] = 1
        for j in range(left, middle + 1):
            weights[j, i] = 1 if left == middle else (j - left) / (middle - left)
        for j in range(middle, right):
            weights[j, i] = (right - j) / (right - middle)
    return weights.astype(type_name(n.whole("output_datatype", 1)))


def _kind(n: OnnxNode, like: bool) -> str:
    if n.holds("dtype"):
        return type_name(n.whole("dtype"))
    return kind_of(n[0]) if like else "float32"


@row("RandomNormal", "RandomNormalLike", folds=False)
def _normal(n: OnnxNode) -> Any:
    like = n.kind.endswith("Like")
    shape = n[0].shape if like else n.wholes("shape", [])
    x = paddle.normal(n.real("mean", 0.0), n.real("scale", 1.0), shape)
    return cast(x, _kind(n, like))


@row("RandomUniform", "RandomUniformLike", folds=False)
def _uniform(n: OnnxNode) -> Any:
    like = n.kind.endswith("Like")
    shape = n[0].shape if like else n.wholes("shape", [])
    x = paddle.uniform(shape, "float32", min=n.real("low", 0.0), max=n.real("high", 1.0))
    return cast(x, _kind(n, like))


@row("Bernoulli", folds=False)
def _bernoulli(n: OnnxNode) -> Any:
    return cast(paddle.bernoulli(n[0]), _kind(n, True))


@row("Multinomial", folds=False)
def _multinomial(n: OnnxNode) -> Any:
    x = paddle.multinomial(paddle.exp(n[0]), n.whole("sample_size", 1), replacement=True)
    return cast(x, type_name(n.whole("dtype", 6)))


@row("Dropout", folds=False)
def _dropout(n: OnnxNode) -> Any:
    """Nothing is left out unless the node says that it trains."""
    x = n[0]
    trains = bool(n.number(2, False)) if n.opset >= 12 else False
    p = (n.number(1, 0.5) if n.has(1) else 0.5) if n.opset >= 12 else n.real("ratio", 0.5)
    if not trains or not p:
        return paddle.assign(x), paddle.ones_like(x, dtype="bool") if len(n.outputs) > 1 else None
    if len(n.outputs) < 2:
        return paddle.nn.functional.dropout(x, p=float(p), training=True), None
    remains = paddle.nn.functional.dropout(paddle.ones_like(x), p=float(p), training=True)
    return x * remains, paddle.not_equal(remains, paddle.zeros_like(x))
