"""Losses."""

from __future__ import annotations

from typing import Any

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row


def _negative_log_likelihood(n: OnnxNode, logs: Any, label: Any, weight: Any) -> Any:
    """The negative logarithm of the probability of each label, reduced as the node says.

    *logs* is of shape (N, C, …), *label* (N, …).
    """
    ignored = n.whole("ignore_index") if n.holds("ignore_index") else None
    label = paddle.cast(label, "int64")
    counts = None
    if ignored is not None:
        counts = paddle.not_equal(label, paddle.full_like(label, ignored))
        label = paddle.where(counts, label, paddle.zeros_like(label))
    loss = -paddle.squeeze(paddle.take_along_axis(logs, paddle.unsqueeze(label, [1]), 1, broadcast=False), [1])
    kind = kind_of(logs)
    weights = None
    if weight is not None:
        weights = paddle.reshape(paddle.gather(weight, paddle.reshape(label, [-1])), label.shape)
    if counts is not None:
        mask = paddle.cast(counts, kind)
        weights = mask if weights is None else weights * mask
    loss = loss if weights is None else loss * weights
    reduction = n.text("reduction", "mean")
    if reduction == "none":
        return loss
    if reduction == "sum":
        return paddle.sum(loss)
    return paddle.mean(loss) if weights is None else paddle.sum(loss) / paddle.sum(weights)


@row("NegativeLogLikelihoodLoss")
def _likelihood(n: OnnxNode) -> Any:
    return _negative_log_likelihood(n, n[0], n[1], n.get(2))


@row("SoftmaxCrossEntropyLoss")
def _cross_entropy(n: OnnxNode) -> Any:
    logs = F.log_softmax(n[0], axis=1)
    return _negative_log_likelihood(n, logs, n[1], n.get(2)), logs
