"""Pools of every kind, and their gradients.

What nodes of the standard cannot say (adaptive windows, means over what lies within a pad) is a product with a matrix
for each axis, which follows from the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.variable import Variable
from ....ops.library.window import Window, WindowLine, line_of
from ..tensors import type_number
from ..writing import GraphWriter, MissingRow, OnnxCall
from .rows import writes, writes_images


def _is_whole(window: Window) -> bool:
    """Return whether the image is the only window, whatever its size."""
    return window.global_pooling or (window.adaptive and set(window.ksize) == {1})


def _window(c: OnnxCall) -> Window:
    return Window.of(c.attrs)


def _lines(c: OnnxCall, x: Variable, window: Window) -> list[WindowLine]:
    """The windows along each axis."""
    if min(x.shape[2:]) < 0:
        raise MissingRow("of images of any size")
    lines = [line_of(c.op.type, i, window, x.shape[2:]) for i in range(len(x.shape) - 2)]
    if any(line.void for line in lines):
        raise MissingRow("with windows that lie in a pad")
    return lines


def _attributes_of_any_size(window: Window) -> dict[str, Any] | None:
    """Return the attributes of windows on images of unknown size, as nodes say it; None where that depends on them."""
    if window.adaptive or window.global_pooling or window.ceil_mode or window.padding_algorithm != "EXPLICIT":
        return None
    pads = list(window.paddings)
    pads = pads * 2 if len(pads) == len(window.ksize) else [*pads[::2], *pads[1::2]]
    return {"kernel_shape": list(window.ksize), "strides": list(window.strides), "pads": pads}


def _regular(lines: Sequence[WindowLine]) -> dict[str, Any] | None:
    """The same for images of known sizes; None for windows of several sizes or distances."""
    if not all(line.step or len(line.starts) == 1 for line in lines):
        return None
    steps = [line.step or 1 for line in lines]
    ends = [line.first + (len(line.starts) - 1) * s + line.reach for line, s in zip(lines, steps, strict=True)]
    behind = [max(end - line.size, 0) for end, line in zip(ends, lines, strict=True)]
    kernel = [line.reach for line in lines]
    return {"kernel_shape": kernel, "strides": steps, "pads": [*(-line.first for line in lines), *behind]}


def _place(c: OnnxCall, x: Variable, window: Window) -> dict[str, Any] | None:
    return _attributes_of_any_size(window) if min(x.shape[2:]) < 0 else _regular(_lines(c, x, window))


def _excludes_padding(lines: Sequence[WindowLine]) -> bool:
    """Return whether means are taken only of values within the image."""
    return all([b - a for a, b in zip(line.starts, line.ends, strict=True)] == line.counts for line in lines)


def _matrix(line: WindowLine) -> np.ndarray[Any, Any]:
    """Return the share of each element in each window."""
    matrix = np.zeros((len(line.starts), line.size))
    for i, (start, end, count) in enumerate(zip(line.starts, line.ends, line.counts, strict=True)):
        matrix[i, start:end] = 1 / count
    return matrix


def _products(c: OnnxCall, value: str, x: Variable, lines: Sequence[WindowLine], back: bool) -> str:
    """Means as products with a matrix for each axis; their gradients with the matrices transposed."""
    if len(lines) > 2:
        raise MissingRow("of means over windows of several sizes in three dimensions")
    down, across = (_matrix(line).T if back else _matrix(line) for line in lines)
    w, kind = c.w, x.dtype.name
    return w.node("MatMul", w.constant(down, kind), w.node("MatMul", value, w.constant(across.T, kind)))


@writes_images("pool2d", "pool3d")
def _pool(c: OnnxCall) -> Any:
    w, x, window = c.w, c.var("X"), _window(c)
    largest = c.attrs["pooling_type"] == "max"
    if _is_whole(window):
        return w.node("GlobalMaxPool" if largest else "GlobalAveragePool", c["X"])
    how = _place(c, x, window)
    if largest:
        return w.node("MaxPool", c["X"], **how) if how is not None else _largest(c, c["X"], _lines(c, x, window))
    if how is not None and min(x.shape[2:]) < 0:
        return w.node("AveragePool", c["X"], **how, count_include_pad=int(not window.exclusive))
    lines = _lines(c, x, window)
    everywhere = all(set(line.counts) == {line.reach} for line in lines)
    if how is not None and (everywhere or _excludes_padding(lines)):
        return w.node("AveragePool", c["X"], **how, count_include_pad=int(everywhere))
    return _products(c, c["X"], x, lines, False)


def _largest(c: OnnxCall, value: str, lines: Sequence[WindowLine]) -> str:
    """The maximum of windows of several sizes, along one axis after the other."""
    w = c.w
    for axis, line in enumerate(lines, 2):
        parts = []
        for start, end in zip(line.starts, line.ends, strict=True):
            part = w.node("Slice", value, w.constant([start]), w.constant([end]), w.constant([axis]))
            parts.append(w.node("ReduceMax", part, axes=[axis], keepdims=1))
        value = w.node("Concat", *parts, axis=axis)
    return value


def _planes(w: GraphWriter, value: str) -> str:
    """Every image and channel as one row."""
    return w.node("Reshape", value, w.constant([0, 0, -1]))


def _places(c: OnnxCall, x: Variable, window: Window) -> tuple[str, str]:
    """The maxima, and where in their planes they stand."""
    w = c.w
    if _is_whole(window):
        rows, last = _planes(w, c["X"]), w.constant([0, 0, *[1] * (len(x.shape) - 2)])
        parts = w.node("ReduceMax", rows, axes=[2], keepdims=1), w.node("ArgMax", rows, axis=2, keepdims=1)
        return w.node("Reshape", parts[0], last), w.node("Reshape", parts[1], last)
    how = _place(c, x, window)
    if how is None:
        raise MissingRow("of maxima in windows of several sizes")
    value, places = w.several("MaxPool", [c["X"]], 2, **how)
    sizes = w.node("Slice", w.shape(x), w.constant([2]), w.constant([len(x.shape)]))
    return value, w.node("Mod", places, w.node("ReduceProd", sizes, keepdims=0))  # the node counts over all planes


@writes("max_pool2d_with_index", "max_pool3d_with_index")
def _pool_with_places(c: OnnxCall) -> Any:
    w, x, window = c.w, c.var("X"), _window(c)
    if not _is_whole(window) and _place(c, x, window) is None:
        return {"Out": _largest(c, c["X"], _lines(c, x, window))}
    value, places = _places(c, x, window)
    return {"Out": value, "Mask": w.node("Cast", places, to=type_number("int32"))}


@writes("max_pool2d_with_index_grad", "max_pool3d_with_index_grad")
def _pool_with_places_gradient(c: OnnxCall) -> Any:
    w, x, window = c.w, c.var("X"), _window(c)
    if not _is_whole(window) and _place(c, x, window) is None:
        raise MissingRow("of maxima in windows of several sizes")
    places = _planes(w, w.node("Cast", c["Mask"], to=type_number("int64")))
    return _spread(w, x, c["Out@GRAD"], places)


@writes_images("pool2d_grad", "pool3d_grad")
def _pool_gradient(c: OnnxCall) -> Any:
    w, x, window = c.w, c.var("X"), _window(c)
    if c.attrs["pooling_type"] == "max":
        return _spread(w, x, c["Out@GRAD"], _planes(w, _places(c, x, window)[1]))
    if _is_whole(window):
        sizes = w.node("Slice", w.shape(x), w.constant([2]), w.constant([len(x.shape)]))
        count = w.node("Cast", w.node("ReduceProd", sizes, keepdims=0), to=type_number(x.dtype.name))
        return w.node("Expand", w.node("Div", c["Out@GRAD"], count), w.shape(x))
    return _mean_back(c, x, _lines(c, x, window))


def _spread(w: GraphWriter, x: Variable, arrived: str, places: str) -> str:
    """Zeros in the shape of *x* with what arrives added at *places* of each plane."""
    zeros = _planes(w, w.node("Expand", w.number(0, x), w.shape(x)))
    total = w.node("ScatterElements", zeros, places, _planes(w, arrived), axis=2, reduction="add")
    return w.node("Reshape", total, w.shape(x))


def _mean_back(c: OnnxCall, x: Variable, lines: Sequence[WindowLine]) -> str:
    """Return the arriving gradient, shared among each window."""
    how = _regular(lines)
    if how is None or x.shape[1] < 0 or any(set(line.counts) != {line.reach} for line in lines):
        return _products(c, c["Out@GRAD"], x, lines, True)
    pads, size, rank = how["pads"], how["kernel_shape"], len(lines)
    more = []
    for i, line in enumerate(lines):
        reached = (len(line.starts) - 1) * how["strides"][i] + size[i] - pads[i] - pads[rank + i]
        more.append(line.size - reached)
    if any(m >= step for m, step in zip(more, how["strides"], strict=True)):
        return _products(c, c["Out@GRAD"], x, lines, True)
    even = np.full((x.shape[1], 1, *size), 1 / np.prod(size))
    kernel = c.w.constant(even, x.dtype.name)
    where = {"strides": how["strides"], "pads": pads, "group": x.shape[1], "output_padding": more}
    return c.w.node("ConvTranspose", c["Out@GRAD"], kernel, **where)
