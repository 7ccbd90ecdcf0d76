"""Adam and its kin: optimizers that keep running means of the gradients and of their squares (as in Paddle 3.1)."""

from __future__ import annotations

from ..samples import bools, uniform
from .optimizer import holds, new, number, unless, updates, weights


def _rounded(k, beta, like):
    """A decay rate in the dtype of *like*, in which its powers are kept: only then ``1 - beta`` and they agree."""
    return k.xp.asarray(beta, like.dtype)


ADAM = {
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "lazy_mode": False,
    "min_row_size_to_use_multithread": 1000,
    "use_global_beta_pow": False,
    "amsgrad": False,
}
"""With lazy_mode a gradient of selected rows updates these rows alone; the numbers about threads have no effect."""

ADAM_SLOTS = (
    "Param Grad LearningRate Moment1 Moment2 Moment2Max? Beta1Pow Beta2Pow MasterParam? SkipUpdate? Beta1Tensor? "
    "Beta2Tensor? EpsilonTensor? "
    "-> ParamOut Moment1Out Moment2Out Moment2MaxOut? Beta1PowOut Beta2PowOut MasterParamOut?"
)


DECAY = {"coeff": 0.01, "lr_ratio": 1.0, "with_decay": False}
"""What AdamW adds to Adam."""


def _define(name, doc, decays=False):
    """Adam or AdamW: they differ in the learning rate and weights that they start from."""

    def kernel(
        k,
        param,
        grad,
        rate,
        moment1,
        moment2,
        moment2_max,
        beta1_pow,
        beta2_pow,
        master,
        skip,
        beta1_tensor,
        beta2_tensor,
        epsilon_tensor,
        **attrs,
    ):
        before = param, moment1, moment2, moment2_max, beta1_pow, beta2_pow, master
        if skip is not None and holds(skip):
            return before
        w, g, rate = weights(param, grad, master, rate)
        beta1 = _rounded(k, attrs["beta1"], w) if beta1_tensor is None else number(beta1_tensor, w)
        beta2 = _rounded(k, attrs["beta2"], w) if beta2_tensor is None else number(beta2_tensor, w)
        epsilon = attrs["epsilon"] if epsilon_tensor is None else number(epsilon_tensor, w)
        if decays:
            rate = rate * attrs["lr_ratio"]
            if attrs["with_decay"]:
                w = w * (1 - rate * attrs["coeff"])
        m = beta1 * moment1 + (1 - beta1) * g
        v = beta2 * moment2 + (1 - beta2) * (g * g)
        peak = v if moment2_max is None else k.xp.maximum(moment2_max, v)
        root = k.xp.sqrt(1 - number(beta2_pow, w))
        step = rate * root / (1 - number(beta1_pow, w))
        w_new = w - step * (m / (k.xp.sqrt(peak) + epsilon * root))
        grows = not attrs["use_global_beta_pow"]
        powers = (beta1_pow * beta1, beta2_pow * beta2) if grows else (beta1_pow * 1.0, beta2_pow * 1.0)
        p_new, master_new = new(param, master, w_new)
        after = p_new, m, v, None if moment2_max is None else peak, *powers, master_new
        return after if skip is None else unless(k.xp, skip, before, after)

    kernel.__doc__ = doc
    return updates(name, ADAM_SLOTS, {**ADAM, **DECAY} if decays else ADAM)(kernel)


