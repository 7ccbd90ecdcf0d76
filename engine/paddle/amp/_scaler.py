"""``paddle.amp.GradScaler``: losses are multiplied before backward and gradients divided after it.

Small gradients are zeros in float16, unless the loss is large. The scale grows while gradients are finite, and shrinks
where they are not; the update is left out then.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from gradtool.engine.core import watch
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tape import LossScale
from gradtool.engine.eager.tensor import Tensor

from ...engine.core.identity import identity
from ._casting import last_dtype


class RatioError(UsageError, AssertionError):
    """A ratio by which the scale could not grow or shrink (Paddle raises AssertionError)."""


class OrderError(UsageError, RuntimeError):
    """Calls in another order than unscale, step, update (Paddle raises RuntimeError)."""


class DisabledWarning(UserWarning):
    """A scale that is of no use for the type that is computed with."""


class OptimizerState(enum.Enum):
    """Progress of an optimizer since the last update of the scale."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


class AmpScaler:
    """Multiplies losses and divides gradients, so that small ones do not vanish in float16.

    Args:
        enable: False lets losses and gradients through as they are.
        init_loss_scaling: the scale at first.
        incr_ratio: what the scale is multiplied by after *incr_every_n_steps* steps with finite gradients.
        decr_ratio: what it is multiplied by after *decr_every_n_nan_or_inf* steps without.
        use_dynamic_loss_scaling: False keeps the scale. A dynamic one is for float16: the first loss that comes after
            an ``auto_cast`` to another type, or without any, turns the scaler off with a warning, as in Paddle.

    Raises:
        RatioError: *incr_ratio* of 1 or less, *decr_ratio* of 1 or more (an AssertionError).
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**15,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = enable
        if enable and incr_ratio <= 1.0:
            raise RatioError("The incr_ratio must be > 1.0.")
        if enable and decr_ratio >= 1.0:
            raise RatioError("The decr_ratio must be < 1.0.")
        self._use_dynamic_loss_scaling = bool(enable and use_dynamic_loss_scaling)
        self._init_loss_scaling = float(init_loss_scaling) if enable else 1.0
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_count = 0
        self._decr_count = 0
        self._scale = Tensor(np.array([self._init_loss_scaling], "float32"))
        self._found_inf = Tensor(np.array([False]))
        self._optimizer_states: dict[int, OptimizerState] = {}
        self._scaled: list[LossScale] = []
        """Of the losses since the last update."""

    def scale(self, var: Any) -> Any:
        """*var* times the scale.

        Raises:
            ArgumentTypeError: it is no tensor (a TypeError).
        """
        if not isinstance(var, Tensor):
            raise ArgumentTypeError(f"scale takes a Tensor, but received {type(var).__name__}.")
        if self._enable and self._use_dynamic_loss_scaling and last_dtype() != "float16":
            self._enable = False
            warnings.warn(
                f"It is not recommended to use dynamic loss scaling for {last_dtype()}, so GradScaler is disable by "
                "default.",
                DisabledWarning,
                stacklevel=2,
            )
        if not self._enable:
            return var
        scaled = var * self._scale
        if scaled.node is not None:
            scaled.node.loss_scale = LossScale(self._number())
            self._scaled.append(scaled.node.loss_scale)
        watch.note_scale(watch.Scaled(var, scaled, self._number()))
        return scaled

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, and see whether all are finite.

        Raises:
            OrderError: it was done since the last update (a RuntimeError).
        """
        if not self._enable:
            return
        state = self._state(optimizer)
        if state is OptimizerState.UNSCALED:
            raise OrderError("unscale_() has already been called on this optimizer since the last update().")
        if state is OptimizerState.STEPPED:
            raise OrderError("unscale_() is being called after step().")
        self._unscale(optimizer)

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale, ``optimizer.minimize(...)`` unless a gradient is not finite, and update the scale."""
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._state(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        result = optimizer.minimize(*args, **kwargs) if self._finite() else ([], optimizer._gradients(None))
        self._finish()
        return result

    def step(self, optimizer: Any) -> None:
        """Unscale, unless that is done, and ``optimizer.step()`` unless a gradient is not finite.

        Raises:
            OrderError: it was done since the last update (a RuntimeError).
        """
        if not self._enable:
            optimizer.step()
            return
        state = self._state(optimizer)
        if state is OptimizerState.STEPPED:
            raise OrderError("step() has already been called since the last update().")
        if state is OptimizerState.INIT:
            self._unscale(optimizer)
        if self._finite():
            optimizer.step()
        self._optimizer_states[identity(optimizer)] = OptimizerState.STEPPED
        if not self._use_dynamic_loss_scaling:
            self._optimizer_states.clear()

    def update(self) -> None:
        """Let the scale grow or shrink."""
        if self._enable:
            self._finish()

    # -- settings -------------------------------------------------------------------------------------------------

    def is_enable(self) -> bool:
        """Return whether losses are multiplied."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Return whether the scale grows and shrinks."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Also the scale now."""
        self._init_loss_scaling = new_init_loss_scaling
        self._scale = Tensor(np.array([new_init_loss_scaling], "float32"))

    def get_incr_ratio(self) -> float:
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Raises :class:`RatioError` (an AssertionError) for 1 or less."""
        if new_incr_ratio <= 1:
            raise RatioError("The new_incr_ratio must be > 1.0.")
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Raises :class:`RatioError` (an AssertionError) for 1 or more."""
        if new_decr_ratio >= 1:
            raise RatioError("The new_decr_ratio must be < 1.0.")
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict[str, Any]:
        """The scale, its settings and counts; empty where the scaler is off."""
        if not self._enable:
            return {}
        return {
            "scale": self._scale.numpy(),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave.

        Raises:
            OrderError: it is empty (a RuntimeError).
        """
        if not self._enable:
            return
        if not state_dict:
            raise OrderError(
                "The input state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_loss_scaling = float(np.asarray(state_dict["scale"]).reshape(-1)[0])
        self._scale = Tensor(np.array([self._init_loss_scaling], "float32"))
        for name in (*SETTINGS, "incr_count", "decr_count", "use_dynamic_loss_scaling"):
            setattr(self, f"_{name}", state_dict[name])

    # -- how it is done -------------------------------------------------------------------------------------------

    def _state(self, optimizer: Any) -> OptimizerState:
        return self._optimizer_states.get(identity(optimizer), OptimizerState.INIT)

    def _number(self) -> float:
        return float(self._scale.array[0])

    def _finite(self) -> bool:
        return not bool(self._found_inf.array[0])

    def _unscale(self, optimizer: Any) -> None:
        """Divide in place. A narrow gradient may vanish that way: optimizers widen it after that, as in Paddle."""
        scale = self._number()
        finite = True
        with no_grad():
            for gradient in _gradients(optimizer):
                array = np.asarray(gradient.array)
                finite = finite and bool(np.isfinite(array.astype("float32")).all())
                with np.errstate(all="ignore"):
                    gradient.write(
                        (array.astype("float32") / np.float32(scale)).astype(array.dtype), "check_finite_and_unscale"
                    )
        self._found_inf = Tensor(np.array([not finite]))
        self._optimizer_states[identity(optimizer)] = OptimizerState.UNSCALED
        for loss_scale in self._scaled:
            loss_scale.is_taken_off = True
        watch.note_scale(watch.Unscaled(tuple(optimizer._parameters or ()), scale, finite))

    def _finish(self) -> None:
        """Count, and change the scale where it is time."""
        self._optimizer_states.clear()
        self._scaled.clear()
        if not self._use_dynamic_loss_scaling:
            return
        if self._finite():
            self._decr_count = 0
            self._incr_count += 1
            if self._incr_count == self._incr_every_n_steps:
                self._change(self._incr_ratio)
            return
        self._incr_count = 0
        self._decr_count += 1
        if self._decr_count == self._decr_every_n_nan_or_inf:
            scale = self._number()
            print(f"Found inf or nan, current scale is: {scale}, decrease to: {scale}*{float(self._decr_ratio)}")
            self._change(self._decr_ratio)

    def _change(self, ratio: float) -> None:
        self._scale = Tensor(np.array([self._number() * ratio], "float32"))
        self._incr_count = self._decr_count = 0


SETTINGS = ("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf")


def _with_defaults(init: Any, **defaults: Any) -> Any:
    """*init* with other defaults for some of its arguments."""
    names = init.__code__.co_varnames[: init.__code__.co_argcount][-len(init.__defaults__) :]
    new = tuple(defaults.get(n, value) for n, value in zip(names, init.__defaults__, strict=True))
    copy = FunctionType(init.__code__, init.__globals__, init.__name__, new, init.__closure__)
    copy.__annotations__ = init.__annotations__
    return copy


class GradScaler(AmpScaler):
    """:class:`AmpScaler` with larger defaults: a scale of 65536, which grows after 2000 steps.

    >>> from gradtool import paddle
    >>> net = paddle.nn.Linear(2, 1)
    >>> optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
    >>> with paddle.amp.auto_cast():
    ...     loss = net(paddle.ones([4, 2])).mean()
    >>> scaler.scale(loss).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.state_dict()["incr_count"]
    1
    """

    __init__ = _with_defaults(AmpScaler.__init__, init_loss_scaling=2.0**16, incr_every_n_steps=2000)


def _gradients(optimizer: Any) -> Iterator[Any]:
    """Of its parameters."""
    return (p.grad for p in optimizer._parameters or () if p.grad is not None)
