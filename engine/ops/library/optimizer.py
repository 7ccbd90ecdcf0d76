"""What optimizers do to one parameter in one step (as in Paddle 3.1).

Each operator reads a parameter, its gradient, the learning rate and the state that the optimizer keeps for it, and
returns their new values; programs write them back to the same variables. No gradient passes through an update.

With MasterParam the update is made on that copy of higher precision and the parameter becomes its rounded form.
"""

from __future__ import annotations

from ...errors import ShapeError
from ...spec import UNKNOWN, TensorSpec
from ..infer import floating
from ..opdef import op
from ..samples import between, bools


def updates(name, signature, attrs):
    """Define the update operator *name*: every output has the spec of the input that it is the new value of."""

    if "MasterParam" in signature:
        attrs = {**attrs, "multi_precision": False}

    def define(kernel):
        new = op(name, signature, attrs=attrs, differentiable=False)(kernel)
        sources = [new.input_index[s.name.removesuffix("Out")] for s in new.outputs]
        grad, rate = new.input_index["Grad"], new.input_index["LearningRate"]

        def infer(*specs):
            _check(name, specs[0], specs[grad], specs[rate])
            return tuple(specs[i] for i in sources)

        new.infer(infer)
        return new

    return define


def _check(name, param, grad, rate):
    same = param.ndim == grad.ndim and all(
        m == n or UNKNOWN in (m, n) for m, n in zip(param.shape, grad.shape, strict=True)
    )
    if not same:
        raise ShapeError(f"{name}: Param has the shape {list(param.shape)}, but Grad {list(grad.shape)}")
    if rate.count not in (1, UNKNOWN):
        raise ShapeError(f"{name}: LearningRate must have one element, but its shape is {list(rate.shape)}")


def _number(tensor, like):
    """A tensor of one element as a number of the dtype of *like*."""
    return tensor.reshape(()).astype(like.dtype)


def _rounded(k, beta, like):
    """A decay rate in the dtype of *like*, in which its powers are kept: only then ``1 - beta`` and they agree."""
    return k.xp.asarray(beta, like.dtype)


def _weights(param, grad, master, rate):
    """Weights to update, gradient and learning rate, all of one dtype."""
    w = param if master is None else master
    return w, grad.astype(w.dtype), _number(rate, w)


def _new(param, master, w):
    """ParamOut and MasterParamOut."""
    return w.astype(param.dtype), None if master is None else w


@updates("sgd", "Param LearningRate Grad MasterParam? -> ParamOut MasterParamOut?", {})
def sgd(k, param, rate, grad, master):
    """``param - rate·grad``."""
    w, g, rate = _weights(param, grad, master, rate)
    return _new(param, master, w - rate * g)


@sgd.samples
def _(make):
    yield make(param=(2, 3), rate=between(0.1, 0.2, ()), grad=(2, 3))
    yield make(param=(), rate=between(0.1, 0.2, (1,)), grad=(), master=())
    yield make(param=(0, 2), rate=between(0.1, 0.2, ()), grad=(0, 2))


@updates(
    "momentum",
    "Param Grad Velocity LearningRate MasterParam? -> ParamOut VelocityOut MasterParamOut?",
    {
        "mu": 0.9,
        "use_nesterov": False,
        "regularization_method": "",
        "regularization_coeff": 0.0,
        "rescale_grad": 1.0,
    },
)
def momentum(
    k,
    param,
    grad,
    velocity,
    rate,
    master,
    *,
    mu,
    use_nesterov,
    regularization_method,
    regularization_coeff,
    rescale_grad,
):
    """``velocity = mu·velocity + grad``; ``param - rate·velocity``, or with Nesterov ``- rate·(grad + mu·velocity)``.

    The gradient is scaled by rescale_grad first, and with ``l2_decay`` weight decay is added to it.
    """
    w, g, rate = _weights(param, grad, master, rate)
    g = g * rescale_grad
    if regularization_method == "l2_decay":
        g = g + regularization_coeff * w
    velocity = mu * velocity + g
    w_new, master_new = _new(param, master, w - rate * (g + mu * velocity if use_nesterov else velocity))
    return w_new, velocity, master_new


