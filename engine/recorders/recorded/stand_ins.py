"""Replacements for names of a framework that report what no operator reports, while a program runs."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ...core import source
from . import events
from .graph import returns_at
from .recorder import FrameworkRecorder
from .relays import relay

Row = tuple[Any, str, Any]
"""Whose name is stood in for, the name, and what stands there."""

_MISSING = object()


class PatchedNames:
    """Names that something else stands in for.

    Args:
        rows: whose name it is, the name, and what stands there.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self._put: list[tuple[Any, str, Any, Any]] = []

    def __enter__(self) -> PatchedNames:
        for owner, name, made in self._rows:
            self.put(owner, name, made)
        return self

    def __exit__(self, *error: object) -> None:
        while self._put:
            owner, name, _, before = self._put.pop()
            _give_back(owner, name, before)

    def put(self, owner: Any, name: str, made: Any) -> None:
        """Have *made* stand there until the end."""
        self._put.append((owner, name, made, vars(owner).get(name, _MISSING)))
        setattr(owner, name, made)

    @contextmanager
    def lift(self) -> Iterator[None]:
        """Inside, nothing stands in for anything."""
        put = list(self._put)
        for owner, name, _, before in reversed(put):
            _give_back(owner, name, before)
        try:
            yield
        finally:
            for owner, name, made, _ in put:
                setattr(owner, name, made)


def patch_names(rows: Iterable[Row]) -> PatchedNames:
    """Have all of it stand there inside."""
    return PatchedNames(rows)


def _give_back(owner: Any, name: str, before: Any) -> None:
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)


def wrap_detach(
    recorder: FrameworkRecorder, original: Callable[..., Any], how: str, *, in_place: bool = False
) -> Callable[..., Any]:
    """Tell of a tensor without a way back."""

    @functools.wraps(original)
    def detach(t: Any) -> Any:
        if recorder.quiet or not recorder.is_told(t):
            return original(t)
        recorder.flush()
        site = recorder.site()
        number = recorder.number(t, site)
        if recorder.spares(site):
            return t
        with recorder.unheard():
            made = original(t)
        if in_place:  # another value from here on
            recorder.forget(t)
        dropped = source.NOWHERE if in_place else source.locate_drop(sys._getframe(1))
        recorder.tell_detached(number, made, how, site, dropped)
        return made

    return detach


