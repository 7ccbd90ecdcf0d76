"""Momentum whose steps are as long as each parameter is large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradtool.engine.ops.opdef import OpDef
from gradtool.paddle.optimizer._base import Accumulator, Optimizer
from gradtool.paddle.optimizer._settings import required


class LarsMomentumOptimizer(Optimizer):
    """Momentum with a learning rate for each parameter, by its norm and that of its gradient (You et al. 2017).

    ``rate = learning_rate · lars_coeff · ‖param‖ / (‖grad‖ + lars_weight_decay · ‖param‖ + epsilon)``, then
    ``velocity = momentum · velocity + rate · (grad + lars_weight_decay · param)`` and ``param - velocity``. Where there
    is no decay or a norm is 0, the rate is the learning rate itself.

    Args:
        momentum: which part of the velocity stays from one step to the next.
        parameter_list, regularization: the parameters, and what is added to gradients.
        exclude_from_weight_decay: parts of names of parameters without decay.
        rescale_grad: factor on the gradients.

    >>> from gradtool import paddle
    >>> x = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
    >>> lars = paddle.incubate.optimizer.LarsMomentumOptimizer(0.5, 0.9, 0.25, 1.0, parameter_list=[x])
    >>> (x * 2).sum().backward()
    >>> lars.step()
    >>> x.tolist()
    [1.75]
    """

    op_type = "lars_momentum"

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameter_list: Iterable[Any] | None = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        exclude_from_weight_decay: Sequence[str] | None = None,
        epsilon: float = 0,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)
        self._multi_precision = multi_precision
        self._lars_weight_decay = float(lars_weight_decay)
        self._exclude_from_weight_decay = list(exclude_from_weight_decay or ())
        self._fixed = {
            "mu": float(required("momentum", momentum)),
            "lars_coeff": float(lars_coeff),
            "epsilon": float(epsilon),
            "rescale_grad": float(rescale_grad),
        }

    def _accumulators(self) -> Sequence[Accumulator]:
        return (Accumulator("Velocity", "velocity"),)

    def _settings(self, param: Any) -> dict[str, Any]:
        spared = any(part in param.name for part in self._exclude_from_weight_decay)
        return {**self._fixed, "lars_weight_decay": (0.0 if spared else self._lars_weight_decay,)}

    def _operands(self, op: OpDef, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        """The operator takes lists of parameters: each is updated by one of its own."""
        return {slot: (value,) for slot, value in super()._operands(op, param, grad, rate).items()}


LarsMomentum = LarsMomentumOptimizer
