"""The notebook of a session: numbered cells, each a verb or Python, with results that are kept as objects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.records import dataclass

from . import scope, show, verbs
from .cell import Cell
from .errors import NotTrusted, VerbError
from .session import Session
from .stops import Stop
from .verbs import Reply, Verb


class NotAgain(BaseException):
    """A verb writes files, or asks the model that is not there: where a session is replayed, its answer stays."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """State of a session before its first cell.

    Attributes:
        cursor: the index of the next entry.
        arrived: whether what stops there has been seen.
        stops: the breakpoints, catches and watches that were set.
    """

    cursor: int
    arrived: bool
    stops: tuple[Stop, ...]


def current_state(session: Session) -> Beginning:
    """Return the current state of *session*."""
    return Beginning(session.cursor, session.arrived, tuple(replace(s) for s in session.stops))


class Notebook:
    """Cells over a session.

    Args:
        model: what the session is about, as the command line takes it; exports say so.

    Attributes:
        cells: what was typed, and what came of it.
        inputs, outputs: ``In`` and ``Out`` of expressions, by number.
        places: for each cell, the branch and the cursor where it was typed.
        finished: whether ``quit`` was said.
        leaving: verbs that end the session and let the program go on, where it waits.
        opening: what to show before the first cell: where the session begins, and why there.
        caught: whether it begins where a catch fired.
        began: how the session stood before the first cell; None until then.
        keeping: where cells are replayed, which verbs are not carried out again: they raise :class:`NotAgain`.
        foreign: the numbers of cells that were read from a file.
        recomputed_before: how many operators had run again when the cell began.
    """

    def __init__(self, session: Session, model: str = "") -> None:
        self.session = session
        self.model = model
        self.cells: list[Cell] = []
        self.inputs: dict[int, str] = {}
        self.outputs: dict[int, Any] = {}
        self.places: dict[int, tuple[str, int]] = {}
        self.finished = False
        self.opening = ""
        self.caught = False
        self.leaving: frozenset[str] = frozenset()
        self.began: Beginning | None = None
        self.keeping: Callable[[Verb, str], bool] | None = None
        self.foreign: frozenset[int] = frozenset()
        self.recomputed_before = 0

    @property
    def number(self) -> int:
        """The number of the next cell."""
        return len(self.inputs) + 1

    def here(self) -> str:
        """The operator at the cursor, in words."""
        return show.show_cursor(self.session)

    def execute(self, source: str) -> tuple[Cell, Reply]:
        """Run a cell; an error becomes its text, and leaves the session as it was."""
        number = self.number
        session = self.session
        if self.began is None:
            self.began = current_state(session)
        self.inputs[number] = source
        self.places[number] = session.branch.name, session.cursor
        self.recomputed_before = session.branch.recomputed
        try:
            reply = self.run(source)
        except KeyboardInterrupt as error:
            reply = Reply("interrupted", error=error)
        except NotTrusted as error:
            reply = Reply(f"✗ {error}", error=error)
        except GradtoolError as error:
            reply = Reply(_error_line(error), error=error)
        except Exception as error:
            reply = Reply(_exception_line(error), error=error)
        value = reply.value if reply.value is not None else reply.text or None
        if value is not None and reply.error is None and not reply.note:
            self.outputs[number] = value
            session.names["_"] = value
        self.finished = self.finished or reply.quit
        if reply.note:
            cell = Cell(number, reply.text, note=True)
        else:
            failed = reply.error is not None
            cell = Cell(number, source, reply.text, html=reply.html, svg=reply.svg, failed=failed)
        self.cells.append(cell)
        return cell, reply

    def run(self, source: str) -> Reply:
        """Return the answer of a verb or Python; no cell comes of it, and errors pass."""
        stripped = source.strip()
        if stripped.startswith("!"):
            return self._python(stripped[1:].strip())
        command = verbs.split(stripped, self.session.names) if "\n" not in stripped else None
        if command is not None:
            verb, rest = command
            if stripped in self.leaving:
                return Reply("", quit=True)
            if self.keeping is not None and self.keeping(verb, rest):
                raise NotAgain
            if verb.writes(rest):
                self.session.permit(stripped)
            return verb.act(self, rest)
        return self._python(source)

    def _python(self, source: str) -> Reply:
        session = self.session
        session.names |= {"In": self.inputs, "Out": self.outputs}
        try:
            value, shown = scope.run(session, source)
        except SyntaxError as error:
            words = scope.near_names(session, source.split()[0], verbs.table())[:1] if source.split() else []
            hint = f"there is {words[0]} · help lists the verbs" if words else "help lists the verbs"
            raise VerbError(f"neither a verb nor Python: {error.msg}.", hint=hint) from None
        except NameError as error:
            name = getattr(error, "name", None) or ""
            close = scope.near_names(session, name, verbs.table())
            raise VerbError(f"{error}.", hint=f"there is {', '.join(close)}" if close else None) from None
        return Reply(_show(value), value=value) if shown and value is not None else Reply("")

    def place_of(self, number: str) -> tuple[str, int]:
        """Return where a cell was typed.

        Raises:
            VerbError: there is no such cell.
        """
        if not number.isdigit() or int(number) not in self.places:
            last = f"In[{max(self.places)}] is the last" if self.places else "there is none yet"
            raise VerbError(f"there is no cell In[{number}].", hint=last)
        return self.places[int(number)]


def is_complete(source: str) -> bool:
    """Return whether a cell is complete, or more lines of Python have to follow."""
    import codeop

    stripped = source.strip()
    if not stripped or stripped.startswith("!") or verbs.split(stripped) is not None:
        return True
    try:
        if codeop.compile_command(source, "<debugger>", "exec") is None:
            return False
    except (SyntaxError, ValueError, OverflowError):
        return True
    # A block ends with an empty line, as at Python's own prompt.
    tree = ast.parse(source)
    block = bool(tree.body) and hasattr(tree.body[-1], "body")
    return not block or "\n" not in source or source.endswith("\n")


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, threshold=200, edgeitems=3, max_line_width=120)
    return repr(value)


def _error_line(error: GradtoolError) -> str:
    return f"✗ {error.text()}"


def _exception_line(error: BaseException) -> str:
    text = str(error)
    return f"✗ {type(error).__name__}: {text}" if text else f"✗ {type(error).__name__}"
