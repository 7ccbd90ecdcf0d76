"""Softmax and the cross entropy computed with it."""

from __future__ import annotations

from functools import partial

from ...core.errors import DtypeError, LabelError, ShapeError
from ...core.spec import UNKNOWN, DType
from ..infer import axis_in, expect_floating
from ..opdef import Late, Trait, op
from ..refusals import refuse_first
from ..samples import exactly, ints, simplex, uniform
from .reduction import axes_of


def _log_softmax(xp, x, axes):
    if not x.size:
        return x  # nothing has a largest element
    x = x - xp.max(x, axis=axes, keepdims=True)
    return x - xp.log(xp.sum(xp.exp(x), axis=axes, keepdims=True))


def _along(name):
    """The shape rule of an operator along an axis: the spec of X, which must hold real numbers."""

    def infer(x, *, axis):
        expect_floating(x, "X", name)
        axis_in(axis, x.ndim, name)
        return x

    return infer


@op("softmax", attrs={"axis": -1})
def softmax(k, x, *, axis):
    """``exp(x) / Σ exp(x)`` along an axis, without overflow."""
    axes = axes_of((axis,), False, x.ndim, "softmax")
    if not x.size:
        return x
    grown = k.xp.exp(x - k.xp.max(x, axis=axes, keepdims=True))
    return grown / k.xp.sum(grown, axis=axes, keepdims=True)


@softmax.gradient
def _(k, out, dout, *, axis):
    return out * (dout - k.reduce_sum(dout * out, dim=(axis,), keep_dim=True))


@op("log_softmax", attrs={"axis": -1})
def log_softmax(k, x, *, axis):
    """Logarithm of the softmax along an axis."""
    return _log_softmax(k.xp, x, axes_of((axis,), False, x.ndim, "log_softmax"))


@log_softmax.gradient
def _(k, out, dout, *, axis):
    return dout - k.exp(out) * k.reduce_sum(dout, dim=(axis,), keep_dim=True)


softmax.infer(_along("softmax"))
log_softmax.infer(_along("log_softmax"))

CROSS_ENTROPY = {
    "soft_label": False,
    "use_softmax": True,
    "numeric_stable_mode": True,
    "ignore_index": -100,
    "axis": -1,
}


@op("softmax_with_cross_entropy", "Logits Label -> Softmax Loss", attrs=CROSS_ENTROPY)
def cross_entropy(k, logits, label, *, soft_label, use_softmax, ignore_index, axis):
    """``-log softmax(logits)`` at the label, or its mean weighted by soft labels; 0 where the label is ignore_index.

    With use_softmax=False the logits are probabilities already. Both ways of numeric_stable_mode compute the same
    stable formula.

    Raises:
        LabelError: a label that is no class (also an IndexError).
    """
    xp = k.xp
    axes = axes_of((axis,), False, logits.ndim, "softmax_with_cross_entropy")
    if use_softmax:
        logs = _log_softmax(xp, logits, axes)
        probabilities = xp.exp(logs)
    else:
        logs, probabilities = xp.log(logits), logits
    if soft_label:
        # A label of 0 counts for nothing, even where the logarithm is infinite; but NaN is no probability.
        weighted = xp.where((label == 0) & ~xp.isnan(logs), 0, label * logs)
        return probabilities, -xp.sum(weighted, axis=axes, keepdims=True).astype(logits.dtype)
    classes, mask = classes_of(xp, label, logits.shape[axis], ignore_index, "softmax_with_cross_entropy")
    picked = xp.take_along_axis(logs, classes, axis)
    return probabilities, xp.where(mask, -picked, 0).astype(logits.dtype)


def classes_of(xp, label, count, ignore_index, name):
    """The labels as indices, 0 in place of those to ignore, and which are not to be ignored."""
    mask = label != ignore_index
    classes = xp.where(mask, label, 0).astype("int64")
    wrong = (classes < 0) | (classes >= count)
    refuse_first(classes, wrong, partial(_no_class, name, count, ignore_index))
    return classes, mask


def _no_class(name, count, ignore_index, label):
    return LabelError(
        f"{name}: label {int(label)} is none of the {count} classes.",
        hint=f"labels go from 0 to {count - 1}; ignore_index ({ignore_index}) leaves elements out",
    )


def expect_labels(logits: DType, label: DType, soft: bool, name: str) -> None:
    """Raise :class:`DtypeError` unless labels of that type fit logits of that type.

    Args:
        soft: whether they are probabilities.
    """
    mixed = label.is_half or (logits.is_half and label.is_floating)
    if soft and not (label is logits or mixed):
        raise DtypeError(
            f"{name}: soft labels must be {logits.name}, as the logits are, but received {label.name}.",
            hint=f"cast them: label.astype({logits.name!r})",
        )
    if not soft and label.name not in ("int32", "int64"):
        raise DtypeError(
            f"{name}: labels are class indices, int32 or int64, but received {label.name}.",
            hint="soft_label=True takes a probability for each class",
        )


