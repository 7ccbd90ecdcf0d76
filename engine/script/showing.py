"""What a model prints, where something asks several questions of it and each of them runs it anew: shown once."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar

_run: ContextVar[set[str] | None] = ContextVar("gradtool_models_run", default=None)
"""What has run already of what is shown once; None where every run is shown."""

_muted: ContextVar[bool] = ContextVar("gradtool_model_muted", default=False)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Inside, of each model the first run alone is shown."""
    token = _run.set(set())
    try:
        yield
    finally:
        _run.reset(token)


@contextlib.contextmanager
def run_of(model: str) -> Iterator[None]:
    """Inside, *model* runs."""
    run = _run.get()
    if run is None or model not in run:
        if run is not None:
            run.add(model)
        yield
        return
    with muted():
        yield


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Inside, nothing is shown of what a model prints: its run is over, and readers call parts of it again."""
    token = _muted.set(True)
    try:
        yield
    finally:
        _muted.reset(token)


class _Output:
    """The descriptor of standard output, which leads to standard error while anybody wants that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._kept: int | None = None

    def turn(self) -> None:
        """Let it lead to standard error; where one of both is closed, nothing happens."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.__stdout__.flush()  # type: ignore[union-attr]
            with contextlib.suppress(OSError):
                os.fstat(2)
                self._kept = os.dup(1)
                os.dup2(2, 1)

    def turn_back(self) -> None:
        """Let it lead where it led before, once nobody wants it otherwise."""
        with self._lock:
            self._depth -= 1
            if self._depth or self._kept is None:
                return
            os.dup2(self._kept, 1)
            os.close(self._kept)
            self._kept = None


_output = _Output()


@contextlib.contextmanager
def on_stderr() -> Iterator[None]:
    """Inside, standard output is standard error: for ``print``, for what writes to descriptor 1, for new processes."""
    _output.turn()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _output.turn_back()


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Around code of the user's: what it prints now has been seen, or passes."""
    if not _muted.get():
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield
