"""Noise-contrastive estimation (Gutmann and Hyvärinen 2010): true classes against some that are drawn."""

from __future__ import annotations

import math

from ...core.errors import LabelError, OperatorError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..opdef import Like, Trait, op
from ..refusals import refuse
from ..samples import ints
from ..writing import add_at, put

UNIFORM, LOG_UNIFORM, CUSTOM = range(3)
"""What the attribute ``sampler`` says classes are drawn from."""


@op("nce_dots", "Input Weight Labels -> Out", trait=Trait.INTERNAL)
def nce_dots(k, x, weight, labels):
    """For each row of *x* its products with the rows of *weight* that its *labels* name."""
    return k.xp.matmul(weight[labels], x[:, :, None])[:, :, 0]


@op("nce_mix", "Y Weight Labels -> Out", trait=Trait.INTERNAL)
def nce_mix(k, y, weight, labels):
    """For each row the sum of the rows of *weight* that its *labels* name, weighted with *y*."""
    return k.xp.matmul(y[:, None], weight[labels])[:, 0]


@op("nce_spread", "X Y Labels Weight -> Out", trait=Trait.INTERNAL)
def nce_spread(k, x, y, labels, like):
    """The rows of *x*, weighted with *y*, added to the rows that *labels* name."""
    out = k.xp.zeros(like.shape, x.dtype)
    return add_at(out, labels, y[:, :, None] * x[:, None])


@nce_dots.gradient(wrt="Input Weight")
def _(k, x, weight, labels, dout):
    return lambda: k.nce_mix(dout, weight, labels), lambda: k.nce_spread(x, dout, labels, weight)


@nce_mix.gradient(wrt="Y Weight")
def _(k, y, weight, labels, dout):
    return lambda: k.nce_dots(dout, weight, labels), lambda: k.nce_spread(dout, y, labels, weight)


@nce_spread.gradient(wrt="X Y")
def _(k, x, y, labels, like: Like, dout):
    return lambda: k.nce_mix(y, dout, labels), lambda: k.nce_dots(x, dout, labels)


@op("nce_true", "Y Label -> Out", trait=Trait.INTERNAL | Trait.LIKE, differentiable=False)
def nce_true(k, y, label):
    """Ones for the classes that are true, zeros for those that were drawn."""
    out = k.xp.zeros(y.shape, y.dtype)
    return put(out, (slice(None), slice(label.shape[1] if label.ndim > 1 else 1)), 1)


@op(
    "nce_chance",
    "Y Labels CustomDistProbs? -> Out",
    attrs={"classes": 1, "drawn": 1, "sampler": UNIFORM},
    trait=Trait.INTERNAL,
    differentiable=False,
)
def nce_chance(k, y, labels, probabilities, *, classes, drawn, sampler):
    """Expected number of times that a class is among those that are drawn."""
    xp = k.xp
    if sampler == UNIFORM:
        chance = xp.full(labels.shape, 1 / classes)
    elif sampler == LOG_UNIFORM:
        chance = xp.log((labels + 2.0) / (labels + 1.0)) / xp.log(classes + 1.0)
    else:
        chance = probabilities[labels]
    return (chance * drawn).astype(y.dtype)


ATTRS = {
    "num_total_classes": 0,
    "num_neg_samples": 10,
    "sampler": UNIFORM,
    "seed": 0,
    "is_sparse": False,
    "remote_prefetch": False,
    "is_test": False,
}


def _drawn(k, shape, classes, sampler, probabilities):
    """The classes that are drawn."""
    xp, draws = k.xp, k.draws()
    if sampler == UNIFORM:
        return draws.integers(0, classes, shape)
    if sampler == LOG_UNIFORM:
        return xp.exp(draws.uniform(0, math.log(classes + 1), shape)).astype("int64") - 1
    shares = xp.cumsum(probabilities.astype("float64"))
    return xp.minimum(xp.searchsorted(shares, draws.random(shape) * shares[-1], side="right"), classes - 1)


@op(
    "nce",
    "Input Label Weight Bias? SampleWeight? CustomDistProbs? CustomDistAlias? CustomDistAliasProbs? -> "
    "Cost SampleLogits SampleLabels",
    attrs=ATTRS,
    trait=Trait.RANDOM,
)
def nce(
    k, input, label, weight, bias, sample_weight, probabilities, *alias, num_total_classes, num_neg_samples, sampler
):
    """The cost of telling true classes from *num_neg_samples* drawn ones, for each row.

    SampleLogits holds the logistic function of the products of rows of *input* and *weight*, and SampleLabels which
    classes they belong to: the true ones first.
    """
    xp = k.xp
    true = label.reshape((label.shape[0], -1 if label.size else 1))
    if true.size:
        least, most = true.min(), true.max()
        refuse(
            (least < 0) | (most >= num_total_classes),
            lambda bad: LabelError(f"nce: label {bad} is out of range for {num_total_classes} classes"),
            xp.where(least < 0, least, most),
        )
    others = _drawn(k, (label.shape[0], num_neg_samples), num_total_classes, sampler, probabilities)
    labels = xp.concatenate([true.astype("int64"), others], axis=1)
    logits = nce_dots.kernel(k, input, weight, labels)
    if bias is not None:
        logits = logits + bias.reshape(-1)[labels]
    shares = (1 / (1 + xp.exp(-logits))).astype(input.dtype)
    chance = nce_chance.kernel(
        k, shares, labels, probabilities, classes=num_total_classes, drawn=num_neg_samples, sampler=sampler
    )
    is_true = nce_true.kernel(k, shares, label)
    costs = xp.log(shares + chance) - xp.where(is_true != 0, xp.log(shares), xp.log(chance))
    if sample_weight is not None:
        costs = costs * sample_weight.reshape((-1, 1))
    return costs.sum(axis=1, keepdims=True).astype(input.dtype), shares, labels


