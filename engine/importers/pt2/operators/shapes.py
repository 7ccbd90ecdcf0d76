"""Operators that give elements another shape, or other places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Meta, Pt2Node, cast, kind_of
from ..values import SymbolicSize, as_number, elements, write_behind_autograd
from .rows import row, view

_ENDLESS = (1 << 31) - 1


def reshape(x: Any, meta: Meta, told: Sequence[Any] | None = None) -> Any:
    """*x* in another shape; *told* has the sizes where several of them are not known."""
    shape = list(meta.shape)
    if shape.count(-1) <= 1:
        return paddle.reshape(x, shape)
    if told is None:
        told = [d if d >= 0 else None for d in shape]
        if list(x.shape).count(-1) == len(x.shape) - sum(d >= 0 for d in x.shape) and None in told:
            raise Missing("a shape of several sizes that are not known")
    return paddle.reshape(x, elements(told))


def _back_to_shape(n: Pt2Node, whole: Any, part: Any) -> Any:
    return paddle.reshape(part, list(whole.shape) if list(whole.shape).count(-1) <= 1 else paddle.shape(whole))


@view("aten.view", "aten.reshape", "aten._unsafe_view", "aten.view_copy", back=_back_to_shape)
def _reshape(n: Pt2Node) -> Any:
    told = n("size", None) or n("shape", None)
    if "dtype" in n.arguments:
        raise Missing("elements that are looked at as another type")
    return reshape(n.tensor("self"), n.made, told)


@view("aten.flatten", "aten.unflatten", "aten._reshape_alias", back=_back_to_shape)
def _regroup(n: Pt2Node) -> Any:
    x, shape = n.tensor("self"), list(n.made.shape)
    if shape.count(-1) <= 1:
        return paddle.reshape(x, shape)
    if n.kind == "aten.flatten":
        return paddle.flatten(x, n.whole("start_dim", 0), n.whole("end_dim", -1))
    axis, sizes = n.axis(), elements(n("sizes"))
    every = paddle.cast(paddle.shape(x), "int64")
    own = [d if d >= 0 else paddle.slice(every, [0], [i], [i + 1]) for i, d in enumerate(x.shape)]
    return paddle.reshape(x, [*own[:axis], *sizes, *own[axis + 1 :]])


def _unpermute(n: Pt2Node, whole: Any, part: Any) -> Any:
    order = _order(n, len(whole.shape))
    return paddle.transpose(part, [order.index(i) for i in range(len(order))]) if order else part


def _order(n: Pt2Node, rank: int) -> list[int]:
    """Return the axis of the operand for each axis of the view."""
    order = list(range(rank))
    if n.kind in ("aten.permute", "aten.permute_copy"):
        order = [_front(a, rank) for a in n.wholes("dims")]
    elif n.kind in ("aten.t", "aten.numpy_T", "aten.mT", "aten.adjoint", "aten.matrix_H"):
        order = order[::-1] if n.kind in ("aten.t", "aten.numpy_T") else [*order[:-2], *order[:-3:-1]]
    elif n.kind == "aten.movedim":
        starts, ends = ([_front(a, rank) for a in n.wholes(name)] for name in ("source", "destination"))
        rest = [a for a in order if a not in starts]
        for end, start in sorted(zip(ends, starts, strict=True)):
            rest.insert(end, start)
        order = rest
    elif rank:
        first, second = ("axis0", "axis1") if n.kind == "aten.swapaxes" else ("dim0", "dim1")
        a, b = (_front(n.whole(name), rank) for name in (first, second))
        order[a], order[b] = b, a
    if sorted(order) != list(range(rank)):
        raise Unsound(f"axes in the order {order} of a tensor of {rank}")
    return order


def _front(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise Unsound(f"axis {axis} of a tensor of {rank}")
    return axis % rank


@view(
    "aten.permute", "aten.permute_copy", "aten.transpose", "aten.transpose_copy", "aten.t", "aten.numpy_T", "aten.mT",
    "aten.movedim", "aten.swapaxes", "aten.swapdims", back=_unpermute,
)  # fmt: skip
def _permute(n: Pt2Node) -> Any:
    x = n.tensor("self")
    order = _order(n, len(x.shape))
    return x if order == sorted(order) else paddle.transpose(x, order)


@view("aten.squeeze", "aten.squeeze_copy", back=_back_to_shape)
def _squeeze(n: Pt2Node) -> Any:
    x = n.tensor("self")
    rank = len(x.shape)
    axes = [_front(a, max(rank, 1)) for a in n.wholes("dim")] if "dim" in n.arguments else list(range(rank))
    axes = [a for a in axes if a < rank and x.shape[a] == 1]
    return paddle.squeeze(x, axis=axes) if axes else x


@view("aten.unsqueeze", "aten.unsqueeze_copy", back=_back_to_shape)
def _unsqueeze(n: Pt2Node) -> Any:
    return paddle.unsqueeze(n.tensor("self"), [n.axis(more=1)])


@view("aten.expand", "aten.expand_copy", "aten.broadcast_to", "aten.expand_as")
def _expand(n: Pt2Node) -> Any:
    x = n.tensor("self")
    told = list(n("size", None) or n.made.shape)
    own = [1] * (len(told) - len(x.shape)) + list(x.shape)
    wanted = [
        a if isinstance(d, int) and d == -1 else (-1 if a == s and a < 0 else d)
        for a, d, s in zip(own, told, n.made.shape, strict=True)
    ]
    if not wanted:
        return x
    return paddle.expand(x, elements(wanted))


def _write_slice(n: Pt2Node, whole: Any, part: Any) -> Any:
    axis, start, end, step = _bounds(n, whole)
    if not isinstance(start, int) or not isinstance(end, int):
        raise Missing("writing into a slice whose bounds are computed")
    if start == 0 and end >= _ENDLESS and step == 1:
        return part
    return paddle.slice_scatter(whole, part, [axis], [start], [end], [step])


def _bounds(n: Pt2Node, x: Any) -> tuple[int, Any, Any, int]:
    """Axis, first and last place, and step of a slice."""
    axis, step = n.axis(default=0, of=x), n.whole("step", 1)
    if step < 1 or not len(x.shape):
        raise Unsound(f"a slice with the step {step}")
    start, end, size = n("start", None), n("end", None), x.shape[axis]
    start, end = 0 if start is None else start, _ENDLESS if end is None else end
    if size >= 0 and not isinstance(start, SymbolicSize) and not isinstance(end, SymbolicSize):
        start, end, _ = slice(start, end).indices(size)
        return axis, start, max(start, end), step
    start = max(min(start, _ENDLESS), -_ENDLESS) if isinstance(start, int) else start
    end = max(min(end, _ENDLESS), -_ENDLESS) if isinstance(end, int) else end
    return axis, as_number(start), as_number(end), step


@view("aten.slice", "aten.slice_copy", back=_write_slice)
def _slice(n: Pt2Node) -> Any:
    x = n.tensor("self")
    axis, start, end, step = _bounds(n, x)
    whole = end == x.shape[axis] if x.shape[axis] >= 0 else isinstance(end, int) and end >= _ENDLESS
    if isinstance(start, int) and start == 0 and whole and step == 1:
        return x
    if step != 1:
        return paddle.strided_slice(x, [axis], [start], [end], [step])
    return paddle.slice(x, [axis], [start], [end])


@view("aten.narrow", back=None)
def _narrow(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    start, length = n.whole("start"), n.whole("length")
    if start < 0:
        if x.shape[axis] < 0:
            raise Missing("a part that is counted from an end that is not known")
        start += x.shape[axis]
    return paddle.slice(x, [axis], [start], [start + length])


def _write_place(n: Pt2Node, whole: Any, part: Any) -> Any:
    axis = n.axis(of=whole)
    return paddle.select_scatter(whole, part, axis, _place(n.whole("index"), whole.shape[axis]))


def _place(index: int, size: int) -> int:
    if size >= 0 and not -size <= index < size:
        raise Unsound(f"element {index} of {size}")
    return index % size if size > 0 else index


@view("aten.select", "aten.select_copy", back=_write_place)
def _select(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis()
    index = n("index")
    if isinstance(index, SymbolicSize):
        return paddle.squeeze(paddle.index_select(x, paddle.reshape(index.variable(), [1]), axis=axis), axis=[axis])
    place = _place(n.whole("index"), x.shape[axis])
    part = paddle.slice(x, [axis], [place], [place + 1 if place != -1 else _ENDLESS])
    return paddle.squeeze(part, axis=[axis])


@row("aten.select_scatter")
def _select_scatter(n: Pt2Node) -> Any:
    return _write_place(n, n.tensor("self"), n.tensor("src"))


@row("aten.slice_scatter")
def _slice_scatter(n: Pt2Node) -> Any:
    return paddle.assign(_write_slice(n, n.tensor("self"), n.tensor("src")))


@view("aten.diagonal", "aten.diagonal_copy", back=None)
def _diagonal(n: Pt2Node) -> Any:
    return paddle.diagonal(n.tensor("self"), n.whole("offset", 0), n.whole("dim1", 0), n.whole("dim2", 1))


@row("aten.diag_embed")
def _diagonal_matrix(n: Pt2Node) -> Any:
    """Put together of other operators: Paddle's ``diag_embed`` has no gradient."""
    x, offset = n.tensor("self"), n.whole("offset", 0)
    size = x.shape[-1]
    if not 0 <= size + abs(offset) <= 1 << 12:
        raise Missing(f"a diagonal of {size} elements, {offset} off the middle")
    on = paddle.assign(np.eye(size, dtype="bool"))
    square = paddle.where(on, paddle.unsqueeze(x, [-1]), paddle.zeros([], kind_of(x)))
    rank = len(square.shape)
    square = pad_along(square, rank - 1, max(offset, 0), max(-offset, 0), "constant", 0)
    square = pad_along(square, rank - 2, max(-offset, 0), max(offset, 0), "constant", 0)
    first, second = _front(n.whole("dim1", -2), rank), _front(n.whole("dim2", -1), rank)
    order = list(range(rank - 2))
    for axis, of in sorted([(first, rank - 2), (second, rank - 1)]):
        order.insert(axis, of)
    return square if order == sorted(order) else paddle.transpose(square, order)


