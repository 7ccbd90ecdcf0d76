"""Measures of predictions."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..opdef import op
from ..samples import exactly, ints


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
