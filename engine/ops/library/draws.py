"""Random numbers from distributions whose parameters are tensors."""

from __future__ import annotations

from ...core.errors import LabelError, ShapeError, UsageError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import broadcast
from ..opdef import Trait, op
from ..refusals import refuse
from ..samples import exactly, uniform

HOSTED = Trait.RANDOM | Trait.VALUES
"""Of distributions that are drawn from until something holds: how often depends on values, and NumPy does it."""


def _finite(k, x, name):
    """*x*, if all its numbers are finite: others are parameters of no distribution."""
    refuse(
        ~k.xp.isfinite(x),
        lambda: LabelError(f"{name}: the parameters of a distribution must be finite, but X has NaN or infinity"),
    )
    return x


@op("poisson", trait=HOSTED)
def poisson(k, x):
    """Whole numbers from Poisson distributions with the means *x*; 0 for negative ones."""
    x = _finite(k, x, "poisson")
    return k.xp.asarray(k.draws().host().poisson(k.xp.maximum(x, 0))).astype(x.dtype)


poisson.infer(lambda x: x)


@poisson.gradient
def _(k, dout):
    return k.zeros_like(dout)


@op("binomial", "count prob -> out", trait=HOSTED, differentiable=False)
def binomial(k, count, prob):
    """Number of *count* tries that succeed, each with the probability *prob*."""
    chances = k.xp.clip(_finite(k, prob, "binomial"), 0, 1)
    return k.xp.asarray(k.draws().host().binomial(count.astype("int64"), chances)).astype("int64")


@binomial.infer
def _(count, prob):
    return TensorSpec(broadcast(count.shape, prob.shape, -1, "binomial"), "int64")


@op("standard_gamma", "x -> out", trait=HOSTED, differentiable=False)
def standard_gamma(k, x):
    """Numbers from gamma distributions of those shapes and the scale 1."""
    if not (_finite(k, x, "standard_gamma") >= 0).all():
        raise LabelError("standard_gamma: the shapes of a gamma distribution must not be negative")
    return k.xp.asarray(k.draws().host().standard_gamma(x)).astype(x.dtype)


standard_gamma.infer(lambda x: x)


@op("exponential", attrs={"lambda": 1.0}, trait=Trait.RANDOM, differentiable=False)
def exponential(k, x, **attrs):
    """Numbers from an exponential distribution with the rate lambda, in the shape and type of *X*."""
    return k.xp.asarray(k.draws().exponential(1 / attrs["lambda"], x.shape)).astype(x.dtype)


exponential.infer(lambda x: x)


@op("multinomial", attrs={"num_samples": 1, "replacement": False}, trait=Trait.RANDOM, differentiable=False)
def multinomial(k, x, *, num_samples, replacement):
    """Places in the last dimension, drawn with chances in proportion to its numbers; each at most once without
    replacement."""
    xp = k.xp
    refuse(_finite(k, x, "multinomial") < 0, lambda: LabelError("multinomial: chances must not be negative"))
    wide = x.astype("float64").reshape((-1, x.shape[-1]))
    if not replacement:
        few = (wide > 0).sum(axis=1).min() if wide.size else xp.asarray(0)

        def too_few(few):
            return UsageError(
                f"multinomial: {num_samples} different places cannot be drawn where only {few} have a chance",
                hint="pass replacement=True, or draw fewer",
            )

        refuse(few < num_samples, too_few, few)
        # The largest of u^(1/w) are a draw without replacement (Efraimidis and Spirakis, 2006); here their logarithms.
        with_chance = xp.where(wide > 0, wide, 1.0)
        keys = xp.where(wide > 0, xp.log(1 - k.draws().random(wide.shape)) / with_chance, -xp.inf)
        drawn = xp.argsort(-keys, axis=1, stable=True)[:, :num_samples]
    else:
        ends = xp.cumsum(wide, axis=1)
        points = k.draws().random((len(wide), num_samples)) * ends[:, -1:]
        drawn = (points[:, :, None] >= ends[:, None, :]).sum(axis=2)
    return drawn.reshape((*x.shape[:-1], num_samples)).astype("int64")


@multinomial.infer
def _(x, *, num_samples, replacement):
    if x.ndim not in (1, 2):
        raise ShapeError(f"multinomial: X must have one or two dimensions, but its shape is {list(x.shape)}")
    if num_samples < 1 or (not replacement and UNKNOWN != x.shape[-1] < num_samples):
        raise UsageError(f"multinomial: num_samples must be from 1 to the {x.shape[-1]} places, but is {num_samples}")
    return TensorSpec((*x.shape[:-1], num_samples), "int64")


@poisson.samples
def _(make):
    yield make(x=uniform(0, 9, (3, 4)), smooth=False)
    yield make(x=uniform(0, 9, ()), smooth=False)
    yield make(x=(0, 3))


@binomial.samples
def _(make):
    yield make(count=exactly([3, 9], "int64"), prob=uniform(0, 1, (4, 2)))
    yield make(count=exactly(3, "int32"), prob=uniform(0, 1, ()))


@standard_gamma.samples
def _(make):
    yield make(x=uniform(0.5, 9, (3, 4)))
    yield make(x=(0, 3))


@exponential.samples
def _(make):
    yield make(x=(3, 4))
    yield make(x=())


@multinomial.samples
def _(make):
    yield make(x=uniform(0.1, 1, (3, 4)), num_samples=2)
    yield make(x=uniform(0.1, 1, (4,)), num_samples=6, replacement=True)
