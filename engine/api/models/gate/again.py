"""What was missing in one run of a file, and may be there in another: layers that are skipped at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict

from .. import seeds
from ..loader import Request
from ..notes import Notes
from ..questions.why import Verdicts, Why

SEEDS = (1, 2)
"""What is added to the seeds of a file, run after run."""

_MOST = 12
"""So many runs show a layer that is skipped three times of four."""

_SKIPPED = (Verdict.UNUSED, Verdict.NO_PATH)


@contextmanager
def with_seed(by: int, request: Request) -> Iterator[Request]:
    """The request with other seeds, which also the seeds are that the file sets itself."""
    with seeds.shifted(by):
        yield replace(request, seed=request.seed + by)


def steady(answers: Verdicts, asked: Why, request: Request, notes: Notes) -> tuple[Verdicts, list[str]]:
    """The answers without findings about what a run with other seeds reaches, and the names that these were about.

    Only what nothing reads in one run is asked about again: as often as is useful where the first runs show that some
    of it comes and goes.
    """
    suspects = {n for a in answers if _is_skipped(a) for n in (a.name, *a.also)}
    left = set(suspects)
    for by in range(1, _MOST + 1):
        if not left or (by > len(SEEDS) and left == suspects):
            break
        with with_seed(by, request) as other:
            left &= {n for a in asked.ask(other, notes) if _is_skipped(a) for n in (a.name, *a.also)}
    gone = suspects - left
    if not gone:
        return answers, []
    kept = [x for a in answers if (x := _without(a, gone)) is not None]
    told = Verdicts.of(answers.about, answers.loss, kept, answers.subjects, answers.chosen, answers.failure)
    return told, sorted(gone)


def _is_skipped(answer: Answer) -> bool:
    return answer.finding and answer.is_parameter and answer.verdict in _SKIPPED


def _without(answer: Answer, gone: set[str]) -> Answer | None:
    """*answer* about those of its tensors that are not *gone*; None where it was about no others."""
    if not _is_skipped(answer):
        return answer
    names: Sequence[str] = [n for n in (answer.name, *answer.also) if n not in gone]
    return replace(answer, name=names[0], also=tuple(names[1:])) if names else None
