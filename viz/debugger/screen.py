"""The stream that breakpoints show what they show on."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TextIO

from gradtool.engine.core.scoped_variables import set_inside

_screen: ContextVar[TextIO | None] = ContextVar("gradtool_debugger_screen", default=None)


def show_on(stream: TextIO) -> AbstractContextManager[TextIO]:
    """Let what breakpoints show go to *stream* inside, wherever the program's own output goes."""
    return set_inside(_screen, stream)


def current() -> TextIO:
    """Return that stream; standard output where nobody chose one."""
    return _screen.get() or sys.stdout