def wrap_rebind(
    recorder: FrameworkRecorder, original: Callable[..., Any], how: str, is_tensor: Callable[[Any], bool]
) -> Callable[..., Any]:
    """Tell that a tensor gets other memory, and whose.

    Args:
        is_tensor: tells tensors among arguments.
    """

    @functools.wraps(original)
    def rebind(t: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet:
            return original(t, *args, **named)
        recorder.flush()
        site = recorder.site()
        recorder.number(t, site)
        source = recorder.number(args[0], site) if args and is_tensor(args[0]) else None
        with recorder.unheard():
            result = original(t, *args, **named)
        recorder.tell_rebound(t, source, how, site)
        return result

    return rebind


def wrap_swap(recorder: FrameworkRecorder, original: Callable[..., None]) -> Callable[..., None]:
    """Follow two tensors that exchange what they are."""

    @functools.wraps(original)
    def swap(one: Any, other: Any) -> None:
        recorder.flush()
        recorder.swap(one, other, lambda: original(one, other))

    return swap


def wrap_export(recorder: FrameworkRecorder, original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Tell that the values of a tensor go to Python."""

    @functools.wraps(original)
    def leave(t: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet or not recorder.is_told(t):
            values = original(t, *args, **named)
            recorder.note_left(t, name)
            return values
        recorder.flush()
        site = recorder.site()
        number = recorder.number(t, site)
        with recorder.unheard():
            values = original(t, *args, **named)
        recorder.note_left(t, name)
        recorder.sink(events.ValuesTaken(number, name, site))
        return values

    return leave


def wrap_address(recorder: FrameworkRecorder, original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Tell that the address of a tensor goes to the program, which may write there; the framework only compares it."""

    @functools.wraps(original)
    def address(t: Any) -> Any:
        if not recorder.quiet and recorder.is_told(t) and not is_from_framework(recorder, sys._getframe(1)):
            recorder.flush()
            recorder.tell_lent(t, name)
        return original(t)

    return address


def is_from_framework(recorder: FrameworkRecorder, frame: FrameType) -> bool:
    """Return whether code of the framework itself, or of gradtool, calls."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == recorder.package or source.is_ours(module)


def wrap_entrance(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tell of what came from elsewhere, where it came."""

    @functools.wraps(original)
    def enter(*args: Any, **named: Any) -> Any:
        made = original(*args, **named)
        if not recorder.quiet:
            recorder.flush()
            recorder.number(made)
        return made

    return enter


_hooks = itertools.count(1)


def wrap_hook(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tell of a hook, and of what it makes of gradients."""

    @functools.wraps(original)
    def register_hook(t: Any, hook: Callable[..., Any]) -> Any:
        if recorder.quiet or not recorder.is_told(t):
            return original(t, hook)
        recorder.flush()
        site = recorder.site()
        key = next(_hooks)
        recorder.sink(events.Hooking(recorder.number(t, site), key, returns_at(hook), site))

        def call_hook(gradient: Any) -> Any:
            if recorder.exploring:
                return None
            result = hook(gradient)
            recorder.tell_hooked(key, gradient, result)
            return result

        return original(t, call_hook)

    return register_hook


def wrap_grad_read(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Remember whose gradient is handed out."""

    def read_grad(t: Any) -> Any:
        value = original(t)
        if value is not None and not recorder.quiet and recorder.is_told(t):
            recorder.flush()
            recorder.note_grad(t, value)
        elif value is None and not recorder.quiet and recorder.requires(t):
            recorder.flush()
            if recorder.function_of(t) is not None and recorder.find_number(t) is not None:
                site = recorder.site()
                recorder.sink(events.MissingGradientRead(recorder.number(t, site), site))
        return value

    return read_grad


def wrap_grad_write(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., None]:
    """Tell that a gradient is removed; of one that is put there, remember that no pass gave it."""

    def set_grad(t: Any, value: Any) -> None:
        original(t, value)
        if not recorder.is_told(t):
            return
        if value is not None and not recorder.quiet:
            recorder.note_put(t, value)
        if value is None and not recorder.quiet:
            recorder.flush()
            site = recorder.site()
            recorder.sink(events.GradientCleared(recorder.number(t, site), "grad = None", True, site))

    return set_grad


def wrap_exit(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tell that a mode is over."""

    @functools.wraps(original)
    def leave(guard: Any, *error: Any) -> Any:
        if not recorder.quiet:
            recorder.flush()  # while it holds
            recorder.sink(events.RecordingRestored())
        with recorder.unheard():
            return original(guard, *error)

    return leave


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


Enclosed = tuple[str, str, tuple[int, ...]]
"""Kind, name and tensors of a call that records nothing by itself."""


def wrap_enter(
    recorder: FrameworkRecorder,
    original: Callable[..., Any],
    enabled: bool,
    enable: Callable[[], Any],
    enclosing: Callable[[Any], Enclosed | None] = lambda guard: None,
) -> Callable[..., Any]:
    """Tell that recording is switched off or on.

    Args:
        enable: switches it on after all, at lines that are spared.
        enclosing: the call that a guard is part of, if that is one which records nothing by itself.
    """

    @functools.wraps(original)
    def enter(guard: Any) -> Any:
        site, spared = recorder.site(), False
        if not recorder.quiet:
            recorder.flush()
            spared = recorder.spares(site)
            on = spared or enabled or not getattr(guard, "mode", True)
            recorder.sink(events.RecordingSwitched(on, site, None if on else enclosing(guard)))
        with recorder.unheard():  # it switches through others of these names
            result = original(guard)
        if spared:
            enable()
        return result

    return enter


def wrap_apply(
    recorder: FrameworkRecorder,
    original: Callable[..., Any],
    taken: Callable[[Any, Any], list[Any] | None],
    called: Callable[[Any], tuple[str, str]],
) -> Callable[..., Any]:
    """Tell of a function of the user's own that is not recorded, since no tensor that it takes needs a gradient.

    Args:
        taken: the tensors among the arguments; None where the call is recorded, or nothing is.
        called: kind and name of the call of a class.
    """

    @functools.wraps(original)
    def apply(cls: Any, *args: Any, **named: Any) -> Any:
        if recorder.quiet or (tensors := taken(args, named)) is None:
            return original(cls, *args, **named)
        recorder.flush()
        site, before = recorder.site(), recorder.enclosed
        recorder.enclosed = (*called(cls), tuple([recorder.number(t, site) for t in tensors]))
        recorder.sink(events.RecordingSwitched(False, site, recorder.enclosed))
        try:
            return original(cls, *args, **named)
        finally:
            recorder.enclosed = before
            recorder.flush()
            recorder.sink(events.RecordingRestored())

    return apply


def wrap_switch(recorder: FrameworkRecorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tell that recording is switched off or on from where a guard is made."""

    @functools.wraps(original)
    def switch(guard: Any, mode: bool) -> None:
        if not recorder.quiet:
            recorder.flush()
            mode = mode or recorder.spares(recorder.site())
            recorder.sink(events.RecordingSwitched(bool(mode), recorder.site()))
        original(guard, mode)

    return switch


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
