"""Losses and reductions of Paddle's first versions, which programs name by their types."""

from __future__ import annotations

from functools import partial

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..opdef import Late, Like, Trait, op
from ..refusals import refuse_outside
from ..samples import exactly, ints, simplex
from ..writing import put_along
from .placing import _alike

# -- the probability of a label ---------------------------------------------------------------------------------------


@op("pick_label", "X Label -> Out", attrs={"ignore_index": -100}, trait=Trait.INTERNAL | Trait.MOVES)
def pick_label(k, x, label, *, ignore_index):
    """For each row the element that its label names, 0 where that is *ignore_index*; the last dimension is 1."""
    ignored = label == ignore_index
    picked = k.xp.take_along_axis(x, k.xp.where(ignored, 0, label), axis=-1)
    return k.xp.where(ignored, k.xp.zeros((), x.dtype), picked)


@op("place_label", "X Label XShape -> Out", attrs={"ignore_index": -100}, trait=Trait.INTERNAL | Trait.MOVES)
def place_label(k, x, label, xshape, *, ignore_index):
    """Zeros with the elements of *x* at the labels: the transpose of ``pick_label``."""
    ignored = label == ignore_index
    values = k.xp.where(ignored, k.xp.zeros((), x.dtype), x)
    return put_along(k.xp.zeros(xshape.shape[1:], x.dtype), k.xp.where(ignored, 0, label), values, -1)


@pick_label.gradient(wrt="X")
def _(k, x: Like, label, dout, *, ignore_index):
    return k.place_label(dout, label, k.shape_kept(x), ignore_index=ignore_index)


@place_label.gradient(wrt="X")
def _(k, label, dout, *, ignore_index):
    return k.pick_label(dout, label, ignore_index=ignore_index)


