"""Places that compute points: this process, a process of its own, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ..axes import Axes
from ..point import Point
from ..spec import Spec

if TYPE_CHECKING:
    from ..sweep import Means

Row = dict[str, Any]
Keyed = tuple[str, Point]
"""A point with the key of its row."""


class PointRunner(Protocol):
    """Carries out points."""

    def rows(self, points: Sequence[Keyed]) -> Generator[list[Row]]:
        """Rows as they come, one for each point, the first point's first and alone."""
        ...


@contextmanager
def place_for(means: Means, spec: Spec, axes: Axes, count: int) -> Iterator[PointRunner]:
    """Yield the runner that carries out *count* points; what was begun for that is ended afterwards.

    Raises:
        CommandError: there is no such cluster, Dask is not installed, or client and workers differ.
    """
    if means.scheduler is not None or min(means.jobs, count) > 1:
        from .cluster import cluster

        with cluster(means, spec, axes, min(means.jobs, count)) as place:
            yield place
    elif means.jobs > 1 or means.timeout is not None or means.memory is not None:
        from .processes import ProcessRunner

        apart = ProcessRunner(spec.question, means.timeout, means.memory)
        try:
            yield OneByOne(apart, spec)
        finally:
            apart.end()
    else:
        from .this_process import LocalRunner

        yield OneByOne(LocalRunner(), spec)


class Carrier(Protocol):
    """Carries out points one after the other."""

    def rows(self, spec: Spec, points: Sequence[Keyed]) -> Iterator[Row]:
        """The rows, in the order of the points."""
        ...


class OneByOne:
    """One carrier that has all points."""

    def __init__(self, carrier: Carrier, spec: Spec) -> None:
        self._carrier = carrier
        self._spec = spec

    def rows(self, points: Sequence[Keyed]) -> Generator[list[Row]]:
        """As the protocol's."""
        for row in self._carrier.rows(self._spec, points):
            yield [row]
