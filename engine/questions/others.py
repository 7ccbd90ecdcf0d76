"""The findings of ``why`` about losses that a question about another one leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..kinds.others import Other
from ..request.request import Request
from .why import Why


def look_at(passes: Sequence[Other], request: Request, feed: str | None = None, notes: Notes = SILENT) -> None:
    """Ask ``why`` about passes that were left out: the file runs once for each.

    Args:
        request: what was asked about.
        feed: a file of arrays to feed to a program.
    """
    for other in passes:
        if other.findings is not None:
            continue
        try:
            answer = Why(feed=feed).ask(replace(request, backward=str(other.number)), notes)
        except (CommandError, GradtoolError) as error:
            other.refused = error
        else:
            other.findings = answer.findings
