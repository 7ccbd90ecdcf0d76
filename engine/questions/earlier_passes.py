"""Facts that the backward passes before the last one show: what fails in one step only is found there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..answers.flow.fact import Fact, FactKind
from ..answers.flow.slips import find_slips
from ..core import watch
from ..core.identity import identity
from ..runs import of_tape
from ..runs.calls import flat
from ..runs.recorder import Recorder
from ..runs.timeline import Timeline

Look = Callable[[Timeline, list[str]], Iterator[Fact]]
"""Yields the facts of a pass, and adds what it could not follow, and why."""


class EarlierPasses:
    """Looks at each pass that does something new, before the recorder forgets it.

    New is an operator at a line where no pass had it, one that reads other numbers of dimensions there, or a loss
    whose label stands in the data of this batch: a hundred equal steps cost one look. The last pass is not looked at
    here: the recorder still has it when the file is over.

    Args:
        look: looks at one pass.

    Attributes:
        facts: each with the step that shows it first; those of one kind and one line count once.
        unchecked: what could not be followed, and why.
    """

    def __init__(self, look: Look) -> None:
        self.facts: list[Fact] = []
        self.unchecked: list[str] = []
        self._look = look
        self._known: set[tuple[str, int, tuple[int, ...]]] = set()
        self._slipped: set[int] = set()

    def __call__(self, recorder: Recorder) -> None:
        """Look at the pass that the recorder is about to forget."""
        work = recorder.last
        if work is None or not work.done:
            return
        step = recorder.passes
        try:
            if self._is_new(recorder):
                with watch.pause_watchers():
                    self._add(self._look(of_tape.timeline(recorder), self.unchecked), step)
        except Exception as error:  # the script goes on, whatever happens to a look
            self.unchecked.append(f"backward pass {step}: {type(error).__name__}: {error}")

    def _is_new(self, recorder: Recorder) -> bool:
        """Return whether the pass does something that no pass before it did."""
        before = len(self._known), len(self._slipped)
        self._known.update(_places(recorder))
        # One look for each loss that a label slips to, however many batches it does so in.
        self._slipped.update(map(identity, find_slips(recorder.calls_before_pass, recorder.store.get)))
        return (len(self._known), len(self._slipped)) != before

    def _add(self, facts: Iterable[Fact], step: int) -> None:
        met = {_key(f) for f in self.facts}
        self.facts += [replace(f, step=step) for f in facts if _key(f) not in met]

    def select_missing(self, last: Iterable[Fact], lines: Iterable[Any]) -> list[Fact]:
        """Return the facts that the last pass does not show.

        Args:
            last: the facts of the last pass.
            lines: places of the operators of the last pass: units that are flat there no longer have learned.
        """
        met, still = {_key(f) for f in last}, set(lines)
        return [f for f in self.facts if _key(f) not in met and not (f.kind is FactKind.FLAT and f.loc in still)]


def _key(fact: Fact) -> tuple[FactKind, Any]:
    return fact.kind, fact.loc


def _places(recorder: Recorder) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield the operators since the pass before, each with its line and how many dimensions its operands have.

    Those of optimizers are none of a pass: they would make the second step another than the first.
    """
    calls = recorder.calls_before_pass
    get = recorder.store.get
    for call in calls:
        if any(slot.name == "LearningRate" for slot in call.op.inputs):
            continue
        ranks = tuple([getattr(get(n), "ndim", -1) for n in flat(call.operands[:_MOST_OPERANDS])])
        yield call.op.type, identity(call.loc), ranks


_MOST_OPERANDS = 3
"""Operands that are looked at, of those that an operator takes one by one."""
