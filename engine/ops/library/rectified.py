"""Adam with a rectified variance, and with Nesterov's momentum (as in Paddle 3.1)."""

from __future__ import annotations

from ..samples import uniform
from .optimizer import new, updates, weights

MOMENTS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


@updates(
    "radam",
    "param grad learning_rate beta1_pow beta2_pow rho moment1 moment2 master_param? "
    "-> param_out beta1_pow_out beta2_pow_out rho_out moment1_out moment2_out master_param_out?",
    MOMENTS,
    {"learning_rate": 1},
)
def radam(k, param, grad, rate, beta1_pow, beta2_pow, rho, moment1, moment2, master, *, beta1, beta2, epsilon, **attrs):
    """Adam whose steps are as long as the variance of their sizes allows (Liu et al. 2020).

    ``rho`` holds ``t · beta2^t / (1 - beta2^t)``.
    """
    xp = k.xp
    w, g, rate = weights(param, grad, master, rate)
    beta1, beta2 = (xp.asarray(b, w.dtype) for b in (beta1, beta2))
    beta1_pow, beta2_pow = beta1_pow * beta1, beta2_pow * beta2
    rho = (rho * (beta2 - beta2_pow) + beta2_pow) / (1 - beta2_pow)
    m = beta1 * moment1 + (1 - beta1) * g
    v = beta2 * moment2 + (1 - beta2) * (g * g)
    limit = 2 / (1 - beta2) - 1
    length = limit - 2 * rho
    certain = ~(length <= 5)  # NaN included, which goes on into the step
    ratio = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
    with_variance = xp.sqrt(xp.where(certain, ratio, 1)) * xp.sqrt(1 - beta2_pow) / (xp.sqrt(v) + epsilon)
    w_new = w - rate * (m / (1 - beta1_pow)) * xp.where(certain, with_variance, 1)
    p_new, master_new = new(param, master, w_new)
    return p_new, beta1_pow, beta2_pow, rho, m, v, master_new


DECAY = 0.96
"""How the momentum's own decay shrinks from step to step."""


@updates(
    "nadam",
    "param grad learning_rate momentum_decay_pow beta2_pow mu_product moment1 moment2 master_param? "
    "-> param_out momentum_decay_pow_out beta2_pow_out mu_product_out moment1_out moment2_out master_param_out?",
    {**MOMENTS, "momentum_decay": 0.004},
    {"learning_rate": 1},
)
def nadam(
    k,
    param,
    grad,
    rate,
    decay_pow,
    beta2_pow,
    mu_product,
    moment1,
    moment2,
    master,
    *,
    beta1,
    beta2,
    epsilon,
    momentum_decay,
    **attrs,
):
    """Adam that looks one step ahead along its momentum (Dozat 2016)."""
    xp = k.xp
    w, g, rate = weights(param, grad, master, rate)
    beta1, beta2 = (xp.asarray(b, w.dtype) for b in (beta1, beta2))
    decay = xp.asarray(DECAY, w.dtype)
    decay_pow, beta2_pow = decay_pow * decay, beta2_pow * beta2
    mu = beta1 * (1 - 0.5 * decay_pow**momentum_decay)
    ahead = beta1 * (1 - 0.5 * decay_pow**momentum_decay * decay**momentum_decay)
    mu_product = mu_product * mu
    m = beta1 * moment1 + (1 - beta1) * g
    v = beta2 * moment2 + (1 - beta2) * (g * g)
    mean = ahead * m / (1 - mu_product * ahead) + (1 - mu) * g / (1 - mu_product)
    w_new = w - rate * mean / (xp.sqrt(v / (1 - beta2_pow)) + epsilon)
    p_new, master_new = new(param, master, w_new)
    return p_new, decay_pow, beta2_pow, mu_product, m, v, master_new


def _state(shape):
    return {
        "param": shape,
        "grad": shape,
        "rate": uniform(0.1, 0.2, ()),
        "beta2_pow": uniform(0.5, 0.9, shape),
        "moment1": shape,
        "moment2": uniform(0.1, 0.9, shape),
    }


@radam.samples
def _(make):
    for shape in ((2, 3), (), (0, 3)):
        powers = {"beta1_pow": uniform(0.5, 0.9, shape), "rho": uniform(0.5, 2.0, shape)}
        yield make(**_state(shape), **powers)
    yield make(**_state((2, 3)), beta1_pow=uniform(0.5, 0.9, (2, 3)), rho=uniform(3.0, 9.0, (2, 3)), beta2=0.9)


@nadam.samples
def _(make):
    for shape in ((2, 3), (), (0, 3)):
        powers = {"decay_pow": uniform(0.5, 0.9, shape), "mu_product": uniform(0.5, 0.9, shape)}
        yield make(**_state(shape), **powers, momentum_decay=0.1)
