"""Steps of optimizers for one parameter (as in Paddle 3.1).

Each operator reads a parameter, its gradient, the learning rate and the state that the optimizer keeps for it, and
returns their new values; programs write them back to the same variables. No gradient passes through an update.

With MasterParam the update is made on that copy of higher precision and the parameter becomes its rounded form.
"""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..opdef import op
from ..samples import uniform
from .shape_tensors import known


def updates(name, signature, attrs, numbers=None):
    """Define the update operator *name*: every output has the spec of the input that it is the new value of.

    Args:
        numbers: the inputs that have a size of their own, by name: 1, or another number of elements.
    """

    if "master" in signature.lower():
        attrs = {**attrs, "multi_precision": False}

    def define(kernel):
        definition = op(name, signature, attrs=attrs, differentiable=False)(kernel)
        sources = [definition.input_index[source_of(s.name)] for s in definition.outputs]

        def infer(*specs):
            by_slot = {s.name: spec for s, spec in zip(definition.inputs, specs, strict=True) if spec is not None}
            _check(name, by_slot, NUMBERS if numbers is None else numbers)
            return tuple(specs[i] for i in sources)

        definition.infer(infer)
        return definition

    return define


IRREGULAR = {"SquaredAccumOut": "SquaredAccumulator", "LinearAccumOut": "LinearAccumulator"}


def source_of(output):
    """The input whose new value an output is; newer operators of Paddle have small letters."""
    return IRREGULAR.get(output) or output.removesuffix("_out").removesuffix("Out")


NUMBERS = dict.fromkeys(
    ("LearningRate", "Beta1Pow", "Beta2Pow", "SkipUpdate", "Beta1Tensor", "Beta2Tensor", "EpsilonTensor"), 1
)
"""Inputs of one element; the others have the shape of Param."""


def _check(name, specs, numbers):
    param = next(iter(specs.values())).shape  # Param comes first
    for slot, spec in specs.items():
        if slot in numbers:
            if spec.count not in (numbers[slot], UNKNOWN):
                count = "one element" if numbers[slot] == 1 else f"{numbers[slot]} elements"
                raise ShapeError(f"{name}: {slot} must have {count}, but its shape is {list(spec.shape)}")
        elif spec.ndim != len(param) or any(
            m != n and UNKNOWN not in (m, n) for m, n in zip(param, spec.shape, strict=True)
        ):
            raise ShapeError(f"{name}: Param has the shape {list(param)}, but {slot} {list(spec.shape)}")


def number(tensor, like):
    """A tensor of one element as a number of the dtype of *like*."""
    return tensor.reshape(()).astype(like.dtype)


def weights(param, grad, master, rate):
    """Weights to update, gradient and learning rate, all of one dtype."""
    w = param if master is None else master
    return w, grad.astype(w.dtype), number(rate, w)


def new(param, master, w):
    """ParamOut and MasterParamOut."""
    return w.astype(param.dtype), None if master is None else w


def holds(flag):
    """Return whether a bool of one element is known to hold: where a program is compiled, nothing is known yet."""
    return known(flag) and bool(flag.reshape(()))


def unless(xp, flag, before, after):
    """*after*, but *before* where *flag*, a bool of one element, turns out to hold; entry by entry, None is none."""
    if known(flag):
        return after  # see `holds`
    keeps = flag.reshape(())
    return tuple([None if a is None else xp.where(keeps, b, a) for b, a in zip(before, after, strict=True)])


@updates("sgd", "Param LearningRate Grad MasterParam? -> ParamOut MasterParamOut?", {})
def sgd(k, param, rate, grad, master):
    """``param - rate·grad``."""
    w, g, rate = weights(param, grad, master, rate)
    return new(param, master, w - rate * g)


@sgd.samples
def _(make):
    yield make(param=(2, 3), rate=uniform(0.1, 0.2, ()), grad=(2, 3))
    yield make(param=(), rate=uniform(0.1, 0.2, (1,)), grad=(), master=())
    yield make(param=(0, 2), rate=uniform(0.1, 0.2, ()), grad=(0, 2))


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
    w, g, rate = weights(param, grad, master, rate)
    g = g * rescale_grad
    if regularization_method == "l2_decay":
        g = g + regularization_coeff * w
    velocity = mu * velocity + g
    w_new, master_new = new(param, master, w - rate * (g + mu * velocity if use_nesterov else velocity))
    return w_new, velocity, master_new


