"""A run with edits: any of its values at any time, computed when it is asked for.

An edit gives a value other numbers from some entry on. What was read before that stays as it was; every value that
depends on the edit is another one in this branch, and all others are those of the recorded run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core import watch
from ..core.errors import FixedError, GradtoolError
from ..core.records import dataclass
from ..core.scoped_variables import set_inside
from ..core.tensor_array import TensorArray
from .bound_kernels import digest, number_results, runs_again
from .timeline import NOBODY, Entry, FixedOperand, Timeline, Value

_rerunning: ContextVar[bool] = ContextVar("gradtool_debugger_reruns", default=False)

is_rerunning = _rerunning.get
"""Whether what runs now was started by the debugger itself."""


def disable_breakpoints() -> AbstractContextManager[bool]:
    """Inside, breakpoints in the user's program stop nothing."""
    return set_inside(_rerunning, True)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change.

    Attributes:
        at: the first entry that it is there for.
        number: the value with other numbers; -1 where an operator is dropped.
        array: these numbers.
        text: what was asked for, for people.
        dropped: the index of the operator whose results are zeros from now on, or -1.
    """

    at: int
    number: int
    array: Any
    text: str
    dropped: int = -1


class Branch:
    """A run with edits.

    Attributes:
        name: ``base``, or what a fork was called.
        cursor: the index of the next entry.
        edits: in the order in which they were made.
        recomputed: how many operators ran again so far.
        computed: values that are others than in the recorded run.
    """

    def __init__(self, timeline: Timeline, name: str = "base", cursor: int = 0) -> None:
        self.timeline = timeline
        self.name = name
        self.cursor = cursor
        self.edits: list[Edit] = []
        self.recomputed = 0
        self.computed: dict[int, Any] = {}
        self._affected: set[int] = set()
        self._changed: list[int] = []
        self._by_value: dict[int, list[Edit]] = {}
        self._dropped: set[int] = set()

    def fork(self, name: str) -> Branch:
        """A branch that goes on from here on its own."""
        fork = Branch.add_edits(self.timeline, name, self.cursor, self.edits)
        fork.computed = dict(self.computed)
        return fork

    @classmethod
    def add_edits(cls, timeline: Timeline, name: str, cursor: int, edits: Iterable[Edit]) -> Branch:
        """A branch in which these edits were made, one after the other."""
        branch = cls(timeline, name, cursor)
        branch.edits = list(edits)
        branch._spread()
        return branch

    # -- edits ----------------------------------------------------------------------------------------------------

    def edit(self, number: int, array: Any, text: str) -> None:
        """Give a value other numbers, from the next entry on, or from when it is made if that is later."""
        self._add(Edit(max(self.cursor, self.timeline.values[number].maker + 1), number, array, text))

    def drop(self, entry: Entry, text: str) -> None:
        """Have the results of an operator that is yet to come be zeros."""
        self._add(Edit(entry.index, -1, None, text, entry.index))

    def undo(self) -> Edit | None:
        """Take the last edit back; None if there is none."""
        if not self.edits:
            return None
        last = self.edits.pop()
        self._spread()
        return last

    def _add(self, edit: Edit) -> None:
        self.edits.append(edit)
        self._spread()

    def _spread(self) -> None:
        """Find what depends on the edits."""
        self.computed.clear()
        self._affected = set()
        self._changed = []
        self._by_value = {}
        for e in self.edits:
            if e.number >= 0:
                self._by_value.setdefault(e.number, []).append(e)
        self._dropped = {e.dropped for e in self.edits if e.dropped >= 0}
        if not self.edits:
            return
        for entry in self.timeline.entries[min(e.at for e in self.edits) :]:
            self._spread_over(entry)
            if not self._affected.isdisjoint(entry.made):
                self._changed.append(entry.index)

    def _spread_over(self, entry: Entry) -> None:
        """Note which results of an entry, and which sums that end there, depend on the edits."""
        if entry.index in self._dropped or self._any_differs((*entry.inputs, *entry.needs), entry.index):
            self._affected.update(n for _, n in entry.outs if n >= 0)
        for total in entry.sums:
            if self._any_differs(self.timeline.values[total].parts or (), entry.index):
                self._affected.add(total)

    def _any_differs(self, numbers: Iterable[int], at: int) -> bool:
        return any(self._differs(n, at) for n in numbers)

    def _differs(self, number: int, at: int) -> bool:
        return number in self._affected or self._last_edit(number, at) is not None

    def _last_edit(self, number: int, at: int) -> Edit | None:
        """The edit that an entry sees of a value, the last one made."""
        return next((e for e in reversed(self._by_value.get(number, ())) if e.at <= at), None)

    def is_edited(self, number: int) -> bool:
        """Return whether somebody gave the value other numbers."""
        return number in self._by_value

    def entries_of_edits(self) -> set[int]:
        """The entries that made edited values, or whose results were dropped."""
        makers = {self.timeline.values[n].maker for n in self._by_value}
        return (makers | self._dropped) - {-1}

    def entries_after_edits(self) -> Sequence[int]:
        """The entries whose results depend on an edit."""
        return self._changed

    def stale(self) -> list[int]:
        """The entries that depend on an edit and have not run again yet."""
        return [i for i in self._changed if self.is_stale(self.timeline.entries[i])]

    def is_stale(self, entry: Entry) -> bool:
        """Return whether an entry depends on an edit and has not run again yet."""
        affected, computed = self._affected, self.computed
        return bool(affected) and any(n in affected and n not in computed for n in entry.made)

    # -- values ---------------------------------------------------------------------------------------------------

    def value(self, number: int, at: int | None = None) -> Any:
        """A value.

        Args:
            at: as the entry of that index reads it; by default as it is at the cursor.

        Raises:
            FixedError: it depends on an edit through an operator that cannot run again.
            GradtoolError: an operator that has to run for it fails.
        """
        edit = self._last_edit(number, self.cursor if at is None else at)
        if edit is None and self.timeline.values[number].maker >= self.cursor and at is None:
            edit = self._last_edit(number, len(self.timeline.entries))
        return edit.array if edit is not None else self.make(number)

    def make(self, number: int) -> Any:
        """A value as its operator makes it."""
        return self._current_value(number) if self.is_ready(number) else self.timeline.store.home(self._compute(number))

    def run(self, entry: Entry) -> None:
        """Make all that an entry makes, unless it is there."""
        for number in entry.made:
            self.make(number)

    def is_ready(self, number: int) -> bool:
        """Return whether the value is there without running anything."""
        return number in (self.computed if number in self._affected else self.timeline.store)

    def operands(self, entry: Entry) -> list[Any]:
        """Return the operands of an entry's kernel."""
        return self._operands(entry, {n: self.make(n) for n in entry.inputs if self._last_edit(n, entry.index) is None})

    def run_inside(self, entry: Entry, by: watch.Watcher) -> None:
        """Run the block of a branch or a loop again, *by* being told its steps; see ``engine/core/watch.py``."""
        if entry.kernel is not None:
            operands = self.operands(entry)
            with watch.pause_watchers(), watch.watch(by), np.errstate(all="ignore"), disable_breakpoints():
                entry.kernel(*operands)

    def _current_value(self, number: int) -> Any:
        return self.computed.get(number) if number in self._affected else self.timeline.store.get(number)

    def _compute(self, wanted: int) -> Any:
        """Run what is needed for a value, and nothing else; without recursion."""
        values, entries = self.timeline.values, self.timeline.entries
        fresh: dict[int, Any] = {}
        todo = [wanted]
        while todo:
            number = todo[-1]
            if number in fresh:
                todo.pop()
                continue
            value = values[number]
            at = value.maker
            if at == NOBODY:
                raise FixedError(f"'{value.name}' was there before the run, and nobody holds it any more.")
            missing = [n for n in self._needs(value) if n not in fresh and not self._is_at_hand(n, at)]
            if missing:
                todo += missing
                continue
            todo.pop()
            if value.parts is not None:
                before, added = (self._operand(n, at, fresh) for n in value.parts)
                with np.errstate(all="ignore"):
                    total = before + added
                self._hold(number, total, fresh)
            else:
                self._run(entries[at], fresh)
        return fresh[wanted]

    def _needs(self, value: Value) -> Iterable[int]:
        """Return the values that a value is computed from; one that was dropped from nothing."""
        if value.parts is not None:
            return value.parts
        return () if value.maker in self._dropped else self.timeline.entries[value.maker].inputs

    def _is_at_hand(self, number: int, at: int) -> bool:
        return self._last_edit(number, at) is not None or self.is_ready(number)

    def _run(self, entry: Entry, fresh: dict[int, Any]) -> None:
        if entry.index in self._dropped:
            results: Sequence[Any] = [_zeros(self._value_of_run(n)) if n >= 0 else None for _, n in entry.outs]
        elif entry.kernel is None:
            raise FixedError(f"{entry.name} cannot run again: {entry.fixed}.", op=entry.type)
        elif any(self._differs(n, entry.index) for n in entry.needs):
            raise FixedError(f"{entry.name} cannot run again on other values: it is the user's own.", op=entry.type)
        else:
            operands = self._operands(entry, fresh)
            results = self._compute_entry(entry, operands)
            self.recomputed += 1
            if self.timeline.recalls and not runs_again(entry):
                self.timeline.recalled.setdefault(entry.index, {})[digest(operands)] = results
        for number, array in number_results(entry, results):
            if number >= 0:
                self._hold(number, array, fresh)

    def _compute_entry(self, entry: Entry, operands: list[Any]) -> Sequence[Any]:
        assert entry.kernel is not None
        try:
            with watch.pause_watchers(), np.errstate(all="ignore"), disable_breakpoints():
                return entry.kernel(*operands)
        except (ValueError, IndexError) as error:
            # What was recorded ran; other numbers may be sizes or places that fit nothing.
            if not any(self._differs(n, entry.index) for n in entry.inputs):
                raise
            why = error.message.removesuffix(".") if isinstance(error, GradtoolError) else str(error)
            raise FixedError(f"{entry.name} does not take other values: {why}.", op=entry.type) from error

    def _value_of_run(self, number: int) -> Any:
        """The value that the recorded run had."""
        return Branch(self.timeline).make(number) if self.edits else self.make(number)

    def _hold(self, number: int, array: Any, fresh: dict[int, Any]) -> None:
        fresh[number] = array
        if number in self._affected:
            self.computed[number] = array
        else:
            self.timeline.store.put(number, array)

    def _operands(self, entry: Entry, fresh: dict[int, Any]) -> list[Any]:
        return [self._operand(o, entry.index, fresh) for o in entry.operands]

    def _operand(self, operand: Any, at: int, fresh: dict[int, Any]) -> Any:
        if isinstance(operand, list):
            return [self._operand(o, at, fresh) for o in operand]
        if isinstance(operand, FixedOperand):
            return operand.value
        if operand is None:
            return None
        edit = self._last_edit(operand, at)
        if edit is not None:
            return edit.array
        return fresh[operand] if operand in fresh else self._current_value(operand)


def _zeros(value: Any) -> Any:
    """Zeros like *value*, an array or an array of tensors."""
    return value.map(np.zeros_like) if isinstance(value, TensorArray) else np.zeros_like(np.asarray(value))
