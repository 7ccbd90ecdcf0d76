"""``stats --steps``: gradients over the steps of a training."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

from ..answers.over_time.history import History, HistoryPoint, Track, TrainingStep
from ..answers.over_time.of_programs import ProgramCourse
from ..answers.over_time.of_tape import TapeCourse
from ..answers.over_time.step_events import Happening, happenings
from ..answers.over_time.training_steps import Course
from ..core import source
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.source import Location
from ..core.vocabulary import current
from ..eager.tensor import Tensor
from ..kinds import run_notes
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.passes import GRAD
from ..loading import loader
from ..request.limits import ALL, ENOUGH
from ..request.request import Request
from ..script.calls import frame_names
from ..script.holders import loop_names
from ..script.paths import Walk
from ..script.script_state import Loaded, too_late_error
from .nan import run_steps
from .question import Question

MOST_ROWS = 40
"""Rows that parameters are shown as, each of them, if nobody says what a row is; of more of them, layers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter, or the parameters of a layer together.

    Attributes:
        points: one for each step.
    """

    name: str
    members: Sequence[Track]
    points: Sequence[HistoryPoint | None]

    @property
    def loc(self) -> Location:
        return self.members[0].loc


@dataclass(frozen=True, slots=True)
class Training(Answered):
    """Gradients over the steps of a training.

    Attributes:
        by: what a row is: ``parameter``, or ``layer`` for what lies together below a path.
        folded: whether rows are layers because there are too many parameters.
    """

    about: About
    history: History
    rows: Sequence[Row]
    by: str
    folded: bool
    happenings: Sequence[Happening]

    @property
    def findings(self) -> int:
        """Things that began at a step and are not perhaps meant."""
        return sum(h.wrong for h in self.happenings)

    @property
    def parameters(self) -> list[Track]:
        """Parts of the rows."""
        return [*chain.from_iterable(row.members for row in self.rows)]


class Listening:
    """Listens to both modes while a script runs."""

    def __init__(self) -> None:
        self.tape = TapeCourse(Course(), _tensors_by_name)
        self.programs = ProgramCourse(Course())

    def __enter__(self) -> Listening:
        self._both = [self.tape.listen(), self.programs.listen()]
        for each in self._both:
            each.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        for each in reversed(self._both):
            each.__exit__(*exception)

    def history(self, left: Loaded) -> History:
        """The steps until now, with the names that *left* knows; what happens from here on does not count."""
        ended = _end(left)
        tape, programs = self.tape.course, self.programs.course
        self.tape.course, self.programs.course = Course(), Course()
        if self.programs.has_heard:
            steps = programs.finish()
            return History(steps, _unique(self.programs.all_tracks()), static=True, ended=ended)
        steps = tape.finish()
        tracks = _unique(_tracks(left, self.tape, steps))
        return History(steps, tracks, ended=ended, clearings=self.tape.clearings)

    @property
    def has_heard(self) -> bool:
        """True if there was a backward pass."""
        return self.programs.has_heard or self.tape.course.last > 0


def _must_not_have_asked(left: Loaded) -> None:
    """Raise :class:`CommandError` where a script has gradients computed, but none that a step could be made of."""
    calls = [call for call in left.calls.swept if call.how == GRAD]
    if calls:
        count = sum(call.how == GRAD for call in left.calls.every)
        raise CommandError(
            f"--steps follows gradients of parameters: {current().gradient_of}, called {count} times, the last time at "
            f"{source.short(calls[-1].location)}, gives none that it can follow",
            "remove --steps for the sizes of one pass; gradtool backward --list shows the calls",
        )


def _end(left: Loaded) -> str:
    """Return the message about how the script ended, if that was not at its end."""
    if left.error is not None:
        return str(left.error).splitlines()[0]
    return "" if left.calls.stopped is None else "; ".join(run_notes.describe_stop(left.calls))


def _tensors_by_name() -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors in the user's functions that are running, by name, the innermost first."""
    walk = Walk()
    for names in reversed(frame_names(sys._getframe(1))):
        tensors = walk.tensors(names.values, loop_names(names.code))
        yield from ((path, t) for path, t in tensors if isinstance(t, Tensor))


