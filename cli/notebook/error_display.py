"""Refusals in a notebook: short messages in place of tracebacks."""

from __future__ import annotations

from collections.abc import Sequence

from .names import as_magic


class Refused(Exception):
    """Refusal, shown in a notebook as the command line shows it; the cell fails, the kernel goes on."""

    def __init__(self, lines: Sequence[str], code: int) -> None:
        super().__init__(lines[0])
        self.lines = list(map(_hint_as_magic, lines))
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """Return the lines in place of a traceback, for IPython: the frames in between are gradtool's own."""
        return [f"error: {self.lines[0]}", *self.lines[1:]]


def _hint_as_magic(line: str) -> str:
    before, hint, command = line.partition("  hint  ")
    return f"{before}{hint}{as_magic(command)}" if hint else line


class Failed(Exception):
    """A cell of the debugger that failed, with what the session says of it; the session stands where it stood."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")
