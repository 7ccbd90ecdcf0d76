"""Optimizers in dynamic mode: from the ``.grad`` of parameters to their new values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gradtool.engine import state
from gradtool.engine.eager import tape
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.errors import ArgumentTypeError, ModeError
from gradtool.engine.ops import registry
from gradtool.utils import unique_name

from .lr import LRScheduler

SCHEDULE = "LR_Scheduler"
"""The key of the learning rate's schedule in a state dict."""


class Steps:
    """The part of an optimizer that works on tensors; ``_base.Optimizer`` says what it updates and with what."""

    op_type: str
    _grad_clip: Any
    _learning_rate: Any
    _parameters: list[Any] | None
    _states: dict[tuple[Any, str], Any]

    def step(self) -> None:
        """Give every parameter that has a gradient its new value.

        Raises:
            ModeError: static mode is on (an AssertionError).
        """
        self._dynamic("step")
        self._stepped(None)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all its parameters to zeros, or remove them."""
        self._dynamic("clear_grad")
        for p in self._parameters or []:
            p.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def state_dict(self) -> dict[str, Any]:
        """What it keeps for its parameters, by name, and under ``LR_Scheduler`` where a schedule stands."""
        self._dynamic("state_dict")
        found: dict[str, Any] = {kept.name: kept for kept in self._states.values()}
        if isinstance(self._learning_rate, LRScheduler):
            found[SCHEDULE] = self._learning_rate.state_dict()
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave: of this optimizer, or of one for parameters of the same names.

        Raises:
            ArgumentTypeError: *state_dict* is no dict (a TypeError).
            ShapeError: a value has another shape (a ValueError).
        """
        self._dynamic("set_state_dict")
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(f"set_state_dict takes a dict, but received {type(state_dict).__name__}.")
        if SCHEDULE in state_dict and isinstance(self._learning_rate, LRScheduler):
            self._learning_rate.set_state_dict(state_dict[SCHEDULE])
        for p in self._parameters or []:
            for kept in self._kept():
                tensor = self._state(p, kept)
                if tensor.name in state_dict:
                    tensor.set_value(state_dict[tensor.name])

    # -- what optimizers say ----------------------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate now."""
        raise TypeError(f"{type(self).__name__} does not say how to update")

    def _kept(self) -> Any:
        return ()

    def _state(self, param: Any, kept: Any) -> Any:
        return None

    def _settings(self, param: Any) -> dict[str, Any]:
        return {}

    def _decay_of(self, param: Any) -> Any:
        return None

    def _operands(self, op: Any, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        return {}

    def _grown(self) -> dict[str, float]:
        """By slot: what a state is multiplied by after each update."""
        return {}

    # -- how it is done -------------------------------------------------------------------------------------------

    def _stepped(self, parameters: Iterable[Any] | None) -> list[tuple[Any, Any]]:
        """Update *parameters* (those of the constructor when None), and return them with their gradients."""
        chosen = parameters or self._parameters or []
        pairs = [(p, p.grad) for p in chosen if p.grad is not None and not p.stop_gradient]
        with no_grad():
            rate = self.get_lr()
            for p, g in pairs if self._grad_clip is None else self._grad_clip(pairs):
                decay = self._decay_of(p)
                self._update(p, g if decay is None else g + decay(p, g), rate)
        return pairs

    def _update(self, param: Any, grad: Tensor, rate: float) -> None:
        op = registry.by_type(self.op_type)
        factor = getattr(param, "optimize_attr", {}).get("learning_rate", 1.0)
        operands = self._operands(op, param, grad, Tensor(np.array(rate * factor, "float32")))
        attrs = op.attributes(self._settings(param))
        result = tape.apply(op, [operands.get(s.name) for s in op.inputs], attrs)
        for slot, new in zip(op.outputs, result if isinstance(result, tuple) else (result,), strict=True):
            target = operands.get(slot.name.removesuffix("Out"))
            if target is not None:
                target.write(new.array, op.type)
        for name, growth in self._grown().items():
            power = operands[name]
            power.write(power.array * np.asarray(growth, power.array.dtype), op.type)

    def _dynamic(self, function: str) -> None:
        if state.in_static_mode():
            raise ModeError(
                f"'{function}()' works in dynamic mode, and static mode is on.",
                hint="call paddle.disable_static() before it; in static mode minimize() appends the updates",
            )


def new_state(key: str, param: Tensor, kept: Any) -> Tensor:
    """The tensor that holds *kept* (a ``_base.State``) for *param*."""
    values = np.full((1,) if kept.single else param.array.shape, kept.fill, param.array.dtype)
    return Tensor(values, name=unique_name.generate(key), persistable=True)
