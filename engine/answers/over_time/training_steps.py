"""Steps of a training: backward passes are put together with the updates that follow them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...core.source import Location
from .array_size import Extent
from .history import BackwardPass, HistoryPoint, Track, TrainingStep, Update


class Course:
    """Passes and updates as they come, made into steps.

    A parameter is updated once in a step: another update of it begins the next one. So the two optimizers of a GAN
    share a step, passes that add up their gradients do, and an optimizer that is made anew in a loop does not matter. A
    model that is trained when another one is done begins a step.

    Attributes:
        steps: those that are over, and the one that updates have begun.
        last: the number of the last pass.
    """

    def __init__(self) -> None:
        self.steps: list[TrainingStep] = []
        self.last = 0
        self._waiting: list[BackwardPass] = []
        """Passes that no update has followed yet."""
        self._arrived: dict[Track, HistoryPoint] = {}
        """Gradients that no update has taken yet."""
        self._taken: set[Track] = set()
        """What was updated in the last step."""
        self._sources: set[Any] = set()
        """Who updated in the last step."""
        self._alone: list[TrainingStep] | None = []
        """Every pass as a step of its own, as long as nothing was updated."""

    def began(self, number: int, loc: Location, loss: float | None) -> None:
        """A backward pass begins."""
        begun = BackwardPass(number, loc, loss)
        self.last = number
        self._waiting.append(begun)
        if self._alone is not None:
            self._alone.append(TrainingStep(len(self._alone) + 1, [begun]))

    def note_arrival(self, track: Track, gradient: Extent, stale: bool = False) -> None:
        """A gradient has arrived at *track*: with what earlier passes left there, if it was not cleared."""
        number = self.last
        point = self._arrived.get(track)
        if point is not None and self._keep(track, point):
            point = None
        if point is None:
            point = self._arrived[track] = HistoryPoint(gradient, number, stale=stale)
        else:
            point.passes += point.backward != number
            point.gradient, point.backward, point.stale = gradient, number, point.stale or stale
        if self._alone:
            self._alone[-1].points[track] = replace(point)

    def note_clear(self, track: Track) -> None:
        """Forget the gradients that had arrived at *track*; they stay in the step of a pass that is over by then."""
        point = self._arrived.pop(track, None)
        if point is not None:
            self._keep(track, point)

    def find_waiting(self, track: Track) -> HistoryPoint | None:
        """Return what has arrived at *track* and was not taken yet."""
        return self._arrived.get(track)

    def note_update(
        self, tracks: Iterable[Track], update: Update, source: Any, keep: int = 0
    ) -> dict[Track, HistoryPoint]:
        """*tracks* are about to be given new values together.

        Args:
            update: may go on with other tracks.
            source: who updates: one source does it once in a step.
            keep: how many of the last passes belong to what comes after it.

        Returns:
            What the step says of them; of those where no gradient had arrived, nothing.
        """
        points = {t: self._arrived.pop(t) for t in tracks if t in self._arrived}
        if not points:
            return {}
        step = self._step(points, update, source, keep)
        step.points |= points
        for track in points:
            track.listed = True
        self._taken.update(points)
        return points

    def _step(self, tracks: Iterable[Track], update: Update, source: Any, keep: int) -> TrainingStep:
        """The step that an update belongs to."""
        self._alone = None
        step = self.steps[-1] if self.steps else None
        if step is not None and any(u is update for u in step.updates):
            return step
        again = source in self._sources or not self._taken.isdisjoint(tracks)
        if step is None or again or self._is_stranger(tracks):
            self._leave()
            step = TrainingStep(len(self.steps) + 1)
            self.steps.append(step)
            self._taken.clear()
            self._sources.clear()
        self._sources.add(source)
        step.updates.append(update)
        end = len(self._waiting) - keep
        step.passes += self._waiting[:end]
        del self._waiting[:end]
        return step

    def _is_stranger(self, tracks: Iterable[Track]) -> bool:
        """Return whether the step before the last did without an update of *tracks*.

        They take no turns with its others.
        """
        if len(self.steps) < 2:
            return False
        before = self.steps[-2].points
        return not any(t in before and before[t].weight is not None for t in tracks)

    def _keep(self, track: Track, point: HistoryPoint) -> bool:
        """Note in the last step what its own passes gave to *track*, if nothing updated that; whether it was so."""
        step = self.steps[-1] if self.steps else None
        if step is None or not step.passes or point.backward > step.passes[-1].number:
            return False
        step.points.setdefault(track, point)
        return True

    def _leave(self) -> None:
        """The last step is over."""
        for track in [t for t, p in self._arrived.items() if self._keep(t, p)]:
            del self._arrived[track]

    def finish(self) -> list[TrainingStep]:
        """All steps; passes that no update has followed are a last one."""
        if self._alone is not None:
            return self._alone
        if self.steps:
            self._leave()
        if self._waiting:
            self.steps.append(TrainingStep(len(self.steps) + 1, self._waiting, points=self._arrived))
        return self.steps
