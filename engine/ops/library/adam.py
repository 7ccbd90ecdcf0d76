"""Adam and its kin: optimizers that keep running means of the gradients and of their squares (as in Paddle 3.1)."""

from __future__ import annotations

from ..samples import between, bools
from .optimizer import new, number, updates, weights


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


def _adam(k, param, w, g, rate, m, v, v_max, b1p, b2p, master, skip, b1t, b2t, et, beta1, beta2, epsilon, fixed):
    """Adam's outputs (Kingma and Ba 2015; with *v_max* AMSGrad, Reddi et al. 2018) for weights *w*.

    *b1p* and *b2p* are the powers of the betas at this step; *fixed* keeps them as they are.
    """
    if skip is not None and bool(skip.reshape(())):
        return param, m, v, v_max, b1p, b2p, master
    beta1 = _rounded(k, beta1, w) if b1t is None else number(b1t, w)
    beta2 = _rounded(k, beta2, w) if b2t is None else number(b2t, w)
    epsilon = epsilon if et is None else number(et, w)
    m_new = beta1 * m + (1 - beta1) * g
    v_new = beta2 * v + (1 - beta2) * (g * g)
    peak = v_new if v_max is None else k.xp.maximum(v_max, v_new)
    root = k.xp.sqrt(1 - number(b2p, w))
    step = rate * root / (1 - number(b1p, w))
    w_new = w - step * (m_new / (k.xp.sqrt(peak) + epsilon * root))
    powers = (b1p * 1.0, b2p * 1.0) if fixed else (b1p * beta1, b2p * beta2)
    p_new, master_new = new(param, master, w_new)
    return p_new, m_new, v_new, None if v_max is None else peak, *powers, master_new


@updates("adam", ADAM_SLOTS, ADAM)
def adam(
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
    *,
    beta1,
    beta2,
    epsilon,
    use_global_beta_pow,
):
    """Adam (Kingma and Ba 2015): steps along the mean of gradients over the root of their mean square.

    With Moment2Max the largest mean square so far is used (AMSGrad). Where SkipUpdate is true nothing changes.
    """
    w, g, rate = weights(param, grad, master, rate)
    state = (moment1, moment2, moment2_max, beta1_pow, beta2_pow, master, skip)
    tensors = (beta1_tensor, beta2_tensor, epsilon_tensor)
    return _adam(k, param, w, g, rate, *state, *tensors, beta1, beta2, epsilon, use_global_beta_pow)


@updates("adamw", ADAM_SLOTS, {**ADAM, "coeff": 0.01, "lr_ratio": 1.0, "with_decay": False})
def adamw(
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
    *,
    beta1,
    beta2,
    epsilon,
    use_global_beta_pow,
    coeff,
    lr_ratio,
    with_decay,
):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2019): first ``param·(1 - rate·coeff)``.

    The learning rate is scaled by lr_ratio first; without with_decay nothing decays.
    """
    w, g, rate = weights(param, grad, master, rate)
    rate = rate * lr_ratio
    if with_decay:
        w = w * (1 - rate * coeff)
    state = (moment1, moment2, moment2_max, beta1_pow, beta2_pow, master, skip)
    tensors = (beta1_tensor, beta2_tensor, epsilon_tensor)
    return _adam(k, param, w, g, rate, *state, *tensors, beta1, beta2, epsilon, use_global_beta_pow)


def _adam_samples(make):
    def state(shape):
        return {
            "param": shape,
            "grad": shape,
            "rate": between(0.1, 0.2, ()),
            "moment1": shape,
            "moment2": between(0.1, 0.9, shape),
            "beta1_pow": between(0.5, 0.9, (1,)),
            "beta2_pow": between(0.5, 0.9, (1,)),
        }

    yield make(**state((2, 3)), beta1=0.8, beta2=0.95, epsilon=1e-3)
    yield make(**state(()), moment2_max=between(0.1, 0.9, ()), amsgrad=True)
    yield make(**state((3,)), master=(3,), use_global_beta_pow=True)
    yield make(**state((2,)), skip=bools((1,)))
    yield make(
        **state((4,)),
        beta1_tensor=between(0.5, 0.9, (1,)),
        beta2_tensor=between(0.5, 0.9, (1,)),
        epsilon_tensor=between(0.1, 0.2, (1,)),
    )


@adam.samples
def _(make):
    yield from _adam_samples(make)


@adamw.samples
def _(make):
    yield from _adam_samples(make)
    shape = (2, 3)
    yield make(
        param=shape,
        grad=shape,
        rate=between(0.1, 0.2, ()),
        moment1=shape,
        moment2=between(0.1, 0.9, shape),
        beta1_pow=between(0.5, 0.9, (1,)),
        beta2_pow=between(0.5, 0.9, (1,)),
        coeff=0.3,
        lr_ratio=0.5,
        with_decay=True,
    )


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
            rate=between(0.1, 0.2, ()),
            moment=shape,
            inf_norm=between(0.1, 0.9, shape),
            beta1_pow=between(0.5, 0.9, (1,)),
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
    if skip is not None and bool(skip.reshape(())):
        return param, moment1, moment2, beta1_pow, beta2_pow, master
    w, g, rate = weights(param, grad, master, rate)
    beta1, beta2 = _rounded(k, beta1, w), _rounded(k, beta2, w)
    moment1 = beta1 * moment1 + (1 - beta1) * g
    moment2 = beta2 * moment2 + (1 - beta2) * (g * g)
    mean = moment1 / (1 - number(beta1_pow, w))
    spread = k.xp.sqrt(moment2 / (1 - number(beta2_pow, w)))
    direction = mean / (spread + epsilon) + weight_decay * w
    if weight_decay > 0 or always_adapt:
        size, length = (k.xp.sqrt((v * v).sum()) for v in (w, direction))
        rate = k.xp.where((size > 0) & (length > 0), rate * size / k.xp.where(length > 0, length, 1), rate)
    w_new, master_new = new(param, master, w - (rate * direction).astype(w.dtype))
    return w_new, moment1, moment2, beta1_pow * beta1, beta2_pow * beta2, master_new


@lamb.samples
def _(make):
    def state(shape):
        return {
            "param": shape,
            "grad": shape,
            "rate": between(0.1, 0.2, ()),
            "moment1": shape,
            "moment2": between(0.1, 0.9, shape),
            "beta1_pow": between(0.5, 0.9, (1,)),
            "beta2_pow": between(0.5, 0.9, (1,)),
        }

    yield make(**state((2, 3)), beta1=0.8, beta2=0.95, epsilon=1e-3, weight_decay=0.2)
    yield make(**state((3,)), master=(3,), weight_decay=0.0)
    yield make(**state(()), weight_decay=0.0, always_adapt=True, skip=bools(()))
