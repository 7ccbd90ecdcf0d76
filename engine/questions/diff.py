"""``diff``: what differs between the graphs of two models."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ..answers.diff import golden
from ..answers.diff.divergence import Divergence, divergence
from ..answers.diff.outline import Outline
from ..answers.diff.structure import Change, GraphDifference, difference
from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.wording import count
from ..kernels import choice
from ..kinds.other_losses import Other
from ..loading import revisions
from ..request.options import Cuts, Debug
from ..request.request import Request
from ..view.graph import GraphView
from .backward import Backward
from .resources import Resources, measure
from .sides import Side, SideAnswer, SideRequest, side
from .sides.side import PICTURES, RESOURCES, VALUES


@dataclass(frozen=True, slots=True)
class LossDifference:
    """Differences between the graphs behind another loss that both files backpropagate.

    Attributes:
        loss: its name.
        changes, effects: those that are not told of the losses before it.
    """

    loss: str
    changes: Sequence[Change]
    effects: Sequence[Change]


@dataclass(frozen=True, slots=True)
class Differences(Answered):
    """Differences between two graphs.

    Attributes:
        before, after: the graphs.
        sides: what the command line calls them.
        values: the values of both runs, where they were asked for.
        backward_pass: the number of the pass that they are of, the first one that differs, if there are several.
        further: the words of commands that tell more.
        others: of each other loss of the files.
        alone: what of the files was not compared, and why.
        graphs: what is drawn of both, where a picture was asked for.
        resources: what one step of each takes, where that was asked for.
    """

    before: Outline
    after: Outline
    difference: GraphDifference
    sides: tuple[str, str]
    further: Sequence[Sequence[str]] = ()
    values: Divergence | None = None
    backward_pass: int | None = None
    others: Sequence[LossDifference] = ()
    alone: Sequence[str] = ()
    graphs: tuple[GraphView, GraphView] | None = None
    resources: tuple[Resources, Resources] | None = None

    @property
    def golden(self) -> str:
        """The graph of *after* as text that people review and files keep."""
        return golden.write(self.after)

    @property
    def not_compared(self) -> str:
        """Facts that only one of the graphs has, so that it was not compared; empty if there is nothing."""
        told = [*self.alone]
        if self.before.recorded != self.after.recorded:
            title = (self.before if self.before.recorded else self.after).title
            told.append(
                f"{title} was written down by the backward pass itself: names of Python variables, data, and leaves "
                "that no gradient reaches are not in it, and were not compared"
            )
        for outline in (self.before, self.after):
            unknown = sum(op.attributes is None for op in outline.operations[: outline.forward])
            if unknown:
                attributes = f"attributes of {count(unknown, 'operator')} that cannot run again"
                told.append(f"{attributes} are not in {outline.title}, and were not compared")
        return "; ".join(told)

    @property
    def findings(self) -> int:
        """Number of changes; values that differ without any are one."""
        changes = len(self.difference.changes) + sum(len(o.changes) for o in self.others)
        return changes or int(self.values is not None and not self.values.empty)


@dataclass(frozen=True, kw_only=True)
class Diff(Cuts):
    """Options of a comparison: backward parts of the same options.

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
        names = (sides[0], sides[0]) if self.against is not None and len(sides) == 1 else _two(sides)
        before, after = (side(name) for name in names)
        backends = (self.backend, self.against or self.backend)
        for name in filter(None, backends):
            choice.backend(name)  # one that is not there is told before anything runs
        self._must_be_comparable(before, after)
        # Everything that is wanted of a side, from one load.
        valued, as_run = self.values or self.against is not None, before.is_run or after.is_run
        asked = Backward(params=self.params, no_grad=self.no_grad, checkpoints=self.checkpoints)
        wanted = SideRequest(asked, picture=self.picture, as_run=as_run)
        if valued or as_run:
            wanted = replace(wanted, debug=self._debug(_step_of(before, after)))
        seen = [
            s.seen(replace(wanted, backend=b), request, notes) for s, b in zip((before, after), backends, strict=True)
        ]
        values, number = None, None
        if valued:
            values, number = self._values(seen, (before, after), backends, request)
        left, right = (s.the_outline for s in seen)
        if self.against is not None:
            on = (name or choice.current().name for name in backends)
            left, right = (replace(o, title=f"{o.title} on {b}") for o, b in zip((left, right), on, strict=True))
        graphs = None
        if seen[0].view is not None and seen[1].view is not None:
            graphs = seen[0].view, seen[1].view
        resources = None
        if self.resources:
            first, second = (self._resources(s, b, request) for s, b in zip((before, after), backends, strict=True))
            resources = first, second
        found = difference(left, right)
        others, alone = self._others((before, after), seen, found, request)
        further = [words for words in (after.further or before.further,) if words]
        if not found.changes and not valued and not any(VALUES in s.lacks for s in (before, after)):
            # What computes data, or stands under no_grad, is in no backward graph.
            further.append(["gradtool", "diff", *sides, "--values"])
        return Differences(left, right, found, names, further, values, number, others, alone, graphs, resources)

    def _others(
        self, sides: tuple[Side, Side], seen: Sequence[SideAnswer], first: GraphDifference, request: Request
    ) -> tuple[list[LossDifference], list[str]]:
        """The other losses that both files backpropagate, each loaded for itself; and what was not compared."""
        if request.backward is not None:
            return [], []
        pairs, single = _same_losses(seen)
        alone, compared = [], []
        for number, other in single:
            if any(side.lacks for side in sides):
                alone.append(f"{sides[number].title} alone has a backward pass of {other.loss}, which was not compared")
            else:
                compared.append(LossDifference(other.loss, [_only_there(number, other)], []))
        told = {_identity(c) for c in (*first.changes, *first.effects)}
        asked = SideRequest(Backward(params=self.params, no_grad=self.no_grad, checkpoints=self.checkpoints))
        for loss, numbers in pairs:
            try:
                outlines = [
                    side.seen(asked, replace(request, backward=str(number)), SILENT).the_outline
                    for side, number in zip(sides, numbers, strict=True)
                ]
            except (CommandError, GradtoolError) as error:
                alone.append(f"the backward pass of {loss} was not compared: {error.message}")
                continue
            found = difference(*outlines)
            changes, effects = (
                [c for c in several if _identity(c) not in told] for several in (found.changes, found.effects)
            )
            told |= {_identity(c) for c in (*changes, *effects)}
            compared.append(LossDifference(loss, changes, effects))
        return compared, alone

    def _must_be_comparable(self, before: Side, after: Side) -> None:
        """Raise :class:`CommandError` for what one side does not hold, before anything runs."""
        asked = {
            VALUES: self.values or self.against is not None,
            PICTURES: self.picture,
            RESOURCES: self.resources,
        }
        for what, wanted in asked.items():
            for one, other in ((before, after), (after, before)):
                if wanted:
                    one.must_have(what)
                if one.is_run and VALUES in other.lacks:
                    raise CommandError(
                        f"{one.text} holds a run, and {other.text} a graph alone",
                        "a saved session is compared with a model, or with another session",
                    )

    def _debug(self, step: int | None) -> Debug:
        return Debug(params=self.params, no_grad=self.no_grad, feed=self.feed, step=step)

    def _resources(self, side: Side, backend: str | None, request: Request) -> Resources:
        with choice.use_backend(backend or choice.current()), side.open_request(request) as loaded:
            return measure(loaded, self.feed)

    def _values(
        self, seen: Sequence[SideAnswer], sides: tuple[Side, Side], backends: Sequence[str | None], request: Request
    ) -> tuple[Divergence, int | None]:
        """The values of the first backward pass that differs, or of the last one, and its number if there are several.

        Values of later passes differ where those of an earlier one do, so the first one is searched for by halves.
        """
        last = divergence(*(s.the_run for s in seen))
        passes = min(s.passes for s in seen)
        if any(s.is_run for s in sides):
            return last, _step_of(*sides)
        if last.empty or passes < 2:
            return last, passes if passes > 1 else None
        same, differs, answer = 0, passes, last
        number = 1
        while same + 1 < differs:
            at = self._compare(sides, backends, request, number)
            if at.empty:
                same = number
            else:
                differs, answer = number, at
            number = (same + differs) // 2
        return answer, differs

    def _compare(
        self, sides: Sequence[Side], backends: Sequence[str | None], request: Request, step: int
    ) -> Divergence:
        """The values of one pass on both sides."""
        asked = Backward(params=self.params, no_grad=self.no_grad)
        wanted = SideRequest(asked, debug=self._debug(step), outline=False)
        runs = [
            s.seen(replace(wanted, backend=b), request, SILENT).the_run for s, b in zip(sides, backends, strict=True)
        ]
        return divergence(*runs)


