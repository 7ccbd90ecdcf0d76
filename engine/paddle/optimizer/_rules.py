"""The optimizers: what each keeps per parameter, and the settings of its update operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, expect_type
from gradtool.paddle.regularizer import L2Decay, WeightDecayRegularizer

from ._base import Accumulator, Optimizer
from ._settings import required, within


def _refuse(optimizer: str, **wanted: bool) -> None:
    """Raise for settings that ask for something that gradtool does not do."""
    for what, value in wanted.items():
        if value:
            raise UnsupportedError(
                f"paddle.optimizer.{optimizer}: {what} is not part of this version of gradtool.",
                hint=f"leave {what} out: it is about memory and speed",
            )


class SGD(Optimizer):
    """``param - learning_rate·grad``."""

    op_type = "sgd"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision


class Momentum(Optimizer):
    """Gradient descent with momentum: ``velocity = momentum·velocity + grad``, ``param - learning_rate·velocity``.

    Args:
        momentum: which part of the velocity stays from one step to the next.
        use_nesterov: step along ``grad + momentum·velocity`` instead.
        rescale_grad: factor on the gradients.

    An L2Decay is part of the update operator, not an operator of its own.
    """

    op_type = "momentum"
    _by_elements = True
    _group_settings = ("momentum",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        _refuse("Momentum", use_multi_tensor=use_multi_tensor)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision
        self._fixed = {
            "mu": float(required("momentum", momentum)),
            "use_nesterov": bool(use_nesterov),
            "rescale_grad": float(rescale_grad),
        }

    def _accumulators(self) -> Sequence[Accumulator]:
        return (Accumulator("Velocity", "velocity"),)

    def _decay_of(self, param: Any) -> WeightDecayRegularizer | None:
        decay = super()._decay_of(param)
        return None if isinstance(decay, L2Decay) else decay

    def _settings(self, param: Any) -> dict[str, Any]:
        decay = super()._decay_of(param)
        fixed = {**self._fixed, "mu": float(self._of_group(param, "momentum", self._fixed["mu"]))}
        if not isinstance(decay, L2Decay):
            return fixed
        return {**fixed, "regularization_method": "l2_decay", "regularization_coeff": decay.coeff}


class _Betas(Optimizer):
    """An optimizer with two moments and the powers of their decay rates."""

    def __init__(
        self,
        learning_rate: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        parameters: Iterable[Any] | None,
        weight_decay: Any,
        grad_clip: Any,
        name: str | None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._fixed: dict[str, Any] = {
            "beta1": within("beta1", beta1, 0, 1),
            "beta2": within("beta2", beta2, 0, 1),
            "epsilon": within("epsilon", epsilon, 0),
        }

    def _accumulators(self) -> Sequence[Accumulator]:
        return (
            Accumulator("Moment1", "moment1"),
            Accumulator("Moment2", "moment2"),
            Accumulator("Beta1Pow", "beta1_pow_acc", self._fixed["beta1"], single=True),
            Accumulator("Beta2Pow", "beta2_pow_acc", self._fixed["beta2"], single=True),
        )

    def _settings(self, param: Any) -> dict[str, Any]:
        return self._fixed


class Adam(_Betas):
    """Adam (Kingma and Ba 2015).

    Args:
        beta1, beta2: decay rates of the mean of the gradients and of their squares.
        epsilon: keeps the division away from 0.
        weight_decay: is added to the gradient (AdamW keeps it apart).
        lazy_mode: a gradient of selected rows (a sparse look-up's) updates the moments and values of these rows alone;
            otherwise the moments of all rows decay, as with a dense gradient.
        amsgrad: divide by the largest mean square so far (Reddi et al. 2018).
    """

    op_type = "adam"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        _refuse(type(self).__name__, use_multi_tensor=use_multi_tensor)
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision
        self._fixed |= {"lazy_mode": bool(lazy_mode), "amsgrad": bool(amsgrad)}

    def _accumulators(self) -> Sequence[Accumulator]:
        moment1, moment2, *powers = super()._accumulators()
        largest = (Accumulator("Moment2Max", "moment2_max"),) if self._fixed["amsgrad"] else ()
        return (moment1, moment2, *largest, *powers)


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2019).

    Args:
        weight_decay: the coefficient, a float.
        lr_ratio: a function from a parameter to a factor on its learning rate.
        apply_decay_param_fun: a function from a parameter's name to whether it decays; all decay when None.
    """

    op_type = "adamw"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: float = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        _refuse("AdamW", use_lowprecision_moment=use_lowprecision_moment)
        if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
            raise ArgumentTypeError(f"weight_decay should be int or float, but received {type(weight_decay).__name__}.")
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            None,
            grad_clip,
            lazy_mode,
            multi_precision,
            amsgrad=amsgrad,
            name=name,
        )
        self._coeff = float(weight_decay)
        self._lr_ratio = lr_ratio
        self._decays = apply_decay_param_fun

    def _decay_of(self, param: Any) -> WeightDecayRegularizer | None:
        return getattr(param, "regularizer", None)  # a group's weight_decay is the coefficient here

    def _settings(self, param: Any) -> dict[str, Any]:
        decays = self._decays is None or bool(self._decays(param.name))
        return {
            **self._fixed,
            "coeff": float(self._of_group(param, "weight_decay", self._coeff)) if decays else 0.0,
            "with_decay": decays,
            "lr_ratio": 1.0 if self._lr_ratio is None else float(self._lr_ratio(param)),
        }


