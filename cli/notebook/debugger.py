"""The debugger in a notebook: ``%gdebug`` opens a session, and every verb is a magic that runs a cell of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.command_errors import CommandError
from gradtool.paddle import _alias
from gradtool.viz.debugger import verbs
from gradtool.viz.debugger.cell import Cell
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.scope import ExpressionNames, names_at
from gradtool.viz.debugger.verbs import Reply, Verb
from gradtool.viz.document.bundle import cell_bundle

from .error_display import Failed
from .names import SESSION
from .session import NotebookSession

_NAMES = ("v", "g", "cur", "fwd", "ins", "outs", "dout")


class SessionStatus:
    """Answer of ``%gdebug``: an open session, which shows its position.

    ``d.v["w@GRAD"]`` is a tensor at the cursor, ``d.cur`` the operator there with ``d.ins`` and ``d.outs``; ``d.fwd``,
    ``d.dout`` and ``d.g`` are what they are in the session's own expressions.

    Attributes:
        book: the session's notebook.
    """

    def __init__(self, book: Notebook, notes: Sequence[str] = ()) -> None:
        self.book = book
        self._notes = list(notes)

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(f"a session has no attribute {name!r}: it has {', '.join(_NAMES)} and book")
        session = self.book.session
        return ExpressionNames({}, names_at(session, session.current))[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_NAMES})

    def __repr__(self) -> str:
        if self.book.cells:
            return self.book.here()
        return "\n".join([self.book.opening or self.book.here(), *(f"note: {n}" for n in self._notes)])


class CellOutput:
    """Result of a cell of the session.

    Attributes:
        value: the value of an expression, or what a verb gives to go on with; else the text.
        failed: whether a catch fired, or an ``expect`` does not hold.
    """

    def __init__(self, cell: Cell, reply: Reply) -> None:
        self.value = reply.value if reply.value is not None else reply.text
        self.failed = reply.failed
        self._bundle = cell_bundle(cell)

    def __repr__(self) -> str:
        return self._bundle.get("text/plain", "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Text always; a table, a picture or Markdown where there is one."""
        return self._bundle


class Debugger:
    """The magics of the debugger.

    Args:
        session: the notebook's; it holds what ``%gdebug`` opened.
    """

    def __init__(self, session: NotebookSession) -> None:
        self._session = session

    def magics(self) -> dict[str, tuple[Callable[[str], Any], str]]:
        """Name -> what it does with the rest of its line, and one sentence: of every verb and its short forms."""
        table: dict[str, tuple[Callable[[str], Any], str]] = {
            SESSION: (self.line, "A line of the debugger: a verb or Python.")
        }
        for verb in verbs.table().values():
            for word in (verb.name, *verb.aliases):
                table[f"g{word}"] = (partial(self._verb, verb, word), f"{verb.usage}\n\n{verb.help}")
        return table

    def line(self, text: str) -> CellOutput | None:
        """Run a cell of the session: a verb, or Python of one or several lines that sees v, cur, ins, outs, …"""
        book = self._session.book
        if book is None or book.finished:
            raise CommandError("no session of the debugger is open", "%gdebug LOSS or %gdebug model.py opens one")
        with _as_recorded(book):
            cell, reply = book.execute(text)
        if reply.error is not None:
            raise Failed(cell.text)
        answer = CellOutput(cell, reply)
        return answer if cell_bundle(cell) else None

    def _verb(self, verb: Verb, word: str, rest: str) -> CellOutput | None:
        text = f"{word} {rest}".rstrip()
        book = self._session.book
        parts = verbs.split(text, book.session.names) if book is not None else (verb, rest)
        if parts is None:
            raise CommandError(f"{text} is Python in this session, where {word} is no verb", f"%{SESSION} {text}")
        return self.line(text)


@contextlib.contextmanager
def _as_recorded(book: Notebook) -> Iterator[None]:
    """Set up what the user's own rules find when they run again: their mode, ``import paddle``, and random numbers that
    are not the notebook's, which go on as if nothing had been drawn.
    """
    with state.keep_state(), _alias.active():
        state.random.reset(0)
        if book.session.timeline.mode == "static":
            state.enable_static()
        else:
            state.disable_static()
        yield
