"""Judgements of rows: ``why`` decides whether one is a finding, for every question about gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..answers.why.answers import Answer
from ..kinds.model import Model
from ..request.options import Cuts
from .why import Why


def question(cuts: Cuts, **how: Any) -> Why:
    """Return the question for ``why`` about a model.

    Args:
        how: the other options of :class:`~gradtool.engine.questions.why.Why`.
    """
    return Why(params=cuts.params, no_grad=cuts.no_grad, **how)


def judge(model: Model, cuts: Cuts, **how: Any) -> Sequence[Answer]:
    """Return the answers of ``why`` about a model that is loaded; nothing where nobody watched it compute.

    All of it: a parameter that no optimizer holds, or a gradient that is never cleared, has numbers that look well.

    Args:
        how: the other options of :class:`~gradtool.engine.questions.why.Why`.
    """
    if not model.is_watched:
        return ()
    case = model.case(question(cuts, **how))
    answers: Sequence[Answer] = model.call(case.answers)  # operators of the user's own run again
    return answers