@view("aten.detach", back=lambda n, whole, part: part if whole.stop_gradient else write_behind_autograd(whole, part))
def _detach(n: Pt2Node) -> Any:
    return n.tensor("self").detach()


@view("aten.alias", "aten.lift_fresh", back=lambda n, whole, part: part)
def _alias(n: Pt2Node) -> Any:
    return n.tensor("self")


@view("aten.view_as", "aten.reshape_as", back=_back_to_shape)
def _reshape_as(n: Pt2Node) -> Any:
    return reshape(n.tensor("self"), n.made)


@row("aten.contiguous", "aten.lift", "aten.pin_memory", "aten.requires_grad")
def _same(n: Pt2Node) -> Any:
    return n.tensor("self")


# -- several tensors --------------------------------------------------------------------------------------------------


@row("aten.cat", "aten.concat", "aten.concatenate")
def _cat(n: Pt2Node) -> Any:
    parts = [x for x in n("tensors") if list(x.shape) != [0]] or n("tensors")
    axis = n.axis(default=0, of=parts[0])
    parts = [cast(x, n.made.kind) for x in parts]
    return paddle.concat(parts, axis=axis) if len(parts) > 1 else paddle.assign(parts[0])


@row("aten.stack")
def _stack(n: Pt2Node) -> Any:
    parts = n("tensors")
    return paddle.stack(parts, axis=n.axis(default=0, of=parts[0], more=1))


