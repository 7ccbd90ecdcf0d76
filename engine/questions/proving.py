"""``--prove``: run the model again with the smallest change that connects a tensor, and look at its gradient."""

from __future__ import annotations

import dataclasses

from ..answers.why.answers import Answer
from ..answers.why.verdicts import Verdict
from ..core.command_errors import CommandError
from ..core.notes import SILENT
from ..core.vocabulary import say
from ..request.request import Request
from ..script import effects
from .why import Why, open_case


def leave_unproved(answer: Answer) -> Answer:
    """*answer*, one of so many that running the model again for each would take too long."""
    if not answer.verdict.row.without:
        return answer
    return dataclasses.replace(answer, proved=f"not proved: ask for it by name, gradtool why {answer.name} --prove")


def prove(answer: Answer, request: Request, asked: Why) -> Answer:
    """*answer* with what the gradient is without the cut, where taking out a cut is what it takes."""
    if not answer.verdict.row.without:
        if answer.has_gradient or answer.verdict.is_zero:
            return answer
        return dataclasses.replace(answer, proved="not proved: no single change of the graph connects it")
    again = request.change(spared=answer.cut_lines)
    changed = dataclasses.replace(asked, variables=(answer.name,), no_run=False)
    if answer.verdict is Verdict.NO_GRAD_SET:
        changed = dataclasses.replace(changed, no_grad=())
    try:
        with (
            effects.run_because("--prove takes out what cuts a gradient off"),
            open_case(again, changed, SILENT, lambda model: model.mend(answer)) as mended,
        ):
            if mended.case is None:
                raise CommandError(f"{mended.about.name} raised")
            now = mended.case.answer(mended.case.subjects()[0])
    except CommandError as error:
        return dataclasses.replace(answer, proved=f"not proved: {error}")
    if now.verdict is answer.verdict and now.location[:1] and now.source == answer.source:
        return dataclasses.replace(answer, proved="not proved: no single change of the program connects it")
    if now.gradient is None:
        return dataclasses.replace(answer, proved=f"{say(answer.verdict.row.without)} still: {now.label}, {now.source}")
    shape = "×".join(map(str, answer.shape)) or "[]"
    text = f"{say(answer.verdict.row.without)}: ‖g‖ = {now.gradient.norm:.4g} ({shape})   [proved by running again]"
    return dataclasses.replace(answer, proved=text)