@nce.infer
def _(input, label, weight, bias, sample_weight, probabilities, *alias, num_total_classes, num_neg_samples, sampler):
    if input.ndim != 2 or label.ndim != 2 or weight.ndim != 2:
        raise ShapeError(
            f"nce: Input {list(input.shape)}, Label {list(label.shape)} and Weight {list(weight.shape)} must have 2 "
            "dimensions"
        )
    pairs = (
        (weight.shape[0], num_total_classes),
        (weight.shape[1], input.shape[1]),
        (label.shape[0], input.shape[0]),
    )
    if any(m != n and UNKNOWN not in (m, n) for m, n in pairs):
        raise ShapeError(
            f"nce: Weight {list(weight.shape)} must be [{num_total_classes}, {input.shape[1]}], a row for each class, "
            f"and Label {list(label.shape)} have as many rows as Input {list(input.shape)}"
        )
    for slot, spec, count in (("Bias", bias, num_total_classes), ("SampleWeight", sample_weight, input.shape[0])):
        if spec is not None and spec.count not in (UNKNOWN, count) and count != UNKNOWN:
            raise ShapeError(f"nce: {slot} {list(spec.shape)} must have {count} elements")
    if sampler not in (UNIFORM, LOG_UNIFORM, CUSTOM) or (sampler == CUSTOM and probabilities is None):
        raise OperatorError(f"nce: sampler must be 0, 1, or 2 with CustomDistProbs, not {sampler}")
    if num_neg_samples < 1:
        raise OperatorError(f"nce: num_neg_samples must be at least 1, not {num_neg_samples}")
    rows = label.shape[0] if input.shape[0] == UNKNOWN else input.shape[0]
    columns = UNKNOWN if label.shape[1] == UNKNOWN else label.shape[1] + num_neg_samples
    return input.replace_shape((rows, 1)), input.replace_shape((rows, columns)), TensorSpec((rows, columns), "int64")


@nce.gradient(wrt="Input Weight Bias")
def _(k, input, label: Like, weight, bias, sample_weight, probabilities, samplelabels, dcost, **attrs):
    logits = k.nce_dots(input, weight, samplelabels)
    if bias is not None:
        logits = logits + k.nce_bias(bias, samplelabels)
    share = k.sigmoid(logits)
    of_classes = {"classes": attrs["num_total_classes"], "drawn": attrs["num_neg_samples"], "sampler": attrs["sampler"]}
    chance = k.nce_chance(share, samplelabels, probabilities, **of_classes)
    slope = share * (1 - share) / (share + chance) - k.nce_true(share, label) * (1 - share)
    arriving = dcost if sample_weight is None else dcost * k.reshape_like(sample_weight, dcost)
    towards = slope * arriving
    return (
        lambda: k.nce_mix(towards, weight, samplelabels),
        lambda: k.nce_spread(input, towards, samplelabels, weight),
        None if bias is None else lambda: k.nce_total(towards, samplelabels, bias),
    )


@op("nce_bias", "Bias Labels -> Out", trait=Trait.INTERNAL)
def nce_bias(k, bias, labels):
    """The elements of *bias* that *labels* name."""
    return bias.reshape(-1)[labels]


@op("nce_total", "Y Labels Bias -> Out", trait=Trait.INTERNAL)
def nce_total(k, y, labels, like):
    """The elements of *y* added to those that *labels* name: the transpose of ``nce_bias``."""
    out = k.xp.zeros(like.size, y.dtype)
    return add_at(out, labels, y).reshape(like.shape)


@nce_bias.gradient(wrt="Bias")
def _(k, bias: Like, labels, dout):
    return k.nce_total(dout, labels, bias)


@nce_total.gradient(wrt="Y")
def _(k, labels, dout):
    return k.nce_bias(dout, labels)


@nce.samples
def _(make):
    # One class only: what is drawn is known, and the cost is smooth.
    one = {"label": ints((3, 1), 1), "num_total_classes": 1}
    yield make(input=(3, 4), weight=(1, 4), bias=(1, 1), num_neg_samples=2, **one)
    yield make(input=(3, 4), weight=(1, 4), sample_weight=(3, 1), num_neg_samples=3, sampler=LOG_UNIFORM, **one)
    yield make(input=(2, 4), weight=(5, 4), label=ints((2, 1), 5), num_total_classes=5, smooth=False)
