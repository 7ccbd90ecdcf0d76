"""Parameters that nothing reads, while the loss is computed from a deep copy of them."""

from __future__ import annotations

from dataclasses import replace

from ...core import source
from ...core.vocabulary import say
from .answers import Answer
from .case import TensorSubject
from .of_journal import JournalReasons
from .verdicts import Verdict


def name_copy(reasons: JournalReasons, subject: TensorSubject[int], answer: Answer) -> Answer:
    """Return *answer* with the copy that the loss was computed from, if the parameter is unused for that reason."""
    if answer.verdict is not Verdict.UNUSED:
        return answer
    copies = reasons.flow.journal.copies.get(subject.value, ())
    used = next((c for c in reversed(copies) if reasons.explain(c.made).verdict is Verdict.OK), None)
    if used is None:
        return answer
    at = source.short(used.loc)
    made = f"the loss was computed with a deep copy of it, made at {at}"
    said = f"{made}, and no gradient goes from a copy to what it copies"
    return replace(
        answer,
        said=(said,),
        places=(*answer.places, ("copied", used.loc)),
        advice=say("{from_copies}"),
    )
