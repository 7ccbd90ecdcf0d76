"""The expressions in a saved session: what whoever trusts the file lets run."""

from __future__ import annotations

from .. import verbs
from ..cell import Cell
from ..notebook import Notebook


def stop_expressions(book: Notebook) -> list[str]:
    """Return what moving may evaluate: watches, and the conditions of breakpoints and catches."""
    return [f"{s.kind} {s.number}: {s.description}" for s in book.session.stops if s.expression]


def cell_expressions(book: Notebook) -> list[str]:
    """Return what running the cells again evaluates, the stops that were set before them included."""
    began = book.began.stops if book.began is not None else ()
    stops = [f"{s.kind} {s.number}: {s.description}" for s in began if s.expression]
    return [*stops, *(f"In [{c.number}]: {c.source}" for c in book.cells if not c.note and _evaluates(c))]


def _evaluates(cell: Cell) -> bool:
    source = cell.source.strip()
    split = verbs.split(source) if "\n" not in source and not source.startswith("!") else None
    return split is None or split[0].evaluates(split[1])
