"""``backward --list``: the backward passes that a file asks for, those of one line together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.command_errors import CommandError
from ..core.notes import SILENT, Notes
from ..kinds.passes import CallList, LineOfCalls, calls_of
from ..loading import loader
from ..request.request import Request


def list_calls(request: Request, notes: Notes = SILENT) -> CallList:
    """Run a file and list its calls; what it raises ends it and is told.

    Raises:
        CommandError: there is no such file, or no call of that number or line.
        ModelError: the file raised before it had asked for a backward pass.
    """
    request = request.change(need_loss=False, unfinished=True)
    with loader.run_model(request, notes) as left:
        if left.error is not None and not left.calls.every:
            raise left.error from left.error.__cause__
        return calls_of(left, request)


def number_of(request: Request) -> int | None:
    """The number of the pass that is asked about; None for the last one. That of a line takes a run of its own."""
    if request.backward is None or request.backward.isdecimal():
        return None if request.backward is None else int(request.backward)
    return list_calls(request).asked


def distinct(request: Request, notes: Notes = SILENT) -> Sequence[LineOfCalls]:
    """The calls that ``--backward each`` asks about, the last one of each line.

    Raises:
        CommandError: there is none.
    """
    calls = list_calls(replace(request, backward=None), notes)
    if not calls.distinct():
        raise CommandError(f"{calls.about.name} asks for no backward pass", "remove --backward each")
    return calls.distinct()
