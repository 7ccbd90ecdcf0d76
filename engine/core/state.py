"""Settings of this process: static or dynamic mode, default dtype, seeds; and settings that ``with`` blocks change.

What is one for the process and what each thread or async task has for itself is a table in docs/threads.md.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, Generic, TypeVar

from . import settings
from .errors import DtypeError, ModeError
from .spec import DType, dtype, float32
from .streams import Position, Stream

T = TypeVar("T")


class _ProcessDefaults:
    """Settings that all threads and tasks share.

    Attributes:
        static: whether the main thread switched to static mode last: other threads begin with it.
        is_chosen: whether somebody switched at all.
        device: where programs are computed whose executor names no place; None where the backend computes by itself.
    """

    static = False
    is_chosen = False
    default_dtype: DType = float32
    device: str | None = None


class _Beginning:
    """The mode of a thread that has not asked for one yet; asked for its truth, it becomes what it is from then on."""

    __slots__ = ()

    def __bool__(self) -> bool:
        _static.set(_ProcessDefaults.static)
        return _ProcessDefaults.static


class _Undecided:
    """The mode after ``import paddle.fluid`` where nobody has chosen one: the first function that asks decides it.

    Version 1 built programs unless it was told otherwise, and version 2, which scripts mix with it, computes at once.

    Args:
        of_programs: what the names of modules begin with whose functions are for programs.
    """

    __slots__ = ("_of_programs",)

    def __init__(self, of_programs: tuple[str, ...]) -> None:
        self._of_programs = of_programs

    def __bool__(self) -> bool:
        static = self._public_module().startswith(self._of_programs)
        _switch(static)
        return static

    @staticmethod
    def _public_module() -> str:
        """The module of the function that the user called: the outermost one of this package."""
        frame: FrameType | None = sys._getframe(2)
        package, name = __name__.partition(".")[0], ""
        while frame is not None:
            module = str(frame.f_globals.get("__name__"))
            if module.partition(".")[0] == package:
                name = module
            elif module not in ("contextlib", "functools"):
                break
            frame = frame.f_back
        return name


_static: ContextVar[bool | _Beginning | _Undecided] = ContextVar("gradtool_static", default=_Beginning())  # noqa: B039  (holds nothing)
_static.set(False)  # of the thread that imports this


def enable_static() -> None:
    """Build programs from now on instead of computing at once; in the main thread, for threads that start later too."""
    _switch(True)


def disable_static(place: object = None) -> None:
    """Compute at once from now on (dynamic mode, the default); in the main thread, for threads that start later too.

    Every place is this machine's memory.
    """
    _switch(False)


def _switch(static: bool) -> None:
    if _is_main_thread():
        _ProcessDefaults.static = static
    _ProcessDefaults.is_chosen = True
    _static.set(static)


def leave_undecided(of_programs: tuple[str, ...]) -> None:
    """Let the first function that needs the mode decide it, unless somebody has switched.

    Args:
        of_programs: what the names of modules begin with whose functions are for programs; others compute at once.
    """
    if not _ProcessDefaults.is_chosen and _is_main_thread():
        _static.set(_Undecided(of_programs))


def begin_anew() -> None:
    """Dynamic mode, as in a new process: nobody has switched."""
    _switch(False)
    _ProcessDefaults.is_chosen = False


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


in_static_mode = _static.get
"""Gives what is true where programs are built instead of computing at once. Every call asks: hence no function."""


class _Entry(Generic[T]):
    """A value of a setting, which someone is inside of."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


