"""The findings of ``why`` about losses that a question about another one leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ..core import watch
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..kinds.other_losses import Other
from ..kinds.passes import others
from ..loading import loader, opening
from ..loading.snapshots import restore_programs
from ..request.request import Request
from ..script import effects, model_output
from ..script.script_state import Loaded
from .why import Verdicts, Why, case_in


class OtherLosses:
    """Answers about the losses that a question leaves out.

    Those of programs come of the run that the question has been answered from; for another pass of dynamic mode the
    file runs once more, as the graph of that pass is gone.

    Args:
        request: what is asked about.
        feed: a file of arrays to feed to a program.
    """

    def __init__(self, request: Request, feed: str | None = None) -> None:
        self._request, self._why = request, Why(feed=feed)
        self._known: dict[int, Verdicts | CommandError | GradtoolError] = {}

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, the question is asked."""
        with loader.read_at_end(self._read):
            yield

    def _read(self, left: Loaded) -> None:
        """Answer about the other losses of the programs that a file left behind."""
        left_out, _ = others(left, self._request)
        for other in left_out:
            request = self._make_request(other)
            if not opening.is_of_program(left, request):
                continue
            with restore_programs(left), model_output.mute(), watch.pause_watchers(), opening.mean(left, request):
                try:
                    self._known[other.number] = case_in(left, request, self._why, SILENT).verdicts(self._why, SILENT)
                except (CommandError, GradtoolError) as error:
                    self._known[other.number] = error

    def look_at(self, passes: Sequence[Other], notes: Notes = SILENT) -> None:
        """Ask ``why`` about passes that were left out."""
        for other in passes:
            if other.findings is not None or other.refused is not None:
                continue
            answer = self._known.get(other.number)
            if answer is None:
                try:
                    with effects.run_because(f"the graph of another loss, {other.loss}, is gone when the file ends"):
                        answer = self._why.ask(self._make_request(other), notes)
                except (CommandError, GradtoolError) as error:
                    answer = error
            if isinstance(answer, Verdicts):
                other.findings = answer.findings
            else:
                other.refused = answer

    def _make_request(self, other: Other) -> Request:
        return self._why.adapt(replace(self._request, backward=str(other.number)))
