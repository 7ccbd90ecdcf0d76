"""The losses of a file that a question about one of them leaves out, and what ``why`` finds about these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradtool.engine.core.errors import GradtoolError

from .errors import CommandError
from .notes import SILENT, Notes

if TYPE_CHECKING:
    from .loaded import Loaded
    from .request import Request


@dataclass
class Other:
    """The last backward pass of another line of the file.

    Attributes:
        loss: what the user's code calls the loss; where it has no name, the line of the call.
        number: what ``--backward`` takes.
        findings: how many there are about it; None as long as nobody has looked.
        refused: why it could not be looked at, where somebody tried.
        has_own_rules: whether gradients of it come from rules of the user's own.
    """

    loss: str
    number: int
    findings: int | None = None
    refused: CommandError | GradtoolError | None = None
    has_own_rules: bool = False

    def data(self) -> dict[str, Any]:
        """The pass in JSON's types."""
        return {"loss": self.loss, "backward": self.number, "findings": self.findings}


def others(left: Loaded, request: Request) -> tuple[list[Other], list[Other]]:
    """Return the passes that nobody asked about, and those that count together with the one that is asked about.

    There are none where the request says which pass is meant.
    """
    if request.backward is not None or request.loss is not None or left.live:
        return [], []
    from .questions.calls import calls_of

    step = {call.number for call in left.calls.of_step()} if left.calls.swept else set()
    passes = calls_of(left, request).others()
    return [other for other in passes if other.number not in step], [other for other in passes if other.number in step]


def look_at(passes: Sequence[Other], request: Request, feed: str | None = None, notes: Notes = SILENT) -> None:
    """Ask ``why`` about passes that were left out: the file runs once for each.

    Args:
        request: what was asked about.
        feed: a file of arrays to feed to a program.
    """
    from .questions.why import Why

    for other in passes:
        if other.findings is not None:
            continue
        try:
            answer = Why(feed=feed).ask(replace(request, backward=str(other.number)), notes)
        except (CommandError, GradtoolError) as error:
            other.refused = error
        else:
            other.findings = answer.findings
