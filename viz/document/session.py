"""Sessions of the debugger: as documents, and in files of which each line is a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from gradtool.engine import jsontext
from gradtool.engine.errors import FileFormatError

from ..debugger.cell import Cell
from .blocks import Document, Section

FORMAT: Final = "gradtool/session/1"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "number": (int,),
    "source": (str,),
    "text": (str,),
    "html": (str, type(None)),
    "svg": (str, type(None)),
    "failed": (bool,),
    "note": (bool,),
}


def section(cells: Iterable[Cell], model: str) -> Section:
    """The cells under a heading; *model* is what ``%gdebug`` is given in a notebook."""
    return Section("session", "Session", tuple(cells), f"%load_ext gradtool\n%gdebug {model}")


def document(cells: Iterable[Cell], model: str, title: str = "") -> Document:
    """A session as a document of its own.

    Args:
        model: the model as the command line takes it.
        title: stands at the top.
    """
    return Document(title or f"Session of {model}", (("model", model),), (section(cells, model),))


def to_jsonl(cells: Iterable[Cell]) -> str:
    """The cells as lines of JSON, below a line that says which format that is."""
    lines: list[dict[str, Any]] = [{"schema": FORMAT}, *({"kind": "cell", **asdict(c)} for c in cells)]
    return "".join(json.dumps(line, sort_keys=True, allow_nan=False) + "\n" for line in lines)


def from_jsonl(text: str, file: str) -> list[Cell]:
    """The cells in a saved session. Lines of other kinds are left out: what a session needs to be replayed.

    Args:
        file: what the file is called in errors.

    Raises:
        FileFormatError: *text* is no saved session.
    """
    cells: list[Cell] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        found = jsontext.read(line, where)
        if not isinstance(found, dict):
            raise FileFormatError(where, "a JSON object", f"it is {type(found).__name__}", hint=_HINT)
        if number == 1:
            if found.get("schema") != FORMAT:
                raise FileFormatError(
                    where, f'"schema": "{FORMAT}"', f"it is {jsontext.shown(found.get('schema'))}", hint=_HINT
                )
        elif found.get("kind") == "cell":
            cells.append(_cell(found, where))
    if not text.strip():
        raise FileFormatError(file, "a saved session", "it is empty", hint=_HINT)
    _check_numbers(cells, file)
    return cells


_HINT: Final = "the debugger's verb save writes such files"


def _cell(found: dict[str, Any], where: str) -> Cell:
    given = {f.name: found[f.name] for f in fields(Cell) if f.name in found}
    for name in ("number", "source"):
        if name not in given:
            raise FileFormatError(where, f"a cell with {name!r}", "it has none")
    for name, value in given.items():
        if type(value) not in _TYPES[name]:
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in _TYPES[name])
            raise FileFormatError(where, f"{name!r} as {wanted}", f"it is {type(value).__name__}")
    return Cell(**given)


def _check_numbers(cells: Sequence[Cell], file: str) -> None:
    seen: set[int] = set()
    for c in cells:
        if c.number in seen or c.number < 0:
            raise FileFormatError(file, "cells with numbers of their own", f"{c.number} stands twice or is negative")
        seen.add(c.number)
