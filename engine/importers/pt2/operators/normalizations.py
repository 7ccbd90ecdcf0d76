"""Normalizations."""

from __future__ import annotations

import math
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, kind_of
from .rows import row

_LARGEST = 1e-3
"""The largest epsilon that Paddle's operators take."""

_UPDATING = (
    "aten.batch_norm",
    "aten.native_batch_norm",
    "aten.cudnn_batch_norm",
    "aten._native_batch_norm_legit",
    "aten._batch_norm_with_update",
)
"""Those that write into the running statistics; the others give them."""


@row(
    *_UPDATING, "aten._native_batch_norm_legit_functional", "aten._batch_norm_with_update_functional",
    "aten._native_batch_norm_legit_no_training", "aten._batch_norm_no_update", "aten._native_batch_norm_legit.no_stats",
)  # fmt: skip
def _batch(n: Pt2Node) -> Any:
    """Statistics of the batch where the module trains, else those that it has gathered."""
    x, weight, bias, eps = n.tensor("input"), n("weight", None), n("bias", None), float(n("eps", 1e-5))
    mean, variance = n("running_mean", None), n("running_var", None)
    never = n.kind in ("aten._native_batch_norm_legit_no_training", "aten._batch_norm_no_update")
    always = n.kind in ("aten._batch_norm_with_update", "aten._batch_norm_with_update_functional")
    trains = always or (not never and n.flag("training"))
    count = len(n.outputs)
    if not trains and mean is not None:
        return (_normalize_fixed(x, mean, variance, weight, bias, eps), *[paddle.zeros([0], kind_of(x))] * (count - 1))[
            :count
        ]
    axes = [a for a in range(len(x.shape)) if a != 1]
    own = paddle.mean(x, axis=axes)
    spread = paddle.mean(paddle.square(x - reshape_along(own, x)), axis=axes)
    inverse = paddle.rsqrt(spread + eps)
    y = affine((x - reshape_along(own, x)) * reshape_along(inverse, x), weight, bias, x)
    own, spread, inverse = own.detach(), spread.detach(), inverse.detach()
    if mean is None:
        return (y, own, inverse)[:count]
    new = _running_statistics(n, x, own, spread, mean, variance, axes)
    if n.kind in _UPDATING:
        for name, value in zip(("running_mean", "running_var"), new, strict=True):
            held = n.held(name)
            if held is not None:
                held.write(value)
        return (y, own, inverse, *[paddle.zeros([0], kind_of(x))] * max(count - 3, 0))[:count]
    middle = [paddle.zeros([0], "uint8")] if n.kind.startswith("aten._batch") else []
    return (y, own, inverse, *middle, *new)


