"""Scaled losses: gradients are divided by the scale, and the scale follows what is not finite (Micikevicius 2018)."""

from __future__ import annotations

from ...core.errors import OperatorError
from ...core.spec import TensorSpec
from ..opdef import op
from ..samples import exactly
from .shape_tensors import known


@op("check_finite_and_unscale", "X* Scale -> Out* FoundInfinite", differentiable=False)
def check_finite_and_unscale(k, x, scale):
    """Each tensor divided by *scale*, and whether any element is not finite.

    From the first tensor on that has such an element they are multiplied by 0, as in Paddle.
    """
    xp = k.xp
    factor, found, out = 1 / scale.reshape(()), xp.zeros((), bool), []
    for each in map(xp.asarray, x):
        found = found | ~xp.isfinite(each).all()
        out.append((each * xp.where(found, 0, factor).astype(each.dtype)).astype(each.dtype))
    return out, found.reshape((1,))


@check_finite_and_unscale.infer
def _(x, scale):
    return tuple(x), TensorSpec((1,), "bool")


@op(
    "update_loss_scaling",
    "X* FoundInfinite PrevLossScaling InGoodSteps InBadSteps StopUpdate? -> Out* LossScaling OutGoodSteps OutBadSteps",
    attrs={
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.5,
        "stop_update": False,
    },
    differentiable=False,
)
def update_loss_scaling(
    k,
    x,
    found,
    scale,
    good,
    bad,
    stop,
    *,
    incr_every_n_steps,
    decr_every_n_nan_or_inf,
    incr_ratio,
    decr_ratio,
    stop_update,
):
    """The tensors, or zeros where something was not finite; and the scale, which grows after so many good steps.

    It falls after so many bad ones, never below 1, and does not grow beyond what is finite. With *stop* it stays.
    """
    xp = k.xp
    spoilt = found.reshape(())
    if known(found):  # nothing is copied then
        out = [xp.zeros_like(each) if spoilt else each for each in map(xp.asarray, x)]
    else:
        out = [xp.where(spoilt, xp.zeros((), each.dtype), each) for each in map(xp.asarray, x)]
    if stop_update:
        return out, scale, good, bad
    before = scale, good, bad
    good, bad = xp.where(spoilt, good * 0, good + 1), xp.where(spoilt, bad + 1, bad * 0)
    falls, grows = spoilt & (bad == decr_every_n_nan_or_inf), ~spoilt & (good == incr_every_n_steps)
    less, more = xp.maximum(scale * decr_ratio, 1).astype(scale.dtype), (scale * incr_ratio).astype(scale.dtype)
    scale = xp.where(falls, less, xp.where(grows & xp.isfinite(more), more, scale))
    after = scale, xp.where(grows, good * 0, good), xp.where(falls, bad * 0, bad)
    if stop is None:
        return out, *after
    return out, *[xp.where(stop.reshape(()), b, a) for b, a in zip(before, after, strict=True)]


@update_loss_scaling.infer
def _(x, found, scale, good, bad, stop, *, incr_every_n_steps, decr_every_n_nan_or_inf):
    if incr_every_n_steps < 1 or decr_every_n_nan_or_inf < 1:
        raise OperatorError("update_loss_scaling: incr_every_n_steps and decr_every_n_nan_or_inf must be at least 1")
    return tuple(x), scale, good, bad


@check_finite_and_unscale.samples
def _(make):
    yield make(x=[(2, 3), (4,)], scale=(1,))
    yield make(x=[exactly([1.0, float("inf")]), (2,)], scale=(1,))


@update_loss_scaling.samples
def _(make):
    steps = {"good": exactly([1], "int32"), "bad": exactly([0], "int32"), "scale": exactly([8.0])}
    yield make(x=[(2, 3), (4,)], found=exactly([False]), incr_every_n_steps=2, **steps)
    yield make(x=[(2,)], found=exactly([True]), decr_every_n_nan_or_inf=1, **steps)
    yield make(x=[(2,)], found=exactly([True]), stop_update=True, **steps)
