"""What the first steps of a training say: the first loss, what updates change, whether a batch can be learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.training.first_loss import FirstLoss, FirstLossSeen
from gradtool.engine.answers.training.mixed import Mixing
from gradtool.engine.answers.training.modes import Evaluated, Modes
from gradtool.engine.answers.training.one_batch import OneBatch, Own, learn
from gradtool.engine.answers.training.scaled import Scalings
from gradtool.engine.answers.training.updates import Updates
from gradtool.engine.core import source, watch
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.source import Location
from gradtool.engine.runs.recorder import Recorder

from .. import loader, opening
from ..errors import CommandError
from ..loader import Loaded, Request
from ..notes import SILENT, Notes
from .debug import Debug


@dataclass(frozen=True, slots=True)
class IdleOptimizer:
    """An optimizer whose steps left all or some of what it holds as it was.

    Attributes:
        held: how many parameters it holds.
        names: of those of them that no step changed.
        pushed: of each of these, in how many steps it had a gradient that is not zero.
    """

    by: str
    rate: float | None
    steps: int
    loc: Location
    held: int
    names: tuple[str, ...]
    pushed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UnsteppedOptimizer:
    """An optimizer that made no step, while what it holds got gradients.

    Attributes:
        loc: where it was made.
        names: of the parameters that it holds.
        passes: how many passes gave some of these a gradient.
        cleared: after how many passes gradients of these were cleared.
    """

    loc: Location
    names: tuple[str, ...]
    passes: int
    cleared: int


@dataclass(frozen=True, slots=True)
class SpentOptimizer:
    """An optimizer whose last steps had a learning rate of 0, after others that had one.

    Attributes:
        names: of the parameters that it holds.
        steps: how many steps there were.
        last: how many of them had a rate of 0, up to the last.
        loc: the line of the first of these.
    """

    by: str
    names: tuple[str, ...]
    steps: int
    last: int
    loc: Location


@dataclass(frozen=True, slots=True)
class ScaledUse:
    """A line that clips gradients, or updates by them, while they are multiplied by the scale of the loss.

    Attributes:
        by: the function that clips, or the optimizer's class.
        clips: whether it is the former.
        names: of the parameters whose gradients are.
        times: how often it happens.
    """

    by: str
    clips: bool
    scale: float
    names: tuple[str, ...]
    times: int
    loc: Location


@dataclass(frozen=True, slots=True)
class MixedSteps:
    """Steps that go by what an earlier backward call of another loss has left, too.

    Attributes:
        by: the optimizer's class.
        names: of the parameters that have gradients of both.
        left: the earlier call.
        own: the one that alone counted in the first step.
        other: the class of the optimizer whose step lies between these calls.
        times: how many steps do.
        loc: the line of these steps.
    """

    by: str
    names: tuple[str, ...]
    left: Location
    own: Location
    other: str
    times: int
    loc: Location


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What was seen.

    Attributes:
        loss: the first loss of classes, if there was one.
        idle: optimizers whose steps left something as it was.
        unstepped: optimizers that made no step.
        spent: optimizers whose learning rate became 0.
        thawed: frozen parameters that an optimizer holds and that the file changed: name and line.
        evaluated: optimizers with steps that were taken in evaluation mode after others in training mode.
        scaled: what uses gradients that are still multiplied by the scale of the loss.
        mixed: steps that go by what another loss has left.
    """

    loss: FirstLoss | None
    idle: tuple[IdleOptimizer, ...]
    unstepped: tuple[UnsteppedOptimizer, ...]
    spent: tuple[SpentOptimizer, ...]
    thawed: tuple[tuple[str, Location], ...]
    evaluated: tuple[Evaluated, ...]
    scaled: tuple[ScaledUse, ...]
    mixed: tuple[MixedSteps, ...]


def first_steps(request: Request, notes: Notes = SILENT) -> FirstSteps:
    """Watch the first steps of a file.

    Raises:
        CommandError: there is no such model.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    with heard() as told, loader.executed(request, notes) as left, watch.unwatched():
        return told(left, request)


@contextmanager
def heard() -> Iterator[Callable[[Loaded, Request], FirstSteps]]:
    """Watch the first steps of the file that runs inside; gives what tells them while its model is open."""
    seen, updates, modes, scalings, mixing = FirstLossSeen(), Updates(), Modes(), Scalings(), Mixing()

    def told(left: Loaded, request: Request) -> FirstSteps:
        model = opening.model_in(left, request)
        names = {id(t): n for t, n in getattr(model, "named", {}).items()}

        def named(tensor: Any) -> str:
            return names.get(id(tensor)) or str(tensor.name)

        idle = [
            IdleOptimizer(i.by, i.rate, i.steps, i.loc, i.held, tuple(map(named, i.tensors)), i.pushed)
            for i in updates.idle.values()
            if len(i.tensors) == i.held or any(i.pushed)
        ]
        thawed = tuple((named(t), loc) for t, loc in updates.thawed.values())
        unstepped = tuple(
            UnsteppedOptimizer(o.loc, tuple(map(named, o.tensors)), o.passes, o.cleared)
            for o in updates.unstepped.values()
            if o.passes
        )
        spent = tuple(
            SpentOptimizer(o.by, tuple(map(named, o.tensors)), o.steps, o.last, o.loc)
            for o in updates.spent.values()
            if 0 < o.last < o.steps
        )
        scaled = tuple(
            ScaledUse(s.by, s.clips, s.scale, tuple(map(named, s.tensors)), s.times, s.loc)
            for s in scalings.found.values()
        )
        mixed = tuple(
            MixedSteps(m.by, tuple(map(named, m.tensors)), m.left, m.own, m.other, m.times, m.loc)
            for m in mixing.found.values()
        )
        evaluated = tuple(modes.found.values())
        return FirstSteps(seen.found, tuple(idle), unstepped, spent, thawed, evaluated, scaled, mixed)

    with (
        watch.watched(Adapter(seen), updates),
        watch.watched(modes.step, modes),
        watch.watched(None, scalings),
        watch.watched(None, mixing),
    ):
        yield told


def one_batch(
    request: Request, steps: int, part: float, feed: str | None, notes: Notes = SILENT
) -> OneBatch | str | None:
    """Try to learn the batch of the first pass; a text says why that could not be tried.

    Raises: as :func:`first_steps` does.
    """
    recorder, first = Recorder(which=1), _FirstStep()
    with (
        recorder.recording(),
        watch.watched(None, first),
        loader.executed(request, notes) as left,
        watch.unwatched(),
    ):
        model = opening.model_in(left, request)
        try:
            run, _ = type(model).timeline(left, request, recorder, Debug(feed=feed), SILENT)
            return learn(run, steps, part, first.own)
        except (CommandError, GradtoolError) as error:
            return error.message


class _FirstStep:
    """Hears of the first step of an optimizer.

    Attributes:
        own: what is known of it.
    """

    def __init__(self) -> None:
        self.own = Own()
        self._clipped = False

    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if self.own.rate is None and isinstance(event, watch.Updating):
            self.own = Own(event.by, event.rate, loc=source.here())
        elif isinstance(event, watch.Clipped) and not self._clipped:
            self._clipped = True
            norms = (_norm(event.pairs), _norm(event.clipped))
            self.own = replace(self.own, raw=norms[0], limit=norms[1])


def _norm(pairs: Sequence[tuple[Any, Any]]) -> float:
    """The norm of gradients together."""
    arrays = (np.asarray(getattr(g.array, "array", g.array), np.float64) for _, g in pairs if g is not None)
    return math.sqrt(sum(float((a * a).sum()) for a in arrays))
