"""Recording of operators for backward, on or off for each thread and async task; threads begin with recording."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, cast

from ..core import settings, source, watch
from ..core.errors import ArgumentTypeError

F = TypeVar("F", bound=Callable[..., Any])

_enabled: ContextVar[bool] = ContextVar("gradtool_grad_enabled", default=True)

grad_enabled = _enabled.get
"""The same as :func:`is_grad_enabled`, for where every call counts."""


def is_grad_enabled() -> bool:
    """Return whether operators on tensors that need gradients are recorded."""
    return _enabled.get()


@settings.register_setting
def _as_it_was() -> Callable[[], object]:
    return partial(_enabled.set, _enabled.get())


casting: Any = None
"""How operands are cast before operators are computed (``casting.Casting``); None where they are not."""

on_casting: list[Callable[[], None]] = []
"""What is called when casting begins and when it ends."""


class cast_by:
    """Inside, operands are cast so; not at all, for None."""

    def __init__(self, how: Any) -> None:
        self._how = how
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(casting)
        _cast_by(self._how)

    def __exit__(self, *error: object) -> None:
        _cast_by(self._before.pop())


def _cast_by(how: Any) -> None:
    global casting
    switched = (casting is None) != (how is None)
    casting = how
    if switched:
        for act in on_casting:
            act()


class _GradMode:
    """Switches recording on or off inside a ``with`` block or a decorated function (a generator function too)."""

    def __init__(self, enabled: bool, site: Any = None, enclosure: watch.Enclosure | None = None) -> None:
        self._wanted = enabled
        self._site = site
        self._enclosure = enclosure
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_enabled.get())
        _enabled.set(self._wanted)
        if watch.noting:
            watch.note(watch.Guarding(self._wanted, self._site, self._enclosure))

    def __exit__(self, *exception: object) -> None:
        _enabled.set(self._before.pop())  # no token: a notebook may leave in another context than it entered
        if watch.noting:
            watch.note(watch.Guarded())

    def __call__(self, function: F) -> F:
        wanted = self._wanted
        # Of gradtool's own functions the line that calls them is what a user can look at.
        own = (getattr(function, "__module__", None) or "").partition(".")[0] == "gradtool"
        site = None if own else source.site(sys._getframe(1))

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **kwargs: Any) -> Any:
                # The mode holds while the generator's own code runs, not while its caller does.
                generator = function(*args, **kwargs)
                value = None
                while True:
                    with _GradMode(wanted, site):
                        try:
                            item = generator.send(value)
                        except StopIteration as stop:
                            return stop.value
                    value = yield item

            return cast(F, generate)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with _GradMode(wanted, site):
                return function(*args, **kwargs)

        return cast(F, call)


class no_grad(_GradMode):
    """Operators inside are not recorded.

    >>> from gradtool.engine.eager.mode import is_grad_enabled, no_grad
    >>> with no_grad():
    ...     is_grad_enabled()
    False

    Raises:
        ArgumentTypeError: used as ``@no_grad`` without parentheses (a TypeError).
    """

    def __init__(self, *misused: Any) -> None:
        if misused:
            raise ArgumentTypeError("no_grad takes no arguments", hint="write @paddle.no_grad() with parentheses")
        super().__init__(False)


class unrecorded(_GradMode):
    """Operators inside are not recorded, since no tensor that a call was given needs a gradient.

    Args:
        kind, name, tensors: see :class:`gradtool.engine.core.watch.Enclosure`.
    """

    def __init__(self, kind: str, name: str, tensors: Sequence[Any]) -> None:
        super().__init__(False, enclosure=watch.Enclosure(kind, name, tuple(tensors)))


class enable_grad(_GradMode):
    """Operators inside are recorded, also within ``no_grad``."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_GradMode):
    """Switch recording on or off at once; leaving a ``with`` block restores what was before."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        super().__enter__()

    def __enter__(self) -> None:
        """The mode was set when the object was made."""
