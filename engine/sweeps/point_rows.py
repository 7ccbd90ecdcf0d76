"""Asking the question at one point: the row that comes of it, whatever comes."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from typing import Any, Final

from ..core.command_errors import CommandError, ModelError
from ..core.errors import GradtoolError
from ..core.identity import identity
from ..script import interrupting, streams
from .point import Point
from .spec import Spec
from .summaries import FINDING, OK, UNCHECKED, Summary

REFUSED: Final = "refused"
ERROR: Final = "error"
MEMORY: Final = "memory"
TIMEOUT: Final = "timeout"
CRASHED: Final = "crashed"
"""What becomes of a point without an answer: it cannot be asked, it raised, or its process came to a wrong end."""

STATUSES: Final = (OK, FINDING, UNCHECKED, REFUSED, ERROR, MEMORY, TIMEOUT, CRASHED)
"""What a row says of its point in one word."""

OF_THE_MACHINE: Final = frozenset({MEMORY, TIMEOUT, CRASHED})
"""What another machine or another day may answer otherwise: asked again when a sweep goes on."""


class _Notes:
    """Keeps what a row has to say beside the answer."""

    verbose = 0

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.stop = ""

    def note(self, text: str) -> None:
        """Not kept: seeds and feeds are in the point."""

    def note_stop(self, text: str) -> None:
        self.stop = text

    def note_error(self, error: Exception, what: str) -> None:
        self.error = error


def compute_row(spec: Spec, point: Point, key: str) -> dict[str, Any]:
    """The row of a point.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed while the model ran.
    """
    presses = interrupting.presses()
    notes = _Notes()
    try:
        with streams.quiet():
            request = spec.request(point)
            # Context variables (decimal's context, those of packages) are of this point alone.
            summary = contextvars.copy_context().run(spec.kind.ask, request, spec.options, notes)
    except (CommandError, GradtoolError, MemoryError) as error:
        told = row_without_answer(spec, point, key, _status(error), *_message_and_hint(error))
    else:
        told = _row(spec, point, key, summary, notes)
    if interrupting.presses() != presses:
        raise KeyboardInterrupt
    return told


def _row(spec: Spec, point: Point, key: str, summary: Summary, notes: _Notes) -> dict[str, Any]:
    status = summary.status
    if notes.error is not None and status in (OK, UNCHECKED):
        status = _status(notes.error)  # what came after it nobody has looked at
    message, hint = (None, None) if notes.error is None else _message_and_hint(notes.error)
    return {
        **head(spec, point, key),
        "status": status,
        "findings": summary.findings,
        "answer": dict(summary.answer),
        "error": message,
        "hint": hint,
        "stopped": notes.stop or None,
    }


def row_without_answer(
    spec: Spec, point: Point, key: str, status: str, message: str, hint: str | None = None
) -> dict[str, Any]:
    """The row of a point that has no answer."""
    told = {"status": status, "findings": 0, "answer": None, "error": message, "hint": hint, "stopped": None}
    return {**head(spec, point, key), **told}


def head(spec: Spec, point: Point, key: str) -> dict[str, Any]:
    """Return the columns of a row that describe its point."""
    return {"key": key, "question": spec.question, **point.data()}


def _status(error: BaseException) -> str:
    if any(isinstance(cause, MemoryError) for cause in _causes(error)):
        return MEMORY
    return REFUSED if isinstance(error, CommandError) and not isinstance(error, ModelError) else ERROR


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and identity(error) not in seen:
        seen.add(identity(error))
        yield error
        error = error.__cause__ or error.__context__


def _message_and_hint(error: BaseException) -> tuple[str, str | None]:
    """The message and what helps."""
    if isinstance(error, CommandError):
        return error.message, error.hint
    if isinstance(error, GradtoolError):
        return error.text().split("\n")[0], error.hint
    return f"MemoryError: {error}" if str(error) else "MemoryError", None
