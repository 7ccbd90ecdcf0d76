"""Recordings of JAX's profiler: when which operation of which program ran, thread by thread."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import jax
from jax.profiler import ProfileData, ProfileOptions, TraceAnnotation

from ...core.errors import BackendError

RUN = "gradtool run"
"""The name of the run itself in the recording."""

_HOSTED = "gradtool instruction "


class Moment(NamedTuple):
    """Something that ran, in nanoseconds.

    Attributes:
        program: the compiled program that it belongs to; empty for an instruction that is not compiled.
        name: the operation's, or the number of that instruction.
    """

    start: float
    stop: float
    program: str
    name: str


class Recording:
    """A run, once it is over.

    Attributes:
        lines: what ran, by thread or stream of the device; what runs within something else is listed, too.
        hosted: the instructions that were not compiled.
        start, stop: of the run.
    """

    def __init__(self) -> None:
        self.lines: list[list[Moment]] = []
        self.hosted: list[Moment] = []
        self.start = self.stop = 0.0

    def read(self, folder: str) -> None:
        """Read what the profiler has written to *folder*."""
        for file in sorted(Path(folder).rglob("*.xplane.pb")):
            for plane in ProfileData.from_file(str(file)).planes:
                for line in plane.lines:
                    self._note(line.events)

    def _note(self, events: Iterable[object]) -> None:
        line = []
        for event in events:
            name, start = event.name, event.start_ns  # type: ignore[attr-defined]
            stop = start + event.duration_ns  # type: ignore[attr-defined]
            if name == RUN:
                self.start, self.stop = start, stop
            elif name.startswith(_HOSTED):
                self.hosted.append(Moment(start, stop, "", name.removeprefix(_HOSTED)))
            else:
                about = dict(event.stats)  # type: ignore[attr-defined]
                if "hlo_op" in about:
                    line.append(Moment(start, stop, str(about.get("hlo_module", "")), str(about["hlo_op"])))
        if line:
            self.lines.append(line)


@contextmanager
def record() -> Iterator[Recording]:
    """Record what runs inside; the recording can be read when the block is left.

    Raises:
        BackendError: JAX's profiler is recording for somebody else.
    """
    options = ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 1
    recording = Recording()
    with tempfile.TemporaryDirectory(prefix="gradtool") as folder:
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except RuntimeError as error:
            raise BackendError(f"JAX's profiler: {error}", hint="end the recording that is running") from error
        try:
            with TraceAnnotation(RUN):
                yield recording
        finally:
            jax.profiler.stop_trace()
        recording.read(folder)


def instruction(index: int) -> TraceAnnotation:
    """Inside, an instruction runs that is not compiled."""
    return TraceAnnotation(f"{_HOSTED}{index}")


def alone(line: Sequence[Moment]) -> Iterator[tuple[Moment, float]]:
    """Return what ran on a thread, each with its time without what ran within it."""
    around: list[tuple[Moment, float]] = []
    for moment in sorted(line, key=lambda m: (m.start, -m.stop)):
        while around and around[-1][0].stop <= moment.start:
            yield around.pop()
        if around:
            outer, left = around[-1]
            around[-1] = outer, left - (min(moment.stop, outer.stop) - moment.start)
        around.append((moment, moment.stop - moment.start))
    yield from reversed(around)


def busy_time(moments: Iterable[Moment], start: float, stop: float) -> float:
    """For how long between *start* and *stop* any of them ran."""
    total, reached = 0.0, start
    for moment in sorted(moments):
        begin, end = max(moment.start, reached), min(moment.stop, stop)
        if end > begin:
            total += end - begin
            reached = end
    return total