class Adamax(_Betas):
    """Adam with the largest gradient instead of the mean square (Kingma and Ba 2015, section 7.1)."""

    op_type = "adamax"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, name)

    def _accumulators(self) -> Sequence[Accumulator]:
        return (
            Accumulator("Moment", "moment"),
            Accumulator("InfNorm", "inf_norm"),
            Accumulator("Beta1Pow", "beta1_pow_acc", self._fixed["beta1"], single=True),
        )

    def _grown(self) -> dict[str, float]:
        return {"Beta1Pow": self._fixed["beta1"]}


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan and Singer 2011): divides by the root of the sum of all squared gradients so far.

    Args:
        initial_accumulator_value: what that sum starts from.
    """

    op_type = "adagrad"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-06,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._fixed = {"epsilon": float(required("epsilon", epsilon))}
        self._first = float(initial_accumulator_value)

    def _accumulators(self) -> Sequence[Accumulator]:
        return (Accumulator("Moment", "moment", self._first),)

    def _settings(self, param: Any) -> dict[str, Any]:
        return self._fixed


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): steps of the size of recent steps over that of recent gradients.

    Args:
        rho: decay rate of both sizes.
    """

    op_type = "adadelta"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-06,
        rho: float = 0.95,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._fixed = {"epsilon": float(required("epsilon", epsilon)), "rho": float(required("rho", rho))}

    def _accumulators(self) -> Sequence[Accumulator]:
        return (
            Accumulator("AvgSquaredGrad", "_avg_squared_grad"),
            Accumulator("AvgSquaredUpdate", "_avg_squared_update"),
        )

    def _settings(self, param: Any) -> dict[str, Any]:
        return self._fixed


class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton 2012): divides by the root of a running mean of squared gradients.

    Args:
        rho: decay rate of that mean.
        epsilon: is added under the root.
        momentum: which part of a step stays in the next.
        centered: take the squared mean of the gradients off their mean square.
    """

    op_type = "rmsprop"
    _by_elements = True

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._fixed = {
            "decay": within("rho", rho, 0),
            "epsilon": within("epsilon", epsilon, 0),
            "momentum": within("momentum", momentum, 0),
            "centered": bool(centered),
        }

    def _accumulators(self) -> Sequence[Accumulator]:
        return (
            Accumulator("Moment", "momentum"),
            Accumulator("MeanSquare", "mean_square"),
            Accumulator("MeanGrad", "mean_grad"),
        )

    def _settings(self, param: Any) -> dict[str, Any]:
        return self._fixed


class Lamb(_Betas):
    """LAMB (You et al. 2020): Adam's direction with weight decay, in proportion to the size of the weights.

    Args:
        lamb_weight_decay: the coefficient.
        exclude_from_weight_decay_fn: a function from a parameter to whether it does not decay.
        always_adapt: keep the proportion where nothing decays, too.
    """

    op_type = "lamb"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-06,
        parameters: Iterable[Any] | None = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, name)
        self._multi_precision = multi_precision
        expect_type(required("lamb_weight_decay", lamb_weight_decay), (int, float), "lamb_weight_decay", self._where)
        self._coeff = float(lamb_weight_decay)
        self._excluded = exclude_from_weight_decay_fn
        self._fixed["always_adapt"] = bool(always_adapt)

    def _decay_of(self, param: Any) -> WeightDecayRegularizer | None:
        return getattr(param, "regularizer", None)  # a group's weight_decay is the coefficient here

    def _settings(self, param: Any) -> dict[str, Any]:
        decays = self._excluded is None or not self._excluded(param)
        coeff = float(self._of_group(param, "weight_decay", self._coeff))
        return {**self._fixed, "weight_decay": coeff if decays else 0.0}
