"""Places where operators of Paddle's files were made: ``op_callstack``, the lines of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...core import source
from ...core.source import NOWHERE, Location

_FRAME = re.compile(r'\s*File "([^"]{1,4096})", line (\d{1,9}), in ([^\n]{1,200})')
_NOBODYS = re.compile(r"(?:site|dist)-packages[/\\]paddle[/\\]|<frozen ")
"""Paddle's own files, and what Python runs before the user's."""
_MOST = 200
"""Frames that are kept of one stack."""


class Callstacks:
    """The locations in one file: equal stacks are one."""

    def __init__(self) -> None:
        self._locations: dict[Sequence[str], Location] = {}

    def location(self, lines: Sequence[str]) -> Location:
        """Return where the operator with that callstack was made: the frames of the user's code, innermost first."""
        key = tuple(lines)
        if key not in self._locations:
            self._locations[key] = _location(key)
        return self._locations[key]


def _location(lines: Sequence[str]) -> Location:
    """The frames of a stack without Paddle's own, unless there are no others."""
    frames = list(_frames(lines))
    frames = [frame for frame in frames if _NOBODYS.search(frame[0]) is None] or frames
    if not frames:
        return NOWHERE
    return tuple(
        (source.stand_in_code(file, function, text), line) for file, line, function, text in reversed(frames[-_MOST:])
    )


def _outermost_first(lines: Iterable[str]) -> Iterable[str]:
    """*lines* as later versions have them: Paddle 1.8 has a frame and its text in one, the innermost first."""
    entries = [line.splitlines() for line in lines]
    if any(len(entry) > 1 for entry in entries):
        entries.reverse()
    return (line for entry in entries for line in entry)


def _frames(lines: Iterable[str]) -> Iterable[tuple[str, int, str, str]]:
    """File, line, function and the text of the line, outermost first."""
    frame: tuple[str, int, str] | None = None
    for line in _outermost_first(lines):
        match = _FRAME.match(line)
        if match is None:
            if frame is not None:
                yield *frame, _printable(line.strip())
            frame = None
            continue
        if frame is not None:
            yield *frame, ""
        frame = _printable(match[1]), int(match[2]), _printable(match[3].strip())
    if frame is not None:
        yield *frame, ""


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