@momentum.samples
def _(make):
    yield make(param=(2, 3), grad=(2, 3), velocity=(2, 3), rate=between(0.1, 0.2, ()))
    yield make(param=(3,), grad=(3,), velocity=(3,), rate=between(0.1, 0.2, ()), mu=0.5, use_nesterov=True)
    yield make(
        param=(2,),
        grad=(2,),
        velocity=(2,),
        rate=between(0.1, 0.2, (1,)),
        master=(2,),
        regularization_method="l2_decay",
        regularization_coeff=0.3,
        rescale_grad=0.5,
    )


ADAM = {
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "lazy_mode": False,
    "min_row_size_to_use_multithread": 1000,
    "use_global_beta_pow": False,
    "amsgrad": False,
}
"""lazy_mode and min_row_size_to_use_multithread are about sparse gradients, of which gradtool has none."""

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
    beta1 = _rounded(k, beta1, w) if b1t is None else _number(b1t, w)
    beta2 = _rounded(k, beta2, w) if b2t is None else _number(b2t, w)
    epsilon = epsilon if et is None else _number(et, w)
    m_new = beta1 * m + (1 - beta1) * g
    v_new = beta2 * v + (1 - beta2) * (g * g)
    peak = v_new if v_max is None else k.xp.maximum(v_max, v_new)
    root = k.xp.sqrt(1 - _number(b2p, w))
    step = rate * root / (1 - _number(b1p, w))
    w_new = w - step * (m_new / (k.xp.sqrt(peak) + epsilon * root))
    powers = (b1p * 1.0, b2p * 1.0) if fixed else (b1p * beta1, b2p * beta2)
    p_new, master_new = _new(param, master, w_new)
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
    w, g, rate = _weights(param, grad, master, rate)
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
    w, g, rate = _weights(param, grad, master, rate)
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
    w, g, rate = _weights(param, grad, master, rate)
    beta1 = _rounded(k, beta1, w)
    moment = beta1 * moment + (1 - beta1) * g
    inf_norm = k.xp.maximum(k.xp.abs(g), beta2 * inf_norm + epsilon)
    w_new, master_new = _new(param, master, w - rate / (1 - _number(beta1_pow, w)) * (moment / inf_norm))
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
    "adagrad", "Param Grad Moment LearningRate MasterParam? -> ParamOut MomentOut MasterParamOut?", {"epsilon": 1e-6}
)
def adagrad(k, param, grad, moment, rate, master, *, epsilon):
    """``moment + grad²``, ``param - rate·grad / (√moment + epsilon)`` (Duchi, Hazan and Singer 2011)."""
    w, g, rate = _weights(param, grad, master, rate)
    moment = moment + g * g
    w_new, master_new = _new(param, master, w - rate * g / (k.xp.sqrt(moment) + epsilon))
    return w_new, moment, master_new


@adagrad.samples
def _(make):
    yield make(param=(2, 3), grad=(2, 3), moment=between(0.1, 0.9, (2, 3)), rate=between(0.1, 0.2, ()), epsilon=0.1)
    yield make(param=(2,), grad=(2,), moment=between(0.1, 0.9, (2,)), rate=between(0.1, 0.2, ()), master=(2,))


@updates(
    "adadelta",
    "Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate MasterParam? "
    "-> ParamOut AvgSquaredGradOut AvgSquaredUpdateOut MasterParamOut?",
    {"rho": 0.95, "epsilon": 1e-6},
)
def adadelta(k, param, grad, squared_grad, squared_update, rate, master, *, rho, epsilon):
    """Steps of the size of recent steps over that of recent gradients (Zeiler 2012), times the learning rate."""
    w, g, rate = _weights(param, grad, master, rate)
    squared_grad = rho * squared_grad + (1 - rho) * (g * g)
    update = k.xp.sqrt((squared_update + epsilon) / (squared_grad + epsilon)) * g
    w_new, master_new = _new(param, master, w - rate * update)
    return w_new, squared_grad, rho * squared_update + (1 - rho) * (update * update), master_new


@adadelta.samples
def _(make):
    for shape in ((2, 3), ()):
        yield make(
            param=shape,
            grad=shape,
            squared_grad=between(0.1, 0.9, shape),
            squared_update=between(0.1, 0.9, shape),
            rate=between(0.1, 0.2, ()),
            master=shape,
            rho=0.8,
            epsilon=0.1,
        )


