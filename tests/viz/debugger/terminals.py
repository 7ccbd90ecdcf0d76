"""Programs on a pseudo-terminal of their own, typed into as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

from tests.processes import Process

PATIENCE = 30.0
"""Seconds after which a program that says nothing is stuck."""

_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_=>]|\x1b\][^\x07]*\x07|\x07")


class Terminal:
    """A program and what it has printed so far."""

    def __init__(self, process: Process, master: int) -> None:
        self.process = process
        self._master = master
        self._raw = b""
        self._seen = 0

    @property
    def raw(self) -> str:
        """Everything as it came."""
        return self._raw.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """Everything without escape sequences."""
        return _SEQUENCES.sub("", self.raw).replace("\r\n", "\n").replace("\r", "\n")

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read(self, seconds: float) -> bool:
        """Take what comes within some time; whether anything did."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        try:
            came = os.read(self._master, 65536)
        except OSError:  # the program has gone
            return False
        self._raw += came
        return bool(came)

    def until(self, wanted: str) -> str:
        """Read until *wanted* stands in what came since the last call; that part of the text."""
        end = monotonic() + PATIENCE
        while wanted not in self.text[self._seen :]:
            assert monotonic() < end, f"{wanted!r} did not come; there is:\n{self.text[self._seen :]}"
            if not self.read(0.1) and self.process.poll() is not None and not self.read(0.1):
                raise AssertionError(f"it ended before {wanted!r} came; there is:\n{self.text[self._seen :]}")
        part = self.text[self._seen :]
        self._seen = len(self.text)
        return part

    def quiet(self) -> None:
        """Read until nothing comes any more: the program is at work."""
        while self.read(0.7):
            pass

    def ended(self) -> int:
        """Read to the end; the exit code."""
        while self.process.poll() is None:
            self.read(0.1)
        while self.read(0.05):
            pass
        return self.process.wait()


@contextmanager
def on_terminal(arguments: Sequence[str], environment: Mapping[str, str | None] | None = None) -> Iterator[Terminal]:
    """Python with *arguments* on a terminal of 40 lines and 150 columns.

    Args:
        environment: variables to set, or None to leave one out.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
    variables = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **(environment or {})}
    kept = {name: value for name, value in variables.items() if value is not None}
    process = Process(
        [sys.executable, *arguments], env=kept, stdin=slave, stdout=slave, stderr=slave, is_controlled=True
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
