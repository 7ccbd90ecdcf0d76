"""Where in the user's program something was made.

A location is a tuple of ``(code object, line)`` pairs, innermost frame first, holding the user's frames only. By
default one frame is kept; :func:`full_stacks` keeps them all (what dumps and the debugger need). Both are interned,
and names and source text are looked up only when a location is printed. Frames of gradtool are recognised by the
module name they run under, never by a path.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Final

Location = tuple[tuple[CodeType, int], ...]

NOWHERE: Final[Location] = ()
LOADER: Final = "gradtool.cli.loader"
"""The module that runs a model file: frames outside it belong to the tool, not to the user."""

_ours: dict[int, object] = {}
"""The globals of gradtool's own modules by identity; held, so that no other module ever gets the same identity."""

_keep_all = False
_interned: dict[object, Location] = {}


@contextmanager
def full_stacks(keep: bool = True) -> Iterator[None]:
    """Keep every user frame of what is made inside, not only the innermost."""
    global _keep_all
    before, _keep_all = _keep_all, keep
    try:
        yield
    finally:
        _keep_all = before


def here() -> Location:
    """The location of the user's code that called into gradtool, or :data:`NOWHERE`."""
    frame = sys._getframe(1)
    while frame is not None:
        if id(frame.f_globals) not in _ours:
            module = frame.f_globals.get("__name__", "")
            if not (module == "gradtool" or module.startswith("gradtool.")):
                break
            _ours[id(frame.f_globals)] = frame.f_globals
        frame = frame.f_back  # type: ignore[assignment]
    else:
        return NOWHERE
    # By identity: code objects of different files are equal when their text is.
    key: object = (id(frame.f_code), frame.f_lineno)
    if not _keep_all:
        found = _interned.get(key)
        if found is None:
            found = _interned[key] = ((frame.f_code, frame.f_lineno),)
        return found
    frames = [(frame.f_code, frame.f_lineno)]
    frame = frame.f_back  # type: ignore[assignment]
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == LOADER:
            break
        if not (module == "gradtool" or module.startswith("gradtool.")):
            frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    key = tuple((id(code), line) for code, line in frames)
    return _interned.setdefault(key, tuple(frames))


def file_and_line(location: Location) -> tuple[str, int] | None:
    """File name (as the code object has it) and line of the innermost frame."""
    if not location:
        return None
    code, line = location[0]
    return code.co_filename, line


def short(location: Location) -> str:
    """``model.py:21``: the file's last part and the line; empty when the location is not known."""
    found = file_and_line(location)
    if found is None:
        return ""
    return f"{found[0].replace(chr(92), '/').rsplit('/', 1)[-1]}:{found[1]}"


def text(code: CodeType, line: int) -> str:
    """The source line itself, stripped; empty when the file can no longer be read."""
    return linecache.getline(code.co_filename, line).strip()


def describe(location: Location) -> str | None:
    """``train.py:31 in model:  z = h * gate``, or None when the location is not known."""
    if not location:
        return None
    code, line = location[0]
    where = f"{short(location)} in {code.co_name}"
    source = text(code, line)
    return f"{where}:  {source}" if source else where


def stack(location: Location) -> Iterator[str]:
    """The frames, outermost first, each as ``File "model.py", line 3, in build`` followed by its source line."""
    for code, line in reversed(location):
        yield f'File "{code.co_filename}", line {line}, in {code.co_name}'
        source = text(code, line)
        if source:
            yield f"    {source}"
