"""The fate of a gradient after backward: no optimizer holds its leaf, or it is cleared too early or never."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...core.source import NOWHERE, Location
from ...core.vocabulary import say
from ...eager.journal import Journal
from ...eager.tensor import Tensor
from .answers import Answer
from .case import TensorSubject
from .journal_intent import JournalEvidence
from .listings import nobodys, not_listed
from .of_journal import JournalReasons, NamedTensor
from .verdicts import Verdict


class GradientFates:
    """The answers about gradients that no optimizer uses, or that are cleared too early or never.

    Args:
        journal: kept while it ran.
        names: the tensors that have names.
        reached: gives the parameters that the loss depends on.
        loss_line: gives the line of the loss.
    """

    def __init__(
        self,
        journal: Journal,
        reasons: JournalReasons,
        evidence: JournalEvidence,
        names: Mapping[Tensor, NamedTensor],
        reached: Callable[[], dict[int, str]],
        loss_line: Callable[[], Location],
    ) -> None:
        self._journal, self._reasons, self._evidence, self._names = journal, reasons, evidence, names
        self._reached, self._loss_line = reached, loss_line

    def judge_list(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Return the answer about a parameter that no optimizer was given, though others were."""
        listings = self._journal.listings
        if not listings or not subject.is_parameter or any(subject.value in x.leaves for x in listings):
            return None
        if self._is_written_in_training(subject.value):
            return None  # it is updated by other means
        if self._is_before_training(subject.value):
            return None
        named = self._names.get(subject.held)
        container = named.container if named is not None else ""
        partly = self._evidence.is_partly_listed(subject)
        frozen = None if container else self._evidence.judge_list(subject, answer, partly)
        if frozen is not None:
            return frozen
        listing = self._evidence.nearest_list(subject)
        is_group = partly and self._evidence.is_of_forgotten_group(subject)
        return not_listed(self._reasons.flow, subject, answer, listing, container, partly, is_group)

    def _is_before_training(self, value: int) -> bool:
        """Return whether the pass came before any optimizer was made, and none was made for what it reaches."""
        first = min(x.time for x in self._journal.listings)
        if any(e.time > first for e in self._journal.events_of(value, "added")):
            return False
        held = {leaf for x in self._journal.listings for leaf in x.leaves}
        return held.isdisjoint(self._reached())

    def _is_written_in_training(self, value: int) -> bool:
        """Return whether values were written after the first gradient of all came."""
        first = min(
            (e.time for events in self._journal.events.values() for e in events if e.kind == "added"), default=0
        )
        return any(e.time > first for e in self._journal.events_of(value, "written"))

    def _is_nobodys(self, subject: TensorSubject[int]) -> bool:
        """Return whether a parameter is written though no optimizer holds it that was made after it."""
        listings = self._journal.listings
        was_there = any(subject.value < x.time for x in listings)
        held = any(subject.value in x.leaves for x in listings)
        return (
            subject.is_parameter and was_there and not held and bool(self._journal.events_of(subject.value, "written"))
        )

    def find_clearing(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """The gradient was cleared between backward and the step that should have used it."""
        events = self._journal.events_of(subject.value, "added", "cleared", "step")
        kinds = [e.kind for e in events]
        if kinds[-1:] == ["cleared"] or "step" not in kinds:
            kinds = kinds[: len(kinds) - kinds[::-1].index("step")] if "step" in kinds else []
        if len(kinds) < 3 or kinds[-3:] != ["added", "cleared", "step"]:
            return None
        at = events[len(kinds) - 2]
        return answer.rejudge(
            Verdict.CLEARED,
            "its gradient is cleared after backward and before the optimizer's step, which then does nothing",
            location=at.loc,
            advice="clear gradients after step(), or before backward()",
        )

    def find_accumulation(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Gradients of earlier steps were never cleared, although updates used them."""
        count, updated, stale, used, last = 0, False, False, 0, None
        for e in self._journal.events_of(subject.value, "added", "cleared", "step", "written"):
            if e.kind == "cleared":
                count, updated, stale = 0, False, False
            elif e.kind == "added":
                count, last, stale = count + 1, e, updated
            elif e.kind == "step" or count:
                updated = count > 0
                used = count if stale else used
        if last is None or not used:
            return None
        if self._is_nobodys(subject):
            call, _ = self._reasons.via.get(subject.value, (None, None))
            use = NOWHERE if call is None else call.loc
            return nobodys(self._reasons.flow, subject, answer, use, self._loss_line())
        count = used
        label = f"accumulated over {count} backward calls without clearing"
        return replace(
            answer,
            verdict=Verdict.ACCUMULATED,
            label=label,
            finding=True,
            said=("an update between them used what earlier calls had left in .grad",),
            location=last.loc,
            advice=say("clear gradients after each step: {clear}"),
        )
