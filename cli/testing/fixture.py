"""The fixture ``gradients``: what a test claims of its losses, and what the commands answer about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gradtool.engine.kinds.gradients import GradientTable
from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.nan import Births
from gradtool.engine.questions.question import Question
from gradtool.engine.questions.stats import Sizes, Stats
from gradtool.engine.questions.why import Verdicts, Why

from . import assertions, losses

A = TypeVar("A")


class GradientsFixture:
    """Ask about losses that a test computes; a test that takes the fixture is watched with its fixtures."""

    assert_all_parameters_get_gradients = staticmethod(assertions.assert_all_parameters_get_gradients)
    assert_no_nan = staticmethod(assertions.assert_no_nan)
    assert_gradcheck = staticmethod(assertions.assert_gradcheck)
    assert_graph_matches = staticmethod(assertions.assert_graph_matches)

    def backward(self, loss: Any, *, feed: Mapping[str, Any] | None = None, **words: Any) -> GradientTable:
        """The table of ``gradtool backward``; the words are the fields of its question."""
        return _answer(loss, Backward(**{"run": True, **words}), feed)

    def why(self, loss: Any, *variables: str, feed: Mapping[str, Any] | None = None, **words: Any) -> Verdicts:
        """Return the verdicts of ``gradtool why`` about some tensors, or about all parameters."""
        return _answer(loss, Why(variables=variables, **words), feed)

    def stats(self, loss: Any, *, feed: Mapping[str, Any] | None = None, **words: Any) -> Sizes:
        """Sizes of gradients, as ``gradtool stats``."""
        return _answer(loss, Stats(**words), feed)

    def nan(self, loss: Any, *, feed: Mapping[str, Any] | None = None) -> Births:
        """Return the places where NaN and infinity are born, as ``gradtool nan``."""
        with losses.request_for(loss, feed) as (holder, request):
            return holder.births_of(request)


def _answer(loss: Any, question: Question[A], feed: Mapping[str, Any] | None) -> A:
    with losses.request_for(loss, feed) as (_, request):
        return question.ask(request)