def parts_of(x: Any, sizes: Sequence[int], axis: int) -> tuple[Any, ...]:
    """*x* cut along an axis into parts of these sizes."""
    whole = x.shape[axis]
    if (whole >= 0 and sum(sizes) != whole) or any(s < 0 for s in sizes):
        raise Unsound(f"it cuts {whole} into {list(sizes)[:16]}")
    if len(sizes) == 1:
        return (paddle.assign(x),)
    if min(sizes) > 0:
        return tuple(paddle.split(x, list(sizes), axis=axis))
    made, begin = [], 0
    for size in sizes:
        made.append(paddle.slice(x, [axis], [begin], [begin + size]))
        begin += size
    return tuple(made)


_MOST_PARTS = 1 << 16


def _split_at(x: Any, axis: int, places: list[int]) -> tuple[Any, ...]:
    """The parts of *x* between places along an axis."""
    edges = [slice(0, p).indices(x.shape[axis])[1] for p in places]
    ends = [*edges, x.shape[axis]]
    return tuple(paddle.slice(x, [axis], [a], [max(a, b)]) for a, b in zip([0, *edges], ends, strict=True))


@view("aten.split", "aten.split_copy", "aten.split_with_sizes", "aten.chunk", "aten.tensor_split")
def _split(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis(default=0)
    whole = x.shape[axis]
    sizes = n("split_sizes", None) or n("split_size", None)
    if isinstance(sizes, list):
        if any(isinstance(s, SymbolicSize) for s in sizes):
            raise Missing("parts of sizes that are computed")
        return parts_of(x, sizes, axis)
    if whole < 0 or isinstance(sizes, SymbolicSize):
        raise Missing("parts of a size that is not known")
    if n.kind == "aten.tensor_split":
        if "tensor_indices_or_sections" in n.arguments:
            raise Missing("places that are computed")
        if "indices" in n.arguments:
            return _split_at(x, axis, n.wholes("indices"))
        count = n.whole("sections")
        if not 0 < count <= _MOST_PARTS:
            raise Unsound(f"{count} parts")
        return parts_of(x, [whole // count + (i < whole % count) for i in range(count)], axis)
    size = -(-whole // max(n.whole("chunks"), 1)) if sizes is None else n.whole("split_size")
    size = max(size, 1)
    if whole > size * _MOST_PARTS:
        raise Unsound(f"parts of {size} of {whole}")
    return parts_of(x, [min(size, whole - begin) for begin in range(0, whole, size)] or [0], axis)


@view("aten.unbind", "aten.unbind_copy")
def _unbind(n: Pt2Node) -> Any:
    x, axis = n.tensor("self"), n.axis(default=0)
    if x.shape[axis] < 0:
        raise Missing("parts of a size that is not known")
    if x.shape[axis] > _MOST_PARTS:
        raise Unsound(f"{x.shape[axis]} parts")
    return tuple(paddle.unbind(x, axis=axis)) if x.shape[axis] > 1 else (paddle.squeeze(x, axis=[axis]),)


# -- other places -----------------------------------------------------------------------------------------------------


@row("aten.repeat", "aten.tile")
def _repeat(n: Pt2Node) -> Any:
    x, repeats = n.tensor("self"), elements(n("repeats" if n.kind == "aten.repeat" else "dims"))
    return paddle.tile(x, repeats) if repeats else paddle.assign(x)


@row("aten.repeat_interleave")
def _each_again(n: Pt2Node) -> Any:
    repeats = n("repeats")
    if isinstance(repeats, SymbolicSize) or "self" not in n.arguments:
        raise Missing("repetitions that are computed")
    return paddle.repeat_interleave(n.tensor("self"), repeats, n("dim", None))


@row("aten.flip")
def _flip(n: Pt2Node) -> Any:
    return paddle.flip(n.tensor("self"), n.wholes("dims"))


@row("aten.roll")
def _roll(n: Pt2Node) -> Any:
    axes = n.wholes("dims", [])
    return paddle.roll(n.tensor("self"), n.wholes("shifts"), axes or None)


@row("aten.rot90")
def _turn(n: Pt2Node) -> Any:
    return paddle.rot90(n.tensor("self"), n.whole("k", 1), n.wholes("dims", [0, 1]))


@row("aten.block_diag")
def _block_diagonal(n: Pt2Node) -> Any:
    return paddle.block_diag(n("tensors"))


@row("aten.tril", "aten.triu")
def _triangle(n: Pt2Node) -> Any:
    x, k = n.tensor("self"), n.whole("diagonal", 0)
    kind = kind_of(x)
    wide = paddle.cast(x, "int32") if kind in ("bool", "uint8", "int8") else x
    return cast((paddle.triu if n.kind == "aten.triu" else paddle.tril)(wide, diagonal=k), kind)


@row("aten.constant_pad_nd")
def _constant_pad(n: Pt2Node) -> Any:
    return pad(n, n.tensor("self"), "constant", n("value", 0))


@row("aten.pad")
def _pad(n: Pt2Node) -> Any:
    value = n("value", None)
    return pad(n, n.tensor("self"), n("mode", "constant"), 0 if value is None else value)


def _mirror(mode: str) -> Callable[[Pt2Node], Any]:
    return lambda n: pad(n, n.tensor("self"), mode, 0)


for _mode, _kinds in (
    ("reflect", ("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")),
    ("replicate", ("replication_pad1d", "replication_pad2d", "replication_pad3d")),
):
    for _kind in _kinds:
        row(f"aten.{_kind}")(_mirror(_mode))

_MODES = {"constant": None, "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(n: Pt2Node, x: Any, mode: str, value: Any) -> Any:
    """*x* with elements more (below 0: fewer) at the ends of its last axes, the last axis first."""
    pads = n("pad", None) or n("padding", None) or []
    if mode not in _MODES or len(pads) % 2 or len(pads) > 2 * len(x.shape):
        raise Unsound(f"{len(pads)} pads of the mode {mode!r}")
    if any(isinstance(p, SymbolicSize) for p in pads):
        raise Missing("pads that are computed")
    if any(abs(p) > 1 << 24 for p in pads):
        raise Unsound("pads that no tensor has")
    for i, (before, after) in enumerate(zip(pads[::2], pads[1::2], strict=True)):
        x = pad_along(x, len(x.shape) - 1 - i, before, after, mode, value)
    return x


def pad_along(x: Any, axis: int, before: int, after: int, mode: str, value: Any) -> Any:
    size = x.shape[axis]
    if mode == "constant" and (before < 0 or after < 0):
        end = size - max(-after, 0) if size >= 0 else (after if after < 0 else _ENDLESS)
        x = paddle.slice(x, [axis], [max(-before, 0)], [end])
        before, after, size = max(before, 0), max(after, 0), x.shape[axis]
    if not before and not after:
        return x
    if mode == "constant":
        kind = kind_of(x)
        pads = [0] * (2 * len(x.shape))
        pads[2 * axis], pads[2 * axis + 1] = before, after
        wide = x if kind.startswith(("float", "bfloat", "complex")) else paddle.cast(x, "float64")
        return cast(F.pad(wide, pads, value=float(value)), kind)
    if size < 0:
        raise Missing(f"pads of the mode {mode} along a size that is not known")
    if size + before + after < 0 or (max(before, after) >= size + (mode != "reflect") and mode != "replicate"):
        raise Unsound(f"pads of {before} and {after} around {size}")
    return paddle.index_select(x, _assign(_places(size, before, after, mode)), axis=axis)


def _assign(places: list[int]) -> Any:
    return paddle.assign(np.asarray(places, "int64"))


def _places(size: int, before: int, after: int, mode: str) -> list[int]:
    """Return the source of each element, for each mode."""
    every = range(-before, size + after)
    if mode == "replicate":
        return [min(max(i, 0), size - 1) for i in every]
    if mode == "circular":
        return [i % size for i in every]
    period = max(2 * size - 2, 1)
    return [min(i % period, period - i % period) if size > 1 else 0 for i in every]


@row("aten.pixel_shuffle")
def _shuffle(n: Pt2Node) -> Any:
    return F.pixel_shuffle(n.tensor("self"), n.whole("upscale_factor"))


@row("aten.pixel_unshuffle")
def _unshuffle(n: Pt2Node) -> Any:
    return F.pixel_unshuffle(n.tensor("self"), n.whole("downscale_factor"))


@row("aten.channel_shuffle")
def _channel_shuffle(n: Pt2Node) -> Any:
    return F.channel_shuffle(n.tensor("self"), n.whole("groups"))


@row("aten.unfold")
def _windows(n: Pt2Node) -> Any:
    x, axis, size, step = n.tensor("self"), n.axis("dimension"), n.whole("size"), n.whole("step")
    if x.shape[axis] < 0:
        raise Missing("windows over a size that is not known")
    if not 0 < size <= x.shape[axis] or step < 1:
        raise Unsound(f"windows of {size} every {step} of {x.shape[axis]}")
    return paddle.unfold(x, axis, size, step)


@row("aten.meshgrid")
def _grid(n: Pt2Node) -> Any:
    parts = n("tensors")
    made = paddle.meshgrid(*parts)
    if n("indexing", "ij") == "ij" or len(parts) < 2:
        return tuple(made)
    order = [1, 0, *range(2, len(parts))]
    return tuple(paddle.transpose(m, order) for m in made)


@row("aten.broadcast_tensors")
def _broadcast(n: Pt2Node) -> Any:
    return tuple(paddle.broadcast_tensors(n("tensors")))
