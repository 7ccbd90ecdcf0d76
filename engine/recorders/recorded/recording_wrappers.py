"""Replacements for guards and functions inside which a framework records nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import events
from .recorder import FrameworkRecorder

Enclosed = tuple[str, str, tuple[int, ...]]
"""Kind, name and tensors of a call that records nothing by itself."""


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
