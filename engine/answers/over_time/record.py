"""Record of the fate of each gradient in every step: an answer about the last one is no answer about a training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...core.records import dataclass
from ..why.answers import GRAD_NONE, Answer
from .history import History, HistoryPoint
from .step_events import count_trailing, longest

MISSING, ZERO = "no gradient", "a zero gradient"


@dataclass(frozen=True, slots=True)
class FailureCourse:
    """The course of a failure of the last step over the steps before.

    Attributes:
        since: the first step of those at the end that have it.
        times: how many steps have it.
        total: how many steps there are; of a gradient that is zero, those that have one.
        comes_and_goes: whether it went away by itself before, or never lasted.
    """

    what: str
    since: int
    times: int
    total: int
    comes_and_goes: bool

    @property
    def sentence(self) -> str:
        """The steps that it is about."""
        if self.times == self.total:
            return ""
        if self.comes_and_goes:
            where = f"in step {self.since} alone" if self.times == 1 else f"in {self.times} of {self.total} steps"
            return f"{self.what} {where}: the others have one"
        before = "step 1" if self.since == 2 else f"steps 1 to {self.since - 1}"
        return f"{self.what} from step {self.since} of {self.total} on: {before} gave one"


class Record:
    """The states of gradients over the steps of a training.

    Args:
        history: the training; without updates there are no steps to compare.
    """

    def __init__(self, history: History) -> None:
        steps = history.steps
        if history.is_update and not steps[-1].updates:
            steps = steps[:-1]  # passes that no update has followed
        self._steps = steps if history.is_update else []
        self._tracks = {track.name: track for track in history.tracks}

    def judge(self, answers: Iterable[Answer]) -> list[Answer]:
        """Return answers about the last step with the steps that they hold for; what comes and goes is no finding."""
        if len(self._steps) < 2:
            return list(answers)
        judged = [part for answer in answers for part in self._parts(answer)]
        return sorted(judged, key=lambda answer: not answer.finding)

    def _parts(self, answer: Answer) -> Iterator[Answer]:
        """The answer, in one part for each course that its tensors have."""
        what = ZERO if answer.verdict.is_zero else MISSING if answer.state == GRAD_NONE else ""
        if not answer.finding or not what:
            yield answer
            return
        parts: dict[tuple[str, bool], list[str]] = {}
        for name in (answer.name, *answer.also):
            parts.setdefault(self._words(name, what), []).append(name)
        for (said, comes_and_goes), (first, *others) in parts.items():
            part = answer if first == answer.name else replace(answer, name=first, path=(), cut="")
            part = replace(part, also=tuple(others))
            is_finding = not comes_and_goes and not answer.fed
            yield replace(part, finding=is_finding, said=(*part.said, said)) if said else part

    def _words(self, name: str, what: str) -> tuple[str, bool]:
        """Return the steps that a failure is about, empty where it is all of them, and whether it comes and goes."""
        course = self._course(name, what)
        said = "" if course is None else course.sentence
        return said, course is not None and bool(said) and course.comes_and_goes

    def _course(self, name: str, what: str) -> FailureCourse | None:
        track = self._tracks.get(name)
        if track is None:
            return None
        points = [(step.number, step.points.get(track)) for step in self._steps]
        if what is ZERO:  # steps without a gradient say nothing of one that is zero whenever it is there
            points = [(number, point) for number, point in points if point is not None]
        flags = [_has(point, what) for _, point in points]
        run = count_trailing(flags)
        if not run:
            return None
        before = longest(flags[: len(flags) - run])
        least = 2 if what is MISSING else 1
        passing = run < len(flags) and run < max(least, 2 * before)
        return FailureCourse(what, points[len(flags) - run][0], sum(flags), len(flags), passing)


def _has(point: HistoryPoint | None, what: str) -> bool:
    """Return whether a gradient of a step is missing, or there and zero; one that is missing is no zero."""
    return point is None if what is MISSING else point is not None and point.gradient.all_zero
