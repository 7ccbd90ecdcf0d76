"""Notebooks as models: their code cells run in order, as a fresh kernel runs them from the top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtool.engine.core.errors import FileFormatError
from gradtool.engine.files import jsontext

ENDING = ".ipynb"


def cells(data: bytes, file: str) -> list[tuple[str, bytes]]:
    """What each code cell of a notebook is called (``In[3]``), and its text.

    Lines that are the notebook's own (``%time``, ``!ls``) become comments, so that the others keep their numbers.

    Raises:
        FileFormatError: it is no notebook of version 4 of the format.
    """
    book = jsontext.read(data, file)
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise FileFormatError(file, "a Jupyter notebook (version 4)", "there is no list of cells")
    return [(f"In[{i}]", "".join(map(_python, _lines(cell, file))).encode()) for i, cell in enumerate(_code(book), 1)]


def _code(book: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in book["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            yield cell


def _lines(cell: dict[str, Any], file: str) -> list[str]:
    """The lines of a cell, each with its end; they stand there as a list or as one text."""
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise FileFormatError(file, "the text of each cell", f"{type(source).__name__} stands there")
    return source.splitlines(keepends=True)


def _python(line: str) -> str:
    return f"# {line}" if line.lstrip().startswith(("%", "!", "?")) else line
