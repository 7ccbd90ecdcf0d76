"""What this process is set to: static or dynamic mode, default programs' name scope, seeds.

Held in context variables, so that threads and async tasks do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np

from .errors import DtypeError, ModeError
from .spec import DType, dtype, float32

_static: ContextVar[bool] = ContextVar("gradtool_static", default=False)
_scope: ContextVar[str] = ContextVar("gradtool_name_scope", default="/")
_default_dtype: ContextVar[DType] = ContextVar("gradtool_default_dtype", default=float32)


def enable_static() -> None:
    """Build programs from now on instead of computing at once."""
    _static.set(True)


def disable_static(place: object = None) -> None:
    """Compute at once from now on (dynamic mode, the default); every place is this machine's memory."""
    _static.set(False)


in_static_mode = _static.get
"""Whether programs are built instead of computing at once."""


def require_static(function: str) -> None:
    """Raise :class:`ModeError` in dynamic mode.

    Args:
        function: the public name of the function that was called.
    """
    if not _static.get():
        raise ModeError(
            f"'{function}()' builds static programs, and dynamic mode is on.",
            hint="call paddle.enable_static() before it",
        )


def default_dtype() -> DType:
    return _default_dtype.get()


def set_default_dtype(d: object) -> None:
    """Set the type that floating-point constants and parameters get when none is named.

    Raises:
        DtypeError: no floating-point type (a TypeError).
    """
    wanted = dtype(d)
    if not wanted.is_floating:
        raise DtypeError(f"set_default_dtype takes float16, float32, float64 or bfloat16, but received {wanted.name}.")
    _default_dtype.set(wanted)


def name_scope() -> str:
    """The current ``op_namescope``: ``/`` or ``/a/b/``."""
    return _scope.get()


@contextmanager
def entered_scope(path: str) -> Iterator[None]:
    """Give operators made inside the ``op_namescope`` *path*."""
    token = _scope.set(path)
    try:
        yield
    finally:
        _scope.reset(token)


class RandomState:
    """The stream of random numbers that operators without a seed of their own draw from.

    Starts at seed 0, not at a random one: a run can be repeated without asking for it first.
    """

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int) -> None:
        self.seed = seed
        self.__dict__.pop("generator", None)

    @cached_property
    def generator(self) -> np.random.Generator:
        """Made when the first number is drawn: most commands draw none, and NumPy's generators take time to load."""
        return np.random.Generator(np.random.PCG64(self.seed))


random = RandomState()


@contextmanager
def kept() -> Iterator[None]:
    """Give mode, default dtype and the stream of random numbers back as they were."""
    static, usual, drawn = _static.get(), _default_dtype.get(), dict(vars(random))
    try:
        yield
    finally:
        _static.set(static)
        _default_dtype.set(usual)
        vars(random).update(drawn)


_watcher: ContextVar[Callable[[Any, Any], None] | None] = ContextVar("gradtool_run_watcher", default=None)


@contextmanager
def watched_runs(watcher: Callable[[Any, Any], None]) -> Iterator[None]:
    """Call ``watcher(program, feed)`` for each ``Executor.run`` made inside."""
    before = _watcher.get()
    _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.set(before)  # no token: a notebook may leave in another context than it entered


def note_run(program: Any, feed: Any) -> None:
    """Tell whoever watches that *program* is run with *feed*."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(program, feed)


_backward_watcher: ContextVar[Callable[..., None] | None] = ContextVar("gradtool_backward_watcher", default=None)


@contextmanager
def watched_backwards(watcher: Callable[..., None]) -> Iterator[None]:
    """Call ``watcher(loss, parameter_list, no_grad_set)`` for each ``append_backward`` made inside."""
    before = _backward_watcher.get()
    _backward_watcher.set(watcher)
    try:
        yield
    finally:
        _backward_watcher.set(before)  # no token: a notebook may leave in another context than it entered


def note_backward(loss: Any, parameter_list: Any, no_grad_set: Any) -> None:
    """Tell whoever watches that the backward part of *loss* was appended."""
    watcher = _backward_watcher.get()
    if watcher is not None:
        watcher(loss, parameter_list, no_grad_set)
