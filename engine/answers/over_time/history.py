"""History of a training: steps, and of each parameter in each step how large its gradient was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field

from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from .array_size import Extent


@dataclass(frozen=True, slots=True)
class Writing:
    """A weight got values that have nothing to do with those before, and not from an update.

    Attributes:
        after: the number of the step before it.
        ratio: how far they are away, in terms of the weight.
    """

    after: int
    ratio: float
    loc: Location


@dataclass(eq=False)
class Track:
    """A parameter, or another leaf that gets gradients, over all steps.

    Attributes:
        name: what it was called when it was met first; a model may know a better name.
        listed: whether it is a parameter, or something updated it: a leaf that is data is neither.
        offered: whether it was there when an optimizer was made, which may have left it out on purpose.
        cuts: where it was switched off, with the number of the step that came next: ``stop_gradient``.
    """

    name: str
    shape: tuple[int, ...]
    loc: Location = NOWHERE
    listed: bool = False
    offered: bool = True
    cuts: list[tuple[int, Location]] = field(default_factory=list)
    writes: list[Writing] = field(default_factory=list)


@dataclass(slots=True)
class HistoryPoint:
    """One parameter in one step.

    Attributes:
        gradient: as the update took it, before the optimizer's own clipping; without an update, as backward left it.
        backward: the number of the pass that gave it last.
        passes: how many passes of the step gave to it; 0 for an update with the gradient of an earlier step.
        stale: whether a gradient that was used before is in it.
        weight: the norm of the parameter before the update; None where nothing was updated.
        update: how far the update moved it.
        clipped: what the optimizer's clipping multiplied the norm by.
        changed: what the norm was multiplied by between backward and update.
    """

    gradient: Extent
    backward: int
    passes: int = 1
    stale: bool = False
    weight: float | None = None
    update: float | None = None
    clipped: float | None = None
    changed: float | None = None

    @property
    def ratio(self) -> float | None:
        """The update in terms of the weight."""
        return self.update / self.weight if self.weight and self.update is not None else None

    @classmethod
    def join(cls, parts: Sequence[HistoryPoint]) -> HistoryPoint:
        """Several parameters as one: a layer."""
        moved = [p for p in parts if p.update is not None and p.weight is not None]
        return cls(
            Extent.join([p.gradient for p in parts]),
            max(p.backward for p in parts),
            max(p.passes for p in parts),
            any(p.stale for p in parts),
            _hypot([p.weight for p in moved]),
            _hypot([p.update for p in moved]),
            _least([p.clipped for p in parts]),
            _least([p.changed for p in parts]),
        )


def _hypot(norms: Sequence[float | None]) -> float | None:
    """The norm of several tensors together; None for none."""
    return math.hypot(*(n or 0.0 for n in norms)) if norms else None


def _least(factors: Sequence[float | None]) -> float | None:
    """The smallest; NaN where one is."""
    some = [f for f in factors if f is not None]
    return math.nan if any(map(math.isnan, some)) else min(some, default=None)


@dataclass(frozen=True, slots=True)
class BackwardPass:
    """A backward pass, or a run of a program with a backward part.

    Attributes:
        number: as ``--backward`` counts; of programs, which run it was.
        loss: what it started from; None if that is no single number.
    """

    number: int
    loc: Location
    loss: float | None


@dataclass(slots=True, eq=False)
class Update:
    """Parameters were given new values.

    Attributes:
        by: the optimizer's class, or the operator that updates; empty where the script itself does.
        hand: whether no optimizer did it.
        rate: the learning rate.
        clipped: what clipping multiplied the norm of all gradients by; None where none was asked for.
        made: where the optimizer was made; empty where nobody saw that.
        fixed: whether it is known that no scheduler changes the rate.
    """

    by: str
    loc: Location
    hand: bool = False
    rate: float | None = None
    clipped: float | None = None
    made: Location = NOWHERE
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Clearing:
    """Gradients were cleared, and then an optimizer was to update by them.

    Attributes:
        backward: the number of the pass that had given them.
        loc: where they were cleared.
    """

    backward: int
    tracks: tuple[Track, ...]
    loc: Location


@dataclass(slots=True)
class TrainingStep:
    """An update of parameters with the backward passes before it; updates of other parameters may belong to it.

    Where nothing is updated, a backward pass.
    """

    number: int
    passes: list[BackwardPass] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    points: dict[Track, HistoryPoint] = field(default_factory=dict)

    @property
    def loss(self) -> float | None:
        """Return that of its last pass."""
        return self.passes[-1].loss if self.passes else None

    @property
    def rate(self) -> float | None:
        """The learning rate of its last update that has one."""
        return next((u.rate for u in reversed(self.updates) if u.rate is not None), None)

    @property
    def clip_factor(self) -> float | None:
        """Return what the optimizers' clipping multiplied norms by, the smallest."""
        return _least([u.clipped for u in self.updates])


@dataclass
class History:
    """The steps of a training.

    Attributes:
        static: whether passes are runs of programs.
        ended: how the script ended before its end; empty where it did not.
        clearings: of gradients that were to be used.
    """

    steps: list[TrainingStep]
    tracks: list[Track]
    static: bool = False
    ended: str = ""
    clearings: list[Clearing] = field(default_factory=list)

    @property
    def is_update(self) -> bool:
        """Return whether a step is an update; a backward pass if not."""
        return any(step.updates for step in self.steps)

    def points(self, track: Track) -> list[HistoryPoint | None]:
        """Those of a track, one for each step."""
        return [step.points.get(track) for step in self.steps]
