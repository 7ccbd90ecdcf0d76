"""A cell of a debugger session as plain data: what was typed and what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

VERBS: Final[dict[str, tuple[str, ...]]] = {
    "list": ("l",),
    "src": (),
    "stack": ("bt",),
    "legend": (),
    "step": ("s",),
    "next": ("n",),
    "until": (),
    "finish": (),
    "continue": ("c",),
    "back": ("rs",),
    "rnext": (),
    "rcontinue": ("rc",),
    "goto": (),
    "break": (),
    "tbreak": (),
    "delete": (),
    "disable": (),
    "hits": (),
    "catch": (),
    "watch": (),
    "expect": (),
    "p": (),
    "stats": (),
    "hist": (),
    "top": (),
    "x": (),
    "set": (),
    "zero": (),
    "clip": (),
    "drop": (),
    "undo": (),
    "edits": (),
    "fork": (),
    "compare": (),
    "why": (),
    "path": (),
    "contrib": (),
    "saved": (),
    "mem": (),
    "graph": (),
    "program": (),
    "cells": (),
    "rerun": (),
    "note": (),
    "save": (),
    "export": (),
}
"""Verbs of the debugger and their short forms."""

_FULL: Final = {short: verb for verb, shorts in VERBS.items() for short in (verb, *shorts)}
_LINE: Final = re.compile(r"([a-z]+)(?:[ \t]+(\S.*))?[ \t]*")
_SHORTEST_CLEAR: Final = 3


@dataclass
class Cell:
    """One cell.

    Attributes:
        number: of ``In [number]``; cells of a session have different ones.
        source: what was typed: a verb with its arguments (``back 2``), Python, or the text of a note.
        text: the output as text.
        html, svg: the same as a table or as a picture, where there is one.
        failed: whether it ended with an error, which *text* tells.
        note: whether it is a note in Markdown.
    """

    number: int
    source: str
    text: str = ""
    html: str | None = None
    svg: str | None = None
    failed: bool = False
    note: bool = False


def verb_line(source: str) -> tuple[str, str] | None:
    """The verb, in full, and its arguments; None where *source* is Python.

    A word of one or two letters may be a variable as well: ``x - 1`` is Python, and so is every assignment.

    >>> verb_line("s 3"), verb_line("set w@GRAD = 0"), verb_line("x = 3"), verb_line("Out[3].norm()")
    (('step', '3'), ('set', 'w@GRAD = 0'), None, None)
    """
    found = _LINE.fullmatch(source.strip())
    if found is None or found[1] not in _FULL:
        return None
    word, rest = found[1], found[2] or ""
    if rest.startswith("=") or (len(word) < _SHORTEST_CLEAR and rest and _is_python(source.strip())):
        return None
    return _FULL[word], rest.rstrip()


def _is_python(source: str) -> bool:
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