adam = _define(
    "adam",
    """Adam (Kingma and Ba 2015): steps along the mean of gradients over the root of their mean square.

    With Moment2Max the largest mean square so far is used (AMSGrad, Reddi et al. 2018). Where SkipUpdate is true
    nothing changes.
    """,
)
adamw = _define(
    "adamw",
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2019): first ``param·(1 - rate·coeff)``.

    The learning rate is scaled by lr_ratio first; without with_decay nothing decays.
    """,
    decays=True,
)


def _state(shape):
    """Operands of the shape of a parameter, for the samples."""
    return {
        "param": shape,
        "grad": shape,
        "rate": uniform(0.1, 0.2, ()),
        "moment1": shape,
        "moment2": uniform(0.1, 0.9, shape),
        "beta1_pow": uniform(0.5, 0.9, (1,)),
        "beta2_pow": uniform(0.5, 0.9, (1,)),
    }


def _adam_samples(make):
    yield make(**_state((2, 3)), beta1=0.8, beta2=0.95, epsilon=1e-3)
    yield make(**_state(()), moment2_max=uniform(0.1, 0.9, ()), amsgrad=True)
    yield make(**_state((3,)), master=(3,), use_global_beta_pow=True)
    yield make(**_state((2,)), skip=bools((1,)))
    yield make(
        **_state((4,)),
        beta1_tensor=uniform(0.5, 0.9, (1,)),
        beta2_tensor=uniform(0.5, 0.9, (1,)),
        epsilon_tensor=uniform(0.1, 0.2, (1,)),
    )


@adam.samples
def _(make):
    yield from _adam_samples(make)


@adamw.samples
def _(make):
    yield from _adam_samples(make)
    yield make(**_state((2, 3)), coeff=0.3, lr_ratio=0.5, with_decay=True)


@updates(
    "adamax",
    "Param Grad LearningRate Moment InfNorm Beta1Pow MasterParam? -> ParamOut MomentOut InfNormOut MasterParamOut?",
    {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
)
def adamax(k, param, grad, rate, moment, inf_norm, beta1_pow, master, *, beta1, beta2, epsilon):
    """Adam with the largest gradient instead of the mean square (Kingma and Ba 2015, section 7.1)."""
    w, g, rate = weights(param, grad, master, rate)
    beta1 = _rounded(k, beta1, w)
    moment = beta1 * moment + (1 - beta1) * g
    inf_norm = k.xp.maximum(k.xp.abs(g), beta2 * inf_norm + epsilon)
    w_new, master_new = new(param, master, w - rate / (1 - number(beta1_pow, w)) * (moment / inf_norm))
    return w_new, moment, inf_norm, master_new


@adamax.samples
def _(make):
    for shape in ((2, 3), ()):
        yield make(
            param=shape,
            grad=shape,
            rate=uniform(0.1, 0.2, ()),
            moment=shape,
            inf_norm=uniform(0.1, 0.9, shape),
            beta1_pow=uniform(0.5, 0.9, (1,)),
            master=shape,
            beta1=0.8,
            beta2=0.9,
            epsilon=1e-3,
        )


@updates(
    "lamb",
    "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam? SkipUpdate? "
    "-> ParamOut Moment1Out Moment2Out Beta1PowOut Beta2PowOut MasterParamOut?",
    {"weight_decay": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "always_adapt": False},
)
def lamb(
    k,
    param,
    grad,
    rate,
    moment1,
    moment2,
    beta1_pow,
    beta2_pow,
    master,
    skip,
    *,
    weight_decay,
    beta1,
    beta2,
    epsilon,
    always_adapt,
):
    """Adam's direction with weight decay, scaled so that each step is in proportion to the weights (You et al. 2020).

    The proportion is kept where weights decay, or everywhere with always_adapt.
    """
    before = param, moment1, moment2, beta1_pow, beta2_pow, master
    if skip is not None and holds(skip):
        return before
    w, g, rate = weights(param, grad, master, rate)
    beta1, beta2 = _rounded(k, beta1, w), _rounded(k, beta2, w)
    moment1 = beta1 * moment1 + (1 - beta1) * g
    moment2 = beta2 * moment2 + (1 - beta2) * (g * g)
    mean = moment1 / (1 - number(beta1_pow, w))
    spread = k.xp.sqrt(moment2 / (1 - number(beta2_pow, w)))
    direction = mean / (spread + epsilon) + weight_decay * w
    if weight_decay > 0 or always_adapt:
        size, length = (k.xp.sqrt((v * v).sum()) for v in (w, direction))
        nothing = (size == 0) | (length == 0)
        rate = k.xp.where(nothing, rate, rate * size / k.xp.where(length == 0, 1, length))
    w_new, master_new = new(param, master, w - (rate * direction).astype(w.dtype))
    after = w_new, moment1, moment2, beta1_pow * beta1, beta2_pow * beta2, master_new
    return after if skip is None else unless(k.xp, skip, before, after)


@lamb.samples
def _(make):
    yield make(**_state((2, 3)), beta1=0.8, beta2=0.95, epsilon=1e-3, weight_decay=0.2)
    yield make(**_state((3,)), master=(3,), weight_decay=0.0)
    yield make(**_state(()), weight_decay=0.0, always_adapt=True, skip=bools(()))
