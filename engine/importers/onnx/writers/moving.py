"""Operators that move elements, or make them, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.variable import Variable
from ..tensors import type_number
from ..writing import GraphWriter, MissingRow, OnnxCall
from .elementwise import reduce_to
from .rows import writes


def size_list(c: OnnxCall, whole: str, parts: str, told: Sequence[int]) -> str:
    """Sizes, from a variable with all of them, or one for each, or else from the attribute that tells them."""
    w = c.w
    if c.has(whole):
        return w.node("Cast", w.node("Reshape", c[whole], w.constant([-1])), to=type_number("int64"))
    if not c.has(parts):
        return w.constant(list(told))
    one = w.constant([1])
    each = [w.node("Cast", w.node("Reshape", w.value(v), one), to=type_number("int64")) for v in c.many(parts)]
    return w.node("Concat", *each, axis=0)


def _with_shape_output(c: OnnxCall, value: str) -> dict[str, str]:
    """Return the result, and in ``XShape`` the sizes of the operand, where its gradient cannot tell them."""
    x = c.var("X")
    return {"Out": value} if x.shape.count(-1) < 2 else {"Out": value, "XShape": c.w.shape(x)}


@writes("reshape2", "reshape")
def _reshape(c: OnnxCall) -> Any:
    return _with_shape_output(c, c.w.node("Reshape", c["X"], size_list(c, "Shape", "ShapeTensor", c.attrs["shape"])))


@writes("flatten_contiguous_range", "squeeze2", "unsqueeze2")
def _write_reshape(c: OnnxCall) -> Any:
    c.only("AxesTensor", "AxesTensorList")
    w, x, out = c.w, c.var("X"), c.result()
    assert out is not None
    if c.op.type == "unsqueeze2":
        return _with_shape_output(c, w.node("Unsqueeze", c["X"], w.constant(c.attrs["axes"])))
    if out.shape.count(-1) < 2:
        return _with_shape_output(c, w.node("Reshape", c["X"], w.constant(out.shape)))
    rank = len(x.shape)
    if c.op.type == "squeeze2":
        axes = [a % rank for a in c.attrs["axes"]] or range(rank)
        return _with_shape_output(c, w.node("Squeeze", c["X"], w.constant([a for a in axes if x.shape[a] == 1])))
    start, stop = c.attrs["start_axis"] % max(rank, 1), c.attrs["stop_axis"] % max(rank, 1)
    ends = w.constant([0]), w.constant([start]), w.constant([stop + 1]), w.constant([rank])
    sizes = w.shape(x)
    before, behind = w.node("Slice", sizes, *ends[:2]), w.node("Slice", sizes, *ends[2:])
    return _with_shape_output(c, w.node("Reshape", c["X"], w.node("Concat", before, w.constant([-1]), behind, axis=0)))


@writes("reshape2_grad", "squeeze2_grad", "unsqueeze2_grad", "flatten_contiguous_range_grad")
def _reshape_gradient(c: OnnxCall) -> Any:
    """``XShape`` is of the shape of the operand, with a 0 before it."""
    shape = c.var("XShape").shape[1:]
    sizes = c.w.constant(shape) if shape.count(-1) < 2 else c["XShape"]
    return c.w.node("Reshape", c["Out@GRAD"], sizes)


@writes("transpose2", "transpose")
def _transpose(c: OnnxCall) -> Any:
    return c.w.node("Transpose", c["X"], perm=list(c.attrs["axis"]))


@writes("transpose2_grad")
def _transpose_gradient(c: OnnxCall) -> Any:
    return c.w.node("Transpose", c["Out@GRAD"], perm=[int(i) for i in np.argsort(c.attrs["axis"])])


@writes("expand_v2")
def _expand(c: OnnxCall) -> Any:
    """A size of -1 is that of the operand, as a size of 1 is for ``Expand``."""
    w = c.w
    sizes = size_list(c, "Shape", "expand_shapes_tensor", [max(d, 1) for d in c.attrs["shape"]])
    if c.has("Shape") or c.has("expand_shapes_tensor"):
        sizes = w.node("Max", sizes, w.constant([1]))
    return w.node("Expand", c["X"], sizes)


@writes("expand_v2_grad")
def _expand_gradient(c: OnnxCall) -> Any:
    return reduce_to(c.w, c["Out@GRAD"], c.var("Out@GRAD").shape, c.var("X"))


@writes("slice")
def _slice(c: OnnxCall) -> Any:
    c.only("StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList")
    w, axes = c.w, c.attrs["axes"]
    value = w.node("Slice", c["Input"], *(w.constant(list(p)) for p in (c.attrs["starts"], c.attrs["ends"], axes)))
    dropped = c.attrs["decrease_axis"]
    return w.node("Squeeze", value, w.constant(list(dropped))) if dropped else value


@writes("slice_grad")
def _slice_gradient(c: OnnxCall) -> Any:
    """Zeros around what was taken."""
    c.only("StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList")
    w, x, g = c.w, c.var("Input"), c["Out@GRAD"]
    rank = len(x.shape)
    before, after = [w.constant([0])] * rank, [w.constant([0])] * rank
    for axis, start, end in zip(c.attrs["axes"], c.attrs["starts"], c.attrs["ends"], strict=True):
        before[axis], after[axis] = _margins(w, x, axis, start, end)
    if c.attrs["decrease_axis"]:
        g = w.node("Unsqueeze", g, w.constant(list(c.attrs["decrease_axis"])))
    return w.node("Pad", g, w.node("Concat", *before, *after, axis=0), w.number(0, x))


def _margins(w: GraphWriter, x: Variable, axis: int, start: int, end: int) -> tuple[str, str]:
    """Return the margins of an axis before and behind a slice of it."""
    if x.shape[axis] >= 0:
        begin, stop, _ = slice(start, end).indices(x.shape[axis])
        return w.constant([begin]), w.constant([x.shape[axis] - max(begin, stop)])
    size, zero = w.node("Gather", w.shape(x), w.constant([axis]), axis=0), w.constant([0])

    def clamp(place: int) -> str:
        at = w.constant([place]) if place >= 0 else w.node("Max", w.node("Add", size, w.constant([place])), zero)
        return w.node("Min", at, size)

    begin_at = clamp(start)
    return begin_at, w.node("Sub", size, w.node("Max", begin_at, clamp(end)))


_COMPUTED_BOX = (
    "StartsTensor", "EndsTensor", "StridesTensor", "StartsTensorList", "EndsTensorList", "StridesTensorList",
)  # fmt: skip


@writes("strided_slice")
def _strided_slice(c: OnnxCall) -> Any:
    c.only(*_COMPUTED_BOX)
    w, attrs = c.w, c.attrs
    bounds = (w.constant(list(attrs[name])) for name in ("starts", "ends", "axes", "strides"))
    value, dropped = w.node("Slice", c["Input"], *bounds), attrs["decrease_axis"]
    return w.node("Squeeze", value, w.constant(list(dropped))) if dropped else value


@writes("strided_slice_grad")
def _strided_slice_gradient(c: OnnxCall) -> Any:
    """Along each axis what was taken, and behind it a zero, which all other places take."""
    c.only(*_COMPUTED_BOX)
    w, x, g, attrs = c.w, c.var("Input"), c["Out@GRAD"], c.attrs
    if attrs["decrease_axis"]:
        g = w.node("Unsqueeze", g, w.constant(list(attrs["decrease_axis"])))
    rank = len(x.shape)
    for axis, start, end, stride in zip(*(attrs[n] for n in ("axes", "starts", "ends", "strides")), strict=True):
        at = axis % rank
        if x.shape[at] < 0:
            raise MissingRow("of a size that is not known")
        taken = range(x.shape[at])[start:end:stride]
        pads = [0] * (2 * rank)
        pads[rank + at] = 1
        padded = w.node("Pad", g, w.constant(pads), w.number(0, x))
        sources = [taken.index(i) if i in taken else len(taken) for i in range(x.shape[at])]
        g = w.node("Gather", padded, w.constant(sources), axis=at)
    return g


@writes("concat")
def _concat(c: OnnxCall) -> Any:
    c.only("AxisTensor")
    return c.w.node("Concat", *map(c.w.value, c.many("X")), axis=int(c.attrs["axis"]))


def _parts(w: GraphWriter, value: str, likes: Sequence[Variable], axis: int) -> list[str]:
    """*value* cut along an axis into parts as long as *likes* are there."""
    if all(v.shape[axis] >= 0 for v in likes):
        sizes = w.constant([v.shape[axis] for v in likes])
    else:
        place = w.constant([axis % len(likes[0].shape)])
        sizes = w.node("Concat", *(w.node("Gather", w.shape(v), place, axis=0) for v in likes), axis=0)
    return w.several("Split", [value, sizes], len(likes), axis=int(axis))


@writes("concat_grad")
def _concat_gradient(c: OnnxCall) -> Any:
    c.only("AxisTensor")
    return {"X@GRAD": _parts(c.w, c["Out@GRAD"], c.many("X"), c.attrs["axis"])}


@writes("split")
def _split(c: OnnxCall) -> Any:
    c.only("AxisTensor", "SectionsTensorList")
    w, axis = c.w, c.attrs["axis"]
    results = [v for v in c.results("Out") if v is not None]
    sizes = list(c.attrs["sections"]) or [v.shape[axis] for v in results]
    if min(sizes) >= 0:
        return {"Out": w.several("Split", [c["X"], w.constant(sizes)], len(results), axis=int(axis))}
    if not c.attrs["sections"]:
        return {"Out": w.several("Split", [c["X"]], len(results), axis=int(axis))}
    x = c.var("X")
    whole = w.node("Gather", w.shape(x), w.constant([axis % len(x.shape)]), axis=0)
    rest = w.node("Sub", whole, w.constant([sum(size for size in sizes if size >= 0)]))
    told = [w.constant([size]) if size >= 0 else rest for size in sizes]
    return {"Out": w.several("Split", [c["X"], w.node("Concat", *told, axis=0)], len(results), axis=int(axis))}


def _unstack(w: GraphWriter, value: str, count: int, axis: int) -> list[str]:
    parts = w.several("Split", [value, w.constant([1] * count)], count, axis=axis)
    return [w.node("Squeeze", part, w.constant([axis])) for part in parts]


@writes("stack")
def _stack(c: OnnxCall) -> Any:
    axis = c.attrs["axis"]
    rank = len(c.many("X")[0].shape) + 1
    parts = [c.w.node("Unsqueeze", c.w.value(v), c.w.constant([axis % rank])) for v in c.many("X")]
    return c.w.node("Concat", *parts, axis=int(axis % rank))


@writes("stack_grad")
def _stack_gradient(c: OnnxCall) -> Any:
    g = c.var("Y@GRAD")
    return {"X@GRAD": _unstack(c.w, c["Y@GRAD"], len(c.many("X")), c.attrs["axis"] % len(g.shape))}


@writes("unbind")
def _unbind(c: OnnxCall) -> Any:
    return {"Out": _unstack(c.w, c["X"], len(c.results("Out")), c.attrs["axis"])}


@writes("range")
def _range(c: OnnxCall) -> Any:
    w = c.w
    return w.node("Range", *(w.node("Reshape", c[slot], w.constant([], "int64")) for slot in ("Start", "End", "Step")))


@writes("shape64")
def _shape64(c: OnnxCall) -> Any:
    return c.w.node("Shape", c["input"])


@writes("shape")
def _shape(c: OnnxCall) -> Any:
    out = c.result()
    assert out is not None
    return c.w.node("Cast", c.w.node("Shape", c["Input"]), to=type_number(out.dtype.name))


@writes("fill_constant", "assign_value")
def _fill(c: OnnxCall) -> Any:
    c.only("ValueTensor")
    out, w = c.result(), c.w
    assert out is not None
    if c.op.type == "assign_value":
        return w.node("Identity", w.constant(np.asarray(c.attrs["values"]).reshape(out.shape), out.dtype.name))
    value = float(c.attrs["str_value"]) if c.attrs.get("str_value") else c.attrs["value"]
    if all(d >= 0 for d in out.shape):
        return w.node("Identity", w.constant(np.full(out.shape, value), out.dtype.name))
    return w.node("Expand", w.constant(value, out.dtype.name), size_list(c, "ShapeTensor", "ShapeTensorList", ()))


@writes("fill_any_like")
def _fill_like(c: OnnxCall) -> Any:
    out = c.result()
    assert out is not None
    return c.w.node("Expand", c.w.number(c.attrs.get("value", 0), out), c.w.shape(c.var("X")))


# -- rows of a table --------------------------------------------------------------------------------------------------


@writes("lookup_table_v2")
def _look_up(c: OnnxCall) -> Any:
    _expect_no_padding(c)
    return c.w.node("Gather", c["W"], c["Ids"], axis=0)


@writes("lookup_table_v2_grad")
def _look_up_gradient(c: OnnxCall) -> Any:
    _expect_no_padding(c)
    w, table = c.w, c.var("W")
    places = w.node("Unsqueeze", c["Ids"], w.constant([len(c.var("Ids").shape)]))
    return w.node("ScatterND", _zeros(w, table), places, c["Out@GRAD"], reduction="add")


def _expect_no_padding(c: OnnxCall) -> None:
    if c.attrs["padding_idx"] != -1:
        raise MissingRow("with a row that is padding")


def _zeros(w: GraphWriter, like: Variable) -> str:
    return w.node("Expand", w.number(0, like), w.shape(like))


# -- sums -------------------------------------------------------------------------------------------------------------


def _axes(c: OnnxCall) -> list[int]:
    rank = len(c.var("X").shape)
    axes = c.attrs.get("dim") or ()
    return list(range(rank)) if c.attrs.get("reduce_all", True) or not axes else [a % rank for a in axes]


@writes("reduce_sum", "reduce_mean", "mean")
def _reduce(c: OnnxCall) -> Any:
    axes, keep = _axes(c), int(c.attrs.get("keep_dim", False))
    if not axes:
        return c.w.node("Identity", c["X"])
    if c.op.type == "reduce_sum":
        return c.w.node("ReduceSum", c["X"], c.w.constant(axes), keepdims=keep)
    value = c.w.node("ReduceMean", c["X"], axes=axes, keepdims=keep)
    out = c.result()
    assert out is not None
    return value if len(out.shape) in (0, len(c.var("X").shape)) or c.op.type != "mean" else _as(c.w, value, out)


_EXTREMES = {"reduce_max": "ReduceMax", "reduce_min": "ReduceMin", "reduce_prod": "ReduceProd"}


@writes(*_EXTREMES)
def _extreme(c: OnnxCall) -> Any:
    axes = _axes(c)
    if not axes:
        return c.w.node("Identity", c["X"])
    return c.w.node(_EXTREMES[c.op.type], c["X"], axes=axes, keepdims=int(c.attrs.get("keep_dim", False)))


def _as(w: GraphWriter, value: str, out: Variable) -> str:
    return w.node("Reshape", value, w.constant(out.shape))


@writes("reduce_sum_grad", "reduce_mean_grad", "mean_grad")
def _reduce_gradient(c: OnnxCall) -> Any:
    w, x, g = c.w, c.var("X"), c["Out@GRAD"]
    axes = _axes(c)
    if axes and not c.attrs.get("keep_dim", False):
        if len(c.var("Out@GRAD").shape) != len(x.shape) - len(axes):
            g = w.node("Reshape", g, w.constant([1] * len(x.shape)))
        else:
            g = w.node("Unsqueeze", g, w.constant(axes))
    whole = w.node("Expand", g, w.shape(x))
    if c.op.type == "reduce_sum_grad":
        return whole
    sizes = w.node("Gather", w.shape(x), w.constant(axes), axis=0)
    count = w.node("Cast", w.node("ReduceProd", sizes, keepdims=0), to=type_number(x.dtype.name))
    return w.node("Div", whole, count)
