"""Answers about the mode for code that was written inside of Paddle: names of its frameworks with an underscore."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ModeError
from gradtool.engine.eager.mode import is_grad_enabled

from . import framework
from .device import CPUPlace

_non_static_mode = framework.in_dynamic_mode


def _in_legacy_dygraph() -> bool:
    """Return whether the dynamic mode of version 1 computes: no."""
    return False


_in_eager_without_dygraph_check = framework.in_dynamic_mode


def in_to_static_mode() -> bool:
    """Return whether functions build a program while they are converted (``to_static``)."""
    return False


in_declarative_mode = in_to_static_mode


def _current_expected_place() -> Any:
    """Return the place where things are computed: the CPU."""
    return CPUPlace()


_current_expected_place_ = _current_expected_place


def _set_expected_place(place: Any) -> None:
    """Accepted for compatibility: there is one place."""


def _global_flags() -> dict[str, Any]:
    """The values of all flags that are known."""
    return framework.get_flags(list(framework.FLAGS))


class Tracer:
    """Recorder of operators in dynamic mode, as far as scripts query it."""

    @property
    def _has_grad(self) -> bool:
        """True if operators are recorded."""
        return bool(is_grad_enabled())


def _dygraph_tracer() -> Tracer | None:
    """The recorder of dynamic mode; None in static mode."""
    return None if state.in_static_mode() else Tracer()


@contextmanager
def param_guard(parameters: Any) -> Iterator[None]:
    """Nothing changes inside: parameters of layers can be used in both modes as they are."""
    yield


@contextmanager
def _test_eager_guard(place: Any = None) -> Iterator[None]:
    """Nothing changes inside: there is one dynamic mode."""
    yield


def _only(function: Callable[..., Any], static: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if bool(state.in_static_mode()) is not static:
            mode, call_first = ("static", "enable_static") if static else ("dynamic", "disable_static")
            raise ModeError(
                f"{function.__qualname__} works in {mode} mode only.", hint=f"call paddle.{call_first}() first"
            )
        return function(*args, **named)

    return call


def dygraph_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, which refuses to be called in static mode (an AssertionError)."""
    return _only(function, False)


def static_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, which refuses to be called in dynamic mode (an AssertionError)."""
    return _only(function, True)
