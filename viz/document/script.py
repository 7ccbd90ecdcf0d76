"""The cells of a session as a batch script for ``gradtool debug --batch -x``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..debugger.cell import Cell
from .text import plain


def to_script(cells: Iterable[Cell]) -> str:
    """One verb or expression per line; notes, and what failed, are comments.

    >>> print(to_script([Cell(1, "look here", note=True), Cell(2, "c"), Cell(3, "p nothing", failed=True)]), end="")
    # look here
    c
    # failed: p nothing
    """
    return "".join(f"{line}\n" for cell in cells for line in _lines(cell))


def _lines(cell: Cell) -> Iterator[str]:
    source = cell.source.strip()
    if cell.note:
        yield from (f"# {line}".rstrip() for line in plain(source).split("\n"))
    elif cell.failed:
        first, *more = plain(source).split("\n")
        yield f"# failed: {first}"
        yield from (f"#         {line}".rstrip() for line in more)
    elif "\n" in source or "\r" in source:
        yield f"exec({source.removeprefix('!')!r})"
    elif source:
        yield source