def _same_losses(seen: Sequence[SideAnswer]) -> tuple[list[tuple[str, tuple[int, int]]], list[tuple[int, Other]]]:
    """The losses that both sides backpropagate beside the first ones, with the numbers of their passes; and the others.

    What has no name is called by its line, which may have moved: these belong together in their order. Those of one
    side alone come with 0 or 1 for the side.
    """
    waiting: dict[str, deque[Other]] = {}
    for other in seen[1].others:
        waiting.setdefault(_name(other), deque()).append(other)
    pairs, single = [], []
    for other in seen[0].others:
        same = waiting.get(_name(other))
        if same:
            pairs.append((other.loss, (other.number, same.popleft().number)))
        else:
            single.append((0, other))
    return pairs, single + [(1, other) for others in waiting.values() for other in others]


def _only_there(side: int, other: Other) -> Change:
    """The change that a loss is backpropagated on one side alone."""
    kind = ("removed", "added")[side]
    names = [other.loss]
    return Change(kind, f"backward pass of {other.loss} {kind}", [] if side else names, names if side else [])


def _name(other: Other) -> str:
    return "" if ":" in other.loss else other.loss


def _identity(change: Change) -> tuple[str, str, str]:
    """Return the part of a change that is the same in the graphs of two losses: its lines, where it has some."""
    if change.source or change.source_after:
        return change.kind, change.source, change.source_after
    return change.kind, change.text, ""


def _step_of(*sides: Side) -> int | None:
    """Return the number of the backward pass that a saved session holds, if it is known and there is one."""
    return next((step for s in sides if (step := s.step) is not None), None)


def _two(sides: tuple[str, ...]) -> tuple[str, str]:
    if len(sides) == 2:
        return sides[0], sides[1]
    if len(sides) == 1 and revisions.is_revision(sides[0]):
        return sides[0], sides[0].rpartition("@")[0]
    said = "one side is no comparison" if len(sides) == 1 else f"{len(sides)} sides, where there are two"
    raise CommandError(said, "gradtool diff BEFORE AFTER, or gradtool diff model.py@main for a file that git holds")
