"""Replacements for methods of tensors that report what no operator reports."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...core import source
from . import events
from .graph import returns_at
from .recorder import FrameworkRecorder

_hooks = itertools.count(1)


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
