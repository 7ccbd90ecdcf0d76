"""Operators that move elements, or make them, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.ir.variable import Variable

from ..tensors import type_number
from ..writing import Call, Unwritten, Writer
from .elementwise import summed
from .rows import writes


@writes("reshape2", "reshape")
def _reshape(c: Call) -> Any:
    c.only("Shape", "ShapeTensor")
    return c.w.node("Reshape", c["X"], c.w.constant(c.attrs["shape"]))


@writes("flatten_contiguous_range", "squeeze2", "unsqueeze2")
def _reshaped(c: Call) -> Any:
    c.only("AxesTensor", "AxesTensorList")
    out = c.out()
    assert out is not None
    if c.op.type == "unsqueeze2":
        return c.w.node("Unsqueeze", c["X"], c.w.constant(c.attrs["axes"]))
    if out.shape.count(-1) > 1:
        raise Unwritten("to a shape that is not known")
    return c.w.node("Reshape", c["X"], c.w.constant(out.shape))


@writes("reshape2_grad", "squeeze2_grad", "unsqueeze2_grad", "flatten_contiguous_range_grad")
def _shaped_back(c: Call) -> Any:
    """``XShape`` is of the shape of the operand, with a 0 before it."""
    shape = c.var("XShape").shape[1:]
    if shape.count(-1) > 1:
        raise Unwritten("to a shape that is not known")
    return c.w.node("Reshape", c["Out@GRAD"], c.w.constant(shape))


@writes("transpose2", "transpose")
def _transpose(c: Call) -> Any:
    return c.w.node("Transpose", c["X"], perm=list(c.attrs["axis"]))


@writes("transpose2_grad")
def _transposed_back(c: Call) -> Any:
    return c.w.node("Transpose", c["Out@GRAD"], perm=[int(i) for i in np.argsort(c.attrs["axis"])])


@writes("expand_v2")
def _expand(c: Call) -> Any:
    c.only("Shape", "expand_shapes_tensor")
    out = c.out()
    assert out is not None
    if any(d < 0 for d in out.shape):
        raise Unwritten("to a shape that is not known")
    return c.w.node("Expand", c["X"], c.w.constant(out.shape))


@writes("expand_v2_grad")
def _expanded_back(c: Call) -> Any:
    return summed(c.w, c["Out@GRAD"], c.var("Out@GRAD").shape, c.var("X"))


@writes("slice")
def _slice(c: Call) -> Any:
    c.only("StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList")
    w, axes = c.w, c.attrs["axes"]
    value = w.node("Slice", c["Input"], *(w.constant(list(p)) for p in (c.attrs["starts"], c.attrs["ends"], axes)))
    dropped = c.attrs["decrease_axis"]
    return w.node("Squeeze", value, w.constant(list(dropped))) if dropped else value


@writes("slice_grad")
def _sliced_back(c: Call) -> Any:
    """Zeros around what was taken."""
    c.only("StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList")
    w, x, g = c.w, c.var("Input"), c["Out@GRAD"]
    rank = len(x.shape)
    before, after = [0] * rank, [0] * rank
    for axis, start, end in zip(c.attrs["axes"], c.attrs["starts"], c.attrs["ends"], strict=True):
        if x.shape[axis] < 0:
            raise Unwritten("along an axis of a size that is not known")
        begin, stop, _ = slice(start, end).indices(x.shape[axis])
        before[axis], after[axis] = begin, x.shape[axis] - max(begin, stop)
    if c.attrs["decrease_axis"]:
        g = w.node("Unsqueeze", g, w.constant(list(c.attrs["decrease_axis"])))
    return w.node("Pad", g, w.constant(before + after), w.number(0, x))


@writes("concat")
def _concat(c: Call) -> Any:
    c.only("AxisTensor")
    return c.w.node("Concat", *map(c.w.of, c.many("X")), axis=int(c.attrs["axis"]))


def _parts(w: Writer, value: str, sizes: Sequence[int], axis: int) -> list[str]:
    if any(size < 0 for size in sizes):
        raise Unwritten("along an axis of a size that is not known")
    return w.several("Split", [value, w.constant(list(sizes))], len(sizes), axis=int(axis))


@writes("concat_grad")
def _joined_back(c: Call) -> Any:
    c.only("AxisTensor")
    axis = c.attrs["axis"]
    return {"X@GRAD": _parts(c.w, c["Out@GRAD"], [v.shape[axis] for v in c.many("X")], axis)}


@writes("split")
def _split(c: Call) -> Any:
    c.only("AxisTensor", "SectionsTensorList")
    axis = c.attrs["axis"]
    return {"Out": _parts(c.w, c["X"], [v.shape[axis] for v in c.results("Out") if v is not None], axis)}


def _unstacked(w: Writer, value: str, count: int, axis: int) -> list[str]:
    return [w.node("Squeeze", part, w.constant([axis])) for part in _parts(w, value, [1] * count, axis)]


@writes("stack")
def _stack(c: Call) -> Any:
    axis = c.attrs["axis"]
    rank = len(c.many("X")[0].shape) + 1
    parts = [c.w.node("Unsqueeze", c.w.of(v), c.w.constant([axis % rank])) for v in c.many("X")]
    return c.w.node("Concat", *parts, axis=int(axis % rank))


@writes("stack_grad")
def _stacked_back(c: Call) -> Any:
    g = c.var("Y@GRAD")
    return {"X@GRAD": _unstacked(c.w, c["Y@GRAD"], len(c.many("X")), c.attrs["axis"] % len(g.shape))}


@writes("unbind")
def _unbind(c: Call) -> Any:
    return {"Out": _unstacked(c.w, c["X"], len(c.results("Out")), c.attrs["axis"])}


@writes("shape")
def _shape(c: Call) -> Any:
    out = c.out()
    assert out is not None
    return c.w.node("Cast", c.w.node("Shape", c["Input"]), to=type_number(out.dtype.name))


@writes("fill_constant", "assign_value")
def _filled(c: Call) -> Any:
    c.only("ShapeTensor", "ShapeTensorList", "ValueTensor")
    out = c.out()
    assert out is not None
    if any(d < 0 for d in out.shape):
        raise Unwritten("of a shape that is not known")
    if c.op.type == "assign_value":
        return c.w.node("Identity", c.w.constant(np.asarray(c.attrs["values"]).reshape(out.shape), out.dtype.name))
    value = float(c.attrs["str_value"]) if c.attrs.get("str_value") else c.attrs["value"]
    return c.w.node("Identity", c.w.constant(np.full(out.shape, value), out.dtype.name))


@writes("fill_any_like")
def _filled_like(c: Call) -> Any:
    out = c.out()
    assert out is not None
    return c.w.node("Expand", c.w.number(c.attrs.get("value", 0), out), c.w.shape(c.var("X")))


# -- rows of a table --------------------------------------------------------------------------------------------------


@writes("lookup_table_v2")
def _looked_up(c: Call) -> Any:
    _expect_no_padding(c)
    return c.w.node("Gather", c["W"], c["Ids"], axis=0)


@writes("lookup_table_v2_grad")
def _looked_up_back(c: Call) -> Any:
    _expect_no_padding(c)
    w, table = c.w, c.var("W")
    places = w.node("Unsqueeze", c["Ids"], w.constant([len(c.var("Ids").shape)]))
    return w.node("ScatterND", _zeros(w, table), places, c["Out@GRAD"], reduction="add")


def _expect_no_padding(c: Call) -> None:
    if c.attrs["padding_idx"] != -1:
        raise Unwritten("with a row that is padding")


def _zeros(w: Writer, like: Variable) -> str:
    return w.node("Expand", w.number(0, like), w.shape(like))


# -- sums -------------------------------------------------------------------------------------------------------------


def _axes(c: Call) -> list[int]:
    rank = len(c.var("X").shape)
    axes = c.attrs.get("dim") or ()
    return list(range(rank)) if c.attrs.get("reduce_all", True) or not axes else [a % rank for a in axes]


@writes("reduce_sum", "reduce_mean", "mean")
def _reduced(c: Call) -> Any:
    axes, keep = _axes(c), int(c.attrs.get("keep_dim", False))
    if not axes:
        return c.w.node("Identity", c["X"])
    if c.op.type == "reduce_sum":
        return c.w.node("ReduceSum", c["X"], c.w.constant(axes), keepdims=keep)
    value = c.w.node("ReduceMean", c["X"], axes=axes, keepdims=keep)
    out = c.out()
    assert out is not None
    return value if len(out.shape) in (0, len(c.var("X").shape)) or c.op.type != "mean" else _as(c.w, value, out)


def _as(w: Writer, value: str, out: Variable) -> str:
    return w.node("Reshape", value, w.constant(out.shape))


@writes("reduce_sum_grad", "reduce_mean_grad", "mean_grad")
def _reduced_back(c: Call) -> Any:
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