@momentum.samples
def _(make):
    yield make(param=(2, 3), grad=(2, 3), velocity=(2, 3), rate=uniform(0.1, 0.2, ()))
    yield make(param=(3,), grad=(3,), velocity=(3,), rate=uniform(0.1, 0.2, ()), mu=0.5, use_nesterov=True)
    yield make(
        param=(2,),
        grad=(2,),
        velocity=(2,),
        rate=uniform(0.1, 0.2, (1,)),
        master=(2,),
        regularization_method="l2_decay",
        regularization_coeff=0.3,
        rescale_grad=0.5,
    )


@updates(
    "adagrad", "Param Grad Moment LearningRate MasterParam? -> ParamOut MomentOut MasterParamOut?", {"epsilon": 1e-6}
)
def adagrad(k, param, grad, moment, rate, master, *, epsilon):
    """``moment + grad²``, ``param - rate·grad / (√moment + epsilon)`` (Duchi, Hazan and Singer 2011)."""
    w, g, rate = weights(param, grad, master, rate)
    moment = moment + g * g
    w_new, master_new = new(param, master, w - rate * g / (k.xp.sqrt(moment) + epsilon))
    return w_new, moment, master_new


@adagrad.samples
def _(make):
    yield make(param=(2, 3), grad=(2, 3), moment=uniform(0.1, 0.9, (2, 3)), rate=uniform(0.1, 0.2, ()), epsilon=0.1)
    yield make(param=(2,), grad=(2,), moment=uniform(0.1, 0.9, (2,)), rate=uniform(0.1, 0.2, ()), master=(2,))


@updates(
    "adadelta",
    "Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate MasterParam? "
    "-> ParamOut AvgSquaredGradOut AvgSquaredUpdateOut MasterParamOut?",
    {"rho": 0.95, "epsilon": 1e-6},
)
def adadelta(k, param, grad, squared_grad, squared_update, rate, master, *, rho, epsilon):
    """Steps of the size of recent steps over that of recent gradients (Zeiler 2012), times the learning rate."""
    w, g, rate = weights(param, grad, master, rate)
    squared_grad = rho * squared_grad + (1 - rho) * (g * g)
    update = k.xp.sqrt((squared_update + epsilon) / (squared_grad + epsilon)) * g
    w_new, master_new = new(param, master, w - rate * update)
    return w_new, squared_grad, rho * squared_update + (1 - rho) * (update * update), master_new


@adadelta.samples
def _(make):
    for shape in ((2, 3), ()):
        yield make(
            param=shape,
            grad=shape,
            squared_grad=uniform(0.1, 0.9, shape),
            squared_update=uniform(0.1, 0.9, shape),
            rate=uniform(0.1, 0.2, ()),
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
    w, g, rate = weights(param, grad, master, rate)
    mean_square = decay * mean_square + (1 - decay) * (g * g)
    spread = mean_square
    if mean_grad is not None:
        mean_grad = decay * mean_grad + (1 - decay) * g if centered else mean_grad * 1.0
        spread = mean_square - mean_grad * mean_grad if centered else mean_square
    moment = momentum * moment + rate * g / k.xp.sqrt(spread + epsilon)
    w_new, master_new = new(param, master, w - moment)
    return w_new, moment, mean_square, mean_grad, master_new


@rmsprop.samples
def _(make):
    def state(shape):
        return {
            "param": shape,
            "mean_square": uniform(0.5, 0.9, shape),
            "grad": shape,
            "moment": shape,
            "rate": uniform(0.1, 0.2, ()),
        }

    yield make(**state((2, 3)), epsilon=0.1, decay=0.8, momentum=0.5)
    yield make(**state((3,)), mean_grad=uniform(0.1, 0.2, (3,)), centered=True, epsilon=0.1)
    yield make(**state(()), mean_grad=(), master=())