class ScopedSetting(Generic[T]):
    """A setting that ``with`` blocks change, for the thread or task that enters them.

    What the main thread has entered holds for other threads as well, as long as they have entered nothing themselves.
    """

    def __init__(self, name: str) -> None:
        self._own: ContextVar[_Entry[T] | None] = ContextVar(name, default=None)
        self.own = self._own.get
        """What this thread or task is inside of, with its ``value``; asked for every operator: hence no method."""
        self._of_main: list[_Entry[T]] = []

    def get(self) -> T | None:
        """The innermost value, or None."""
        entry = self._own.get()
        if entry is None and self._of_main:
            entry = self._innermost()
        return None if entry is None else entry.value

    @contextmanager
    def enter(self, value: T) -> Iterator[None]:
        """Have *value* inside."""
        before, entry, shared = self._own.get(), _Entry(value), _is_main_thread()
        self._own.set(entry)
        if shared:
            self._of_main.append(entry)
        try:
            yield
        finally:
            self._own.set(before)  # no token: a notebook may leave in another context than it entered
            if shared:
                self._of_main.remove(entry)  # tasks leave in any order

    def replace(self, value: T) -> bool:
        """Have *value* in place of the innermost value until its block is left; False where there is none."""
        entry = self._innermost()
        if entry is not None:
            entry.value = value
        return entry is not None

    def _innermost(self) -> _Entry[T] | None:
        entry = self._own.get()
        if entry is None and self._of_main and not _is_main_thread():
            return self._of_main[-1]
        return entry


_scope: ScopedSetting[str] = ScopedSetting("gradtool_name_scope")
_own_scope = _scope.own


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
    return _ProcessDefaults.default_dtype


def set_default_dtype(d: object) -> None:
    """Set the type that floating-point constants and parameters get when none is named.

    Raises:
        DtypeError: no floating-point type (a TypeError).
    """
    wanted = dtype(d)
    if not wanted.is_floating:
        raise DtypeError(f"set_default_dtype takes float16, float32, float64 or bfloat16, but received {wanted.name}.")
    _ProcessDefaults.default_dtype = wanted


def device() -> str | None:
    """Return the device of programs whose executor names no place; None where the backend computes by itself."""
    return _ProcessDefaults.device


def set_device(name: str | None) -> None:
    """Have programs computed on the device of that name (``gpu:0``) from now on."""
    _ProcessDefaults.device = name


def name_scope() -> str:
    """The current ``op_namescope``: ``/`` or ``/a/b/``."""
    entry = _own_scope()
    if entry is None:
        return _scope.get() or "/"
    return entry.value or "/"


entered_scope = _scope.enter
"""Give operators made inside the ``op_namescope`` of that path."""


tracing: ContextVar[Any] = ContextVar("gradtool_tracing", default=None)
"""Who turns Python into a program in this thread or task (``engine/paddle/jit/tracing.py``), or None: it makes
variables of tensors (``captured``), knows where gradients are cut (``cuts``), and refuses a variable's truth to
Python."""


class RandomState:
    """The stream of random numbers that operators without a seed of their own draw from.

    Starts at seed 0, not at a random one: a run can be repeated without asking for it first.

    Attributes:
        shift: what is added to the seeds that a program asks for; see ``engine/script/seeds.py``.
        stream: what gives the numbers.
    """

    def __init__(self, seed: int = 0) -> None:
        self.shift = 0
        self.reset(seed)

    def reset(self, seed: int) -> None:
        self.stream = Stream(seed)

    @property
    def seed(self) -> int:
        """Seed that the stream began with."""
        return self.stream.position.seed

    @property
    def position(self) -> Position:
        """Position of the stream; the stream goes on from a position that is set."""
        return self.stream.position

    @position.setter
    def position(self, position: Position) -> None:
        self.stream.position = position


random = RandomState()


def static_mode() -> AbstractContextManager[None]:
    """Build programs inside, in this thread or task alone."""
    return _set_mode(True)


def dynamic_mode() -> AbstractContextManager[None]:
    """Compute at once inside, in this thread or task alone."""
    return _set_mode(False)


@contextmanager
def _set_mode(static: bool) -> Iterator[None]:
    before = bool(_static.get())
    _static.set(static)
    try:
        yield
    finally:
        _static.set(before)  # no token: a notebook may leave in another context than it entered


