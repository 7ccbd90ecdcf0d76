"""Progress of a command on a terminal, once it takes longer than a second; rich is imported only then."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import ExitStack
from typing import Any, TextIO

import click

from gradtool.engine.core.state import progress

AFTER = 1.0
"""Seconds that a command may take before it says how far it is."""

_ENOUGH = 5
"""Of what is counted, so many say how fast it goes."""

_TICKS = 5
"""Times a second that it is drawn."""


class Beside:
    """Standard error while something is drawn there: what others write to it goes above that.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.target: Any = stream
        self._stream = stream

    def write(self, text: str) -> int:
        """As a stream's."""
        written: int = self.target.write(text)
        return written

    def flush(self) -> None:
        """Flush the terminal; the target keeps an unfinished line until it ends."""
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Progress:
    """Listens to what the engine tells of long work, and draws it on a terminal from :data:`AFTER` on.

    Args:
        stream: the terminal.
        ascii: draw with ASCII alone.
    """

    def __init__(self, stream: TextIO, ascii: bool = False) -> None:
        self.beside = Beside(stream)
        self._stream = stream
        self._ascii = ascii
        self._told: dict[str, tuple[int, int | None]] = {}
        self._lock = threading.Lock()
        self._drawn: Any = None
        self._over = False
        self._bars: dict[str, Any] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Take what is told; drawing takes place elsewhere."""
        with self._lock:
            self._told[what] = done, total
            if self._drawn is not None:
                self._update()

    def show(self) -> None:
        """Begin to draw."""
        from rich.console import Console
        from rich.file_proxy import FileProxy
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        with self._lock:
            if self._over:
                return
            console = Console(file=self._stream, force_terminal=True, markup=False, highlight=False, emoji=False)
            columns = (SpinnerColumn("line" if self._ascii else "dots"), TextColumn("{task.description}", markup=False))
            self._drawn = Bars(
                *columns,
                BarColumn(24),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[pace]}", markup=False),
                console=console,
                transient=True,
                refresh_per_second=_TICKS,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._update()
            self._drawn.start()
            self.beside.target = FileProxy(console, self._stream)

    def _update(self) -> None:
        told = self._told or {"working": (0, None)}
        for what, (done, total) in told.items():
            if what not in self._bars:
                self._bars[what] = self._drawn.add_task(what, total=total, pace="")
                self._begun[what] = time.monotonic(), done
            begun, before = self._begun[what]
            told_pace = pace(done - before, time.monotonic() - begun, None if total is None else total - done)
            self._drawn.update(self._bars[what], completed=done, total=total, pace=told_pace)

    def stop(self) -> None:
        """Take it away, and leave the terminal as it was."""
        with self._lock:
            drawn, self._over, self._drawn = self._drawn, True, None
        if drawn is not None:
            self.beside.target.flush()
            drawn.stop()
            self.beside.target = self._stream


def pace(done: int, seconds: float, left: int | None) -> str:
    """Return the pace, and the time that the rest will take, once enough of it is done to say so.

    >>> pace(100, 8.0, 1500)
    '12.5/s, 0:02:00 left'
    """
    if done < _ENOUGH or seconds <= 0 or not left:
        return ""
    whole = round(left * seconds / done)
    return f"{done / seconds:.3g}/s, {whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02} left"


def begin(ascii: bool = False) -> ExitStack:
    """Show how far the current command is, on standard error, until what is returned is closed."""
    shown = Progress(sys.stderr, ascii)
    stack = ExitStack()
    before, sys.stderr = sys.stderr, shown.beside
    timer = threading.Timer(AFTER, shown.show)
    timer.daemon = True

    def end() -> None:
        timer.cancel()
        shown.stop()
        sys.stderr = before

    stack.callback(end)
    stack.enter_context(progress.listen(shown))
    timer.start()
    click.get_current_context().call_on_close(stack.close)
    return stack
