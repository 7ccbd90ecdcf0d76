"""Replacements for names of modules, optimizers and scalers that report what they do."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

from . import events
from .recorder import FrameworkRecorder
from .relays import relay

Paths = Callable[[Any], Iterable[tuple[str, Any]]]
"""The parameters in what an attribute holds, by their paths from it."""


def wrap_assign(
    recorder: FrameworkRecorder,
    original: Callable[..., None],
    inner: str,
    paths: Paths,
    freezing: Mapping[str, bool],
) -> Callable[..., None]:
    """Tell that a module gets other parameters in place of those that it had, or what freezes none of them.

    Args:
        freezing: by name, the value of an attribute that freezes a parameter and does nothing to a module.
    """

    @functools.wraps(original)
    def assign(module: Any, name: str, value: Any) -> None:
        held = _module_value(module, inner, name)
        if held is None:
            held = _module_value(module, "_parameters", name)
        if held is None or recorder.quiet:
            original(module, name, value)
            if name in freezing and freezing[name] is value and not recorder.quiet:
                numbers = tuple([n for _, n in _number_paths(recorder, paths(module))])
                text = f"{type(module).__name__}.{name} = {value}"
                recorder.sink(events.ModuleLabelled(numbers, text, recorder.site()))
            return
        recorder.flush()
        before = _number_paths(recorder, paths(held))
        original(module, name, value)
        after = _number_paths(recorder, paths(value))
        if before and before != after:
            recorder.sink(events.ParametersReplaced(before, after, recorder.site()))

    return assign


def _module_value(module: Any, attribute: str, name: str) -> Any:
    """Return the value that a module holds there by a name; compiled ones hold it otherwise, and nothing is
    known of that.
    """
    held = vars(module).get(attribute)
    return held.get(name) if isinstance(held, dict) else None


def wrap_mode(
    recorder: FrameworkRecorder, original: Callable[..., Any], of: Callable[[Any], list[Any]]
) -> Callable[..., Any]:
    """Tell that a module works as in training from now on, or as in evaluation; what that leads to is its own affair.

    Args:
        of: the parameters of a module.
    """

    @functools.wraps(original)
    def switch(module: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet:
            return original(module, *args, **named)
        recorder.flush()
        site = recorder.site()
        with recorder.unheard():
            result = original(module, *args, **named)
        tensors = tuple([recorder.number(p, site) for p in of(module)])
        recorder.sink(events.ModeSwitched(tensors, bool(module.training), site))
        return result

    return switch


def wrap_parallel(
    recorder: FrameworkRecorder, original: Callable[..., Any], waited: Callable[[Any, Any], Iterable[Any]]
) -> Callable[..., Any]:
    """Tell whose gradients the processes wait for from now on; what computes before training is none of the program's.

    Args:
        original: makes one of what puts a module together with those of other processes.
        waited: of that and the module, the parameters.
    """

    @functools.wraps(original)
    def init(self: Any, module: Any, *args: Any, **named: Any) -> None:
        recorder.flush()
        site = recorder.site()
        with recorder.unheard():
            original(self, module, *args, **named)
        parameters = () if recorder.quiet else tuple(waited(self, module))
        if parameters:
            recorder.sink(events.ProcessesJoined(tuple([recorder.number(p, site) for p in parameters]), site))

    return init


def _number_paths(recorder: FrameworkRecorder, paths: Iterable[tuple[str, Any]]) -> tuple[tuple[str, int], ...]:
    return tuple([(path, recorder.number(p)) for path, p in paths])


def wrap_optimizer(
    recorder: FrameworkRecorder, original: Callable[..., Any], of: Callable[[Any], list[Any]]
) -> Callable[..., Any]:
    """Tell which tensors an optimizer holds."""

    @functools.wraps(original)
    def init(optimizer: Any, *args: Any, **named: Any) -> None:
        if recorder.quiet:
            original(optimizer, *args, **named)
            return
        recorder.flush()
        with recorder.unheard():  # a constructor adds its groups one by one
            original(optimizer, *args, **named)
        site = recorder.site()
        recorder.sink(events.OptimizerMade(tuple([recorder.number(p, site) for p in of(optimizer)]), site))

    return init


def wrap_clear(
    recorder: FrameworkRecorder, original: Callable[..., Any], of: Callable[[Any], list[Any]], how: str
) -> Callable[..., Any]:
    """Tell that gradients are cleared, and which of them are gone.

    Args:
        of: the tensors whose gradients a call on an owner clears.
        how: what the call is named.
    """

    @functools.wraps(original)
    def clear(owner: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet:
            return original(owner, *args, **named)
        recorder.flush()
        site = recorder.site()
        had = [p for p in of(owner) if recorder.gradient(p) is not None]
        with recorder.unheard():
            result = original(owner, *args, **named)
        for p in had:
            removed = recorder.gradient(p) is None
            recorder.sink(events.GradientCleared(recorder.number(p, site), how, removed, site))
        return result

    return clear


def wrap_scale(
    recorder: FrameworkRecorder,
    original: Callable[..., Any],
    is_tensor: Callable[[Any], bool],
    by: Callable[[Any], float],
) -> Callable[..., Any]:
    """Tell that a loss was multiplied.

    Args:
        is_tensor: whether something is one loss; of several, none is told.
        by: the scale of a scaler.
    """

    @functools.wraps(original)
    def scale(scaler: Any, loss: Any, *args: Any, **named: Any) -> Any:
        scaled = original(scaler, loss, *args, **named)
        if recorder.quiet or scaled is loss or not is_tensor(loss):
            return scaled
        recorder.flush()
        site = recorder.site()
        with recorder.unheard():
            factor = by(scaler)
        recorder.sink(events.LossScaled(recorder.number(loss, site), recorder.number(scaled, site), factor, site))
        return scaled

    return scale


def wrap_unscale(
    recorder: FrameworkRecorder,
    original: Callable[..., Any],
    of: Callable[[Any], list[Any]],
    by: Callable[[Any], float | None],
    finite: Callable[[Any, Any], bool],
) -> Callable[..., Any]:
    """Tell that gradients were divided.

    Args:
        of: the tensors that an optimizer holds.
        by: the scale of a scaler; None of one that is off.
        finite: whether a scaler has found the gradients of an optimizer's tensors finite.
    """

    @functools.wraps(original)
    def unscale(scaler: Any, optimizer: Any) -> Any:
        result = original(scaler, optimizer)
        if recorder.quiet:
            return result
        recorder.flush()
        site = recorder.site()
        with recorder.unheard():
            factor = by(scaler)
            all_finite = factor is None or finite(scaler, optimizer)
        if factor is not None:
            numbers = tuple([recorder.number(p, site) for p in of(optimizer)])
            recorder.sink(events.GradientsUnscaled(numbers, factor, all_finite, site))
        return result

    return unscale


def wrap_clip(
    recorder: FrameworkRecorder, original: Callable[..., Any], is_tensor: Callable[[Any], bool]
) -> Callable[..., Any]:
    """Tell whose gradients are about to be clipped; up to infinity they are only measured."""

    @functools.wraps(original)
    def clip(parameters: Any, *args: Any, **named: Any) -> Any:
        chosen = [parameters] if is_tensor(parameters) else list(parameters)
        limit = args[0] if args else next((named[n] for n in ("max_norm", "clip_value") if n in named), None)
        if not recorder.quiet and limit != math.inf:
            recorder.flush()
            site = recorder.site()
            had = [p for p in chosen if recorder.gradient(p) is not None]
            numbers = [recorder.number(p, site) for p in had if not recorder.was_put(p, recorder.gradient(p))]
            if numbers or not had:
                recorder.sink(events.GradientsClipped(tuple(numbers), original.__name__, site))
        given = (p for p in chosen) if isinstance(parameters, Generator) else chosen
        return relay(sys._getframe(1))(original, (parameters if is_tensor(parameters) else given, *args), named)

    return clip


class StepRecorder:
    """Tells of the steps of optimizers; their own work is not told.

    What a closure computes inside of a step is the script's: the optimizer's own work is told around it.

    Args:
        of: the tensors that an optimizer holds.
        rate: its learning rate, if that is a number.
    """

    def __init__(
        self, recorder: FrameworkRecorder, of: Callable[[Any], list[Any]], rate: Callable[[Any], float | None]
    ) -> None:
        self._recorder = recorder
        self._of, self._rate = of, rate
        self.sites: list[Any] = []

    def began(self, optimizer: Any) -> None:
        """Tell that an optimizer begins to update its tensors."""
        recorder = self._recorder
        recorder.flush()
        site = recorder.site()
        self.sites.append(site)
        numbers = tuple([recorder.number(p, site) for p in self._of(optimizer)])
        recorder.sink(events.UpdateBegan(numbers, type(optimizer).__name__, self._rate(optimizer), site))
        recorder.begin_step()

    def wrap_closure(self, optimizer: Any, closure: Callable[[], Any]) -> Callable[[], Any]:
        """A closure that an optimizer calls inside of a step: what it computes is the script's."""

        def call() -> Any:
            self.note_end(optimizer)
            result = closure()
            self.began(optimizer)
            return result

        return call

    def note_end(self, optimizer: Any) -> None:
        """Tell what it has written."""
        if not self.sites:
            return
        recorder = self._recorder
        recorder.end_step()
        with recorder.aside():
            values = tuple([(recorder.number(p), recorder.array(p)) for p in self._of(optimizer)])
        recorder.sink(events.UpdateEnded(values, self.sites.pop()))
