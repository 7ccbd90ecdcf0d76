"""Losses of single elements or of labels; softmax_with_cross_entropy is in ``softmax.py``."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..choosing import choose
from ..infer import broadcast, expect_floating, product
from ..opdef import Late, Like, Trait, op
from ..samples import exactly, ints, simplex, uniform
from .softmax import classes_of


def _same_shape(name, first, second, x, y):
    """Raise unless the two specs may have the same shape; X must hold real numbers."""
    expect_floating(x, first, name)
    if x.ndim != y.ndim or any(m != n and UNKNOWN not in (m, n) for m, n in zip(x.shape, y.shape, strict=True)):
        raise ShapeError(f"{name}: {first} {list(x.shape)} and {second} {list(y.shape)} must have the same shape")


LEAST_LOG, LEAST_VARIANCE = -100.0, 1e-12
"""Bounds of logarithms and of p·(1-p), so that a probability of exactly 0 or 1 gives finite numbers."""


@op("bce_loss", "X Label -> Out")
def bce_loss(k, x, label):
    """Cross entropy of a probability: ``-label·log(x) - (1-label)·log(1-x)``, with logarithms of at least -100."""
    xp = k.xp
    yes, no = xp.maximum(xp.log(x), LEAST_LOG), xp.maximum(xp.log1p(-x), LEAST_LOG)
    return (-(label * yes + (1 - label) * no)).astype(x.dtype)


@bce_loss.infer
def _(x, label):
    _same_shape("bce_loss", "X", "Label", x, label)
    return x


@bce_loss.gradient(wrt="X")
def _(k, x, label, dout):
    variance = x * (1 - x)
    least = k.ones_like(x) * LEAST_VARIANCE
    return dout * (x - label) / k.select(variance <= LEAST_VARIANCE, least, variance)


@op(
    "sigmoid_cross_entropy_with_logits",
    "X Label pos_weight? -> Out",
    attrs={"ignore_index": -100, "normalize": False},
)
def sigmoid_cross_entropy_with_logits(k, x, label, pos_weight, *, ignore_index, normalize):
    """Cross entropy of ``sigmoid(x)``: ``max(x, 0) - x·label + log(1 + exp(-|x|))``.

    pos_weight multiplies the logarithmic part (``log(1 + exp(-|x|)) + max(-x, 0)``). Elements whose label is
    ignore_index give 0; *normalize* divides by the number of the others.
    """
    xp = k.xp
    log_part = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(-x, 0)
    loss = (1 - label) * x + (log_part if pos_weight is None else log_part * pos_weight)
    mask = label != ignore_index
    loss = xp.where(mask, loss, 0).reshape(x.shape)  # weights of shape [1] make no dimension
    if normalize:
        loss = loss / xp.maximum(xp.sum(mask).astype(x.dtype), 1e-5)
    return loss.astype(x.dtype)


@sigmoid_cross_entropy_with_logits.infer
def _(x, label, pos_weight):
    name = "sigmoid_cross_entropy_with_logits"
    _same_shape(name, "X", "Label", x, label)
    if pos_weight is not None and (x.shape, pos_weight.shape) != ((), (1,)):
        shape = broadcast(x.shape, pos_weight.shape, op=name)
        if len(shape) > x.ndim or any(n not in (m, UNKNOWN) for m, n in zip(x.shape, shape, strict=True) if m >= 0):
            raise ShapeError(f"{name}: pos_weight {list(pos_weight.shape)} does not fit X {list(x.shape)}")
    return x


@sigmoid_cross_entropy_with_logits.gradient(wrt="X")
def _(k, x, label, pos_weight, dout, *, ignore_index, normalize):
    # The logarithmic part falls with slope sigmoid(x) - 1.
    falling = k.sigmoid(x) - 1
    slope = 1 - label + (falling if pos_weight is None else k.sum_to(falling * pos_weight, x))
    return dout * slope * k.label_share(label, x, ignore_index=ignore_index, normalize=normalize)


@op(
    "label_share",
    "Label Y -> Out",
    attrs={"ignore_index": -100, "normalize": False},
    trait=Trait.INTERNAL,
    differentiable=False,
)
def label_share(k, label, like, *, ignore_index, normalize):
    """0 for labels to ignore, 1 for the others; with *normalize* one over their number."""
    xp = k.xp
    mask = (label != ignore_index).astype(like.dtype)
    return mask / xp.maximum(xp.sum(mask, dtype=mask.dtype), 1e-5) if normalize else mask


@op("log_loss", "Predicted Labels -> Loss", attrs={"epsilon": 1e-4})
def log_loss(k, predicted, labels, *, epsilon):
    """``-label·log(p + epsilon) - (1-label)·log(1 - p + epsilon)``."""
    xp = k.xp
    loss = -(labels * xp.log(predicted + epsilon)) - (1 - labels) * xp.log(1 - predicted + epsilon)
    return loss.astype(predicted.dtype)


@log_loss.infer
def _(predicted, labels):
    _same_shape("log_loss", "Predicted", "Labels", predicted, labels)
    return predicted


@log_loss.gradient(wrt="Predicted")
def _(k, predicted, labels, dloss, *, epsilon):
    return dloss * ((1 - labels) / (1 - predicted + epsilon) - labels / (predicted + epsilon))


@op("huber_loss", "X Y -> Residual Out", attrs={"delta": 1.0})
def huber_loss(k, x, y, *, delta):
    """Half the square of ``r = y - x`` where it is at most delta, ``delta·(|r| - delta/2)`` where it is larger."""
    residual = y - x
    size = k.xp.abs(residual)
    return residual, choose(k.xp, size <= delta, 0.5 * residual * residual, delta * (size - 0.5 * delta))


@huber_loss.infer
def _(x, y):
    _same_shape("huber_loss", "X", "Y", x, y)
    return x, x


@huber_loss.gradient
def _(k, residual, dout, dresidual: Late, *, delta):
    slope = dout * k.clip(residual, min=-delta, max=delta)
    if dresidual is not None:
        slope = slope + dresidual
    return -slope, slope


@op("kldiv_loss", "X Target -> Loss", attrs={"reduction": "mean", "log_target": False})
def kldiv_loss(k, x, target, *, reduction, log_target):
    """``target·(log(target) - x)``, 0 where target is not positive; log_target: target is a logarithm already.

    *reduction*: ``none``, ``sum``, ``mean`` or ``batchmean`` (the sum over the first dimension's size).
    """
    xp = k.xp
    if log_target:
        loss = xp.exp(target) * (target - x)
    else:
        nothing = target <= 0
        loss = xp.where(nothing, 0, target * (xp.log(xp.where(nothing, 1, target)) - x))
    if reduction == "none":
        return loss
    total = xp.sum(loss, dtype=x.dtype)
    return total if reduction == "sum" else total / (x.size if reduction == "mean" else x.shape[0])


@kldiv_loss.infer
def _(x, target, *, reduction):
    _same_shape("kldiv_loss", "X", "Target", x, target)
    return x if reduction == "none" else x.replace_shape(())


@kldiv_loss.gradient(wrt="X")
def _(k, x: Like, target, dloss, *, reduction, log_target):
    weight = k.exp(target) if log_target else k.relu(target)
    if reduction != "none":
        share = {"sum": None, "mean": k.size_of(x), "batchmean": k.length_of(x)}[reduction]
        dloss = k.restore(dloss if share is None else dloss / share, x)
    return -dloss * weight


@op("length_of", "X -> Out", trait=Trait.INTERNAL, differentiable=False)
def length_of(k, x):
    """The size of the first dimension, as a tensor of the dtype of *x*."""
    return k.xp.asarray(x.shape[0] if x.ndim else 1, x.dtype)


@op("nll_loss", "X Label Weight? -> Out Total_weight", attrs={"ignore_index": -100, "reduction": "mean"})
def nll_loss(k, x, label, weight, *, ignore_index, reduction):
    """``-weight[label]·x[label]`` for each label, x holding log-probabilities ``[n, classes, …]``.

    *reduction*: ``none``; ``sum``; or ``mean``, which divides by the sum of the labels' weights. Total_weight is that
    sum. Labels equal to ignore_index count for nothing.

    Raises:
        LabelError: a label that is no class (also an IndexError).
    """
    xp = k.xp
    classes, mask = classes_of(xp, label, x.shape[1], ignore_index, "nll_loss")
    shares = (mask if weight is None else xp.where(mask, weight[classes], 0)).astype(x.dtype)
    picked = xp.take_along_axis(x, xp.expand_dims(classes, 1), 1).squeeze(1)
    loss = xp.where(mask, -shares * picked, 0).astype(x.dtype)
    total = xp.sum(shares, dtype=x.dtype)
    if reduction == "none":
        return loss, xp.zeros_like(total)
    added = xp.sum(loss, dtype=x.dtype)
    if reduction == "mean":
        added = added / xp.where(total != 0, total, 1).astype(x.dtype)
    return added, total


@nll_loss.infer
def _(x, label, weight, *, reduction):
    expect_floating(x, "X", "nll_loss")
    if x.ndim < 2:
        raise ShapeError(f"nll_loss: X {list(x.shape)} must have a dimension for the examples and one for the classes")
    wanted = (x.shape[0], *x.shape[2:])
    fits = label.ndim == len(wanted) and all(
        m == n or UNKNOWN in (m, n) for m, n in zip(label.shape, wanted, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"nll_loss: Label {list(label.shape)} does not fit X {list(x.shape)}: it must be {list(wanted)}",
            hint="Label has X's dimensions without the second one, that of the classes",
        )
    if weight is not None and (
        weight.ndim != 1 or (weight.shape[0] != x.shape[1] and UNKNOWN not in (weight.shape[0], x.shape[1]))
    ):
        raise ShapeError(f"nll_loss: Weight {list(weight.shape)} must hold one number for each of {x.shape[1]} classes")
    return x.replace_shape(wanted if reduction == "none" else ()), x.replace_shape(())


@nll_loss.gradient(wrt="X")
def _(k, x: Like, label, weight, total_weight, dout, *, ignore_index, reduction):
    if reduction == "mean":
        total = k.share_data(total_weight)  # does not depend on X: a constant here
        dout = dout / k.select(k.not_equal(total, k.zeros_like(total)), total, k.ones_like(total))
    elif reduction == "none":
        dout = k.insert_class(dout)
    place = k.one_hot_like(k.insert_class(label), x, axis=1, ignore_index=ignore_index)
    slope = -dout * (place if weight is None else place * k.align(weight, x, axis=1))
    # What is not finite reaches the class of the label alone, and is not multiplied by the zeros of the others.
    return k.select(k.not_equal(place, k.zeros_like(place)), slope, k.zeros_like(slope))


@op("insert_class", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def insert_class(k, x):
    """A dimension of one at place 1, where the classes are."""
    return x.reshape((x.shape[0], 1, *x.shape[1:]))


@insert_class.gradient
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


@op("label_smooth", "X PriorDist? -> Out", attrs={"epsilon": 0.0})
def label_smooth(k, x, prior, *, epsilon):
    """``(1 - epsilon)·x + epsilon·prior``; the prior is even over the last dimension unless it is given."""
    share = epsilon / max(x.shape[-1], 1) if prior is None else epsilon * prior.reshape(-1)
    return (1 - epsilon) * x + share


@label_smooth.infer
def _(x, prior):
    expect_floating(x, "X", "label_smooth")
    if not x.ndim:
        raise ShapeError("label_smooth: X must have a dimension for the classes")
    if prior is not None and product(prior.shape) != x.shape[-1] and UNKNOWN not in (x.shape[-1], *prior.shape):
        raise ShapeError(f"label_smooth: PriorDist {list(prior.shape)} must hold {x.shape[-1]} numbers")
    return x


@label_smooth.gradient(wrt="X")
def _(k, dout, *, epsilon):
    return dout * (1 - epsilon)


@bce_loss.samples
def _(make):
    yield make(x=uniform(0.1, 0.9, (4, 3)), label=uniform(0, 1, (4, 3)))
    yield make(x=uniform(0.1, 0.9, ()), label=exactly(1.0))
    yield make(x=exactly([0.0, 0.0, 1.0, 1.0]), label=exactly([0.0, 1.0, 0.0, 1.0]), smooth=False)
    yield make(x=(0, 3), label=(0, 3))


@sigmoid_cross_entropy_with_logits.samples
def _(make):
    yield make(x=(4, 3), label=uniform(0, 1, (4, 3)))
    yield make(x=(4, 3), label=uniform(0, 1, (4, 3)), pos_weight=uniform(0.5, 2, (4, 3)))
    yield make(x=(4, 3), label=uniform(0, 1, (4, 3)), pos_weight=uniform(0.5, 2, (3,)))
    yield make(x=(4,), label=exactly([0.0, 1.0, -1.0, 1.0]), ignore_index=-1, smooth=False)
    yield make(x=(4,), label=exactly([0.0, 1.0, -1.0, 1.0]), ignore_index=-1, normalize=True, smooth=False)
    yield make(x=exactly([1000.0, -1000.0]), label=exactly([0.0, 1.0]))
    yield make(x=(), label=exactly(1.0))
    yield make(x=(), label=exactly(0.25), pos_weight=exactly([2.0]))


@label_share.samples
def _(make):
    yield make(label=exactly([0.0, -1.0, 1.0]), like=(3,), ignore_index=-1, normalize=True)


@log_loss.samples
def _(make):
    yield make(predicted=uniform(0.1, 0.9, (4, 1)), labels=uniform(0, 1, (4, 1)))
    yield make(predicted=uniform(0.1, 0.9, (4, 1)), labels=exactly([[0.0], [1.0], [1.0], [0.0]]), epsilon=0.01)


@huber_loss.samples
def _(make):
    yield make(x=(4, 3), y=(4, 3), delta=0.6)
    yield make(x=exactly([0.0, 4.0, -4.0]), y=(3,))
    yield make(x=exactly([0.0, 1.0, -1.0]), y=exactly([0.0, 0.0, 0.0]), smooth=False)
    yield make(x=(), y=())


@kldiv_loss.samples
def _(make):
    for reduction in ("none", "sum", "mean", "batchmean"):
        yield make(x=(4, 3), target=simplex((4, 3)), reduction=reduction)
        yield make(x=(4, 3), target=(4, 3), reduction=reduction, log_target=True)
    yield make(x=(4,), target=exactly([0.0, 0.3, -1.0, 0.7]), reduction="none", smooth=False)


@nll_loss.samples
def _(make):
    for reduction in ("none", "sum", "mean"):
        yield make(x=(4, 3), label=ints((4,), 3), reduction=reduction)
        yield make(
            x=(4, 3, 2, 5), label=ints((4, 2, 5), 3), weight=uniform(0.5, 2, (3,)), ignore_index=1, reduction=reduction
        )
    yield make(x=(2, 3), label=exactly([1, 1], "int64"), ignore_index=1)


@label_smooth.samples
def _(make):
    yield make(x=simplex((4, 3)), epsilon=0.1)
    yield make(x=simplex((4, 3)), prior=simplex((1, 3)), epsilon=0.2)
