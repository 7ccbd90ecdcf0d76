"""What tests have to themselves."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.engine.core import state
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default


@contextmanager
def clean() -> Iterator[None]:
    """Empty programs, an empty scope, and random numbers from the beginning."""
    state.random.reset(0)
    with default.fresh_programs(), scope_guard(Scope()):
        yield


@contextmanager
def interruptible() -> Iterator[None]:
    """Hear Ctrl-C, here and in processes that are started: it is ignored where the tests run in the background."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