def _tracks(left: Loaded, tape: TapeCourse, steps: Iterable[TrainingStep]) -> list[Track]:
    """All tracks in the order of the model, under their Python names; parameters that never got a gradient, too."""
    from ..kinds.tape.finding import entries_in

    tracks: dict[Track, None] = {}
    entries = entries_in(left)
    shown = [e.display_name for e in entries]
    for entry in entries:
        leaf = entry.tensor._leaf
        track = tape.tracks.get(leaf) if leaf is not None else None
        if track is None and entry.is_parameter:
            t = entry.tensor
            track = Track(entry.display_name, tuple(t.array.shape), t.loc, listed=True)
        if track is not None:
            track.name = entry.display_name if shown.count(entry.display_name) == 1 else entry.name
            tracks[track] = None
    for step in steps:
        tracks.update(dict.fromkeys(step.points))
    if not any(t.listed for t in tracks):
        for track in tracks:  # no parameter, and nothing was updated: gradients of data are what there is
            track.listed = True
    return [t for t in tracks if t.listed]


def _unique(tracks: Iterable[Track]) -> list[Track]:
    """The tracks, numbered where several have one name."""
    seen: dict[str, int] = {}
    listed = list(tracks)
    for track in listed:
        number = seen[track.name] = seen.get(track.name, 0) + 1
        if number > 1:
            track.name = f"{track.name} ({number})"
    return listed


@dataclass(frozen=True, kw_only=True)
class OverTime(Question[Training]):
    """Kind of rows, and the length of the watch.

    Attributes:
        by: ``parameter`` or ``layer``; None for parameters, or layers where there are many.
        steps: after so many backward passes the file is stopped; None for the usual number.
    """

    by: str | None = None
    steps: int | None = None

    needs: ClassVar = {"unfinished": True}

    def ask(self, request: Request, notes: Notes = SILENT) -> Training:
        """As in the base; the file is listened to while it runs."""
        if self.by not in (None, "parameter", "layer"):
            raise CommandError(f"--by {self.by}: over time a row is a parameter or a layer")
        request = self.adapt(request).change(steps=self.steps or request.run.steps)
        with Listening() as listening, loader.run_model(request, notes) as left:
            left.must_run("stats --steps")
            if not listening.has_heard:
                run_steps(left, ENOUGH if self.steps in (None, ALL) else self.steps)
            history = listening.history(left)
            if left.error is not None and not history.steps:
                raise left.error from left.error.__cause__
            if not history.steps:
                _must_not_have_asked(left)
            mode = "static" if history.static else "eager"
            return self.training(About(left.name, mode, request.words(), scope=run_notes.scope_of(left)), history)

    def training(self, about: About, history: History) -> Training:
        """The answer about a training that was listened to.

        Raises:
            CommandError: there was none.
        """
        if not history.steps:
            raise CommandError(
                f"--steps: {about.name} runs no backward pass itself, and has no function step()",
                "remove --steps for the sizes of one pass, or put the loop into the file",
            )
        by, depth = self._row_kind([t.name for t in history.tracks])
        groups: dict[str, list[Track]] = {}
        for track in history.tracks:
            groups.setdefault(_group(track.name, by, depth), []).append(track)
        rows = [_row(name, members, history) for name, members in groups.items()]
        return Training(about, history, rows, by, self.by is None and by == "layer", happenings(history))

    def answer(self, model: Model, notes: Notes = SILENT) -> Training:
        """Refused: a model that is loaded has been trained before it could be watched."""
        raise too_late_error("stats --steps", model.name)

    def _row_kind(self, names: Sequence[str]) -> tuple[str, int | None]:
        """Return the kind of row, and how many parts of paths are left; None for all but the last."""
        if self.by is not None or len(names) <= MOST_ROWS:
            return self.by or "parameter", None
        layers = {name.rpartition(".")[0] or name for name in names}
        if len(layers) <= MOST_ROWS:
            return "layer", None
        deepest = max(name.count(".") for name in layers)
        sizes = {d: len({_group(n, "layer", d) for n in names}) for d in range(1, deepest + 1)}
        fitting = [d for d, size in sizes.items() if size <= MOST_ROWS]
        depth = max(fitting, default=1)
        if sizes.get(depth, 1) <= 2:
            depth += 1  # one row for everything says nothing: rather too many
        return "layer", depth


def _group(name: str, by: str, depth: int | None) -> str:
    """The row that a parameter belongs to."""
    if by == "parameter":
        return name
    layer = name.rpartition(".")[0] or name
    return layer if depth is None else ".".join(layer.split(".")[:depth])


def _row(name: str, members: Sequence[Track], history: History) -> Row:
    if len(members) == 1:
        return Row(name, members, history.points(members[0]))
    together = zip(*map(history.points, members), strict=True)
    joined: list[HistoryPoint | None] = []
    for points in together:
        there = [p for p in points if p is not None]
        joined.append(HistoryPoint.join(there) if there else None)
    return Row(name, members, joined)
