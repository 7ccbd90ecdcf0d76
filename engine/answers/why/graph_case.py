"""The case of a loss that nobody listened to: what the graph says that a framework holds behind it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .answers import Answer
from .lost_uses import LostUse
from .terms import LostTerm
from .verdicts import Verdict


class GraphCase:
    """Answers of which the graph is the only witness.

    Args:
        every: an answer for each leaf.
        loss_name: what the loss is called.
        chosen: the names that are asked about; None for all leaves without a gradient to learn from.
    """

    def __init__(self, every: Sequence[Answer], loss_name: str, chosen: Collection[str] | None = None) -> None:
        self._every = [a for a in every if chosen is None or a.name in chosen]
        self._loss_name = loss_name

    def subjects(self) -> list[Answer]:
        """Return what is asked about."""
        return self._every

    def answer(self, subject: Answer, *, contributions: bool = False) -> Answer:
        """Return the answer about one of :meth:`subjects`; uses are not known one by one."""
        return subject

    def answers(self) -> list[Answer]:
        """Return one answer for all leaves of which the same is known, where something is wrong with them."""
        return join([a for a in self._every if a.finding])

    def find_lost_terms(self) -> list[LostTerm]:
        """Return none: what left the graph is not in it."""
        return []

    def find_lost_uses(self) -> list[LostUse]:
        """Return none, for the same reason."""
        return []

    def target_name(self) -> str:
        """Return the name of the loss."""
        return self._loss_name


def join(answers: Sequence[Answer]) -> list[Answer]:
    """Return one answer for all tensors of which the same is known."""
    alike: dict[tuple[Verdict, tuple[str, ...]], list[Answer]] = {}
    for answer in answers:
        alike.setdefault((answer.verdict, answer.said), []).append(answer)
    return [replace(first, also=tuple([a.name for a in rest])) for first, *rest in alike.values()]
