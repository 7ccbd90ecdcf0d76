"""``diff``: what differs between the graphs of two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.divergence import Divergence, divergence
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.answers.diff.structure import Difference, difference
from gradtool.engine.kernels import choice
from gradtool.engine.view.graph import GraphView

from .. import revisions
from ..answered import Answered
from ..errors import CommandError
from ..loader import Request
from ..notes import SILENT, Notes
from ..sides import graph_of, outline_of, request_of, run_of
from .backward import Backward
from .cuts import Cuts
from .debug import Debug
from .resources import Resources, measured


@dataclass(frozen=True, slots=True)
class Differences(Answered):
    """What differs between two graphs.

    Attributes:
        before, after: the graphs.
        sides: what the command line calls them.
        values: the values of both runs, where they were asked for.
        backward_pass: the number of the pass that they are of, the first one that differs, if there are several.
        graphs: what is drawn of both, where a picture was asked for.
        resources: what one step of each takes, where that was asked for.
    """

    before: Outline
    after: Outline
    difference: Difference
    sides: tuple[str, str]
    values: Divergence | None = None
    backward_pass: int | None = None
    graphs: tuple[GraphView, GraphView] | None = None
    resources: tuple[Resources, Resources] | None = None

    @property
    def golden(self) -> str:
        """The graph of *after* as text that people review and files keep."""
        return golden.write(self.after)

    @property
    def findings(self) -> int:
        """How many changes there are; values that differ without any are one."""
        return len(self.difference.changes) or int(self.values is not None and not self.values.empty)


@dataclass(frozen=True, kw_only=True)
class Diff(Cuts):
    """What is compared: backward parts of the same options.

    Attributes:
        checkpoints: selectors of what backward keeps, of static programs.
        values: run both, with the same seed and feeds, and compare what they compute.
        feed: a file of arrays to feed to both.
        picture: draw both.
        resources: measure what one step of each takes.
        backend: what the kernels of the first side run on; what is in use if None.
        against: what those of the second one run on, *backend* if None; values are compared if it is given.
    """

    checkpoints: tuple[str, ...] = ()
    values: bool = False
    feed: str | None = None
    picture: bool = False
    resources: bool = False
    backend: str | None = None
    against: str | None = None

    def ask(self, sides: tuple[str, ...], request: Request, notes: Notes = SILENT) -> Differences:
        """Load both sides, one after the other, and compare them.

        Args:
            sides: two of them, or ``FILE@REVISION`` alone, which is compared with the file as it is now; with *against*
                also one model alone, which is compared with itself on another backend.
            request: how models are loaded.

        Raises:
            CommandError: there are not two sides, or one is not there.
            ModelError: the user's code raised.
            GradtoolError: the engine refused, or a file is no outline.
        """
        before, after = (sides[0], sides[0]) if self.against is not None and len(sides) == 1 else _two(sides)
        backends = [name or choice.current().name for name in (self.backend, self.against or self.backend)]
        for name in backends:
            choice.backend(name)  # one that is not there is told before anything runs
        asked = Backward(params=self.params, no_grad=self.no_grad, checkpoints=self.checkpoints)
        left, right = (outline_of(side, request, asked, notes) for side in (before, after))
        values, number = None, None
        if self.values or self.against is not None:
            values, number = self._values((before, after), backends, request)
        if self.against is not None:
            left, right = (replace(o, title=f"{o.title} on {b}") for o, b in zip((left, right), backends, strict=True))
        graphs = None
        if self.picture:
            graphs = self._graph(before, left, request), self._graph(after, right, request)
        resources = None
        if self.resources:
            first, second = (self._resources(s, b, request) for s, b in zip((before, after), backends, strict=True))
            resources = first, second
        found = difference(left, right)
        return Differences(left, right, found, (before, after), values, number, graphs, resources)

    def _resources(self, side: str, backend: str, request: Request) -> Resources:
        with choice.using(backend), request_of(side, request) as loaded:
            return measured(loaded, self.feed)

    def _graph(self, side: str, outline: Outline, request: Request) -> GraphView:
        """What is drawn of one side, with the backward part that its outline has."""
        params, no_grad = (tuple(outline.settings.get(name, ())) for name in ("params", "no_grad"))
        return graph_of(side, request, Backward(params=params, no_grad=no_grad), SILENT)

    def _values(
        self, sides: tuple[str, str], backends: Sequence[str], request: Request
    ) -> tuple[Divergence, int | None]:
        """The values of the first backward pass that differs, or of the last one, and its number if there are several.

        Values of later passes differ where those of an earlier one do, so the first one is searched for by halves.
        """
        last, passes = self._compared(sides, backends, request, None)
        if last.empty or passes < 2:
            return last, passes if passes > 1 else None
        same, differs, answer = 0, passes, last
        number = 1
        while same + 1 < differs:
            at, _ = self._compared(sides, backends, request, number)
            if at.empty:
                same = number
            else:
                differs, answer = number, at
            number = (same + differs) // 2
        return answer, differs

    def _compared(
        self, sides: tuple[str, str], backends: Sequence[str], request: Request, step: int | None
    ) -> tuple[Divergence, int]:
        """The values of one pass on both sides, and how many passes both make."""
        asked = Debug(params=self.params, no_grad=self.no_grad, feed=self.feed, step=step)
        runs = []
        for side, backend in zip(sides, backends, strict=True):
            with choice.using(backend):
                runs.append(run_of(side, request, asked, SILENT))
        (left, first), (right, second) = runs
        return divergence(left, right), min(first, second)


def _two(sides: tuple[str, ...]) -> tuple[str, str]:
    if len(sides) == 2:
        return sides[0], sides[1]
    if len(sides) == 1 and revisions.is_revision(sides[0]):
        return sides[0], sides[0].rpartition("@")[0]
    said = "one side is no comparison" if len(sides) == 1 else f"{len(sides)} sides, where there are two"
    raise CommandError(said, "gradtool diff BEFORE AFTER, or gradtool diff model.py@main for a file that git holds")
