"""Ending a file from outside: when its time is over (``--limit``), or at Ctrl-C.

Both come at any instruction, also in the middle of an operator, of a backward pass or of a file that is being written.
A model file is ended between two of its own lines: what of gradtool it has called comes to its end first, so that what
is told afterwards is about whole operators and whole passes.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..core import source
from .calls import Interrupted, PassCalls, Stopped


@contextlib.contextmanager
def interruptible(calls: PassCalls, limit: float | None, by_user: bool) -> Iterator[None]:
    """Inside, the user's code is ended after *limit* seconds and, if *by_user*, at the first Ctrl-C.

    A second Ctrl-C is what it always is. Signals reach the main thread alone; elsewhere, and where there are none, the
    time is looked at whenever a backward pass begins.
    """
    if limit is not None:
        calls.seconds, calls.deadline = limit, time.monotonic() + limit
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ender = _Ender(calls)
    with contextlib.ExitStack() as stack:
        if by_user and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, ender.interrupt)
            stack.callback(signal.signal, signal.SIGINT, signal.default_int_handler)
        if limit is not None and hasattr(signal, "setitimer"):
            stack.callback(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, ender.time_out))
            signal.setitimer(signal.ITIMER_REAL, limit)
            stack.callback(signal.setitimer, signal.ITIMER_REAL, 0)
        try:
            yield
        finally:
            ender.leave()


@contextlib.contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Inside, Ctrl-C is not heard: what is tidied up after it comes to its end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ends_commands(handler: Any) -> bool:
    """Return whether a handler of SIGINT is Python's own or one of these here, and no script's."""
    return handler is signal.default_int_handler or getattr(handler, "__func__", None) is _Ender.interrupt


_presses = [0]


def presses() -> int:
    """Return the number of times that Ctrl-C has ended a file in this process."""
    return _presses[0]


class _Ender:
    """Ends the user's code where it stands next."""

    def __init__(self, calls: PassCalls) -> None:
        self._calls = calls
        self._error: type[Stopped] = Stopped
        self._traced: list[FrameType] = []
        self._before: Any = None

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C was pressed; for the second time, it is what it always is."""
        if self._calls.interrupted:
            self._calls.interrupted = False
            raise KeyboardInterrupt
        self._calls.interrupted = True
        _presses[0] += 1
        self._end(frame, Interrupted)

    def time_out(self, number: int, frame: FrameType | None) -> None:
        """The time is over."""
        self._calls.late = True
        self._end(frame, Stopped)

    def _end(self, frame: FrameType | None, error: type[Stopped]) -> None:
        self._error = error
        users: list[FrameType] = []
        inside = False
        at = frame
        while at is not None and at.f_globals.get("__name__") != source.BOUNDARY:
            if source.is_ours(at.f_globals.get("__name__", "")):
                inside = True
                users.clear()  # what they called in turn is not the user's
            else:
                users.append(at)
            at = at.f_back
        if at is None or not users:
            return  # gradtool itself is at work: the next backward pass is not begun
        if not inside:
            self._calls.stopped = source.locate(source.site(frame))
            raise error
        self._before = sys.gettrace()
        self._traced = users
        sys.settrace(_trace_nothing)
        for user in users:
            user.f_trace = self._next

    def _next(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The user's code goes on, with a line or out of a function."""
        if event not in ("line", "return"):
            return self._next
        self.leave()
        self._calls.stopped = source.locate(source.site(frame))
        raise self._error

    def leave(self) -> None:
        """Look at no frame any longer."""
        if self._traced:
            sys.settrace(self._before)
            for frame in self._traced:
                frame.f_trace = None
            self._traced = []


def _trace_nothing(frame: FrameType, event: str, argument: Any) -> None:
    """Traces no function that is called."""
