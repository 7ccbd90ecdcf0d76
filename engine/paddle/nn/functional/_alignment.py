"""Losses of sequences that may be aligned in many ways."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS

INTEGERS = ("int32", "int64")


class NoReduction(UsageError, AssertionError):
    """A reduction that there is not (Paddle raises AssertionError)."""


def _check(where: str, reduction: str, scores: Any, **whole: Any) -> None:
    tensor(scores, "input" if where == "rnnt_loss" else "log_probs", where, FLOATS)
    for what, v in whole.items():
        tensor(v, what, where, INTEGERS)
    if reduction not in ("mean", "sum", "none"):
        raise NoReduction(f"{where}: reduction must be 'mean', 'sum' or 'none', but received {reduction!r}.")


def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Any:
    """Minus the logarithm of the probability that frames spell each label, over all alignments (Graves et al. 2006).

    Args:
        log_probs: scores of the classes, ``[frames, batch, classes]``; a softmax is taken of them.
        labels: ``[batch, longest label]``.
        input_lengths, label_lengths: how many frames and labels each example has, ``[batch]``.
        blank: the class that stands between labels.
        reduction: ``mean`` divides each loss by the length of its label and takes the mean; ``sum`` or ``none``.
        norm_by_times: divide the gradient, and not the loss, by the number of frames.
        zero_infinity: 0 for a loss that is infinite. That of a label that is too long for its frames is 0 in any case.

    Raises:
        NoReduction: another reduction (an AssertionError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    whole = {"labels": labels, "input_lengths": input_lengths, "label_lengths": label_lengths}
    _check("ctc_loss", reduction, log_probs, **whole)
    attrs = {"blank": blank, "norm_by_times": norm_by_times}
    loss = paddle.squeeze(apply("warpctc", log_probs, labels, input_lengths, label_lengths, attrs=attrs), [-1])
    if zero_infinity:
        loss = paddle.where(paddle.isinf(loss), paddle.zeros_like(loss), loss)
    if reduction == "mean":
        return paddle.mean(loss / paddle.cast(label_lengths, loss.dtype))
    return paddle.sum(loss) if reduction == "sum" else loss


def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Minus the logarithm of the probability that a transducer writes each label, over all alignments (Graves 2012).

    Args:
        input: logarithms of probabilities, ``[batch, frames, longest label + 1, classes]``.
        label: ``[batch, longest label]``.
        input_lengths, label_lengths: how many frames and labels each example has, ``[batch]``.
        blank: the class that goes on to the next frame.
        fastemit_lambda: by how much the gradient of labels, and not the loss, is larger (Yu et al. 2021).
        reduction: ``mean`` over the batch, ``sum`` or ``none``.

    Raises:
        NoReduction: another reduction (an AssertionError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    whole = {"label": label, "input_lengths": input_lengths, "label_lengths": label_lengths}
    _check("rnnt_loss", reduction, input, **whole)
    attrs = {"blank": blank, "fastemit_lambda": fastemit_lambda}
    loss = apply("warprnnt", input, label, input_lengths, label_lengths, attrs=attrs)
    if reduction == "mean":
        return paddle.mean(loss, name=name)
    return paddle.sum(loss, name=name) if reduction == "sum" else loss
