"""``--backward each``: one question about every distinct backward pass that a file asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.progress import count
from ..kinds.passes import LineOfCalls
from ..request.request import Request
from ..script import effects
from .calls import distinct
from .question import Question

A = TypeVar("A")


def answers(
    question: Question[A], request: Request, notes: Notes = SILENT
) -> Iterator[tuple[LineOfCalls, A | CommandError | GradtoolError]]:
    """The passes of each line, with the answer about the last of them, or why there is none.

    The file runs once to list them and once for each: what one answer computes is then nothing to the next.

    Raises:
        CommandError: the file asks for no backward pass.
        ModelError: it raised before it did.
    """
    for line in count("distinct backward passes", distinct(request, notes)):
        try:
            with effects.run_because("--backward each asks about one pass after the other"):
                answer = question.ask(replace(request, backward=str(line.last)), notes)
            yield line, answer
        except (CommandError, GradtoolError) as error:
            yield line, error
