"""Steps whose sizes follow from the signs of gradients, and steps along the mean of several (as in Paddle 3.1)."""

from __future__ import annotations

from ..samples import exactly, uniform
from .optimizer import new, number, updates, weights


@updates(
    "rprop",
    "param grad prev learning_rate master_param? learning_rate_range etas "
    "-> param_out prev_out learning_rate_out master_param_out?",
    {},
    {"learning_rate_range": 2, "etas": 2},
)
def rprop(k, param, grad, prev, rate, master, bounds, etas, **attrs):
    """A step against the sign of each gradient; its size grows while that stays and shrinks where it changes.

    Where it changes, the element stays for a step (Riedmiller & Braun 1993).
    """
    xp = k.xp
    w = param if master is None else master
    g = grad.astype(w.dtype)
    low, high = bounds.reshape(-1).astype(w.dtype)
    less, more = etas.reshape(-1).astype(w.dtype)
    same = xp.sign(g * prev)
    factor = xp.where(same > 0, more, xp.where(same < 0, less, 1 + same * 0))  # NaN stays NaN
    g = xp.where(same < 0, xp.zeros((), w.dtype), g)
    rate = xp.clip(rate * factor, low, high)
    p_new, master_new = new(param, master, w - xp.sign(g) * rate)
    return p_new, g, rate, master_new


@updates(
    "asgd",
    "param grad learning_rate d y n master_param? -> param_out d_out y_out master_param_out?",
    {},
    {"learning_rate": 1, "n": 1},
)
def asgd(k, param, grad, rate, total, last, count, master, **attrs):
    """A step along the mean of the last gradients of several batches (Schmidt et al. 2017).

    ``d`` is their sum, ``y`` the one that this gradient takes the place of, ``n`` how many there are.
    """
    w, g, rate = weights(param, grad, master, rate)
    total = total - last + g
    p_new, master_new = new(param, master, w - rate / number(count, w) * total)
    return p_new, total, g * 1, master_new


@rprop.samples
def _(make):
    fixed = {"bounds": exactly([[1e-2, 0.3]], "float64"), "etas": exactly([[0.5, 1.2]], "float64")}
    for shape in ((3, 4), (), (0, 3)):
        yield make(param=shape, grad=shape, prev=shape, rate=uniform(0.1, 0.4, shape), **fixed)


@asgd.samples
def _(make):
    for shape in ((2, 3), (), (0, 3)):
        yield make(
            param=shape,
            grad=shape,
            rate=uniform(0.1, 0.2, ()),
            total=shape,
            last=shape,
            count=exactly([3.0], "float64"),
        )
