"""The case of a step of several backward passes: a tensor lacks a gradient where none of them gave it one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ...core import source
from ...core.identity import identity
from ...core.source import NOWHERE, Location
from ...eager.recorded_calls import leaves_behind, nodes_behind
from ...eager.tensor import Leaf, Tensor
from ..numbers import Numbers
from .answers import Answer
from .case import TensorSubject
from .dropped_results import DroppedResult
from .flat_values import FlatValue
from .lost_uses import LostUse
from .tensor_case import TensorCase
from .terms import LostTerm
from .verdicts import Verdict

_ROUNDING = 100
"""By how much what several passes gave is larger than what rounding left of one of them, if it is no rounding."""


class StepCase(TensorCase):
    """The passes between two updates; set up by :meth:`join_step`.

    Attributes:
        siblings: the cases of the other passes of the step.
        given: by leaf tensor, the sum of what the passes of its step gave, and how many these were.
        asked_at: the line of the call that ran the pass.
        gives_nothing: whether the pass gave zeros to all leaves.
    """

    siblings: Sequence[StepCase] = ()
    given: Mapping[Tensor, tuple[Any, int]] = MappingProxyType({})
    asked_at: Location = NOWHERE
    gives_nothing: bool = False

    def join_step(
        self,
        siblings: Sequence[StepCase],
        given: Mapping[Tensor, tuple[Any, int]],
        asked_at: Location = NOWHERE,
        gives_nothing: bool = False,
    ) -> StepCase:
        """Take the other passes of the step into account from now on."""
        self.siblings, self.given = siblings, given
        self.asked_at, self.gives_nothing = asked_at, gives_nothing
        return self

    def answers(self) -> list[Answer]:
        told = super().answers()
        if self.siblings:
            for case in (self, *self.siblings):
                told += case.judge_zeros()
        return told

    def find_lost_uses(self) -> list[LostUse]:
        cases = (self, *self.siblings)
        return list(dict.fromkeys(use for case in cases for use in super(StepCase, case).find_lost_uses()))

    def find_lost_terms(self) -> list[LostTerm]:
        cases = (self, *self.siblings)
        return list(dict.fromkeys(term for case in cases for term in super(StepCase, case).find_lost_terms()))

    def find_dropped(self) -> list[DroppedResult]:
        cases = (self, *self.siblings)
        return list(dict.fromkeys(dropped for case in cases for dropped in super(StepCase, case).find_dropped()))

    def find_flat_values(self) -> list[FlatValue]:
        cases = (self, *self.siblings)
        return list(dict.fromkeys(flat for case in cases for flat in super(StepCase, case).find_flat_values()))

    def judge_zeros(self) -> list[Answer]:
        """The findings about this pass alone, where it gave zeros and nothing else."""
        if not self.gives_nothing:
            return []
        alone = StepCase(
            *(self.journal, self.loss, self.loss_name, list(self.names.values()), self.constants),
            start=self.start,
        ).join_step((), {}, self.asked_at)
        said = f"this is about the backward call at {source.short(self.asked_at)}, which gives only zeros"
        found = [a for a in alone.answers() if a.finding and a.verdict.is_zero]
        return [replace(a, said=(*a.said, said)) for a in found]

    def _answer(self, subject: TensorSubject[int], asked: bool, contributions: bool) -> Answer:
        own = self._judge_start(subject, super()._answer(subject, asked, contributions))
        if subject.held.node is not None:
            return own
        others = [case._answer(case.subject(subject.held), asked, contributions) for case in self.siblings]
        return self._judge_step(subject, [own, *others])

    def _judge_start(self, subject: TensorSubject[int], answer: Answer) -> Answer:
        """*answer*, where the gradients that backward was given are the cause, or the inputs that it was asked for."""
        t: Tensor = subject.held
        inputs = self.start.inputs
        if inputs is not None and t.is_leaf and t.leaf not in inputs and not answer.has_gradient:
            label = f"not in the inputs of backward, {source.short(self.asked_at)}"
            return _plain(answer, Verdict.FROZEN, label, False)
        if answer.verdict is Verdict.NOT_FINITE and not all(map(_is_finite, self.start.gradients)):
            return replace(answer, location=self.asked_at, said=("the gradient passed to backward is not finite",))
        if self._zeros and (answer.verdict is Verdict.OK or answer.verdict.is_zero) and self._gets_given_zeros(t):
            said = "the gradient passed to backward there is zero"
            plain = _plain(answer, Verdict.TIMES_ZERO, "zero: the gradient given is zero", True)
            # The script may give zeros for a reason of its own: nothing that was tested is known to help.
            return replace(plain, location=self.asked_at, said=(said,), advice="")
        return answer

    @cached_property
    def _zeros(self) -> list[Tensor]:
        """The roots that were given a gradient of zeros."""
        return [t for t, g in self.start.pairs() if g is not None and g.size and not np.any(g)]

    def _gets_given_zeros(self, t: Tensor) -> bool:
        """Return whether gradients come to *t* from roots alone that were given zeros."""
        return t._leaf is not None and t._leaf in self._zero_leaves

    @cached_property
    def _zero_leaves(self) -> set[Leaf]:
        zeros = {identity(t) for t in self._zeros}
        others = [t for t in self.start.differentiated if identity(t) not in zeros]
        live = set(leaves_behind(others, nodes_behind(others)))
        return set(leaves_behind(self._zeros, nodes_behind(self._zeros))) - live

    def _judge_step(self, subject: TensorSubject[int], answers: Sequence[Answer]) -> Answer:
        """The answer about the sum of what the passes gave, from the answers about each."""
        arrived = [a for a in answers if _arrives(a)]
        array, passes = self.given.get(subject.held, (None, 0))
        if arrived:
            answer = next((a for a in arrived if a.finding), arrived[0])
            is_sum = passes > 1 and answer.gradient is not None
            return replace(answer, gradient=Numbers.measure(array, orders=False)) if is_sum else answer
        zeros = [a for a in answers if a.verdict.is_zero]
        if array is not None and passes > len(zeros):
            numbers = Numbers.measure(array, orders=False)
            rounding = max((a.gradient.norm for a in zeros if a.gradient is not None), default=0.0)
            if not numbers.norm <= _ROUNDING * rounding:
                return self._judge_sum(subject, answers[0], numbers)
        if self.loss.stop_gradient and answers[0].finding:
            return answers[0]  # a loss without a graph comes before what other losses are meant to leave out
        return max(answers, key=lambda a: (a.finding, a.verdict.rank))

    def _judge_sum(self, subject: TensorSubject[int], answer: Answer, numbers: Numbers) -> Answer:
        """The answer about a tensor that a pass of its step gave a gradient whose graph is gone."""
        plain = replace(_plain(answer, Verdict.OK, Verdict.OK.text, False), gradient=numbers)
        if numbers.nonfinite:
            plain = replace(plain, verdict=Verdict.NOT_FINITE, label=numbers.state, finding=True)
        return self._fates.judge_list(subject, plain) or plain


def _plain(answer: Answer, verdict: Verdict, label: str, finding: bool) -> Answer:
    """Another answer about the tensor of *answer*, without what that says."""
    about = (answer.name, answer.tensor, answer.shape, answer.dtype, answer.is_parameter)
    return Answer(*about, verdict, label, finding, gradient=answer.gradient)


def _is_finite(gradient: Any) -> bool:
    return gradient is None or bool(np.isfinite(gradient).all())


def _arrives(answer: Answer) -> bool:
    """Return whether a gradient that is not zero comes to a tensor, whatever happens to it then."""
    if answer.has_gradient or answer.verdict is Verdict.CLEARED:
        return True
    return answer.gradient is not None and bool(answer.gradient.norm) and not answer.verdict.is_zero