@op("shape_kept", "X -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.LIKE, differentiable=False)
def shape_kept(k, x):
    """Return the value of an ``XShape`` output: nothing, in the shape of *x* behind a 0."""
    return k.xp.zeros((0, *x.shape), x.dtype)


def _no_class(count, label):
    return IndexError(f"cross_entropy2: label {label} is out of range for {count} classes")


@op("cross_entropy2", "X Label -> Y XShape MatchX", attrs={"ignore_index": -100})
def cross_entropy2(k, x, label, *, ignore_index):
    """Minus the logarithm of the probability that *X* gives to each label, 0 where it is *ignore_index*.

    MatchX holds these probabilities.
    """
    xp = k.xp
    ignored = label == ignore_index
    refuse_outside(xp.where(ignored, 0, label), 0, x.shape[-1], partial(_no_class, x.shape[-1]))
    match = pick_label.kernel(k, x, label, ignore_index=ignore_index)
    loss = -xp.log(xp.where(ignored, xp.ones((), x.dtype), match))
    return loss, xp.zeros((0, *x.shape), x.dtype), match


@cross_entropy2.infer
def _(x, label):
    wanted = (*x.shape[:-1], 1)
    if not x.ndim or not _alike(wanted, label.shape):
        raise ShapeError(f"cross_entropy2: Label must have the shape {list(wanted)}, but is {list(label.shape)}")
    return x.replace_shape(wanted), x.replace_shape((0, *x.shape)), x.replace_shape(wanted)


@cross_entropy2.gradient(wrt="X")
def _(k, label, xshape: Like, matchx, dy, dmatchx: Late, *, ignore_index):
    # One in place of what is ignored, so that nothing is divided by 0 there.
    ignored = k.cast_like(k.equal(label, k.full_like(label, value=ignore_index)), matchx)
    slope = -(dy / (matchx + ignored))
    slope = slope if dmatchx is None else slope + dmatchx
    return k.place_label(slope, label, xshape, ignore_index=ignore_index)


# -- other losses -----------------------------------------------------------------------------------------------------


@compose("Logits Labels Loss@GRAD", wrt="Logits")
@op("hinge_loss", "Logits Labels -> Loss")
def hinge_loss(k, logits, labels):
    """``max(0, 1 - (2·label - 1)·logit)`` of each of a column of logits, whose labels are 0 or 1."""
    return k.ops.relu(1 - logits * (labels * 2 - 1))


@hinge_loss.infer
def _(logits, labels):
    if not _alike(logits.shape, labels.shape) or logits.ndim != 2 or logits.shape[1] not in (1, UNKNOWN):
        raise ShapeError(
            f"hinge_loss: Logits {list(logits.shape)} and Labels {list(labels.shape)} must be columns of one length"
        )
    return logits


SUM, MEAN, NONE = range(3)
"""What the attribute ``reduction`` says."""


@compose("X Out@GRAD")
@op("identity_loss", attrs={"reduction": MEAN})
def identity_loss(k, x, *, reduction):
    """Quantity to be minimised: the sum (0) or mean (1) of the elements, or these as they are (2)."""
    if reduction not in (SUM, MEAN, NONE):
        raise OperatorError(f"identity_loss: reduction must be 0, 1 or 2, but is {reduction}")
    if reduction == NONE:
        return k.ops.scale(x)
    reduce = k.ops.reduce_sum if reduction == SUM else k.ops.reduce_mean
    return reduce(x, reduce_all=True)


@compose("X Out@GRAD")
@op("l1_norm")
def l1_norm(k, x):
    """The sum of the sizes of all elements."""
    return k.ops.reduce_sum(k.ops.abs(x), reduce_all=True)


@compose("x out@GRAD")
@op("variance", "x -> out", attrs={"axis": (), "keepdim": False})
def variance(k, x, *, axis, keepdim):
    """The mean of the squares of what differs from the mean, over the dimensions of *axis*, or over all."""
    where = {"dim": axis, "reduce_all": not axis}
    difference = x - k.ops.reduce_mean(x, **where, keep_dim=True)
    return k.ops.reduce_mean(difference * difference, **where, keep_dim=keepdim)


# -- columns of several matrices --------------------------------------------------------------------------------------


def _columns(k, x, start_index, length, name):
    """Columns of a matrix: *length* from *start_index* on, to the end where it is negative."""
    width = x.shape[1]
    start = start_index + width if start_index < 0 else start_index
    end = width if length < 0 else start + length
    if not 0 <= start < end <= width:
        raise ShapeError(f"{name}: columns {start} to {end} do not lie in X {list(x.shape)}")
    return k.ops.slice(x, axes=(1,), starts=(start,), ends=(end,))


def _expect_matrices(xs, name):
    for x in xs:
        if x.ndim != 2 or x.shape[1] == UNKNOWN or not _alike(x.shape, xs[0].shape):
            shapes = ", ".join(str(list(v.shape)) for v in xs)
            raise ShapeError(f"{name}: X must be matrices of one shape, but they are {shapes}")


PARTS = {"start_index": 0, "length": -1}


@compose("X Out@GRAD")
@op("partial_concat", "X* -> Out", attrs=PARTS)
def partial_concat(k, xs, *, start_index, length):
    """The same columns of several matrices side by side."""
    _expect_matrices(xs, "partial_concat")
    return k.ops.concat([_columns(k, x, start_index, length, "partial_concat") for x in xs], axis=1)


@compose("X Out@GRAD")
@op("partial_sum", "X* -> Out", attrs=PARTS)
def partial_sum(k, xs, *, start_index, length):
    """The sum of the same columns of several matrices."""
    _expect_matrices(xs, "partial_sum")
    return k.ops.add_n([_columns(k, x, start_index, length, "partial_sum") for x in xs])


@cross_entropy2.samples
def _(make):
    yield make(x=simplex((3, 4)), label=exactly([[1], [3], [0]], "int64"), ignore_index=3)
    yield make(x=simplex((3, 2, 4)), label=ints((3, 2, 1), 4))


@hinge_loss.samples
def _(make):
    yield make(logits=exactly([[0.3], [1.7], [-1.7], [-0.2]]), labels=exactly([[1.0], [0.0], [1.0], [0.0]]))
    yield make(logits=(1, 1), labels=exactly([[1.0]]))


@identity_loss.samples
def _(make):
    yield make(x=(2, 3), reduction=0)
    yield make(x=(2, 3))
    yield make(x=(2, 3), reduction=2)


@l1_norm.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=())


@variance.samples
def _(make):
    yield make(x=(2, 4))
    yield make(x=(2, 3, 4), axis=(0, -1), keepdim=True)


@partial_concat.samples
def _(make):
    yield make(xs=[(2, 4), (2, 4)], start_index=1, length=2)
    yield make(xs=[(2, 4), (2, 4), (2, 4)], start_index=-2)


@partial_sum.samples
def _(make):
    yield make(xs=[(2, 4), (2, 4)], start_index=1, length=2)
    yield make(xs=[(2, 4)])
