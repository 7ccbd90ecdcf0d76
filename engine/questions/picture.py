"""``graph``: what a picture of a model shows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..core import watch
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..eager.tape import finite
from ..kinds.about import About, ModelGraph
from ..kinds.measuring import Stopwatch
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.options import Cuts
from ..request.request import Request
from ..script.script_state import Loaded
from .question import Question


@dataclass(frozen=True, slots=True)
class PictureAnswer:
    """Options of a picture.

    Attributes:
        values: id in the view -> what was measured.
    """

    about: About
    graph: ModelGraph
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Drawn(Cuts, Question[PictureAnswer]):
    """Subject of the picture.

    Attributes:
        measure: ``norm``, ``time`` or ``bytes``, for fills that say them.
        feed: a file of arrays to feed where a program is run for that.
        full_stacks: note whole call stacks.
    """

    measure: str | None = None
    feed: str | None = None
    full_stacks: bool = False

    def ask(self, request: Request, notes: Notes = SILENT) -> PictureAnswer:
        """As in the base."""
        request = request.change(
            full_stacks=self.full_stacks, journal=True, unfinished=True, feed=self.feed or request.inputs.feed
        )
        gradients = _Gradients()
        with (
            watch.watch(tensors=gradients),
            _time(self.measure == "time") as stopwatch,
            loader.run_model(request, notes) as left,
            watch.pause_watchers(),
        ):
            model = opening.model_in(left, request)
            picture = self._draw(model, stopwatch, notes)
            values_are = all(map(math.isfinite, picture.values.values()))
            is_finite = values_are and gradients.are_finite(model) and model.is_finite()
        number = _number(left, model)
        return picture if is_finite else self._mark_births(picture, request, number, notes)

    def answer(self, model: Model, notes: Notes = SILENT) -> PictureAnswer:
        """As in the base; times are those of runs of a program."""
        return self._draw(model, None, notes)

    def _draw(self, model: Model, stopwatch: Stopwatch | None, notes: Notes) -> PictureAnswer:
        graph = model.draw(self, notes)
        values = {} if self.measure is None else model.measure(self.measure, self.feed, stopwatch, notes)
        return PictureAnswer(model.about, graph, values)

    def _mark_births(self, picture: PictureAnswer, request: Request, number: int | None, notes: Notes) -> PictureAnswer:
        """The picture with the place marked where NaN or infinity was born, which a search finds in one more run.

        Args:
            number: of the backward pass that is drawn; None where the file ran none.
        """
        from .births import mark
        from .nan import Nan

        feed = self.feed if picture.about.mode == "static" else None
        try:
            births = Nan(feed=feed).ask(replace(request, backward=None if number is None else str(number)))
        except (CommandError, GradtoolError) as error:
            notes.note(f"it holds NaN or infinity; where they were born is not known: {error}")
            return picture
        return replace(picture, graph=replace(picture.graph, view=mark(picture.graph.view, births, notes)))


class _Gradients:
    """Notes of backward passes, while a file runs, whether they gave NaN or infinity: few keep their gradients."""

    def __init__(self) -> None:
        self._root: Any = None
        self._bad: list[Any] = []

    def __call__(self, event: Any) -> bool:
        """A watcher of tensors."""
        if isinstance(event, watch.Added):
            self._root = event.root
        elif isinstance(event, watch.Filled) and not finite(leaf.grad for leaf in event.leaves):
            self._bad.append(self._root)
        return False

    def are_finite(self, model: Model) -> bool:
        """Return whether the pass from the loss of *model* gave neither."""
        return not any(root is getattr(model, "loss", None) for root in self._bad if root is not None)


def _number(left: Loaded, model: Model) -> int | None:
    """The number of the backward pass that is drawn, from 1; None where the file ran none from this loss."""
    call = left.calls.target_pass() if model.computes_while_loading else None
    return None if call is None or call.loss is not getattr(model, "loss", None) else call.number


@contextlib.contextmanager
def _time(wanted: bool) -> Iterator[Stopwatch | None]:
    """In dynamic mode the file itself runs the forward pass: whoever wants to know its times listens to that."""
    if not wanted:
        yield None
        return
    stopwatch = Stopwatch()
    with watch.watch(stopwatch):
        yield stopwatch
