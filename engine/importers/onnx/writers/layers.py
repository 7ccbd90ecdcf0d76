"""Products, normalizations and losses, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.variable import Variable
from ..tensors import type_number
from ..writing import GraphWriter, MissingRow, OnnxCall
from .elementwise import reduce_to
from .rows import writes


def _transpose(w: GraphWriter, value: str, v: Variable) -> str:
    """A matrix, or many of them, transposed."""
    rank = len(v.shape)
    return w.node("Transpose", value, perm=[*range(rank - 2), rank - 1, rank - 2])


@writes("matmul_v2")
def _product(c: OnnxCall) -> Any:
    x, y = c.var("X"), c.var("Y")
    if 1 in (len(x.shape), len(y.shape)) and (c.attrs["trans_x"] or c.attrs["trans_y"]):
        raise MissingRow("of vectors")
    a = _transpose(c.w, c["X"], x) if c.attrs["trans_x"] else c["X"]
    b = _transpose(c.w, c["Y"], y) if c.attrs["trans_y"] else c["Y"]
    return c.w.node("MatMul", a, b)


@writes("matmul_v2_grad")
def _product_back(c: OnnxCall) -> Any:
    w, x, y, g = c.w, c.var("X"), c.var("Y"), c.var("Out@GRAD")
    if min(len(x.shape), len(y.shape)) < 2:
        raise MissingRow("of vectors")
    made = {}
    arrived = c["Out@GRAD"]
    if c.result("X@GRAD") is not None:
        other = c["Y"] if c.attrs["trans_y"] else _transpose(w, c["Y"], y)
        dx = w.node("MatMul", arrived, other)
        shape = (*g.shape[:-1], x.shape[-2] if c.attrs["trans_x"] else x.shape[-1])
        dx = _transpose(w, dx, g) if c.attrs["trans_x"] else dx
        made["X@GRAD"] = reduce_to(w, dx, (*shape[:-2], *x.shape[-2:]), x)
    if c.result("Y@GRAD") is not None:
        other = c["X"] if c.attrs["trans_x"] else _transpose(w, c["X"], x)
        dy = w.node("MatMul", other, arrived)
        dy = _transpose(w, dy, g) if c.attrs["trans_y"] else dy
        made["Y@GRAD"] = reduce_to(w, dy, (*g.shape[:-2], *y.shape[-2:]), y)
    return made


@writes("mul")
def _flat_product(c: OnnxCall) -> Any:
    w, out = c.w, c.result()
    assert out is not None
    y = w.node("MatMul", *_flatten(c))
    if len(out.shape) == 2:
        return y
    if out.shape.count(-1) < 2:
        return w.node("Reshape", y, w.constant(out.shape))
    x_part, y_part = c.attrs["x_num_col_dims"], c.attrs["y_num_col_dims"]
    rows = w.node("Slice", w.shape(c.var("X")), w.constant([0]), w.constant([x_part]))
    columns = w.node("Slice", w.shape(c.var("Y")), w.constant([y_part]), w.constant([len(c.var("Y").shape)]))
    return w.node("Reshape", y, w.node("Concat", rows, columns, axis=0))


def _flatten(c: OnnxCall) -> tuple[str, str]:
    """Both operands as matrices."""
    x, y = c.attrs["x_num_col_dims"], c.attrs["y_num_col_dims"]
    return c.w.node("Flatten", c["X"], axis=int(x)), c.w.node("Flatten", c["Y"], axis=int(y))


@writes("mul_grad")
def _flat_product_back(c: OnnxCall) -> Any:
    w, (x, y) = c.w, _flatten(c)
    g = w.node("Flatten", c["Out@GRAD"], axis=int(c.attrs["x_num_col_dims"]))
    made = {}
    if c.result("X@GRAD") is not None:
        dx = w.node("MatMul", g, w.node("Transpose", y, perm=[1, 0]))
        made["X@GRAD"] = w.node("Reshape", dx, w.shape(c.var("X")))
    if c.result("Y@GRAD") is not None:
        dy = w.node("MatMul", w.node("Transpose", x, perm=[1, 0]), g)
        made["Y@GRAD"] = w.node("Reshape", dy, w.shape(c.var("Y")))
    return made


# -- softmax and losses -----------------------------------------------------------------------------------------------


@writes("softmax", "log_softmax")
def _softmax(c: OnnxCall) -> Any:
    return c.w.node("Softmax" if c.op.type == "softmax" else "LogSoftmax", c["X"], axis=int(c.attrs["axis"]))


@writes("softmax_grad")
def _softmax_back(c: OnnxCall) -> Any:
    w = c.w
    weighted = w.node("Mul", c["Out"], c["Out@GRAD"])
    total = w.node("ReduceSum", weighted, w.constant([c.attrs["axis"]]), keepdims=1)
    return w.node("Sub", weighted, w.node("Mul", c["Out"], total))


@writes("log_softmax_grad")
def _log_softmax_back(c: OnnxCall) -> Any:
    w = c.w
    total = w.node("ReduceSum", c["Out@GRAD"], w.constant([c.attrs["axis"]]), keepdims=1)
    return w.node("Sub", c["Out@GRAD"], w.node("Mul", w.node("Exp", c["Out"]), total))


def _classes(c: OnnxCall, like: Variable) -> int:
    """The axis of the classes."""
    return int(c.attrs["axis"]) % len(like.shape)


def _target(c: OnnxCall, like: Variable) -> str:
    """The probability of each class by the labels: 1 at the class of each, 0 elsewhere and where it is ignored."""
    w, label, axis = c.w, c["Label"], _classes(c, like)
    kind = type_number(like.dtype.name)
    if c.attrs["soft_label"]:
        return w.node("Cast", label, to=kind)
    if like.shape[axis] < 0:
        raise MissingRow("of classes whose number is not known")
    label = w.node("Cast", label, to=type_number("int64"))
    places = np.arange(like.shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(like.shape))])
    chosen = w.node("Equal", label, w.constant(places))
    counts = w.node("Not", w.node("Equal", label, w.constant(c.attrs["ignore_index"])))
    return w.node("Cast", w.node("And", chosen, counts), to=kind)


def _total(w: GraphWriter, value: str, axis: int) -> str:
    return w.node("ReduceSum", value, w.constant([axis]), keepdims=1)


@writes("softmax_with_cross_entropy")
def _cross_entropy(c: OnnxCall) -> Any:
    w, logits = c.w, c.var("Logits")
    axis, target = _classes(c, logits), _target(c, logits)
    if c.attrs.get("use_softmax", True):
        logs, softmax = w.node("LogSoftmax", c["Logits"], axis=axis), w.node("Softmax", c["Logits"], axis=axis)
        return {"Softmax": softmax, "Loss": w.node("Neg", _total(w, w.node("Mul", logs, target), axis))}
    # a logarithm that no label asks for may be infinite: it is that of 1
    logs = w.node("Log", w.node("Where", _is_nothing(w, target, logits), w.number(1, logits), c["Logits"]))
    loss = w.node("Neg", _total(w, w.node("Mul", logs, target), axis))
    return {"Softmax": w.node("Identity", c["Logits"]), "Loss": loss}


def _is_nothing(w: GraphWriter, target: str, like: Variable) -> str:
    return w.node("Equal", target, w.number(0, like))


@writes("softmax_with_cross_entropy_grad")
def _cross_entropy_back(c: OnnxCall) -> Any:
    w, softmax = c.w, c.var("Softmax")
    axis, target = _classes(c, softmax), _target(c, softmax)
    if not c.attrs.get("use_softmax", True):
        nothing = _is_nothing(w, target, softmax)
        if c.attrs["soft_label"]:
            nothing = w.node("And", nothing, _is_nothing(w, c["Softmax"], softmax))
        slope = w.node("Div", target, w.node("Where", nothing, w.number(1, softmax), c["Softmax"]))
        return w.node("Neg", w.node("Mul", slope, c["Loss@GRAD"]))
    slope = w.node("Sub", w.node("Mul", c["Softmax"], _total(w, target, axis)), target)
    return w.node("Mul", slope, c["Loss@GRAD"])


# -- normalizations ---------------------------------------------------------------------------------------------------


def _moments(w: GraphWriter, x: str, v: Variable, axes: list[int], epsilon: float) -> tuple[str, str]:
    """*x* around its mean, and one over its deviation."""
    centred = w.node("Sub", x, w.node("ReduceMean", x, axes=axes, keepdims=1))
    spread = w.node("ReduceMean", w.node("Mul", centred, centred), axes=axes, keepdims=1)
    return centred, w.node("Reciprocal", w.node("Sqrt", w.node("Add", spread, w.number(epsilon, v))))


def _normal_back(w: GraphWriter, normal: str, inverse: str, scaled: str, axes: list[int]) -> str:
    """The gradient of what is normalized, from that of the normal numbers."""
    mean = w.node("ReduceMean", scaled, axes=axes, keepdims=1)
    along = w.node("ReduceMean", w.node("Mul", scaled, normal), axes=axes, keepdims=1)
    rest = w.node("Sub", w.node("Sub", scaled, mean), w.node("Mul", normal, along))
    return w.node("Mul", rest, inverse)


def _lists(w: GraphWriter, v: Variable, value: str, inner: list[int]) -> str:
    return w.node("Reshape", value, w.constant(inner)) if list(v.shape) != inner else value


@writes("layer_norm")
def _layer_norm(c: OnnxCall) -> Any:
    w, x = c.w, c.var("X")
    begin = c.attrs["begin_norm_axis"]
    centred, inverse = _moments(w, c["X"], x, list(range(begin, len(x.shape))), c.attrs["epsilon"])
    y = w.node("Mul", centred, inverse)
    inner = list(x.shape[begin:])
    if c.has("Scale"):
        y = w.node("Mul", y, _lists(w, c.var("Scale"), c["Scale"], inner))
    if c.has("Bias"):
        y = w.node("Add", y, _lists(w, c.var("Bias"), c["Bias"], inner))
    return {"Y": y}


@writes("layer_norm_grad")
def _layer_norm_back(c: OnnxCall) -> Any:
    w, x, g = c.w, c.var("X"), c["Y@GRAD"]
    begin = c.attrs["begin_norm_axis"]
    outer, axes, inner = list(range(begin)), list(range(begin, len(x.shape))), list(x.shape[begin:])
    centred, inverse = _moments(w, c["X"], x, axes, c.attrs["epsilon"])
    normal = w.node("Mul", centred, inverse)
    scaled = w.node("Mul", g, _lists(w, c.var("Scale"), c["Scale"], inner)) if c.has("Scale") else g
    return {"X@GRAD": _normal_back(w, normal, inverse, scaled, axes), **_affine_gradients(c, normal, g, outer)}


def _affine_gradients(c: OnnxCall, normal: str, g: str, outer: list[int]) -> dict[str, str]:
    """The gradients of scale and bias."""
    w, made = c.w, {}
    for slot in ("Scale", "Bias"):
        if c.result(f"{slot}@GRAD") is not None:
            value = w.node("Mul", g, normal) if slot == "Scale" else g
            total = w.node("ReduceSum", value, w.constant(outer), keepdims=0)
            made[f"{slot}@GRAD"] = w.node("Reshape", total, w.constant(c.var(slot).shape))
    return made


@writes("instance_norm")
def _instance_norm(c: OnnxCall) -> Any:
    return {"Y": c.w.node("InstanceNormalization", c["X"], c["Scale"], c["Bias"], epsilon=float(c.attrs["epsilon"]))}


@writes("instance_norm_grad")
def _instance_norm_back(c: OnnxCall) -> Any:
    w, x, g = c.w, c.var("X"), c["Y@GRAD"]
    axes = list(range(2, len(x.shape)))
    centred, inverse = _moments(w, c["X"], x, axes, c.attrs["epsilon"])
    normal = w.node("Mul", centred, inverse)
    scaled = w.node("Mul", g, _channel_number(w, c["Scale"], x)) if c.has("Scale") else g
    return {"X@GRAD": _normal_back(w, normal, inverse, scaled, axes), **_affine_gradients(c, normal, g, [0, *axes])}


def _channel_number(w: GraphWriter, value: str, x: Variable) -> str:
    """A number for each channel."""
    return w.node("Reshape", value, w.constant([-1, *[1] * (len(x.shape) - 2)]))


def _channels(c: OnnxCall) -> tuple[int, list[int], list[int]]:
    """The axis of the channels of a batch norm, the other axes, and the shape of numbers for each channel."""
    x = c.var("X")
    axis = 1 if c.attrs["data_layout"] == "NCHW" or len(x.shape) == 2 else len(x.shape) - 1
    return axis, [i for i in range(len(x.shape)) if i != axis], [-1 if i == axis else 1 for i in range(len(x.shape))]


def _is_fixed(c: OnnxCall) -> bool:
    """Return whether a batch norm takes the statistics that it has gathered."""
    attrs = c.attrs
    return bool(attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"]))


@writes("batch_norm")
def _batch_norm(c: OnnxCall) -> Any:
    c.only("MomentumTensor")
    w, x, (axis, outer, along) = c.w, c.var("X"), _channels(c)
    if _is_fixed(c):
        if axis != 1 or not (c.has("Scale") and c.has("Bias")):
            raise MissingRow("of gathered statistics, with channels along the last axis or without scale and bias")
        operands = [c[slot] for slot in ("X", "Scale", "Bias", "Mean", "Variance")]
        return {"Y": w.node("BatchNormalization", *operands, epsilon=float(c.attrs["epsilon"]))}
    centre = w.node("ReduceMean", c["X"], axes=outer, keepdims=1)
    centred = w.node("Sub", c["X"], centre)
    spread = w.node("ReduceMean", w.node("Mul", centred, centred), axes=outer, keepdims=1)
    deviation = w.node("Sqrt", w.node("Add", spread, w.number(c.attrs["epsilon"], x)))
    y = w.node("Div", centred, deviation)
    for slot, kind in (("Scale", "Mul"), ("Bias", "Add")):
        if c.has(slot):
            y = w.node(kind, y, w.node("Reshape", c[slot], w.constant(along)))
    made = {"Y": y}
    keep, flat = c.attrs["momentum"], w.constant([-1])
    for slot, own in (("Mean", centre), ("Variance", spread)):
        v = c.var(slot)
        before = w.node("Mul", c[slot], w.number(keep, v))
        made[f"{slot}Out"] = w.node("Add", before, w.node("Mul", w.node("Reshape", own, flat), w.number(1 - keep, v)))
    return made


@writes("batch_norm_grad")
def _batch_norm_back(c: OnnxCall) -> Any:
    w, x, g, (_, outer, along) = c.w, c.var("X"), c["Y@GRAD"], _channels(c)
    shape = w.constant(along)
    scaled = w.node("Mul", g, w.node("Reshape", c["Scale"], shape)) if c.has("Scale") else g
    if not _is_fixed(c):
        centred, inverse = _moments(w, c["X"], x, outer, c.attrs["epsilon"])
        normal = w.node("Mul", centred, inverse)
        return {"X@GRAD": _normal_back(w, normal, inverse, scaled, outer), **_affine_gradients(c, normal, g, outer)}
    spread = w.node("Add", c["Variance"], w.number(c.attrs["epsilon"], c.var("Variance")))
    inverse = w.node("Reshape", w.node("Reciprocal", w.node("Sqrt", spread)), shape)
    normal = w.node("Mul", w.node("Sub", c["X"], w.node("Reshape", c["Mean"], shape)), inverse)
    return {"X@GRAD": w.node("Mul", scaled, inverse), **_affine_gradients(c, normal, g, outer)}
