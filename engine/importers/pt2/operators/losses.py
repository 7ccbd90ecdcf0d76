"""Losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node, cast, kind_of
from .rows import row

_REDUCED: tuple[Callable[[Any], Any], ...] = (lambda x: x, paddle.mean, paddle.sum)
"""By the number that ATen has for it."""


def _reduce(n: Pt2Node, loss: Any, default: int = 1) -> Any:
    how = n.whole("reduction", default)
    if not 0 <= how < len(_REDUCED):
        raise Unsound(f"it reduces by {how}")
    return _REDUCED[how](loss)


@row("aten.mse_loss")
def _squares(n: Pt2Node) -> Any:
    return _reduce(n, paddle.square(n.tensor("self") - n.tensor("target")))


@row("aten.l1_loss")
def _distances(n: Pt2Node) -> Any:
    return _reduce(n, paddle.abs(n.tensor("self") - n.tensor("target")))


@row("aten.smooth_l1_loss", "aten.huber_loss")
def _smooth(n: Pt2Node) -> Any:
    away = paddle.abs(n.tensor("self") - n.tensor("target"))
    width = float(n("beta" if n.kind == "aten.smooth_l1_loss" else "delta", 1.0))
    if width == 0:
        return _reduce(n, away)
    near, far = 0.5 * paddle.square(away), width * (away - 0.5 * width)
    whole = paddle.where(paddle.less_than(away, paddle.full_like(away, width)), near, far)
    return _reduce(n, whole / width if n.kind == "aten.smooth_l1_loss" else whole)


@row("aten.binary_cross_entropy")
def _binary(n: Pt2Node) -> Any:
    x, target, weight = n.tensor("self"), n.tensor("target"), n("weight", None)
    logs = [paddle.clip(paddle.log(v), -100.0, float("inf")) for v in (x, 1 - x)]
    loss = -(target * logs[0] + (1 - target) * logs[1])
    return _reduce(n, loss if weight is None else loss * weight)


@row("aten.binary_cross_entropy_with_logits")
def _binary_scores(n: Pt2Node) -> Any:
    x, target, weight, positive = n.tensor("self"), n.tensor("target"), n("weight", None), n("pos_weight", None)
    log = F.log_sigmoid(x)
    factor = 1.0 if positive is None else 1 + (positive - 1) * target
    loss = (1 - target) * x - (log * factor if positive is not None else log)
    return _reduce(n, loss if weight is None else loss * weight)


@row("aten.kl_div")
def _divergence(n: Pt2Node) -> Any:
    x, target = n.tensor("self"), n.tensor("target")
    if n.flag("log_target"):
        return _reduce(n, paddle.exp(target) * (target - x))
    zero = paddle.equal(target, paddle.zeros_like(target))
    safe = paddle.where(zero, paddle.ones_like(target), target)
    return _reduce(n, target * (paddle.log(safe) - x))


@row("aten.poisson_nll_loss")
def _poisson(n: Pt2Node) -> Any:
    x, target = n.tensor("input"), n.tensor("target")
    loss = paddle.exp(x) - target * x if n.flag("log_input", True) else x - target * paddle.log(x + float(n("eps")))
    if n.flag("full"):
        one = paddle.ones_like(target)
        many = paddle.greater_than(target, one)
        safe = paddle.where(many, target, one)
        more = safe * paddle.log(safe) - safe + 0.5 * paddle.log(2 * math.pi * safe)
        loss = loss + paddle.where(many, more, paddle.zeros_like(more))
    return _reduce(n, loss)


@row("aten.margin_ranking_loss")
def _rank(n: Pt2Node) -> Any:
    away = -n.tensor("target") * (n.tensor("input1") - n.tensor("input2")) + float(n("margin", 0.0))
    return _reduce(n, F.relu(away))


@row("aten.hinge_embedding_loss")
def _hinge(n: Pt2Node) -> Any:
    x, target = n.tensor("self"), n.tensor("target")
    one, zero = paddle.ones_like(target), paddle.zeros_like(x)
    apart = paddle.where(paddle.equal(target, one), zero, F.relu(float(n("margin", 1.0)) - x))
    return _reduce(n, apart + paddle.where(paddle.equal(target, -one), zero, x))


@row("aten.cosine_embedding_loss")
def _cosine(n: Pt2Node) -> Any:
    x, y, target, margin = n.tensor("input1"), n.tensor("input2"), n.tensor("target"), float(n("margin", 0.0))
    sizes = [paddle.sum(paddle.square(v), axis=-1) + 1e-12 for v in (x, y)]
    cosine = paddle.sum(x * y, axis=-1) / paddle.sqrt(sizes[0] * sizes[1])
    zero, one = paddle.zeros_like(cosine), paddle.ones_like(target)
    alike = paddle.where(paddle.equal(target, one), 1 - cosine, zero)
    return _reduce(n, alike + paddle.where(paddle.equal(target, -one), F.relu(cosine - margin), zero))


@row("aten.triplet_margin_loss")
def _triplets(n: Pt2Node) -> Any:
    anchor, positive, negative = n.tensor("anchor"), n.tensor("positive"), n.tensor("negative")
    p, eps = float(n("p", 2.0)), float(n("eps", 1e-6))

    def away(x: Any, y: Any) -> Any:
        return paddle.norm(x - y + eps, p=p, axis=-1)

    far = away(anchor, negative)
    if n.flag("swap"):
        far = paddle.minimum(far, away(positive, negative))
    return _reduce(n, F.relu(float(n("margin", 1.0)) + away(anchor, positive) - far))


@row("aten.soft_margin_loss")
def _margin(n: Pt2Node) -> Any:
    return _reduce(n, F.softplus(-n.tensor("target") * n.tensor("self")))


def _negative_log_likelihood(n: Pt2Node, logs: Any, label: Any, weight: Any, ignored: int) -> tuple[Any, Any]:
    """The negative logarithm of the probability of each label, reduced, and the weight of all.

    *logs* is of shape (N, C, …) or (C,), *label* (N, …) or ().
    """
    single = len(logs.shape) == 1
    if single:
        logs, label = paddle.unsqueeze(logs, [0]), paddle.reshape(label, [1])
    label = cast(label, "int64")
    counts = paddle.not_equal(label, paddle.full_like(label, ignored))
    label = paddle.where(counts, label, paddle.zeros_like(label))
    loss = -paddle.squeeze(paddle.take_along_axis(logs, paddle.unsqueeze(label, [1]), 1, broadcast=False), [1])
    weights = cast(counts, kind_of(logs))
    if weight is not None:
        own = paddle.gather(weight, paddle.reshape(label, [-1]))
        weights = weights * (paddle.reshape(own, label.shape) if len(label.shape) > 1 else own)
    total = paddle.sum(weights)
    loss = loss * weights
    how = n.whole("reduction", 1)
    if how == 1:
        return paddle.sum(loss) / total, total
    if how == 2:
        return paddle.sum(loss), total
    return (paddle.squeeze(loss, [0]) if single else loss), total


@row("aten.nll_loss", "aten.nll_loss_nd", "aten.nll_loss2d", "aten.nll_loss_forward", "aten.nll_loss2d_forward")
def _likelihood(n: Pt2Node) -> Any:
    made = _negative_log_likelihood(
        n, n.tensor("self"), n.tensor("target"), n("weight", None), n.whole("ignore_index", -100)
    )
    return made if n.kind.endswith("forward") else made[0]


@row("aten.cross_entropy_loss")
def _cross_entropy(n: Pt2Node) -> Any:
    x, target, weight = n.tensor("self"), n.tensor("target"), n("weight", None)
    smooth = float(n("label_smoothing", 0.0))
    axis = 1 if len(x.shape) > 1 else 0
    logs = F.log_softmax(x, axis=axis)
    if list(target.shape) == list(x.shape) and kind_of(target) == kind_of(x):
        return _soft(n, logs, target, weight, smooth, axis)
    if smooth:
        if weight is not None or n.whole("ignore_index", -100) >= 0:
            raise Missing("smoothed labels that are weighted or ignored")
        return _soft(n, logs, _as_scores(target, x, axis), None, smooth, axis)
    return _negative_log_likelihood(n, logs, target, weight, n.whole("ignore_index", -100))[0]


def _as_scores(target: Any, x: Any, axis: int) -> Any:
    ones = cast(F.one_hot(target, x.shape[axis]), kind_of(x))
    order = list(range(len(x.shape) - 1))
    order.insert(axis, len(x.shape) - 1)
    return paddle.transpose(ones, order) if len(order) > 1 else ones


def _soft(n: Pt2Node, logs: Any, target: Any, weight: Any, smooth: float, axis: int) -> Any:
    """Probabilities of all classes in the place of a label."""
    if smooth:
        target = target * (1 - smooth) + smooth / logs.shape[axis]
    if weight is not None:
        logs = logs * paddle.reshape(weight, [-1] + [1] * (len(logs.shape) - 1 - axis))
    loss = -paddle.sum(logs * target, axis=axis)
    return _reduce(n, loss)