@cross_entropy.infer
def _(logits, label, *, soft_label, axis):
    name = "softmax_with_cross_entropy"
    expect_floating(logits, "Logits", name)
    expect_labels(logits.dtype, label.dtype, soft_label, name)
    if not logits.ndim:
        raise ShapeError(f"{name}: Logits must have a dimension for the classes")
    at = axis_in(axis, logits.ndim, name)
    if label.ndim != logits.ndim:
        raise ShapeError(
            f"{name}: Logits {list(logits.shape)} and Label {list(label.shape)} must have as many dimensions",
            hint="paddle.nn.functional.cross_entropy takes labels without the class dimension too",
        )
    wanted = logits.shape[at] if soft_label else 1
    for i, (m, n) in enumerate(zip(logits.shape, label.shape, strict=True)):
        if i == at:
            if n != wanted and UNKNOWN not in (n, wanted):
                kind = "soft labels hold a probability for each class" if soft_label else "a label is one class index"
                raise ShapeError(
                    f"{name}: dimension {i} of Label {list(label.shape)} must be {wanted}, for Logits "
                    f"{list(logits.shape)}",
                    hint=f"{kind}; soft_label={soft_label}",
                )
        elif m != n and UNKNOWN not in (m, n):
            raise ShapeError(
                f"{name}: Logits {list(logits.shape)} and Label {list(label.shape)} differ in dimension {i}",
                hint="all dimensions but the one of the classes must be the same",
            )
    return logits, logits.replace_shape(1 if i == at else d for i, d in enumerate(logits.shape))


@cross_entropy.gradient(wrt="Logits")
def _(k, label, softmax, dloss, dsoftmax: Late, *, soft_label, use_softmax, ignore_index, axis):
    where = {"dim": (axis,), "keep_dim": True}
    if soft_label:
        target = k.cast_like(label, softmax)
    else:
        target = k.one_hot_like(label, softmax, axis=axis, ignore_index=ignore_index)
    if not use_softmax:
        # What does not count has no gradient: other classes than the label, probabilities of 0 of a soft label of 0.
        nothing = k.equal(target, k.zeros_like(target))
        if soft_label:
            nothing = k.logical_and(nothing, k.equal(softmax, k.zeros_like(softmax)))
        gradient = -dloss * target / k.select(nothing, k.ones_like(softmax), softmax)
        if not soft_label:  # what is not finite reaches the class of the label alone
            gradient = k.select(nothing, k.zeros_like(gradient), gradient)
        return gradient if dsoftmax is None else gradient + dsoftmax
    counted = k.reduce_sum(target, **where)
    gradient = dloss * (softmax * counted - target)
    if not soft_label:
        # Of a label to ignore nothing comes, not even from probabilities that are NaN.
        gradient = k.select(k.equal(counted, k.zeros_like(counted)), k.zeros_like(gradient), gradient)
    if dsoftmax is None:
        return gradient
    return gradient + softmax * (dsoftmax - k.reduce_sum(dsoftmax * softmax, **where))


@op(
    "one_hot_like",
    "Label Y -> Out",
    attrs={"axis": -1, "ignore_index": -100},
    trait=Trait.INTERNAL,
    differentiable=False,
)
def one_hot_like(k, label, like, *, axis, ignore_index):
    """In the shape of *like*, 1 at each label's class along *axis* and 0 elsewhere; 0 everywhere for one to ignore."""
    xp = k.xp
    shape = [1] * like.ndim
    shape[axis] = like.shape[axis]
    classes = xp.arange(like.shape[axis]).reshape(shape)
    return ((label == classes) & (label != ignore_index)).astype(like.dtype)


for _op in (softmax, log_softmax):

    @_op.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=(2, 3, 4), axis=1)
        yield make(x=(2, 3), axis=0)
        yield make(x=exactly([[1000.0, 999.5, -1000.0]]))
        yield make(x=())
        yield make(x=(0, 3))


@cross_entropy.samples
def _(make):
    yield make(logits=(4, 3), label=ints((4, 1), 3))
    yield make(logits=(4, 3, 5), label=ints((4, 1, 5), 3), axis=1)
    yield make(logits=(4, 3), label=exactly([[0], [1], [2], [1]], "int64"), ignore_index=1)
    yield make(logits=(4, 3), label=exactly([[0], [-1], [2], [-1]], "int64"), ignore_index=-1)
    yield make(logits=(4, 3), label=simplex((4, 3)), soft_label=True)
    yield make(logits=(4, 3), label=simplex((4, 3)), soft_label=True, axis=0)
    yield make(logits=uniform(0.1, 0.9, (4, 3)), label=ints((4, 1), 3), use_softmax=False)
    yield make(logits=uniform(0.1, 0.9, (4, 3)), label=simplex((4, 3)), soft_label=True, use_softmax=False)
    yield make(logits=(4, 3), label=ints((4, 1), 3), numeric_stable_mode=False)
    yield make(logits=exactly([[-1000.0, 1000.0]]), label=exactly([[0]], "int64"))
    yield make(logits=(0, 3), label=ints((0, 1), 3))
