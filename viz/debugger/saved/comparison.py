"""Saved sessions as tests: their cells run again, and what comes of them compared.

On the same kind of machine (``writer.machine``) texts must be equal. On another one sums may be rounded otherwise, so
numbers with a decimal point or an exponent may differ by one in the last place shown, or by a hundred-thousandth of
their size, and blanks do not count; whole numbers and words must be equal there, too. Addresses of objects are left out
everywhere, and so is how many operators were computed again, which is a matter of memory.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

from gradtool.engine.core.records import dataclass
from gradtool.engine.runs.branch import Branch

from .. import stops
from ..cell import Cell
from ..errors import NotTrusted
from ..notebook import NotAgain, Notebook
from ..session import Session
from .reader import SavedSession
from .writer import machine

TOLERANCE = 1e-5
_MODEL = "model"
"""The group of verbs that ask the model itself."""


@dataclass(frozen=True)
class CellDifference:
    """A cell of which something else came.

    Attributes:
        cell: as it was saved.
        now: what comes of it now.
    """

    cell: Cell
    now: str

    def __str__(self) -> str:
        lines = difflib.unified_diff(
            self.cell.text.split("\n"), self.now.split("\n"), "saved", "replayed", lineterm="", n=2
        )
        return "\n".join([f"In [{self.cell.number}]: {self.cell.source}", *lines])


@dataclass(frozen=True)
class Replay:
    """Result of running a session again.

    Attributes:
        book: the session as it is now.
        difference: the first cell of which something else came, or None.
        refused: the first cell that was not run, nor any after it, because it evaluates what stands in a file that is
            not trusted; or None.
        kept: the numbers of cells that were not run again: they write files, or ask the model, which is not there.
    """

    book: Notebook
    difference: CellDifference | None
    refused: Cell | None
    kept: tuple[int, ...]


def check(saved: SavedSession, model: Notebook | None = None) -> Replay:
    """Run the cells of a saved session again, up to the first one of which something else comes.

    If the session was loaded without trust, up to the first one that evaluates something.

    Args:
        model: a notebook without cells over a new run of the model; by default the run that was saved.
    """
    exact = saved.machine == machine()
    book = model if model is not None else _rewind(saved.book)
    if model is not None:
        _stops_of(saved.book, model.session)
    book.session.trusted = saved.book.session.trusted
    book.keeping = lambda verb, rest: verb.writes(rest) or (model is None and verb.group == _MODEL)
    cells = []
    try:
        for cell in saved.book.cells:
            before = book.number
            try:
                with book.session.replay_file():
                    now, reply = book.execute(f"note {cell.source}" if cell.note else cell.source)
            except NotAgain:
                cells.append(cell.number)
                book.inputs[before] = cell.source
                book.cells.append(replace(cell, number=before))
                if cell.text and not cell.failed:
                    book.outputs[before] = cell.text
                continue
            if isinstance(reply.error, NotTrusted):
                return Replay(book, None, cell, tuple(cells))
            if not same_text(cell.text, now.text, exact):
                return Replay(book, CellDifference(cell, now.text), None, tuple(cells))
    finally:
        book.keeping = None
    return Replay(book, None, None, tuple(cells))


def _rewind(saved: Notebook) -> Notebook:
    """A notebook over the same run, as it stood before its first cell."""
    session = Session(saved.session.timeline, saved.session.tools)
    _stops_of(saved, session)
    if saved.began is not None:
        session.branch = session.branches["base"] = Branch(session.timeline, cursor=saved.began.cursor)
        session.arrived = saved.began.arrived
    notebook = Notebook(session, saved.model)
    notebook.opening = saved.opening
    return notebook


def _stops_of(saved: Notebook, session: Session) -> None:
    """Set what was set before the first cell."""
    session.stops.clear()
    for s in saved.began.stops if saved.began is not None else ():
        fresh = replace(s)
        if fresh.kind == "break":
            fresh.matches, _ = stops.breakpoint_at(session, fresh.text)
        session.stops.append(fresh)
        session.numbered = max(session.numbered, fresh.number)


_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)", re.IGNORECASE)
_AGAIN = re.compile(r"\n *\d+ operators? computed again\b")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")


def same_text(was: str, now: str, exact: bool) -> bool:
    """Return whether two texts say the same, by the rule at the top of this module.

    >>> same_text("norm 0.1234", "norm 0.1235", exact=False), same_text("norm 0.1234", "norm 0.1240", exact=False)
    (True, False)
    >>> same_text("3 of 12", "4 of 12", exact=False), same_text("0.5", "0.5000001", exact=True)
    (False, False)
    """
    was, now = (_ADDRESS.sub("0x", _AGAIN.sub("", text)) for text in (was, now))
    if exact or was == now:
        return was == now
    words = [" ".join(_NUMBER.sub("#", text).split()) for text in (was, now)]
    return words[0] == words[1] and all(map(_is_close, _NUMBER.findall(was), _NUMBER.findall(now)))


def _is_close(a: str, b: str) -> bool:
    x, y = float(a), float(b)
    return abs(x - y) <= max(_last_place(a), _last_place(b), TOLERANCE * max(abs(x), abs(y))) * (1 + 1e-9)


def _last_place(text: str) -> float:
    """Return the value of one in the last place shown."""
    digits, _, exponent = text.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
