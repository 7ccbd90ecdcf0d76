"""Optimizers in dynamic mode: from the ``.grad`` of parameters to their new values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from gradtool.engine.core import source, state, watch
from gradtool.engine.core.errors import ArgumentTypeError, ModeError, NotFound
from gradtool.engine.core.spec import bfloat16, float16
from gradtool.engine.eager import record
from gradtool.engine.eager.mode import cast_by, no_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef
from gradtool.paddle._creation import cast
from gradtool.paddle.regularizer import L1Decay, L2Decay
from gradtool.paddle.utils import unique_name

from ._blocks import blocks, is_large
from ._kernels import updated
from .lr import LRScheduler

SCHEDULE = "LR_Scheduler"
"""The key of the learning rate's schedule in a state dict."""

MASTERS = "master_weights"
"""The key of the narrow parameters' values in float32."""


NARROW = (float16, bfloat16)


class MissingState(NotFound, AssertionError):
    """A state dict that lacks an entry (Paddle raises AssertionError)."""


class OptimizerSteps:
    """The part of an optimizer that works on tensors; ``_base.Optimizer`` says what it updates and with what."""

    op_type: str
    _by_elements = False
    """Whether the new value of an element depends on nothing but the elements at its place, and on numbers."""
    _filled: tuple[dict[str, Any], dict[str, Any]] | None = None
    """The settings of the parameter that was updated last, and all attributes that they come to."""
    _last_rate: tuple[tuple[float, Any], Tensor] | None = None
    """The learning rate of the parameter that was updated last, and the tensor of it."""
    _grad_clip: Any
    _learning_rate: Any
    _parameters: list[Any] | None
    _states: dict[tuple[Any, str], Any]
    _multi_precision: bool
    _master_weights: dict[Any, Tensor]

    def step(self) -> None:
        """Give every parameter that has a gradient its new value.

        Raises:
            ModeError: static mode is on (an AssertionError).
        """
        self._dynamic("step")
        self._stepped(self._gradients(None))

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all its parameters to zeros, or remove them."""
        self._dynamic("clear_grad")
        for p in self._parameters or []:
            p.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all its parameters, or set them to zeros."""
        self.clear_grad(not set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of its parameters, by name, and under ``LR_Scheduler`` that of a schedule."""
        self._dynamic("state_dict")
        entries: dict[str, Any] = {tensor.name: tensor for tensor in self._states.values()}
        if self._master_weights:
            entries[MASTERS] = {p.name: master for p, master in self._master_weights.items()}
        if isinstance(self._learning_rate, LRScheduler):
            entries[SCHEDULE] = self._learning_rate.state_dict()
        return entries

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave: of this optimizer, or of one for parameters of the same names.

        The numbers at the ends of the names need not be the same: a second optimizer of a process counts on.

        Raises:
            MissingState: something is kept for some trainable parameters and not for others (an AssertionError).
            ArgumentTypeError: *state_dict* is no dict (a TypeError).
            ShapeError: a value has another shape (a ValueError).
        """
        self._dynamic("set_state_dict")
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(f"set_state_dict takes a dict, but received {type(state_dict).__name__}.")
        if SCHEDULE in state_dict and isinstance(self._learning_rate, LRScheduler):
            self._learning_rate.set_state_dict(state_dict[SCHEDULE])
        for p in self._parameters or ():
            if p.name in state_dict.get(MASTERS, {}):
                self._home(p).set_value(state_dict[MASTERS][p.name])
        saved = {name: value for name, value in state_dict.items() if name not in (SCHEDULE, MASTERS)}
        if not saved:
            return
        every = product(map(self._home, self._parameters or ()), self._accumulators())
        pairs = [self._saved(p, accumulator, saved) for p, accumulator in every]
        for tensor, value in filter(None, pairs):
            tensor.set_value(value)

    def _saved(self, p: Any, accumulator: Any, saved: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return the accumulator of a parameter, and the value for it; None for a frozen parameter or a statistic."""
        present = (p, accumulator.name) in self._states
        tensor = self._state(p, accumulator)
        name = _same(tensor.name, saved)
        if name is not None:
            return tensor, saved[name]
        if not p.stop_gradient:
            raise MissingState(
                f"Optimizer set error, {tensor.name} should be in the state dict.",
                hint=f"it has {', '.join(sorted(saved))}",
            )
        if not present:  # nothing was ever kept for it
            del self._states[p, accumulator.name]
        return None

    set_dict = load_state_dict = set_state_dict

    # -- what optimizers say ----------------------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate now."""
        raise TypeError(f"{type(self).__name__} does not say how to update")

    def _accumulators(self) -> Any:
        return ()

    def _state(self, param: Any, accumulator: Any) -> Any:
        return None

    def _settings(self, param: Any) -> dict[str, Any]:
        return {}

    def _decay_of(self, param: Any) -> Any:
        return None

    def _operands(self, op: Any, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        return {}

    def _factor(self, param: Any) -> float:
        return 1.0

    def _grown(self) -> dict[str, float]:
        """By slot: what a state is multiplied by after each update."""
        return {}

    # -- how it is done -------------------------------------------------------------------------------------------

    def _gradients(self, chosen: Iterable[Any] | None) -> list[tuple[Any, Any]]:
        """The parameters that have a gradient, with it; of *chosen* (parameters or names) only, if there are any."""
        wanted = {p if isinstance(p, str) else p.name for p in chosen or ()}
        return [
            (p, p.grad)
            for p in self._parameters or []
            if p.grad is not None and not p.stop_gradient and (not wanted or p.name in wanted)
        ]

    def _stepped(self, pairs: list[tuple[Any, Any]]) -> None:
        """Update parameters by gradients, which stay as they are."""
        rate = self.get_lr()
        where = source.here()
        state.updating.note(self._parameters or [p for p, _ in pairs])
        if watch.noting:
            tensors = tuple(self._parameters or [p for p, _ in pairs])
            fixed = not isinstance(self._learning_rate, LRScheduler)
            watch.note(watch.Updating(tensors, type(self).__name__, rate, fixed))
        try:
            with no_grad(), cast_by(None):
                if self._multi_precision:
                    pairs = [(p, self._widened(p, g)) for p, g in pairs]
                clipped = pairs if self._grad_clip is None else self._grad_clip(pairs)
                if watch.noting and self._grad_clip is not None:
                    watch.note(watch.Clipped(pairs, clipped))
                state.taken.note(clipped)
                for p, g in clipped:
                    decay = self._decay_of(p)
                    if self._by_elements and (decay is None or type(decay) in (L1Decay, L2Decay)):
                        self._update_by_elements(p, g, decay, rate, where)
                    else:
                        self._update(p, g if decay is None else g + decay(self._home(p), g), rate)
        finally:
            if watch.noting:
                watch.note(watch.Updated())

    def _update(self, param: Any, grad: Tensor, rate: float) -> None:
        op, home, operands, attrs = self._asked(param, grad, rate)
        for _, old, own in _new_values(op, operands, attrs):
            old.write(own.array, op.type)
        self._settled(param, home, operands)

    def _update_by_elements(self, param: Any, grad: Tensor, decay: Any, rate: float, where: source.Location) -> None:
        """As :meth:`_update`, block by block where there are many elements."""
        op, home, operands, attrs = self._asked(param, grad, rate)
        if decay is None and not is_large(home) and updated(op, operands, _sources(op), attrs, where):
            self._settled(param, home, operands)
            return
        numbers: dict[str, tuple[Tensor, Tensor]] = {}
        tables: set[str] = set()
        for part in blocks(home, operands):
            if decay is not None:
                part["Grad"] = part["Grad"] + decay(part["Param"], part["Grad"])
            for slot, old, own in _new_values(op, part, attrs):
                if part[slot] is operands[slot]:
                    numbers[slot] = old, own  # other blocks read it, or there is one: written behind the last
                else:
                    np.copyto(old.array, own.array, casting="same_kind")
                    tables.add(slot)
        for slot in tables:
            operands[slot].version.wrote(op.type)
        for old, own in numbers.values():
            old.write(own.array, op.type)
        self._settled(param, home, operands)

    def _asked(self, param: Any, grad: Tensor, rate: float) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
        """The update operator of *param*, what it updates, its operands and attributes."""
        op = registry.get_by_type(self.op_type)
        home = self._home(param)
        rates = self._rate_as_tensor(rate * self._factor(param))
        return op, home, self._operands(op, home, grad, rates), self._attributes(op, self._settings(param))

    def _rate_as_tensor(self, rate: float) -> Tensor:
        """A learning rate as operators take it; that of the parameter before where it is the same."""
        dtype = state.default_dtype().numpy
        if self._last_rate is None or self._last_rate[0] != (rate, dtype):
            self._last_rate = (rate, dtype), Tensor(np.array(rate, dtype))
        return self._last_rate[1]

    def _attributes(self, op: Any, settings: dict[str, Any]) -> dict[str, Any]:
        """All attributes of the update operator; those of the parameter before where the settings are the same."""
        if self._filled is None or self._filled[0] != settings:
            self._filled = dict(settings), op.attributes(settings)
        return self._filled[1]

    def _settled(self, param: Any, home: Any, operands: Mapping[str, Any]) -> None:
        """Finish an update: the narrow parameter of one that is kept in float32, and powers that grow."""
        if home is not param:
            param.write(home.array.astype(param.array.dtype), self.op_type)
        for name, growth in self._grown().items():
            power = operands[name]
            power.write(power.array * np.asarray(growth, power.array.dtype), self.op_type)

    def _home(self, param: Any) -> Any:
        """Return the tensor to update: the parameter, or its values in float32, where it is narrow and they
        are kept.
        """
        if not self._multi_precision or param.dtype not in NARROW:
            return param
        if param not in self._master_weights:
            name = f"{param.name}_fp32_master_0"
            self._master_weights[param] = Tensor(param.array.astype("float32"), name=name, persistable=True)
            self._master_weights[param].stop_gradient = param.stop_gradient
        return self._master_weights[param]

    def _widened(self, param: Any, grad: Any) -> Any:
        """The gradient in the type of what is updated."""
        return grad if grad.dtype is self._home(param).dtype else cast(grad, "float32")

    def _dynamic(self, function: str) -> None:
        if state.in_static_mode():
            raise ModeError(
                f"'{function}()' works in dynamic mode, and static mode is on.",
                hint="call paddle.disable_static() before it; in static mode minimize() appends the updates",
            )


def _new_values(op: Any, operands: Mapping[str, Any], attrs: Mapping[str, Any]) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the results of an update: the slot that has the value before, the tensor in it, and its new value."""
    result = record.apply(op, [operands.get(s.name) for s in op.inputs], attrs)
    for slot, new in zip(op.outputs, result if isinstance(result, tuple) else (result,), strict=True):
        name = source_of(slot.name)
        target = operands.get(name)
        if target is None:
            continue
        for old, own in zip(target, new, strict=True) if slot.many else ((target, new),):
            yield name, old, own


@cache
def _sources(op: OpDef) -> dict[int, str]:
    """By output of an update operator the input slot whose new value it is."""
    return {place: source_of(slot.name) for place, slot in enumerate(op.outputs)}


@cache
def source_of(output: str) -> str:
    """The input slot whose new value an output slot holds."""
    return output.removesuffix("_out").removesuffix("Out")


def new_state(key: str, param: Tensor, accumulator: Any) -> Tensor:
    """The tensor that holds *accumulator* (a ``_base.Accumulator``) for *param*."""
    shape, dtype = accumulator.shape(param.array.shape), accumulator.dtype or param.array.dtype
    # zeros are pages that the system makes when they are written
    values = np.full(shape, accumulator.fill, dtype) if accumulator.fill else np.zeros(shape, dtype)
    return Tensor(values, name=unique_name.generate(key), persistable=True)


def _same(name: str, saved: Mapping[str, Any]) -> str | None:
    """The name in *saved* that differs from *name* at most in the number at its end."""
    stem = name.rpartition("_")[0]
    others = (n for n in saved if n.rpartition("_")[0] == stem and n.rpartition("_")[2].isdigit())
    return name if name in saved else next(others, None)
