"""Sessions of the debugger: as documents, and what documents read from the files that the verb save writes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.core.records import dataclass
from gradtool.engine.files import jsontext

from ..debugger.cell import Cell
from ..debugger.saved.writer import FORMAT
from .blocks import Document, Section

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "number": (int,),
    "source": (str,),
    "text": (str,),
    "html": (str, type(None)),
    "svg": (str, type(None)),
    "failed": (bool,),
    "note": (bool,),
}


@dataclass(frozen=True)
class KeptSession:
    """Part of a saved session that documents show.

    Attributes:
        model: the model with its options, as the command line takes them; empty where it came from Python.
    """

    model: str
    cells: list[Cell]


def section(cells: Iterable[Cell], model: str) -> Section:
    """The cells under a heading; *model* is what ``%gdebug`` is given in a notebook."""
    return Section("session", "Session", tuple(cells), _magic_lines(model), model)


def relative_section(s: Section, path: str) -> Section:
    """The section of a session in a notebook at *path*: it finds the model's files from there."""
    folder = os.path.dirname(os.path.realpath(path))
    words = shlex.split(s.model)
    for i, word in enumerate(words):
        if i == 0 or words[i - 1] == "--feed":
            words[i] = relative_name(folder, word)
    return replace(s, code=_magic_lines(line_of(words)))


def _magic_lines(model: str) -> str:
    return f"%load_ext gradtool\n%gdebug {_escape_expansion(model)}"


def _escape_expansion(model: str) -> str:
    """*model* with what the line of a magic would be filled in for."""
    return model.replace("{", "{{").replace("}", "}}").replace("$", "$$")


def document(cells: Iterable[Cell], model: str, title: str = "") -> Document:
    """A session as a document of its own.

    Args:
        model: the model with its options as the command line takes them, or the name of a loss.
        title: stands at the top.
    """
    part = section(cells, model)
    first = model.partition(" ")[0]
    intro = f"Before this notebook runs again, compute {first} in a cell above." if _is_live(first) else ""
    return Document(title or f"Session of {model}", (("model", model),), (part,), intro=intro)


def _is_live(model: str) -> bool:
    return (model.isidentifier() or model.startswith("In[")) and not os.path.exists(model)


def line_of(words: Sequence[str]) -> str:
    """Words as a line that shells and magics read back; ``In[3]`` stays as it is where nothing but it is special."""
    return " ".join(w if w and not set(w) & _SPECIAL else shlex.quote(w) for w in words)


_SPECIAL: Final = frozenset(" \t\n\r\f\v'\"\\")


def relative_name(folder: str, model: str) -> str:
    """A file's name relative to *folder*; the names of modules stay as they are."""
    before, colon, function = model.rpartition(":")
    file, rest = (before, f":{function}") if colon and before and not os.path.exists(model) else (model, "")
    if not os.path.exists(file):
        return model
    try:
        return Path(os.path.relpath(os.path.realpath(file), folder)).as_posix() + rest
    except ValueError:  # another drive
        return os.path.realpath(file) + rest


def from_jsonl(text: str, file: str) -> KeptSession:
    """Read what documents show of a saved session. Most of its lines are skipped: they are for replaying it.

    Args:
        file: what the file is called in errors.

    Raises:
        FileFormatError: *text* is no saved session.
    """
    cells: list[Cell] = []
    model = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        record = jsontext.read(line, where)
        if not isinstance(record, dict):
            raise FileFormatError(where, "a JSON object", f"it is {type(record).__name__}", hint=_HINT)
        if number == 1:
            if record.get("schema") != FORMAT:
                raise FileFormatError(
                    where, f'"schema": "{FORMAT}"', f"it is {jsontext.shorten_value(record.get('schema'))}", hint=_HINT
                )
        elif record.get("kind") == "run":
            model = record.get("model", "")
            if not isinstance(model, str):
                raise FileFormatError(where, "'model' as str", f"it is {type(model).__name__}")
        elif record.get("kind") == "cell":
            cells.append(_cell(record, where))
    if not text.strip():
        raise FileFormatError(file, "a saved session", "it is empty", hint=_HINT)
    _check_numbers(cells, file)
    return KeptSession(model, cells)


_HINT: Final = "the debugger's verb save writes such files"


def _cell(record: dict[str, Any], where: str) -> Cell:
    values = {f.name: record[f.name] for f in fields(Cell) if f.name in record}
    for name in ("number", "source"):
        if name not in values:
            raise FileFormatError(where, f"a cell with {name!r}", "it has none")
    for name, value in values.items():
        if type(value) not in _TYPES[name]:
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in _TYPES[name])
            raise FileFormatError(where, f"{name!r} as {wanted}", f"it is {type(value).__name__}")
    return Cell(**values)


def _check_numbers(cells: Sequence[Cell], file: str) -> None:
    seen: set[int] = set()
    for c in cells:
        if c.number in seen or c.number < 0:
            raise FileFormatError(file, "cells with numbers of their own", f"{c.number} stands twice or is negative")
        seen.add(c.number)