@updates(
    "rmsprop",
    "Param MeanSquare Grad Moment LearningRate MeanGrad? MasterParam? "
    "-> ParamOut MomentOut MeanSquareOut MeanGradOut? MasterParamOut?",
    {"epsilon": 1e-10, "decay": 0.9, "momentum": 0.0, "centered": False},
)
def rmsprop(k, param, mean_square, grad, moment, rate, mean_grad, master, *, epsilon, decay, momentum, centered):
    """``moment = momentum·moment + rate·grad / √(mean square + epsilon)``, ``param - moment`` (Tieleman, Hinton 2012).

    With *centered* the squared mean of the gradients is taken off their mean square.
    """
    w, g, rate = _weights(param, grad, master, rate)
    mean_square = decay * mean_square + (1 - decay) * (g * g)
    spread = mean_square
    if mean_grad is not None:
        mean_grad = decay * mean_grad + (1 - decay) * g if centered else mean_grad * 1.0
        spread = mean_square - mean_grad * mean_grad if centered else mean_square
    moment = momentum * moment + rate * g / k.xp.sqrt(spread + epsilon)
    w_new, master_new = _new(param, master, w - moment)
    return w_new, moment, mean_square, mean_grad, master_new


@rmsprop.samples
def _(make):
    def state(shape):
        return {
            "param": shape,
            "mean_square": between(0.5, 0.9, shape),
            "grad": shape,
            "moment": shape,
            "rate": between(0.1, 0.2, ()),
        }

    yield make(**state((2, 3)), epsilon=0.1, decay=0.8, momentum=0.5)
    yield make(**state((3,)), mean_grad=between(0.1, 0.2, (3,)), centered=True, epsilon=0.1)
    yield make(**state(()), mean_grad=(), master=())


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
    w, g, rate = _weights(param, grad, master, rate)
    beta1, beta2 = _rounded(k, beta1, w), _rounded(k, beta2, w)
    moment1 = beta1 * moment1 + (1 - beta1) * g
    moment2 = beta2 * moment2 + (1 - beta2) * (g * g)
    mean = moment1 / (1 - _number(beta1_pow, w))
    spread = k.xp.sqrt(moment2 / (1 - _number(beta2_pow, w)))
    direction = mean / (spread + epsilon) + weight_decay * w
    if weight_decay > 0 or always_adapt:
        size, length = (k.xp.sqrt((v * v).sum()) for v in (w, direction))
        rate = k.xp.where((size > 0) & (length > 0), rate * size / k.xp.where(length > 0, length, 1), rate)
    w_new, master_new = _new(param, master, w - (rate * direction).astype(w.dtype))
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


# -- clipping -----------------------------------------------------------------------------------------------------


@op("clip_by_norm", attrs={"max_norm": 1.0})
def clip_by_norm(k, x, *, max_norm):
    """*x*, scaled down to the Euclidean norm *max_norm* where it is longer."""
    norm = k.xp.sqrt((x * x).sum())
    return (x * (max_norm / k.xp.maximum(norm, max_norm))).astype(x.dtype) if max_norm else x * 0.0


@clip_by_norm.gradient
def _(k, x, dout, *, max_norm):
    if not max_norm:
        return k.zeros_like(x)
    norm = k.sqrt(k.reduce_sum(x * x, reduce_all=True))
    longer = norm > max_norm
    # Where it is clipped, out = max_norm·x / norm: the part of the gradient along x does not pass.
    safe = k.select(longer, norm, norm * 0.0 + 1.0)
    along = x * (k.reduce_sum(x * dout, reduce_all=True) / (safe * safe))
    return k.select(k.expand_like(longer, x), (dout - along) * (max_norm / safe), dout)


clip_by_norm.infer(floating("clip_by_norm"))


@clip_by_norm.samples
def _(make):
    yield make(x=(2, 3), max_norm=0.5)
    yield make(x=(2,), max_norm=9.0)
    yield make(x=(), max_norm=0.05)
    yield make(x=(0, 2))


@op("squared_l2_norm")
def squared_l2_norm(k, x):
    """The sum of the squares of all elements, as a tensor of shape [1]."""
    return (x * x).sum().reshape((1,))


@squared_l2_norm.gradient
def _(k, x, dout):
    return x * (k.reshape_like(dout, k.reduce_sum(x, reduce_all=True)) * 2.0)


@squared_l2_norm.infer
def _(x):
    floating("squared_l2_norm")(x)
    return TensorSpec((1,), x.dtype)


@squared_l2_norm.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=())
    yield make(x=(0, 2))
