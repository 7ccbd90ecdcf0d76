"""Signs that someone wanted a parameter to get no gradient at the backward call in question.

Nothing is known of motives. What is known is what else the program does with the parameter: that another backward call
gives it a gradient, or that no optimizer holds it although there is one. Verdicts of every command come by here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Generic

from ...core import source
from ...core.source import Location
from .answers import Answer
from .case import TensorSubject
from .reasons import V
from .verdicts import Verdict


class IntentEvidence(ABC, Generic[V]):
    """Facts about other uses that a program makes of its parameters."""

    @abstractmethod
    def elsewhere(self, subject: TensorSubject[V]) -> Location | None:
        """Return the line where another backward call gives it a gradient."""

    @abstractmethod
    def is_behind_others(self, subject: TensorSubject[V]) -> bool:
        """Return whether the loss of another backward call is computed from it, with or without a gradient."""

    @abstractmethod
    def describe_omission(self, subject: TensorSubject[V]) -> str:
        """Return the words about a parameter that was there when lists were made and that is in none.

        Otherwise empty.
        """


def judge_intent(evidence: IntentEvidence[V], subject: TensorSubject[V], answer: Answer) -> Answer:
    """*answer*, which is no finding if the program shows that the missing gradient is meant."""
    is_leaf = getattr(subject.held, "node", subject) is None
    verdict = answer.verdict
    if not (subject.is_parameter or is_leaf) or not (
        verdict.is_cut or verdict.is_apart or verdict is Verdict.NOT_LISTED
    ):
        return answer
    other = evidence.elsewhere(subject)
    if other is not None:
        said = f"another backward call gives it a gradient: {source.short(other)}"
        return replace(answer, finding=False, said=(*answer.said, said), advice="")
    # What a target is computed from is cut off: a teacher's classes are an argmax, or a loss's label.
    is_target = verdict.is_cut or (verdict is Verdict.NO_PATH and evidence.is_behind_others(subject))
    left_out = evidence.describe_omission(subject) if is_target else ""
    if left_out:
        return replace(answer, finding=False, said=(*answer.said, left_out), advice="")
    return answer
