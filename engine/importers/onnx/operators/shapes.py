"""Operators that give elements another shape, or other places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool import paddle

from .. import sizes
from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .activations import flat
from .rows import row


def pick(tensor: Any, i: int) -> Any:
    """Element *i* of a list of sizes, as a variable with one element."""
    return paddle.slice(tensor, [0], [i], [i + 1])


def size_list(n: OnnxNode, i: int, spare: bool = False) -> Any:
    """Operand *i*, a list of sizes: numbers where they are known, variables elsewhere.

    Args:
        spare: one size may be -1, which means what remains.
    """
    held = n.sizes(i)
    if held is None:
        return n[i]
    known = [d for d in held if d is not None]
    if len(known) == len(held):
        return known
    if spare and len(known) == len(held) - 1 and -1 not in known:
        return [-1 if d is None else d for d in held]
    return [pick(n[i], j) if d is None else d for j, d in enumerate(held)]


@row("Shape", folds=False)
def _shape(n: OnnxNode) -> Any:
    held = sizes.follow(n) or []
    if all(d is not None for d in held):
        return np.asarray(held, "int64")
    start, end = n.whole("start", 0), n.whole("end", len(n[0].shape))
    every = paddle.cast(paddle.shape(n[0]), "int64")
    begin, stop, _ = slice(start, end).indices(len(n[0].shape))
    return every if stop - begin == len(n[0].shape) else paddle.slice(every, [0], [begin], [stop])


@row("Size", folds=False)
def _size(n: OnnxNode) -> Any:
    shape = n[0].shape
    return np.asarray(math.prod(shape), "int64") if all(d >= 0 for d in shape) else paddle.numel(n[0])


@row("Reshape")
def _reshape(n: OnnxNode) -> Any:
    x = n[0]
    if n.holds("shape"):
        return paddle.reshape(x, n.wholes("shape"))
    shape = size_list(n, 1, spare=True)
    if isinstance(shape, list) and any(isinstance(d, int) and d == 0 for d in shape):
        if not all(isinstance(d, int) for d in shape):
            return paddle.reshape(x, _fill_own_sizes(x, shape, n))
        if n.whole("allowzero", 0):
            return paddle.reshape(x, _allow_zero(x, shape))
        if len(shape) > len(x.shape) and 0 in shape[len(x.shape) :]:
            raise Malformed("it keeps a size that its operand has not")
        if 0 in x.shape:
            shape = _allow_zero(x, [x.shape[j] if d == 0 else d for j, d in enumerate(shape)])
    if isinstance(shape, list) and not shape:
        return paddle.reshape(x, [])
    return paddle.reshape(x, shape)


def _fill_own_sizes(x: Any, shape: list[Any], n: OnnxNode) -> list[Any]:
    """A shape of numbers and variables in which 0 means the operand's own size."""
    if n.whole("allowzero", 0):
        raise Lacking("a size of 0 next to sizes that are computed")
    every = paddle.shape(x)
    own = [pick(every, j) if d < 0 else d for j, d in enumerate(x.shape)]
    if any(isinstance(d, int) and d == 0 and j >= len(own) for j, d in enumerate(shape)):
        raise Malformed("it keeps a size that its operand has not")
    return [own[j] if isinstance(d, int) and d == 0 else d for j, d in enumerate(shape)]


