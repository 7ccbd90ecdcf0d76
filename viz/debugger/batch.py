"""Scripts of the debugger: a verb or an expression in each line, run without anybody there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradtool.engine.core.errors import GradtoolError

from . import show
from .notebook import Notebook

CLEAN, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: nothing found · a catch fired, an operator failed or an ``expect`` does not hold · a line is wrong."""


class ScriptError(GradtoolError):
    """A line of a script cannot be carried out; the message begins with its place."""

    code = "GT-E602"


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a script that say something, with their numbers from 1.

    >>> list(lines("# hunt\\n\\n catch nan\\nc # go on\\np h@GRAD#1"))
    [(3, 'catch nan'), (4, 'c'), (5, 'p h@GRAD#1')]
    """
    for number, line in enumerate(text.split("\n"), 1):
        said = _strip_comment(line).strip()
        if said:
            yield number, said


def _strip_comment(line: str) -> str:
    """*line* up to a ``#`` at its beginning or after a blank, outside quotes."""
    quote = ""
    before = " "
    for i, c in enumerate(line):
        if quote:
            quote = "" if c == quote and before != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c == "#" and before.isspace():
            return line[:i]
        before = c
    return line


def run(book: Notebook, text: str, file: str, say: Callable[[str], object]) -> int:
    """Run a script to its end, to ``quit``, or to a line that is wrong.

    What is found (by a catch, by ``expect``) fails the run, and the lines that follow still run: they tell more.

    Args:
        file: what the script is called in messages.
        say: takes what was typed and what came of it, cell by cell.

    Returns:
        The exit code: 0, 1 if something was found, 130 if it was interrupted.

    Raises:
        ScriptError: a verb that does not exist, a syntax error, an expression that raises. A command ends with 2.
    """
    code = CLEAN
    for number, line in lines(text):
        place = book.number
        cell, reply = book.execute(line)
        say(f"In [{place}]: {line}")
        if isinstance(reply.error, KeyboardInterrupt):
            return INTERRUPTED
        if reply.error is not None:
            raise ScriptError(f"{file}:{number}: {line}\n  {cell.text.removeprefix('✗ ')}")
        if cell.text and not cell.note:
            say(f"Out[{place}]:{show.gap(cell.text)}{cell.text}")
        if reply.failed:
            code = FAILED
        if book.finished:
            break
    return code
