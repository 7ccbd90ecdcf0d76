"""The case of a step of several backward passes: a tensor lacks a gradient where none of them gave it one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.source import Location
from ...eager.tensor import Tensor
from ..numbers import Numbers
from .answers import Answer
from .case import Subject
from .tensor_case import TensorCase
from .verdicts import Verdict

_APART = (Verdict.UNUSED, Verdict.NO_PATH)


class StepCase(TensorCase):
    """The passes between two updates; set up by :meth:`within`.

    Attributes:
        siblings: the cases of the other passes of the step.
        given: by leaf tensor, the sum of what the passes of its step gave, and the line of the last of them.
    """

    siblings: Sequence[TensorCase] = ()
    given: Mapping[Tensor, tuple[Any, Location]] = {}

    def within(self, siblings: Sequence[TensorCase], given: Mapping[Tensor, tuple[Any, Location]]) -> StepCase:
        """Take the other passes of the step into account from now on."""
        self.siblings, self.given = siblings, given
        return self

    def _answer(self, subject: Subject[int], asked: bool, contributions: bool) -> Answer:
        own = super()._answer(subject, asked, contributions)
        if subject.held.node is not None:
            return own
        others = [case._answer(case.subject(subject.held), asked, contributions) for case in self.siblings]
        return self._of_step(subject, [own, *others])

    def _of_step(self, subject: Subject[int], answers: Sequence[Answer]) -> Answer:
        """The answer about the sum of what the passes gave, from the answers about each."""
        arrived = [a for a in answers if _arrives(a)]
        if arrived:
            return next((a for a in arrived if a.finding), arrived[0])
        array, _ = self.given.get(subject.held, (None, ()))
        if array is not None:
            numbers = Numbers.of(array, orders=False)
            if numbers.norm != 0:
                return self._given_elsewhere(subject, answers[0], numbers)
        # Where a gradient came and is zero more is known than where none came, and the least of what is not used.
        return max(answers, key=lambda a: (a.finding, a.verdict.is_zero, a.verdict not in _APART, a.verdict.value))

    def _given_elsewhere(self, subject: Subject[int], answer: Answer, numbers: Numbers) -> Answer:
        """The answer about a tensor that a pass of its step gave a gradient whose graph is gone."""
        plain = Answer(
            *(answer.name, answer.tensor, answer.shape, answer.dtype, answer.is_parameter),
            *(Verdict.OK, Verdict.OK.value, False),
            gradient=numbers,
        )
        if numbers.nonfinite:
            plain = replace(plain, verdict=Verdict.NOT_FINITE, label=numbers.state, finding=True)
        return self._not_listed(subject, plain) or plain


def _arrives(answer: Answer) -> bool:
    """Whether a gradient that is not zero comes to a tensor, whatever happens to it then."""
    if answer.gradient is not None and answer.gradient.norm and not answer.verdict.is_zero:
        return True
    return answer.has_gradient
