"""Answers about errors of backward that have two sides: who wrote and who read, who freed and who came again."""

from __future__ import annotations

from ...core.source import Location
from ...eager.tape import FreedGraphError, InplaceError
from .answers import Answer
from .verdicts import Verdict


def explained(error: FreedGraphError | InplaceError, raised: Location) -> Answer:
    """The answer about *error*.

    Args:
        raised: the user's line that raised it.
    """
    if isinstance(error, InplaceError):
        return Answer(
            "backward",
            "",
            (),
            "",
            False,
            Verdict.OVERWRITTEN,
            Verdict.OVERWRITTEN.value,
            True,
            said=(f"{error.writer} overwrote in place what the gradient of {error.type} needs",),
            location=error.written,
            places=(("writer", error.written), ("reader", error.reader), ("backward", raised)),
            advice="edit a copy (x.clone()), or use the operator that makes a new tensor",
        )
    return Answer(
        "backward",
        "",
        (),
        "",
        False,
        Verdict.FREED,
        Verdict.FREED.value,
        True,
        said=(f"the first backward freed what {error.type} had retained, and the second one needs it",),
        location=error.freed,
        places=(("freed by", error.freed), ("needed by", raised), ("made at", error.reader)),
        advice="retain_graph=True in the first backward, or compute the shared part anew for each",
    )