@contextmanager
def keep_state() -> Iterator[None]:
    """Give mode, default dtype, device, the stream of random numbers and every registered setting back as they were."""
    static, shift, position = _static.get(), random.shift, random.position
    begun, chosen, usual = _ProcessDefaults.static, _ProcessDefaults.is_chosen, _ProcessDefaults.default_dtype
    place = _ProcessDefaults.device
    try:
        with settings.keep_settings():
            yield
    finally:
        _static.set(static)
        _ProcessDefaults.static, _ProcessDefaults.is_chosen, _ProcessDefaults.default_dtype = begun, chosen, usual
        _ProcessDefaults.device = place
        random.shift, random.position = shift, position


class Told:
    """Something that happens, and who in this thread (or task) is told of it.

    Args:
        name: of the context variable.
    """

    def __init__(self, name: str) -> None:
        self._watcher: ContextVar[Callable[..., None] | None] = ContextVar(name, default=None)
        self._listeners: ContextVar[tuple[Callable[..., None], ...]] = ContextVar(f"{name}_listeners", default=())

    @contextmanager
    def watch(self, watcher: Callable[..., None]) -> Iterator[None]:
        """Call *watcher* whenever it happens inside; whoever watched before is not told."""
        before = self._watcher.get()
        self._watcher.set(watcher)
        try:
            yield
        finally:
            self._watcher.set(before)  # no token: a notebook may leave in another context than it entered

    @contextmanager
    def listen(self, listener: Callable[..., None]) -> Iterator[None]:
        """Call *listener*, too, whoever watches inside."""
        before = self._listeners.get()
        self._listeners.set((*before, listener))
        try:
            yield
        finally:
            self._listeners.set(before)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """Tell nobody what happens inside."""
        before = self._listeners.get()
        self._listeners.set(())
        try:
            with self.watch(lambda *what: None):
                yield
        finally:
            self._listeners.set(before)

    @property
    def is_heard(self) -> bool:
        """True if anybody is told."""
        return self._watcher.get() is not None or bool(self._listeners.get())

    def note(self, *what: Any) -> None:
        """Tell whoever watches, then those who listen; what the watcher raises passes."""
        watcher = self._watcher.get()
        if watcher is not None:
            watcher(*what)
        for listener in self._listeners.get():
            listener(*what)


runs = Told("gradtool_run_watcher")
"""``Executor.run`` is about to run a program: the program and its feed."""

started = Told("gradtool_start_watcher")
"""``Executor.run`` was called: the program. It may still refuse to run it."""

ended = Told("gradtool_end_watcher")
"""The call that was told last is over, or failed."""

appended = Told("gradtool_backward_watcher")
"""``append_backward`` is called: the loss, the parameter list, the no-grad set."""

derived = Told("gradtool_gradients_watcher")
"""``gradients`` is called: the targets."""

progress = Told("gradtool_progress_watcher")
"""Something has come so far: what it is, how much is done, of how much at most (None where nobody knows)."""

passes = Told("gradtool_pass_watcher")
"""A backward pass of dynamic mode is asked for: its roots, ``backward`` or ``grad``, whether it is recorded itself
(``create_graph``), and its other arguments (:class:`gradtool.engine.eager.pass_start.PassRequest`)."""

swept = Told("gradtool_swept_watcher")
"""The innermost pass that was asked for has computed its gradients, by their places, before hooks of leaves; none is
stored yet."""

passed = Told("gradtool_passed_watcher")
"""The innermost pass that was asked for is over, or failed."""

updating = Told("gradtool_update_watcher")
"""An optimizer is about to update these tensors."""

taken = Told("gradtool_taken_watcher")
"""An optimizer goes by these gradients, clipped as they may be: pairs of a tensor and its gradient."""

written = Told("gradtool_write_watcher")
"""The values of a tensor of dynamic mode have been overwritten, by whomever."""

made = Told("gradtool_parameter_watcher")
"""A parameter of dynamic mode was made: what stays known of it (``engine/eager/parameter.py``)."""
