"""Points in a process of their own: one that ends, hangs or takes too much is a row that says so; the next goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...script.processes import Process, ProcessEnded, how_it_ended
from ..point import Point
from ..point_rows import CRASHED, MEMORY, TIMEOUT, row_without_answer
from ..spec import Spec
from . import Keyed, Row

WORKER: Final = "gradtool.engine.sweeps.worker"
"""What such a process runs."""

ATTEMPTS: Final = 3
"""Processes that a point may end before it counts as its own doing: others end processes, too."""


class ProcessRunner:
    """Carries out points in a process that is begun anew when it has ended.

    Args:
        question: what will be asked.
        timeout: seconds that a point may take; None for no end.
        memory: bytes that it may take; None for no end.
        folder: the working folder of the process; None for this one's.
    """

    def __init__(
        self, question: str, timeout: float | None = None, memory: int | None = None, folder: str | None = None
    ) -> None:
        self._timeout = timeout
        self._memory = memory
        words = [question] if timeout is not None or memory is not None else []
        self._process = Process(WORKER, words if memory is None else [*words, str(memory)], folder)
        self._carried = 0

    def rows(self, spec: Spec, points: Sequence[Keyed]) -> Iterator[Row]:
        """As the protocol's."""
        at = attempts = 0
        while at < len(points):
            try:
                self._ask(spec, points[at:])
                while at < len(points):
                    answer = self._process.answer(self._timeout)
                    if "failed" in answer:
                        raise RuntimeError(f"at {points[at][1]}:\n{answer['failed']}")
                    row = answer["row"]
                    if row["status"] == MEMORY and self._carried:
                        self._process.stop()  # what others left behind may have taken it: once more, alone
                        break
                    self._carried += 1
                    at, attempts = at + 1, 0
                    yield row
            except ProcessEnded as end:
                attempts += 1
                told = self._row_of_ended(spec, *points[at], end, attempts)
                if told is not None:
                    at, attempts = at + 1, 0
                    yield told

    def _ask(self, spec: Spec, points: Sequence[Keyed]) -> None:
        if not self._process.runs:
            self._carried = 0
        self._process.ask({"spec": spec.data(), "points": [[key, point.job()] for key, point in points]})

    def _row_of_ended(self, spec: Spec, key: str, point: Point, end: ProcessEnded, attempts: int) -> Row | None:
        """The row of a point whose process has ended; None where it is to be tried once more."""
        if end.late:
            assert self._timeout is not None
            return row_without_answer(spec, point, key, TIMEOUT, f"no answer after {self._timeout:g} seconds")
        if attempts < ATTEMPTS:
            return None
        how = how_it_ended(end.code)
        return row_without_answer(
            spec, point, key, CRASHED, f"the process that it ran in ended {how}, {ATTEMPTS} times"
        )

    def end(self) -> None:
        """End the process."""
        self._process.end()
