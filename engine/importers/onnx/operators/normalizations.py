"""Normalizations."""

from __future__ import annotations

from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Lacking
from ..node import OnnxNode
from ..tensors import kind_of
from .elementwise import cast
from .rows import row
from .shapes import pad


@row("BatchNormalization", fixed=(3, 4))
def _batch(n: OnnxNode) -> Any:
    """Statistics of the file, which training does not change; those of the batch where the node says that it trains."""
    x, epsilon = n[0], n.real("epsilon", 1e-5)
    trains = bool(n.whole("training_mode", 0)) if n.opset >= 14 else sum(map(bool, n.outputs)) > 1
    mean, variance = n[3], n[4]
    if not trains:
        if len({kind_of(v) for v in (x, n[1], mean)}) > 1 or len(x.shape) < 2:
            return _normalize(x, mean, variance, n[1], n[2], epsilon)
        return F.batch_norm(x, mean, variance, n[1], n[2], training=False, epsilon=epsilon)
    momentum = n.real("momentum", 0.9)
    axes = [a for a in range(len(x.shape)) if a != 1]
    own = paddle.mean(x, axis=axes)
    spread = paddle.mean(paddle.square(x - _reshape_along(own, x)), axis=axes)
    y = _normalize(x, own, spread, n[1], n[2], epsilon)
    return y, mean * momentum + own * (1 - momentum), variance * momentum + spread * (1 - momentum)


def _reshape_along(v: Any, x: Any, axis: int = 1) -> Any:
    """A list of numbers along one axis of *x*."""
    return paddle.reshape(v, [1] * axis + [-1] + [1] * (len(x.shape) - axis - 1)) if len(x.shape) > 1 else v


def _normalize(x: Any, mean: Any, variance: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    kind = kind_of(x)
    mean, variance, scale, bias = (cast(_reshape_along(v, x), kind) for v in (mean, variance, scale, bias))
    return (x - mean) * paddle.rsqrt(variance + epsilon) * scale + bias


@row("InstanceNormalization")
def _instance(n: OnnxNode) -> Any:
    return F.instance_norm(n[0], weight=n[1], bias=n[2], eps=n.real("epsilon", 1e-5))


@row("LayerNormalization")
def _layer(n: OnnxNode) -> Any:
    x, scale, bias = n[0], n[1], n.get(2)
    rank = len(x.shape)
    axis = n.whole("axis", -1) % rank
    epsilon = n.real("epsilon", 1e-5)
    inner = list(x.shape[axis:])
    fits = list(scale.shape) == inner and (bias is None or list(bias.shape) == inner) and min(inner) > 0
    if fits and len([o for o in n.outputs if o]) < 2:
        return F.layer_norm(x, inner, weight=scale, bias=bias, epsilon=epsilon)
    axes = list(range(axis, rank))
    mean = paddle.mean(x, axis=axes, keepdim=True)
    centred = x - mean
    inverse = paddle.rsqrt(paddle.mean(paddle.square(centred), axis=axes, keepdim=True) + epsilon)
    y = centred * inverse * scale
    return y if bias is None else y + bias, mean, inverse


@row("RMSNormalization")
def _root_mean_square(n: OnnxNode) -> Any:
    x = n[0]
    rank = len(x.shape)
    axes = list(range(n.whole("axis", -1) % rank, rank))
    kind = kind_of(x)
    wide = x if kind in ("float32", "float64") else paddle.cast(x, "float32")
    root = paddle.rsqrt(paddle.mean(paddle.square(wide), axis=axes, keepdim=True) + n.real("epsilon", 1e-5))
    return cast(wide * root, kind) * n[1]


@row("GroupNormalization")
def _group(n: OnnxNode) -> Any:
    x, groups, scale, bias = n[0], n.whole("num_groups", 1), n[1], n[2]
    channels = x.shape[1]
    if n.opset < 21 and channels != scale.shape[0]:  # a number for each group
        scale, bias = (
            paddle.reshape(paddle.expand(paddle.reshape(v, [groups, 1]), [groups, channels // groups]), [channels])
            for v in (scale, bias)
        )
    return F.group_norm(x, groups, epsilon=n.real("epsilon", 1e-5), weight=scale, bias=bias)


@row("LRN")
def _local_response(n: OnnxNode) -> Any:
    x, size = n[0], n.whole("size", 1)
    alpha, beta, bias = n.real("alpha", 1e-4), n.real("beta", 0.75), n.real("bias", 1.0)
    if size % 2 and len(x.shape) == 4 and x.shape[1] > 0:
        return F.local_response_norm(x, size, alpha=alpha, beta=beta, k=bias)
    if x.shape[1] < 0:
        raise Lacking("channels whose number is not known")
    squares = pad(paddle.square(x), 1, (size - 1) // 2, size - 1 - (size - 1) // 2)
    total = sum(
        (paddle.slice(squares, [1], [i], [i + x.shape[1]]) for i in range(1, size)),
        paddle.slice(squares, [1], [0], [x.shape[1]]),
    )
    return x / paddle.pow(total * (alpha / size) + bias, beta)


@row("LpNormalization")
def _norm(n: OnnxNode) -> Any:
    """Return the norm, with a gradient of 0 where the norm is 0."""
    x, p, axis = n[0], n.whole("p", 2), n.whole("axis", -1)
    if p == 1:
        norm = paddle.sum(paddle.abs(x), axis=axis, keepdim=True)
    else:
        norm = paddle.sqrt(paddle.sum(paddle.square(x), axis=axis, keepdim=True))
    zero = paddle.equal(norm, paddle.zeros_like(norm))
    return x / paddle.where(zero, paddle.ones_like(norm), norm)


@row("MeanVarianceNormalization")
def _mean_variance(n: OnnxNode) -> Any:
    x, axes = n[0], n.wholes("axes", [0, 2, 3])
    mean = paddle.mean(x, axis=axes, keepdim=True)
    spread = paddle.mean(paddle.square(x), axis=axes, keepdim=True) - paddle.square(mean)
    return (x - mean) / (paddle.sqrt(spread) + 1e-9)