def _normalize_fixed(x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    plain = len({kind_of(v) for v in (x, mean, variance, weight, bias) if v is not None}) == 1
    if plain and weight is not None and bias is not None and len(x.shape) > 1 and 0 <= eps <= _LARGEST:
        return F.batch_norm(x, mean, variance, weight, bias, training=False, epsilon=eps)
    kind = kind_of(x)
    centred = x - cast(reshape_along(mean, x), kind)
    return affine(centred * cast(reshape_along(paddle.rsqrt(variance + eps), x), kind), weight, bias, x)


def _running_statistics(
    n: Pt2Node, x: Any, own: Any, spread: Any, mean: Any, variance: Any, axes: list[int]
) -> tuple[Any, Any]:
    """The running statistics afterwards; that of the variance is not biased."""
    momentum = float(n("momentum", 0.1))
    if all(x.shape[a] >= 0 for a in axes):
        count = math.prod(x.shape[a] for a in axes)
        spread = spread * (count / max(count - 1, 1))
    else:
        every = paddle.cast(paddle.shape(x), kind_of(spread))
        number = paddle.prod(every) / paddle.squeeze(paddle.slice(every, [0], [1], [2]), [0])
        spread = spread * (number / (number - 1))
    return mean * (1 - momentum) + own * momentum, variance * (1 - momentum) + spread * momentum


def reshape_along(v: Any, x: Any) -> Any:
    """A number for each channel, along the second axis of *x*."""
    return paddle.reshape(v, [1, -1] + [1] * (len(x.shape) - 2)) if len(x.shape) > 1 else v


def affine(y: Any, weight: Any, bias: Any, x: Any) -> Any:
    """*y* scaled and moved by a number for each channel."""
    kind = kind_of(x)
    y = y if weight is None else y * cast(reshape_along(weight, x), kind)
    return y if bias is None else y + cast(reshape_along(bias, x), kind)


@row("aten.layer_norm", "aten.native_layer_norm")
def _layer(n: Pt2Node) -> Any:
    x, weight, bias, eps = n.tensor("input"), n("weight", None), n("bias", None), float(n("eps", 1e-5))
    shape = n.wholes("normalized_shape")
    rank = len(x.shape)
    if not 0 < len(shape) <= rank or any(x.shape[rank - len(shape) + i] not in (-1, s) for i, s in enumerate(shape)):
        raise Unsound(f"it normalizes {shape} of {list(x.shape)}")
    same = all(v is None or kind_of(v) == kind_of(x) for v in (weight, bias))
    same = same and len(shape) < rank and 0 <= eps <= _LARGEST
    if same:
        weight, bias = (v if v is None or len(v.shape) == 1 else paddle.reshape(v, [-1]) for v in (weight, bias))
    if len(n.outputs) == 1 and same:
        return F.layer_norm(x, shape, weight=weight, bias=bias, epsilon=eps)
    axes = list(range(rank - len(shape), rank))
    mean = paddle.mean(x, axis=axes, keepdim=True)
    inverse = paddle.rsqrt(paddle.mean(paddle.square(x - mean), axis=axes, keepdim=True) + eps)
    if same:
        return F.layer_norm(x, shape, weight=weight, bias=bias, epsilon=eps), mean.detach(), inverse.detach()
    y = (x - mean) * inverse
    y = y if weight is None else y * cast(weight, kind_of(x))
    y = y if bias is None else y + cast(bias, kind_of(x))
    return (y, mean.detach(), inverse.detach())[: len(n.outputs)]


@row("aten.rms_norm", "aten._fused_rms_norm")
def _root_mean_square(n: Pt2Node) -> Any:
    x, weight, eps = n.tensor("input"), n("weight", None), n("eps", None)
    shape = n.wholes("normalized_shape")
    rank, kind = len(x.shape), kind_of(x)
    if not 0 < len(shape) <= rank:
        raise Unsound(f"it normalizes {shape} of {list(x.shape)}")
    wide = x if kind in ("float32", "float64") else paddle.cast(x, "float32")
    usual = {"float64": 2.220446049250313e-16}.get(kind, 1.1920928955078125e-07)
    squares = paddle.mean(paddle.square(wide), axis=list(range(rank - len(shape), rank)), keepdim=True)
    inverse = paddle.rsqrt(squares + (usual if eps is None else float(eps)))
    y = cast(wide * inverse, kind)
    return (y if weight is None else y * cast(weight, kind), inverse)[: len(n.outputs)]


@row("aten.group_norm", "aten.native_group_norm")
def _group(n: Pt2Node) -> Any:
    native = n.kind == "aten.native_group_norm"
    x, weight, bias = n.tensor("input"), n("weight", None), n("bias", None)
    groups = n.whole("group" if native else "num_groups")
    if x.shape[1] < 0 or groups < 1 or x.shape[1] % groups:
        raise Unsound(f"{groups} groups of {x.shape[1]} channels")
    y = F.group_norm(x, groups, epsilon=float(n("eps", 1e-5)), weight=weight, bias=bias)
    return (y, None, None)[: len(n.outputs)]


@row("aten.instance_norm")
def _instance(n: Pt2Node) -> Any:
    x, weight, bias = n.tensor("input"), n("weight", None), n("bias", None)
    if not n.flag("use_input_stats", True):
        return _normalize_fixed(x, n("running_mean"), n("running_var"), weight, bias, float(n("eps", 1e-5)))
    if n("running_mean", None) is not None:
        raise Missing("running statistics of instances")
    return F.instance_norm(x, weight=weight, bias=bias, eps=float(n("eps", 1e-5)))


@row("aten._weight_norm", "aten._weight_norm_interface")
def _weight_norm(n: Pt2Node) -> Any:
    """A direction and a length for each place along an axis."""
    v, length = n.tensor("v"), n.tensor("g")
    axis = n.axis(default=0, of=v)
    norm = v
    for other in (a for a in range(len(v.shape)) if a != axis):
        norm = paddle.norm(norm, p=2, axis=other, keepdim=True)
    return (v * (length / norm), norm)[: len(n.outputs)]


@row("aten.local_response_norm")
def _local(n: Pt2Node) -> Any:
    return F.local_response_norm(
        n.tensor("input"),
        n.whole("size"),
        alpha=float(n("alpha", 1e-4)),
        beta=float(n("beta", 0.75)),
        k=float(n("k", 1)),
    )
