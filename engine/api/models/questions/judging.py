"""Whether what a table shows is a finding: ``why`` says so, and every question that judges gradients asks it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from gradtool.engine.answers.why.answers import Answer

from ..model import Model
from .cuts import Cuts
from .why import Why


def judged(model: Model, cuts: Cuts, names: Collection[str], **how: Any) -> Sequence[Answer]:
    """What ``why`` says of the parameters of a model that is loaded; nothing where nobody watched it compute.

    Args:
        names: those that people know the parameters by that are looked at.
        how: the other options of :class:`~gradtool.models.questions.why.Why`.
    """
    if not names or not model.watched:
        return ()
    return concerning(names, model.case(Why(params=cuts.params, no_grad=cuts.no_grad, **how)).answers())


def concerning(names: Collection[str], answers: Iterable[Answer]) -> Sequence[Answer]:
    """Those of the answers that are about one of *names*."""
    return [a for a in answers if any(name in names for name in (a.name, *a.also))]
