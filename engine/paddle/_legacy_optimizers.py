"""``fluid.optimizer``: today's optimizers under the names and arguments of Paddle's version 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, did_you_mean
from gradtool.paddle.optimizer import _rules
from gradtool.paddle.optimizer._base import Optimizer
from gradtool.paddle.optimizer._settings import as_regularizer

from ._legacy_decays import LearningRateDecay

_COMMON = ("parameter_list", "regularization", "grad_clip", "name")


def _old(kind: type[Optimizer], arguments: str) -> type[Optimizer]:
    """*kind* with the arguments of version 1, in their order: ``parameter_list`` and ``regularization`` were theirs."""
    order = arguments.split()

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        where = f"fluid.optimizer.{type(self).__name__}"
        if len(args) > len(order):
            raise ArgumentTypeError(f"{where} takes up to {len(order)} arguments, but received {len(args)}.")
        arguments = dict(zip(order, args, strict=False))
        for name, value in kwargs.items():
            if name not in order or name in arguments:
                what = "two values for" if name in arguments else "no argument"
                raise ArgumentTypeError(f"{where}: {what} {name!r}", hint=did_you_mean(name, order))
            arguments[name] = value
        decay = arguments.pop("regularization", None)
        if "parameter_list" in arguments:
            arguments["parameters"] = arguments.pop("parameter_list")
        kind.__init__(self, **arguments)
        self._decay = as_regularizer(decay, where)

    def minimize(
        self: Any,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
    ) -> Any:
        result = kind.minimize(self, loss, startup_program, parameter_list, no_grad_set)
        if isinstance(self._learning_rate, LearningRateDecay) and not state.in_static_mode():
            self._learning_rate.step()
        return result

    minimize.__doc__ = kind.minimize.__doc__
    body = {"__init__": __init__, "minimize": minimize, "__doc__": kind.__doc__, "__module__": __name__}
    return type(f"{kind.__name__}Optimizer", (kind,), body)


_FOUR = " ".join(_COMMON)
_BETAS = f"learning_rate beta1 beta2 epsilon {_FOUR}"

SGDOptimizer = SGD = _old(_rules.SGD, f"learning_rate {_FOUR}")
MomentumOptimizer = Momentum = _old(
    _rules.Momentum, "learning_rate momentum parameter_list use_nesterov regularization grad_clip name"
)
AdagradOptimizer = Adagrad = _old(_rules.Adagrad, f"learning_rate epsilon {_FOUR} initial_accumulator_value")
AdamOptimizer = Adam = _old(_rules.Adam, f"{_BETAS} lazy_mode")
AdamaxOptimizer = Adamax = _old(_rules.Adamax, _BETAS)
AdadeltaOptimizer = Adadelta = _old(_rules.Adadelta, f"learning_rate epsilon rho {_FOUR}")
RMSPropOptimizer = _old(_rules.RMSProp, f"learning_rate rho epsilon momentum centered {_FOUR}")
LambOptimizer = Lamb = _old(
    _rules.Lamb,
    "learning_rate lamb_weight_decay beta1 beta2 epsilon parameter_list regularization grad_clip "
    "exclude_from_weight_decay_fn name",
)
