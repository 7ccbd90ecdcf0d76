"""Asking one question at every point of a sweep, wherever the points are carried out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from ..core.answer import Answered
from ..core.command_errors import CommandError
from ..core.records import dataclass
from . import subset as subsets
from .axes import Axes
from .journal import STDOUT, RowJournal
from .places import PointRunner, place_for
from .point import Point
from .point_rows import REFUSED, head
from .rows import must_be_of
from .spec import Spec
from .subset import RowSubset
from .summaries import FINDING, OK

Told = Callable[[int, int], None]
"""Is told how many points are done, and of how many."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """Place that points are computed at, and its limits.

    Attributes:
        jobs: how many side by side, each in a process of its own; 1 for one after the other in this process.
        scheduler: the address of a Dask scheduler whose workers carry them out instead.
        timeout: seconds that a point may take; None for no end.
        memory: bytes that a point may take beyond what the engine takes; None for no end.
    """

    jobs: int = 1
    scheduler: str | None = None
    timeout: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Swept(Answered):
    """The rows of a sweep.

    Attributes:
        rows: in the order of the points; of those that were not reached there is none.
        points: how many there are.
        known: how many rows were there before.
        torn: whether the last row that was there had been cut short; its point was asked again.
        subset: of the first batch in which something is wrong, the smallest part that still gives it.
    """

    spec: Spec
    axes: Axes
    rows: Sequence[Mapping[str, Any]]
    points: int
    known: int = 0
    subset: RowSubset | None = None
    torn: bool = False

    @property
    def findings(self) -> int:
        """As in the base: points with findings."""
        return sum(row["status"] == FINDING for row in self.rows)

    @property
    def failed_rows(self) -> list[Mapping[str, Any]]:
        """The rows that are neither ok nor have findings."""
        return [row for row in self.rows if row["status"] not in (OK, FINDING)]

    @property
    def complete(self) -> bool:
        """True if every point has its row."""
        return len(self.rows) == self.points


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One question at many points.

    Attributes:
        results: the file of rows, written as they come; None for none.
        resume: go on with what that file holds.
    """

    spec: Spec
    axes: Axes
    means: Means = Means()
    results: str | None = None
    resume: bool = False

    def ask(self, told: Told = lambda done, total: None) -> Swept:
        """The row of every point.

        Raises:
            CommandError: what is asked for cannot be; every point refuses the question; or client and workers differ.
            Interrupted: Ctrl-C was pressed; it has the rows that there are.
        """
        if self.means.memory is not None and not os.path.exists("/proc/self/statm"):
            raise CommandError("--memory: this system does not say what a process takes", "it works on Linux")
        if self.resume and self.results in (None, STDOUT):
            raise CommandError("--resume goes on with a file of rows", "--results FILE.jsonl says which")
        points = self.axes.points()
        keys = [self.axes.key(self.spec, point) for point in points]
        journal = RowJournal(self.results, self.resume)
        try:
            for key, point in zip(keys, points, strict=True):
                if key in journal.rows:
                    journal.rows[key] = must_be_of(journal.rows[key], head(self.spec, point, key), journal.path or "")
            left = [(key, point) for key, point in zip(keys, points, strict=True) if key not in journal.rows]
            known = len(points) - len(left)
            told(known, len(points))
            try:
                with place_for(self.means, self.spec, self.axes, len(left) or 1) as place:
                    self._carry(place, left, journal, told, len(points))
                    swept = self._collect(points, keys, journal, known)
                    return replace(swept, subset=self._subset(place, points, swept))
            except KeyboardInterrupt:
                raise SweepInterrupted(self._collect(points, keys, journal, known)) from None
        finally:
            journal.close()

    def _carry(
        self, place: PointRunner, left: Sequence[tuple[str, Point]], journal: RowJournal, told: Told, total: int
    ) -> None:
        known = done = total - len(left)
        with closing(place.rows(left)) as coming:  # what is under way is given up before the place is
            for rows in coming:
                if done == known and len(self.axes.models) == 1 and rows[0]["status"] == REFUSED:
                    raise CommandError(rows[0]["error"], rows[0]["hint"])  # no point of this model will do better
                journal.take(rows)
                done += len(rows)
                told(done, total)

    def _subset(self, place: PointRunner, points: Sequence[Point], swept: Swept) -> RowSubset | None:
        """The smallest part of the first batch with something wrong in it that still gives it; None without batches."""
        signs = [subsets.sign(row) for row in swept.rows]
        if len(signs) > 1 and len({*signs}) == 1:
            return None  # it comes at every point: rows have no part in it
        for point, wanted in zip(points, signs, strict=True):
            if wanted is not None and point.portion is not None and point.portion.rows is not None:
                return _halve(place, point, wanted)
        return None

    def _collect(self, points: Sequence[Point], keys: Sequence[str], journal: RowJournal, known: int) -> Swept:
        rows = [journal.rows[key] for key in keys if key in journal.rows]
        refused = [row for row in rows if row["status"] == REFUSED]
        if rows and len(refused) == len(points):
            raise CommandError(refused[0]["error"], refused[0]["hint"])
        return Swept(self.spec, self.axes, rows, len(points), known, torn=journal.torn)


def _halve(place: PointRunner, point: Point, wanted: tuple[str, ...]) -> RowSubset:
    assert point.portion is not None
    assert point.portion.rows is not None
    rows = range(*point.portion.rows)
    runs = 0
    repeated = False

    def row_of(chosen: Sequence[int]) -> Mapping[str, Any]:
        nonlocal runs
        runs += 1
        told = [row for rows in place.rows([("", replace(point, chosen=tuple(chosen)))]) for row in rows]
        return told[0]

    def gives(chosen: Sequence[int]) -> bool:
        nonlocal repeated
        if not repeated:
            row = row_of(chosen)
            if subsets.sign(row) == wanted:
                return True
            if row["answer"] is not None:
                return False
        # It may take batches of one size alone: the rows once more, as often as fill one.
        filled = [chosen[i % len(chosen)] for i in range(len(rows))]
        row = row_of(filled)
        repeated = repeated or row["answer"] is not None
        return subsets.sign(row) == wanted

    left = subsets.smallest(rows, gives)
    return RowSubset(point, left, repeated, runs)


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C was pressed.

    Attributes:
        swept: what there is.
    """

    def __init__(self, swept: Swept) -> None:
        super().__init__()
        self.swept = swept
