"""Losses with a margin between what is right and what is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import AxisError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.state import in_static_mode
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS

from ._loss import softmax_with_cross_entropy
from ._ranking import pairwise_distance, reduced
from ._resizing import one_hot

_WIDE = ("float32", "float64")


def _known(reduction: str, where: str) -> None:
    if reduction not in ("sum", "mean", "none"):
        raise UsageError(f"'reduction' in '{where}' should be 'sum', 'mean' or 'none', but received {reduction}.")


def multi_label_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """``Σ max(0, 1 - input[right] + input[wrong])`` over all pairs of classes, divided by their number.

    Args:
        input: ``[batch, classes]``.
        label: ``[batch, classes]``, the right classes of each row up to the first -1.

    Raises:
        UsageError: other shapes, labels that are no classes, an unknown reduction (a ValueError).
    """
    _known(reduction, "multi_label_margin_loss")
    tensor(input, "input", "multi_label_margin_loss", _WIDE)
    tensor(label, "label", "multi_label_margin_loss", ("int32", "int64"))
    for what, v in (("input", input), ("label", label)):
        if v.ndim != 2:
            raise UsageError(f"Expected 2D {what} tensor, but got {v.ndim}D")
    classes = input.shape[1]
    if not in_static_mode() and math.prod(label.shape):
        if int(paddle.min(label)) < -1:
            raise UsageError("label values should be >= -1")
        if int(paddle.max(label)) >= classes:
            raise UsageError(f"label values should be < {classes}")
    ended = paddle.cumsum(paddle.cast(label == -1, "int64"), 1)
    right = paddle.cast(ended == 0, input.dtype)  # 1 for every place of label that counts
    places = paddle.maximum(label, paddle.zeros_like(label))
    chosen = paddle.cast(one_hot(places, classes), input.dtype)
    wrong = 1.0 - paddle.max(paddle.unsqueeze(right, -1) * chosen, 1)  # 1 for every class that is not right
    target = paddle.unsqueeze(paddle.take_along_axis(input, places, 1), -1)
    margin = paddle.maximum(1.0 - target + paddle.unsqueeze(input, 1), paddle.zeros_like(target))
    pairs = paddle.unsqueeze(right, -1) * paddle.unsqueeze(wrong, 1)
    return reduced(paddle.sum(margin * pairs, [1, 2]) / float(classes), reduction)


def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The mean over all wrong classes of ``max(0, margin - input[label] + input)^p``.

    Args:
        input: ``[batch, classes]``.
        label: ``[batch]``.
        weight: of each class, or None.

    Raises:
        UsageError: shapes that do not fit, an unknown reduction (a ValueError).
    """
    _known(reduction, "multi_margin_loss")
    tensor(input, "input", "multi_margin_loss", _WIDE)
    tensor(label, "label", "multi_margin_loss", ("int32", "int64"))
    if input.ndim != 2 or label.ndim != 1:
        raise AxisError(
            f"multi_margin_loss: input {list(input.shape)} must be [batch, classes], and label {list(label.shape)} "
            "[batch]"
        )
    if input.shape[0] != label.shape[0] and UNKNOWN not in (input.shape[0], label.shape[0]):
        raise UsageError(
            "The label's shape[0] should be equal to input's shape[0], but received input's shape[0] "
            f"{input.shape[0]} and label's shape[0]:{label.shape[0]}. "
        )
    classes = input.shape[1]
    places = paddle.reshape(label, [-1, 1])
    over = paddle.clip(margin - paddle.take_along_axis(input, places, 1) + input, min=0.0)
    each = paddle.pow(over, p)
    own = margin**p / classes
    if weight is None:
        return reduced(paddle.mean(each, 1) - own, reduction)
    tensor(weight, "weight", "multi_margin_loss", _WIDE)
    if weight.shape[0] != classes:
        raise UsageError(
            f"The weight's shape[0] should be equal to input's shape[1]but received weight's shape[0]: "
            f"{weight.shape[0]} and input's shape[1]: {classes}"
        )
    weights = paddle.gather(weight, paddle.flatten(places))
    return reduced(weights * (paddle.mean(each, 1) - own), reduction)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """The cross entropy of the similarities of anchors and positives, and their squares (Sohn 2016).

    Args:
        anchor, positive: ``[batch, size]``.
        labels: ``[batch]``; equal ones belong together.
        l2_reg: how much the squares count.

    Raises:
        UsageError: tensors without elements (a ValueError).
    """
    for what, v in (("anchor", anchor), ("positive", positive)):
        tensor(v, what, "npair_loss", _WIDE)
        if 0 in v.shape:
            raise UsageError(f"The dims of {what} should be greater than 0.")
    tensor(labels, "labels", "npair_loss", ("float32", "float64", "int64"))
    column = paddle.reshape(labels, [-1, 1])
    same = paddle.cast(paddle.equal(column, paddle.transpose(column, [1, 0])), anchor.dtype)
    shares = same / paddle.sum(same, 1, keepdim=True)
    squares = [paddle.mean(paddle.sum(paddle.square(v), 1)) for v in (anchor, positive)]
    similarity = paddle.matmul(anchor, positive, transpose_y=True)
    entropy = softmax_with_cross_entropy(similarity, shares, soft_label=True)
    return (squares[0] + squares[1]) * (0.25 * l2_reg) + paddle.mean(paddle.sum(shares * entropy, 0))


