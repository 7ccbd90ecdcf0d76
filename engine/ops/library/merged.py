"""Updates of several parameters by one operator, and averages of parameters over time."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..branching import pick
from ..opdef import op
from ..samples import exactly, uniform
from .adam import ADAM, adam
from .optimizer import momentum, new, number, source_of, updates, weights
from .placing import _alike

# -- several parameters -----------------------------------------------------------------------------------------------


def _of_lists(definition):
    """The shape rule: every output has the specs of the inputs that it is the new value of."""
    sources = [definition.input_index[source_of(s.name)] for s in definition.outputs]

    def infer(*specs):
        by_slot = {s.name: v for s, v in zip(definition.inputs, specs, strict=True) if v}
        params = by_slot["Param"]
        for slot, each in by_slot.items():
            if len(each) != len(params) and not (slot == "LearningRate" and len(each) == 1):
                raise ShapeError(
                    f"{definition.type}: {slot} must hold as many tensors as Param, {len(params)}, but holds "
                    f"{len(each)}"
                )
            if slot not in ("LearningRate", "Beta1Pow", "Beta2Pow"):
                for param, spec in zip(params, each, strict=True):
                    if not _alike(param.shape, spec.shape):
                        raise ShapeError(
                            f"{definition.type}: {slot} {list(spec.shape)} must have the shape of its Param, "
                            f"{list(param.shape)}"
                        )
        return tuple(tuple(specs[i] or ()) for i in sources)

    definition.infer(infer)
    return definition


@_of_lists
@op(
    "lars_momentum",
    "Param* Grad* Velocity* LearningRate* MasterParam*? -> ParamOut* VelocityOut* MasterParamOut*?",
    attrs={
        "mu": 0.9,
        "lars_coeff": 0.001,
        "lars_weight_decay": (0.0005,),
        "epsilon": 0.0,
        "multi_precision": False,
        "rescale_grad": 1.0,
    },
    differentiable=False,
)
def lars_momentum(
    k, params, grads, velocities, rates, masters, *, mu, lars_coeff, lars_weight_decay, epsilon, rescale_grad
):
    """Momentum whose steps are as long as each parameter is large (You, Gitman and Ginsburg 2017)."""
    xp, columns = k.xp, []
    for i, (param, grad, velocity) in enumerate(zip(params, grads, velocities, strict=True)):
        rate = rates[0 if len(rates) == 1 else i]
        master = masters[i] if masters else None
        w, g, rate = weights(param, grad, master, rate)
        g, decay = g * rescale_grad, lars_weight_decay[0 if len(lars_weight_decay) == 1 else i]
        size, length = xp.sqrt(xp.sum(w * w)), xp.sqrt(xp.sum(g * g))
        if decay > 0:
            scaled = rate * lars_coeff * size / (length + decay * size + epsilon)
            (rate,) = pick(xp, (size > 0) & (length > 0), (scaled,), (rate,))
        velocity = (mu * velocity + rate * (g + decay * w)).astype(w.dtype)
        p_new, master_new = new(param, master, w - velocity)
        columns.append((p_new, velocity, master_new))
    return _columns(columns)


def _columns(rows):
    """A list for each output of the values for each parameter; an empty one for what is left out."""
    return tuple([v for v in column if v is not None] for column in zip(*rows, strict=True))


@_of_lists
@op(
    "merged_momentum",
    "Param* Grad* Velocity* LearningRate* MasterParam*? -> ParamOut* VelocityOut* MasterParamOut*?",
    attrs={
        "mu": 0.9,
        "use_nesterov": False,
        "regularization_method": (),
        "regularization_coeff": (),
        "multi_precision": False,
        "rescale_grad": 1.0,
    },
    differentiable=False,
)
def merged_momentum(
    k,
    params,
    grads,
    velocities,
    rates,
    masters,
    *,
    mu,
    use_nesterov,
    regularization_method,
    regularization_coeff,
    rescale_grad,
):
    """``momentum`` of several parameters, each with a weight decay of its own."""
    rows = []
    for i, (param, grad, velocity) in enumerate(zip(params, grads, velocities, strict=True)):
        rows.append(
            momentum.kernel(
                k,
                param,
                grad,
                velocity,
                rates[0 if len(rates) == 1 else i],
                masters[i] if masters else None,
                mu=mu,
                use_nesterov=use_nesterov,
                regularization_method=regularization_method[i] if regularization_method else "",
                regularization_coeff=regularization_coeff[i] if regularization_coeff else 0.0,
                rescale_grad=rescale_grad,
            )
        )
    return _columns(rows)


MERGED_ADAM = {n: ADAM[n] for n in ("beta1", "beta2", "epsilon", "use_global_beta_pow", "amsgrad")}


@_of_lists
@op(
    "merged_adam",
    "Param* Grad* LearningRate* Moment1* Moment2* Moment2Max*? Beta1Pow* Beta2Pow* MasterParam*? "
    "-> ParamOut* Moment1Out* Moment2Out* Moment2MaxOut*? Beta1PowOut* Beta2PowOut* MasterParamOut*?",
    attrs={**MERGED_ADAM, "multi_precision": False},
    differentiable=False,
)
def merged_adam(
    k,
    params,
    grads,
    rates,
    firsts,
    seconds,
    peaks,
    first_powers,
    second_powers,
    masters,
    *,
    beta1,
    beta2,
    epsilon,
    use_global_beta_pow,
):
    """``adam`` of several parameters."""
    attrs = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "use_global_beta_pow": use_global_beta_pow}
    rows = []
    for i, (param, grad, first, second) in enumerate(zip(params, grads, firsts, seconds, strict=True)):
        powers = first_powers[i], second_powers[i]
        rate, peak = rates[0 if len(rates) == 1 else i], peaks[i] if peaks else None
        master = masters[i] if masters else None
        none = (None,) * 4
        rows.append(adam.kernel(k, param, grad, rate, first, second, peak, *powers, master, *none, **attrs))
    return _columns(rows)


# -- one parameter ----------------------------------------------------------------------------------------------------


@updates(
    "ftrl",
    "Param SquaredAccumulator LinearAccumulator Grad LearningRate -> ParamOut SquaredAccumOut LinearAccumOut",
    {"l1": 0.0, "l2": 0.0, "lr_power": -0.5},
)
def ftrl(k, param, squared, linear, grad, rate, *, l1, l2, lr_power):
    """Steps that keep parameters at 0 whose gradients do not add up to *l1* (McMahan et al. 2013)."""
    xp, rate = k.xp, number(rate, param)
    total = squared + grad * grad
    before, now = squared ** (-lr_power), total ** (-lr_power)
    linear = linear + grad - (now - before) / rate * param
    shrunk = (l1 * xp.sign(linear) - linear) / (now / rate + 2 * l2)
    out = xp.where(xp.abs(linear) > l1, shrunk, xp.zeros((), param.dtype))
    return out.astype(param.dtype), total, linear.astype(param.dtype)


@updates(
    "decayed_adagrad",
    "Param Grad Moment LearningRate -> ParamOut MomentOut",
    {"decay": 0.95, "epsilon": 1e-6},
)
def decayed_adagrad(k, param, grad, moment, rate, *, decay, epsilon):
    """Adagrad that forgets: ``moment = decay·moment + (1 - decay)·grad²``."""
    moment = decay * moment + (1 - decay) * (grad * grad)
    return param - number(rate, param) * grad / (k.xp.sqrt(moment) + epsilon), moment


# -- averages ---------------------------------------------------------------------------------------------------------

FEW = 16384
"""After so many parameters their sum is put aside: more of them would be lost beside it."""


@op(
    "average_accumulates",
    "param in_sum_1 in_sum_2 in_sum_3 in_num_accumulates in_old_num_accumulates in_num_updates -> "
    "out_sum_1 out_sum_2 out_sum_3 out_num_accumulates out_old_num_accumulates out_num_updates",
    attrs={"average_window": 0.0, "max_average_window": (1 << 63) - 1, "min_average_window": 10000},
    differentiable=False,
)
def average_accumulates(
    k,
    param,
    sum_1,
    sum_2,
    sum_3,
    count,
    old_count,
    updates,
    *,
    average_window,
    max_average_window,
    min_average_window,
):
    """A parameter added to the sum of those of earlier steps, and how many these are.

    When there are enough of them, which grows with the number of steps, the sum becomes the third one and a new one
    begins.
    """
    xp = k.xp
    count, updates = count + 1, updates + 1
    steps, added = updates.reshape(()), count.reshape(())
    sum_1 = sum_1 + param
    put_aside = steps % FEW == 0
    sum_1, sum_2 = pick(xp, put_aside, (xp.zeros_like(sum_1), sum_2 + sum_1), (sum_1, sum_2))
    enough = (added >= min_average_window) & ((added >= max_average_window) | (added >= steps * average_window))
    begun = xp.zeros_like(sum_1), xp.zeros_like(sum_2), sum_1 + sum_2, xp.zeros_like(count), count, updates
    return pick(xp, enough, begun, (sum_1, sum_2, sum_3, count, old_count, updates))


@average_accumulates.infer
def _(param, *rest):
    for slot, spec in zip(average_accumulates.inputs[1:], rest, strict=True):
        if slot.name.startswith("in_sum") and not _alike(param.shape, spec.shape):
            raise ShapeError(
                f"average_accumulates: {slot.name} {list(spec.shape)} must have the shape of param, {list(param.shape)}"
            )
        if "num" in slot.name and spec.count not in (1, UNKNOWN):
            raise ShapeError(
                f"average_accumulates: {slot.name} must have one element, but its shape is {list(spec.shape)}"
            )
    return rest


RATE = uniform(0.1, 0.2, (1,))


def _state(*names):
    """A matrix and a vector for each of *names*."""
    return {name: [(3, 2), (2,)] for name in names}


@lars_momentum.samples
def _(make):
    state = _state("params", "grads", "velocities")
    scale = {"mu": 0.8, "lars_coeff": 0.1, "epsilon": 0.01}
    yield make(**state, rates=[RATE, RATE], masters=[], **scale, lars_weight_decay=(0.1, 0.2), rescale_grad=0.5)
    yield make(params=[(2,)], grads=[(2,)], velocities=[(2,)], rates=[RATE], masters=[], **scale)


@merged_momentum.samples
def _(make):
    state = {**_state("params", "grads", "velocities"), "rates": [RATE, RATE], "masters": []}
    decay = {"regularization_method": ("l2_decay", ""), "regularization_coeff": (0.3, 0.0)}
    yield make(**state, mu=0.8, use_nesterov=True, **decay)
    yield make(**state, mu=0.8)
    yield make(**state, mu=0.8, rescale_grad=0.5)


@merged_adam.samples
def _(make):
    positive = [uniform(0.1, 0.9, (3, 2)), uniform(0.1, 0.9, (2,))]
    powers = [uniform(0.5, 0.9, (1,)), uniform(0.5, 0.9, (1,))]
    state = {**_state("params", "grads", "firsts"), "seconds": positive, "rates": [RATE, RATE], "masters": []}
    yield make(**state, peaks=[], first_powers=powers, second_powers=powers, beta1=0.8, beta2=0.95, epsilon=1e-3)
    yield make(**state, peaks=positive, first_powers=powers, second_powers=powers, amsgrad=True)


@ftrl.samples
def _(make):
    state = {"param": (3, 2), "grad": (3, 2), "linear": (3, 2), "squared": uniform(0.1, 0.9, (3, 2)), "rate": RATE}
    yield make(**state, l1=0.1, l2=0.2)
    yield make(**state, l1=2.0, l2=0.2, lr_power=-0.7)


@decayed_adagrad.samples
def _(make):
    yield make(param=(3, 2), grad=(3, 2), moment=uniform(0.1, 0.9, (3, 2)), rate=RATE, decay=0.8, epsilon=0.1)


@average_accumulates.samples
def _(make):
    sums = dict.fromkeys(("param", "sum_1", "sum_2", "sum_3"), (2, 2))

    def counts(count, old, updates):
        named = {"count": count, "old_count": old, "updates": updates}
        return {name: exactly([n], "int64") for name, n in named.items()}

    window = {"average_window": 0.2, "max_average_window": 4, "min_average_window": 2}
    yield make(**sums, **counts(3, 1, 7), **window)
    yield make(**sums, **counts(3, 1, FEW - 1), average_window=0.9, min_average_window=20000)
