"""Notebooks as models: their code cells run in order, as a fresh kernel runs them from the top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.errors import FileFormatError
from ..files import schema
from . import magics

ENDING = ".ipynb"


_BOOK = schema.Either(
    schema.TableSchema({"cells": schema.ListSchema(schema.ANYTHING)}, others=schema.ANYTHING),
    schema.ValueSchema("a Jupyter notebook (version 4), with a list of cells", lambda value: False),
)


class CodeCell(NamedTuple):
    """A code cell.

    Attributes:
        name: ``In[3]``.
        text: its Python.
        may_raise: an error is a part of it, and the cells after it run: a tag says so, or it raised when the
            notebook was saved, and its author went on.
    """

    name: str
    text: bytes
    may_raise: bool


def cells(data: bytes, file: str) -> list[CodeCell]:
    """The code cells of a notebook.

    What is the notebook's own (``%time``, ``!ls``) is taken out or made Python, and all lines keep their numbers.

    Raises:
        FileFormatError: it is no notebook of version 4 of the format.
    """
    book = schema.read(data, file, _BOOK)
    code = list(_code(book))
    last = max(map(_count, code), default=0)
    return [
        CodeCell(f"In[{i}]", magics.python(_text(cell, file)).encode(), _may_raise(cell, last))
        for i, cell in enumerate(code, 1)
    ]


def _code(book: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in book["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            yield cell


def _text(cell: dict[str, Any], file: str) -> str:
    """The text of a cell, which stands there as lines or as one."""
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise FileFormatError(file, "the text of each cell", f"{type(source).__name__} stands there")
    if not source.isascii() and any("\ud800" <= sign <= "\udfff" for sign in source):
        raise FileFormatError(file, "the text of each cell", "half of a character stands there")
    return source


def _may_raise(cell: dict[str, Any], last: int) -> bool:
    metadata, outputs = cell.get("metadata"), cell.get("outputs")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and "raises-exception" in tags:
        return True
    raised = isinstance(outputs, list) and any(isinstance(o, dict) and o.get("output_type") == "error" for o in outputs)
    return raised and 0 < _count(cell) < last


def _count(cell: dict[str, Any]) -> int:
    """The number under which a cell ran before the notebook was saved; 0 if it did not."""
    count = cell.get("execution_count")
    return count if isinstance(count, int) else 0


def names() -> dict[str, Any]:
    """Return the names that every cell finds without an import."""
    return {"display": _display, "get_ipython": _Shell}


def _display(*shown: Any, **_: Any) -> None:
    """As IPython's, for who reads text."""
    print(*shown, sep="\n")


class _Shell:
    """As far as cells ask their shell by name: for magics, which show and set, and for commands, which are not run."""

    def run_line_magic(self, name: str, line: str = "", *_: Any) -> None:
        """Nothing: what runs Python stands in cells as ``%name``."""

    run_cell_magic = run_line_magic

    def magic(self, line: str) -> None:
        """Nothing, likewise."""

    system = getoutput = magic
