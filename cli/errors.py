"""Errors of the command line, and their exit codes; ``docs/exit_codes.md`` says which findings decide them.

====  ===========================================================
code  meaning
====  ===========================================================
0     clean
1     a finding, where it was asked for; a gate or a comparison failed
2     usage: an option, a selector, a file
3     the user's model raised
4     the engine refused: no gradient, shapes that do not fit, …
70    a bug of gradtool
130   interrupted
141   whoever read stdout closed it
143   ended by SIGTERM
====  ===========================================================
"""

from __future__ import annotations

from gradtool.engine.core.command_errors import CommandError

COMMAND_LINE = "GT-E001"
"""The code of what click refuses: an option, an argument or its value."""

BUG_CODE = "GT-E901"
"""The code of whatever nobody expected."""

CLEAN = 0
FAILED = 1
USAGE = 2
MODEL = 3
ENGINE = 4
BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141
TERMINATED = 143


class ReaderGone(Exception):
    """Whoever read stdout has closed it (``| head``)."""


class StdoutError(CommandError):
    """The result cannot be written to stdout."""

    code = "GT-E030"


class UnwrittenFile(CommandError):
    """A file or a folder of the result cannot be written."""

    code = "GT-E031"
