"""The backward passes that a file asked for, those of one line together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from ..core import source
from ..core.answer import Answered
from ..core.identity import identity
from ..core.records import dataclass
from ..core.source import Location
from ..request.request import Request
from ..script.calls import PassCall
from ..script.script_state import Loaded
from . import run_notes
from .about import About
from .other_losses import Other

GRAD = "grad"
"""Calls that compute what goes into a loss as a rule; a later step may have overwritten what they need."""

GRADIENTS = "gradients"
"""Calls that no loss is backpropagated by: ``--backward`` does not ask about them."""


@dataclass(slots=True)
class LineOfCalls:
    """The calls of one function, on one line, of losses of one name.

    Attributes:
        kind: the public function.
        loss: what the user's code calls the loss, or the name of its variable; empty if it has none.
        numbers: of the calls, counted over the whole file from 1.
        values: of the first and of the last loss, where they are known.
        runs: of a program, how often it ran with what the last call appended; None in dynamic mode.
        selectable: whether ``--backward`` takes it.
        variable: of a program, the loss of the last call.
        roots: how many roots its calls have at most.
        gradients_given: whether one of them was given gradients to start with.
        nested: whether all of them ran inside of other passes.
    """

    kind: str
    loss: str
    location: Location
    numbers: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    runs: int | None = None
    selectable: bool = True
    variable: Any = None
    roots: int = 1
    gradients_given: bool = False
    nested: bool = True

    @property
    def last(self) -> int:
        """The number of the call that is asked about where the line is named."""
        return self.numbers[-1]


@dataclass(frozen=True, slots=True)
class CallList(Answered):
    """The backward passes that a file asked for.

    Attributes:
        lines: by their first call.
        total: how many calls there were.
        asked: the number of the call that is asked about; None where there is none.
        stopped: where the file was stopped because it had been watched long enough.
        more: what lets it go on then.
        goes_on: whether it was stopped where it asked for one more.
    """

    about: About
    lines: Sequence[LineOfCalls]
    total: int
    asked: int | None
    stopped: Location | None
    more: str = ""
    goes_on: bool = False

    @property
    def extent(self) -> str:
        """Return the number of calls in words, ``at least 51`` of a file that was stopped."""
        return str(self.total) if self.stopped is None else f"at least {self.total + self.goes_on}"

    def distinct(self) -> Sequence[LineOfCalls]:
        """Return the calls for ``--backward each``: what backpropagates a loss, and ``grad`` only if nothing
        else does.
        """
        selectable = [line for line in self.lines if line.selectable and not line.nested]
        return [line for line in selectable if line.kind != GRAD] or selectable

    def others(self) -> list[Other]:
        """Return the other calls for ``--backward each``: those from other losses than that of the main call."""
        same = {
            identity(line.variable) for line in self.lines if self.asked in line.numbers and line.variable is not None
        }
        lines = (
            line for line in self.distinct() if self.asked not in line.numbers and identity(line.variable) not in same
        )
        return [Other(line.loss or source.short(line.location), line.last) for line in lines]


def calls_of(left: Loaded, request: Request) -> CallList:
    """The calls of a file that has run."""
    return CallList(
        About(
            left.name,
            "static" if left.calls.appended else "eager",
            request.words(),
            scope=run_notes.scope_of(left),
        ),
        _lines(left),
        len(left.calls.every),
        _target_number(left),
        left.calls.stopped,
        "" if left.calls.stopped is None else run_notes.describe_stop(left.calls)[1],
        left.calls.stopped is not None and not (left.calls.interrupted or left.calls.is_cut),
    )


def _lines(left: Loaded) -> list[LineOfCalls]:
    lines: dict[Any, LineOfCalls] = {}
    names: dict[Any, dict[str, None]] = {}
    for call in left.calls.every:
        if call.python:
            names.setdefault(call.line, {})[call.python] = None
    for call in left.calls.every:
        # Of a call whose loss is gone the name may not be known; that of its line is its own.
        own = next(iter(names[call.line])) if len(names.get(call.line, ())) == 1 else ""
        key = call.kind, call.python or own or _variable(call), source.file_and_line(call.location)
        line = lines.setdefault(key, LineOfCalls(call.kind, key[1], call.location))
        line.numbers.append(call.number)
        line.selectable = call.how != GRADIENTS
        line.roots, line.nested = max(line.roots, call.roots), line.nested and call.parent is not None
        line.gradients_given |= call.gradients_given
        if call.value is not None:
            line.values = [*line.values[:1], call.value]
        if call.block is not None:
            line.runs = _runs(left, call)
            line.variable = call.loss
    return list(lines.values())


def _variable(call: PassCall) -> str:
    """The name of a program's variable; those of tensors are made up."""
    return call.loss.name if call.block is not None else ""


def _runs(left: Loaded, call: PassCall) -> int:
    """Return the number of runs of the program that a call appended to."""
    return sum(program is call.block.program for program, _ in left.calls.fed)


def _target_number(left: Loaded) -> int | None:
    calls = left.calls
    meant = calls.target_program_pass() if calls.appended else calls.target_pass() if calls.swept else None
    return None if meant is None else meant.number


def others(left: Loaded, request: Request) -> tuple[list[Other], list[Other]]:
    """Return the passes that nobody asked about, and those that count together with the one that is asked about.

    There are none where the request says which pass is meant.
    """
    if request.backward is not None or request.objective.loss is not None or left.live:
        return [], []
    step = {call.number for call in left.calls.step_passes()} if left.calls.swept else set()
    passes = calls_of(left, request).others()
    return [other for other in passes if other.number not in step], [other for other in passes if other.number in step]
