"""``graph``: what a picture of a model shows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gradtool.engine.core import watch

from .. import loader, opening
from ..loader import Request
from ..measuring import Stopwatch
from ..model import About, Graph, Model
from ..notes import SILENT, Notes
from .cuts import Cuts
from .question import Question


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn.

    Attributes:
        values: id in the view -> what was measured.
    """

    about: About
    graph: Graph
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Drawn(Cuts, Question[Picture]):
    """What the picture is of.

    Attributes:
        measure: ``norm``, ``time`` or ``bytes``, for fills that say them.
        feed: a file of arrays to feed where a program is run for that.
        full_stacks: note whole call stacks.
    """

    measure: str | None = None
    feed: str | None = None
    full_stacks: bool = False

    def ask(self, request: Request, notes: Notes = SILENT) -> Picture:
        """As in the base."""
        request = replace(request, full_stacks=self.full_stacks, journal=True, unfinished=True)
        with _timed(self.measure == "time") as stopwatch, loader.executed(request, notes) as left, watch.unwatched():
            return self._of(opening.model_in(left, request), stopwatch, notes)

    def answer(self, model: Model, notes: Notes = SILENT) -> Picture:
        """As in the base; times are those of runs of a program."""
        return self._of(model, None, notes)

    def _of(self, model: Model, stopwatch: Stopwatch | None, notes: Notes) -> Picture:
        graph = model.drawn(self, notes)
        values = {} if self.measure is None else model.measured(self.measure, self.feed, stopwatch, notes)
        return Picture(model.about, graph, values)


@contextlib.contextmanager
def _timed(wanted: bool) -> Iterator[Stopwatch | None]:
    """In dynamic mode the file itself runs the forward pass: whoever wants to know its times listens to that."""
    if not wanted:
        yield None
        return
    stopwatch = Stopwatch()
    with watch.watched(stopwatch):
        yield stopwatch
