"""Functions whose text is written at run time: compiled once, and shown by tracebacks and debuggers like any file."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

_codes: dict[tuple[str, str], CodeType] = {}


def compile_function(name: str, title: str, lines: Sequence[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    """The function *name* that *lines* define.

    Args:
        title: what the text is; tracebacks call it ``<gradtool: title>``, with a number where others are called so.
        names: what the text calls by names that it does not define.
    """
    text = "\n".join([*lines, ""])
    code = _codes.get((title, text))
    if code is None:
        file = _file(title)
        # Without a time of change the text is there for good: nobody looks for a file.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        code = _codes[title, text] = compile(text, file, "exec")
    space = dict(names)
    exec(code, space)
    function: Callable[..., Any] = space[name]
    return function


def text_of(function: Callable[..., Any]) -> str:
    """The text of a function that :func:`compile_function` gave."""
    return "".join(linecache.getlines(function.__code__.co_filename))


def indent(lines: Sequence[str]) -> list[str]:
    """*lines* inside of a statement."""
    return [f"    {line}" for line in lines]


def _file(title: str) -> str:
    """A name for the text that no other text has."""
    file, number = f"<gradtool: {title}>", 1
    while file in linecache.cache:
        number += 1
        file = f"<gradtool: {title} ({number})>"
    return file