def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """``max(0, d(input, positive) - d(input, negative) + margin)``.

    Args:
        distance_function: d, which gives no negative number; the 2-norm of the difference by default.
        swap: use the distance of *positive* and *negative* where it is smaller than that of *input* and *negative*.

    Raises:
        UsageError: shapes that differ, a negative margin or distance, an unknown reduction (a ValueError).
    """
    _known(reduction, "triplet_margin_with_distance_loss")
    if margin < 0:
        raise UsageError("The margin between positive samples and negative samples should be greater than 0.")
    for what, v in (("input", input), ("positive", positive), ("negative", negative)):
        tensor(v, what, "triplet_margin_with_distance_loss", _WIDE)
    if not list(input.shape) == list(positive.shape) == list(negative.shape):
        raise UsageError("input's shape must equal to positive's shape and negative's shape")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = paddle.minimum(far, distance(positive, negative))
    if not in_static_mode() and not (bool(paddle.all(near >= 0)) and bool(paddle.all(far >= 0))):
        raise UsageError(
            "The positive distance or negative distance should be greater than 0, The distance functions should be "
            "checked."
        )
    return reduced(paddle.clip(near - far + margin, min=0.0), reduction)


def margin_cross_entropy(
    logits: Any,
    label: Any,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of cosines, of which that of the label becomes ``cos(margin1 · θ + margin2) - margin3``.

    That is ArcFace (Deng et al. 2019) with the margins by default.

    Args:
        logits: cosines, ``[batch, classes]``.
        label: ``[batch]`` or ``[batch, 1]``.
        scale: multiplies all of them afterwards.
        group: one process has no others: None or False.
        return_softmax: also return the probabilities.
        reduction: ``mean``, ``sum``, or None or ``none``.

    Raises:
        UsageError: shapes that do not fit, a group, an unknown reduction (a ValueError).
    """
    if reduction not in ("mean", "sum", "none", None):
        raise UsageError(f"reduction of margin_cross_entropy must be 'mean', 'sum', 'none' or None, not {reduction!r}.")
    if group not in (None, False):
        raise UsageError(f"Expected group is False, None: gradtool computes in one process (got group: {group})")
    tensor(logits, "logits", "margin_cross_entropy", FLOATS)
    tensor(label, "label", "margin_cross_entropy", ("int32", "int64"))
    if label.ndim not in (logits.ndim - 1, logits.ndim):
        raise UsageError(
            f"Expected input_dims - 1 = label_dims or input_dims == label_dims (got input_dims{logits.ndim}, "
            f"label_dims{label.ndim})"
        )
    places = paddle.unsqueeze(label, -1) if label.ndim == logits.ndim - 1 else label
    target = paddle.take_along_axis(logits, places, -1)
    apart = paddle.cos(margin1 * paddle.acos(target) + margin2) - margin3
    chosen = paddle.cast(one_hot(paddle.squeeze(places, -1), logits.shape[-1]), logits.dtype)
    moved = (logits + chosen * (apart - target)) * scale
    loss, softmax = softmax_with_cross_entropy(moved, places, return_softmax=True)
    loss = reduced(loss, reduction or "none")
    return (loss, softmax) if return_softmax else loss