def _allow_zero(x: Any, shape: list[int]) -> list[int]:
    """A shape in which 0 means no element: as Paddle takes it."""
    if any(d < 0 for d in shape):
        rest = math.prod(d for d in shape if d >= 0)
        total = math.prod(x.shape)
        shape = [(total // rest if rest else 0) if d < 0 else d for d in shape]
    if 0 not in shape or 0 in x.shape[: len(shape)]:
        keeps = [j < len(x.shape) and x.shape[j] == 0 for j, d in enumerate(shape) if d == 0]
        if all(keeps):
            return shape
    raise Lacking("a size of 0 where the operand has another one")


@row("Flatten")
def _flatten(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 1)
    axis = axis + len(x.shape) if axis < 0 else axis
    if axis == 0:
        return paddle.reshape(x, [1, -1])
    return flat(x, axis)


def _axes(n: OnnxNode) -> Any:
    return n.ints(1, "axes") if n.has(1) else n.wholes("axes")


@row("Squeeze")
def _squeeze(n: OnnxNode) -> Any:
    x, axes = n[0], _axes(n)
    wrong = [a for a in axes or () if x.shape[a] not in (1, -1)]
    if wrong:
        raise Malformed(f"axis {wrong[0]} of a tensor of shape {list(x.shape)} is not 1")
    return paddle.squeeze(x, axis=axes)


@row("Unsqueeze")
def _unsqueeze(n: OnnxNode) -> Any:
    x, axes = n[0], _axes(n)
    if axes is None:
        raise Malformed("its axes are missing")
    rank = len(x.shape) + len(axes)
    places = sorted(a + rank if a < 0 else a for a in axes)
    if len(set(places)) < len(places) or any(not 0 <= p < rank for p in places):
        raise Malformed(f"its axes are {axes}")
    return paddle.unsqueeze(x, places) if places else paddle.assign(x)


@row("Transpose")
def _transpose(n: OnnxNode) -> Any:
    x = n[0]
    order = n.wholes("perm", list(range(len(x.shape)))[::-1])
    return paddle.transpose(x, order) if order else paddle.assign(x)


@row("Expand")
def _expand(n: OnnxNode) -> Any:
    x, shape = n[0], size_list(n, 1)
    if not isinstance(shape, list):
        raise Lacking("a shape that is computed")
    rank = max(len(shape), len(x.shape))
    own = [1] * (rank - len(x.shape)) + list(x.shape)
    asked = [1] * (rank - len(shape)) + shape
    whole = [_larger(a, b) for a, b in zip(own, asked, strict=True)]
    return paddle.expand(x, whole) if whole else paddle.assign(x)


def _larger(own: int, asked: Any) -> Any:
    """One size of two that are broadcast: -1 says that the tensor's own one stays."""
    if isinstance(asked, int):
        return asked if own == 1 else (-1 if own < 0 else own)
    return asked if own == 1 else (-1 if own < 0 else own)


@row("Tile")
def _tile(n: OnnxNode) -> Any:
    repeats = size_list(n, 1)
    return paddle.tile(n[0], repeats) if not isinstance(repeats, list) or repeats else paddle.assign(n[0])


@row("Concat")
def _concat(n: OnnxNode) -> Any:
    return paddle.concat(n.every(), axis=n.whole("axis", 1))


@row("Split")
def _split(n: OnnxNode) -> Any:
    x, axis = n[0], n.whole("axis", 0)
    whole = x.shape[axis]
    parts = n.wholes("split") if n.holds("split") else (n.ints(1, "sizes") if n.has(1) else None)
    if parts is None:
        count = n.whole("num_outputs", len(n.outputs))
        if whole < 0:
            return paddle.split(x, count, axis=axis)
        size = -(-whole // count)
        parts = [size] * (count - 1) + [whole - size * (count - 1)]
    if len(parts) == 1:
        return (paddle.assign(x),)
    if sum(parts) != whole and whole >= 0:
        raise Malformed(f"it splits {whole} into {parts}")
    begin, made = 0, []
    if 0 not in parts and min(parts) > 0:
        return tuple(paddle.split(x, parts, axis=axis))
    for size in parts:
        made.append(paddle.slice(x, [axis % len(x.shape)], [begin], [begin + size]))
        begin += size
    return tuple(made)


@row("Slice")
def _slice(n: OnnxNode) -> Any:
    x = n[0]
    rank = len(x.shape)
    if n.opset < 10:
        starts, ends = n.wholes("starts", []), n.wholes("ends", [])
        axes, steps = n.wholes("axes", list(range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = _bounds(n, 1), _bounds(n, 2)
        axes = n.ints(3, "axes") if n.has(3) else list(range(len(starts)))
        steps = n.ints(4, "steps") if n.has(4) else [1] * len(starts)
    axes = [a + rank if a < 0 else a for a in axes]
    if len({len(starts), len(ends), len(axes), len(steps)}) > 1 or 0 in steps:
        raise Malformed("its bounds do not fit each other")
    if any(step < 0 for step in steps):
        return _backwards(x, axes, starts, ends, steps)
    edges = [_cut(x.shape[a], lo, hi) for a, lo, hi in zip(axes, starts, ends, strict=True)]
    if any(step != 1 for step in steps):
        return paddle.strided_slice(x, axes, [e[0] for e in edges], [e[1] for e in edges], steps)
    return paddle.slice(x, axes, [e[0] for e in edges], [e[1] for e in edges]) if axes else paddle.assign(x)


def _bounds(n: OnnxNode, i: int) -> list[Any]:
    bounds = size_list(n, i)
    if not isinstance(bounds, list):
        shape = bounds.shape
        if len(shape) != 1 or shape[0] < 0:
            raise Lacking("bounds that are computed")
        return [pick(bounds, j) for j in range(shape[0])]
    return bounds


_FAR = (1 << 31) - 1


def _cut(size: int, start: Any, end: Any) -> tuple[Any, Any]:
    """Bounds that no attribute of 32 bits is too small for."""
    if isinstance(start, int):
        start = max(min(start, size if size >= 0 else _FAR), -size if size >= 0 else -_FAR)
    if isinstance(end, int):
        end = max(min(end, size if size >= 0 else _FAR), -size - 1 if size >= 0 else -_FAR)
    if isinstance(start, int) and isinstance(end, int) and size >= 0:
        start, end, _ = slice(start, end).indices(size)
        end = max(start, end)
    return start, end


def _backwards(x: Any, axes: list[int], starts: list[Any], ends: list[Any], steps: list[int]) -> Any:
    """Slices with a step below 0: the axis is turned, and gone through forwards."""
    for a, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = x.shape[a]
        if size < 0 or not isinstance(start, int) or not isinstance(end, int):
            raise Lacking("a step below 0 along a size that is not known")
        begin, stop, stride = slice(start, end, step).indices(size)
        if stride < 0:
            x = paddle.flip(x, [a])
            begin, stop, stride = size - 1 - begin, size - 1 - stop, -stride
        stop = max(begin, stop)
        if stride == 1:
            x = paddle.slice(x, [a], [begin], [stop])
        else:
            x = paddle.strided_slice(x, [a], [begin], [stop], [stride])
    return x


@row("Pad")
def _pad(n: OnnxNode) -> Any:
    x, mode = n[0], n.text("mode", "constant")
    rank = len(x.shape)
    pads = n.wholes("pads", n.wholes("paddings")) if n.opset < 11 else n.ints(1, "pads")
    value = n.real("value", 0.0) if n.opset < 11 else n.number(2, 0)
    axes = [a % rank for a in n.ints(3, "axes")] if n.has(3) else list(range(rank))
    half = len(pads) // 2
    if half != len(axes):
        raise Malformed(f"{len(pads)} pads for {len(axes)} axes")
    for axis, before, after in zip(axes, pads[:half], pads[half:], strict=True):
        x = pad(x, axis, before, after, mode, value)
    return paddle.assign(x) if x is n[0] else x


def pad(x: Any, axis: int, before: int, after: int, mode: str = "constant", value: Any = 0) -> Any:
    """*x* with elements more (below 0: fewer) at both ends of an axis."""
    size = x.shape[axis]
    if before < 0 or after < 0:
        if size < 0:
            raise Lacking("a size that is cut and not known")
        x = paddle.slice(x, [axis], [max(-before, 0)], [size - max(-after, 0)])
        before, after, size = max(before, 0), max(after, 0), x.shape[axis]
    if not before and not after:
        return x
    if mode == "constant":
        rank = len(x.shape)
        pads = [0] * (2 * rank)
        pads[2 * axis], pads[2 * axis + 1] = before, after
        kind = kind_of(x)
        wide = x if kind.startswith(("float", "bfloat", "complex")) else paddle.cast(x, "float64")
        y = paddle.nn.functional.pad(wide, pads, value=float(value))
        return y if wide is x else paddle.cast(y, kind)
    if size < 0:
        raise Lacking(f"pads of the mode {mode} along a size that is not known")
    places = _places(size, before, after, mode)
    return paddle.index_select(x, paddle.assign(np.asarray(places, "int64")), axis=axis)


def _places(size: int, before: int, after: int, mode: str) -> list[int]:
    """Return the source of each element, for each mode."""
    every = range(-before, size + after)
    if mode == "edge":
        return [min(max(i, 0), size - 1) for i in every]
    if mode == "wrap":
        return [i % size for i in every]
    if mode == "reflect":
        period = max(2 * size - 2, 1)
        return [min(i % period, period - i % period) if size > 1 else 0 for i in every]
    raise Malformed(f"it pads in the mode {mode!r}")


@row("DepthToSpace")
def _depth_to_space(n: OnnxNode) -> Any:
    x, size = n[0], n.whole("blocksize", 1)
    batch, channels, height, width = x.shape
    if n.text("mode", "DCR") == "CRD":
        y = paddle.reshape(x, [batch, channels // size**2, size, size, height, width])
        y = paddle.transpose(y, [0, 1, 4, 2, 5, 3])
    else:
        y = paddle.reshape(x, [batch, size, size, channels // size**2, height, width])
        y = paddle.transpose(y, [0, 3, 4, 1, 5, 2])
    return paddle.reshape(y, [batch, channels // size**2, height * size, width * size])


@row("SpaceToDepth")
def _space_to_depth(n: OnnxNode) -> Any:
    x, size = n[0], n.whole("blocksize", 1)
    batch, channels, height, width = x.shape
    y = paddle.reshape(x, [batch, channels, height // size, size, width // size, size])
    y = paddle.transpose(y, [0, 1, 3, 5, 2, 4] if n.text("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4])
    return paddle.reshape(y, [batch, channels * size**2, height // size, width // size])


@row("Trilu")
def _triangle(n: OnnxNode) -> Any:
    x, k = n[0], n.ints(1, "a diagonal")[0] if n.has(1) else 0
    kind = kind_of(x)
    wide = paddle.cast(x, "int32") if kind in ("bool", "uint8", "int8") else x
    y = (paddle.triu if n.whole("upper", 1) else paddle.tril)(wide, diagonal=k)
    return y if wide is x else paddle.cast(y, kind)


@row("CenterCropPad")
def _crop_or_pad(n: OnnxNode) -> Any:
    """Cut or filled up at both ends."""
    x, wanted = n[0], n.ints(1, "a shape")
    rank = len(x.shape)
    axes = [a % rank for a in n.wholes("axes", list(range(rank)))]
    for axis, size in zip(axes, wanted, strict=True):
        if x.shape[axis] < 0:
            raise Lacking("a size that is not known")
        more = size - x.shape[axis]
        x = pad(x, axis, more // 2 if more >= 0 else -(-more // 2), more - (more // 2 if more >= 0 else -(-more // 2)))
    return paddle.assign(x) if x is n[0] else x
