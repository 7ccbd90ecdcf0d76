"""Measures of predictions."""

from __future__ import annotations

import numpy as np

from ...core.errors import LabelError, OperatorError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..opdef import op
from ..refusals import refuse
from ..samples import exactly, ints
from ..scattering import counts
from ..writing import add_to, put


@op("accuracy", "Out Indices Label -> Accuracy Correct Total", differentiable=False)
def accuracy(k, out, indices, label):
    """The share of rows whose label is among the *indices* of their best classes, and both numbers that it is made of.

    *out* holds the values of those classes; only its dtype is used.
    """
    rows = indices.shape[0]
    correct = k.xp.sum(k.xp.any(indices == label.reshape((rows, 1)), axis=1))
    share = (correct / rows if rows else k.xp.zeros(())).astype(out.dtype)
    return share, correct.astype("int32"), k.xp.asarray(rows, "int32")


@accuracy.infer
def _(out, indices, label):
    fits = indices.ndim == 2 and label.ndim in (1, 2) and (label.ndim == 1 or label.shape[1] in (1, UNKNOWN))
    if not fits or (UNKNOWN not in (indices.shape[0], label.shape[0]) and indices.shape[0] != label.shape[0]):
        raise ShapeError(
            f"accuracy: Label {list(label.shape)} must hold one label for each row of Indices {list(indices.shape)}"
        )
    return TensorSpec((), out.dtype), TensorSpec((), "int32"), TensorSpec((), "int32")


@accuracy.samples
def _(make):
    yield make(out=(3, 2), indices=exactly([[0, 1], [2, 1], [0, 2]], "int64"), label=exactly([[1], [0], [2]], "int64"))
    yield make(out=(4, 1), indices=ints((4, 1), 3), label=ints((4, 1), 3))
    yield make(out=(0, 1), indices=ints((0, 1), 3), label=ints((0, 1), 3))


@op(
    "auc",
    "Predict Label StatPos StatNeg InsTagWeight? -> AUC StatPosOut StatNegOut",
    attrs={"curve": "ROC", "num_thresholds": (2 << 12) - 1, "slide_steps": 1},
    differentiable=False,
)
def auc(k, predict, label, positive, negative, tag, *, num_thresholds, slide_steps):
    """The area under the curve of true against false positives, as thresholds fall, and the counts it is made of.

    *predict* holds the probability of the second class in its last column. With slide_steps 0 counts go on for ever;
    otherwise the last so many batches count: a row of counts for each of them, their sum, and the number of batches.
    """
    xp = k.xp
    share = predict[:, -1]
    if share.size:
        wrong = ~((xp.min(share) >= 0) & (xp.max(share) <= 1))
        refuse(wrong, lambda: LabelError("auc: Predict must hold probabilities between 0 and 1"))
    buckets = (share * num_thresholds).astype("int64")
    true = label.reshape(-1) != 0
    # Paddle's way to leave a batch out
    taken = tag.reshape(()) != 0 if tag is not None and tag.size == 1 else xp.ones((), bool)
    numbers = [counts(xp, buckets, num_thresholds + 1, where=chosen & taken) for chosen in (true, ~true)]
    stats = [_counted(s, c, slide_steps) for s, c in zip((positive, negative), numbers, strict=True)]
    width, at = num_thresholds + 1, slide_steps * (num_thresholds + 1)
    above = [s.reshape(-1)[at : at + width][::-1] for s in stats]
    return xp.asarray(_area(xp, *above)), *stats


def _counted(stat, numbers, steps):
    """The statistics with one batch more."""
    flat, width = stat.copy().reshape(-1), numbers.size
    if steps == 0:
        return add_to(flat, slice(width), numbers).reshape(stat.shape)
    batch = flat[(steps + 1) * width] % steps * width + np.arange(width)
    flat = add_to(flat, slice(steps * width, (steps + 1) * width), numbers - flat[batch])
    return add_to(put(flat, batch, numbers), (steps + 1) * width, 1).reshape(stat.shape)


def _area(xp, positive, negative):
    """The area under the curve through the running sums of both counts."""
    up, right = xp.cumsum(positive), xp.cumsum(negative)
    whole = up[-1].astype("float64") * right[-1].astype("float64")
    area = ((up + up - positive) * negative).sum() / 2
    return xp.where(whole != 0, area / xp.where(whole != 0, whole, 1.0), 0.0)


@auc.infer
def _(predict, label, positive, negative, tag, *, num_thresholds, slide_steps):
    if predict.ndim != 2 or (UNKNOWN not in (predict.shape[0], label.shape[0]) and predict.shape[0] != label.shape[0]):
        raise ShapeError(
            f"auc: Label {list(label.shape)} must hold a label for each row of Predict {list(predict.shape)}"
        )
    if num_thresholds < 1 or slide_steps < 0:
        raise OperatorError(f"auc: num_thresholds is {num_thresholds} and slide_steps {slide_steps}")
    width = num_thresholds + 1
    size = width if slide_steps == 0 else (slide_steps + 1) * width + 1
    for slot, spec in (("StatPos", positive), ("StatNeg", negative)):
        if spec.count not in (UNKNOWN, size):
            raise ShapeError(f"auc: {slot} {list(spec.shape)} must have {size} elements")
    return TensorSpec((), "float64"), positive, negative


@auc.samples
def _(make):
    stats = {"positive": exactly([0] * 9, "int64"), "negative": exactly([0] * 9, "int64")}
    shares = exactly([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    yield make(predict=shares, label=exactly([[0], [1], [1]], "int64"), num_thresholds=3, slide_steps=1, **stats)
    stats = {"positive": exactly([[2, 0, 1, 3]], "int64"), "negative": exactly([[1, 4, 0, 2]], "int64")}
    yield make(predict=shares, label=exactly([[1], [1], [0]], "int64"), num_thresholds=3, slide_steps=0, **stats)
