"""Steps and named parts of them, measured by the clock."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any, NamedTuple, Self

from gradtool.engine.core.errors import UnsupportedError

from ._schedule import ProfilerState, ProfilerTarget, Schedule, SortedKeys, always, between

MEASURING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


class Span(NamedTuple):
    """Something that took time: nanoseconds of one clock."""

    name: str
    start: int
    end: int


class ProfilerResult(NamedTuple):
    """Results of one round of measured steps."""

    spans: list[Span]

    def save(self, path: str, format: str = "json") -> None:
        """Write the events of Chrome's tracing page."""
        origin = min((s.start for s in self.spans), default=0)
        events = [
            {
                "name": s.name,
                "ph": "X",
                "pid": 0,
                "tid": 0,
                "ts": (s.start - origin) / 1e3,
                "dur": (s.end - s.start) / 1e3,
            }
            for s in self.spans
        ]
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


class _Running(threading.local):
    """The profilers that measure now."""

    def __init__(self) -> None:
        self.profilers: list[Profiler] = []


_running = _Running()


class RecordEvent(ContextDecorator):
    """A part of a step with a name: a context, a decorator, or between :meth:`begin` and :meth:`end`.

    Args:
        event_type: accepted for compatibility.
    """

    def __init__(self, name: str, event_type: Any = None) -> None:
        self.name, self.event_type = name, event_type
        self._start: int | None = None

    def begin(self) -> None:
        """The part starts."""
        self._start = perf_counter_ns()

    def end(self) -> None:
        """The part ends; without a begin it is no part."""
        if self._start is None:
            return
        span = Span(self.name, self._start, perf_counter_ns())
        self._start = None
        for profiler in _running.profilers:
            profiler.note(span)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()


class Profiler:
    """Measures steps, and parts of them in a :class:`RecordEvent`; ``gradtool stats --time`` measures operators.

    Args:
        targets: accepted for compatibility; the CPU computes.
        scheduler: a function from the number of a step to a :class:`ProfilerState`, or a pair of steps: from the
            first to before the second; every step when None.
        on_trace_ready: is called with the profiler after the last step of a round.
        timer_only: measure steps only.
        record_shapes, profile_memory, emit_nvtx, custom_device_types, with_flops: accepted for compatibility.

    Raises:
        ScheduleRangeError: a pair that is no range of steps (an AssertionError).

    >>> from gradtool import paddle
    >>> rounds = []
    >>> with paddle.profiler.Profiler(scheduler=(1, 3), on_trace_ready=lambda p: rounds.append(p.step_num)) as p:
    ...     for _ in range(4):
    ...         with paddle.profiler.RecordEvent("forward"):
    ...             pass
    ...         p.step()
    >>> rounds
    [3]
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Schedule | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Sequence[str] = (),
        with_flops: bool = False,
    ) -> None:
        self.targets = list(targets or [ProfilerTarget.CPU])
        if isinstance(scheduler, (tuple, list)):
            self.scheduler: Schedule = between(*scheduler)
        else:
            self.scheduler = scheduler or always
        self.on_trace_ready = on_trace_ready
        self.timer_only = timer_only
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        self._spans: list[Span] = []
        self._lengths: list[int] = []
        self._samples: list[int | None] = []
        self._since = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def note(self, span: Span) -> None:
        """Keep a part, if the step now is measured."""
        if self.current_state in MEASURING and not self.timer_only:
            self._spans.append(span)

    def start(self) -> None:
        """The first step begins."""
        _running.profilers.append(self)
        self.current_state = self.scheduler(self.step_num)
        self._since = perf_counter_ns()

    def step(self, num_samples: int | None = None) -> None:
        """The next step begins.

        Args:
            num_samples: how many samples the last one had, for the speed that :meth:`step_info` tells.
        """
        self._end_step(num_samples)
        self.step_num += 1
        before, self.current_state = self.current_state, self.scheduler(self.step_num)
        over = before is ProfilerState.RECORD and self.current_state not in MEASURING
        if before is ProfilerState.RECORD_AND_RETURN or over:
            self._end_round()
        self._since = perf_counter_ns()

    def stop(self) -> None:
        """The last step ends."""
        if self in _running.profilers:
            _running.profilers.remove(self)
        if self.current_state in MEASURING:
            self._end_round()
        self.current_state = ProfilerState.CLOSED

    def _end_step(self, samples: int | None) -> None:
        now = perf_counter_ns()
        self._lengths.append(now - self._since)
        self._samples.append(samples)
        self.note(Span(f"ProfileStep#{self.step_num}", self._since, now))

    def _end_round(self) -> None:
        self.profiler_result = ProfilerResult(self._spans)
        self._spans = []
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step_info(self, unit: str | None = None) -> str:
        """Return how long the steps since the last call took on average, and how many samples a second that is."""
        lengths, samples = self._lengths, [n for n in self._samples if n is not None]
        self._lengths, self._samples = [], []
        if not lengths:
            return ""
        seconds = sum(lengths) / 1e9
        speed = f" ips: {sum(samples) / seconds:.5f} {unit or 'samples'}/s" if samples else ""
        return f"batch_cost: {seconds / len(lengths):.5f} s{speed}"

    def export(self, path: str = "", format: str = "json") -> None:
        """Write the last round for Chrome's tracing page.

        Raises:
            UnsupportedError: another form than ``"json"``, or nothing was measured (a ValueError).
        """
        if format != "json":
            raise UnsupportedError(f"paddle.profiler: traces are written as 'json', but received {format!r}.")
        if self.profiler_result is None:
            raise UnsupportedError(
                "paddle.profiler: no round of steps has been measured yet, there is nothing to write."
            )
        self.profiler_result.save(path)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: Any = None,
    ) -> None:
        """Print how often each part of the last round was run and how long it took.

        Args:
            sorted_by: a key of the CPU; those of other devices are taken for it.
            time_unit: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``.
            op_detail, thread_sep, views: accepted for compatibility; there is one table.
        """
        if self.profiler_result is None:
            return
        unit = UNITS[time_unit]
        lengths: dict[str, list[int]] = defaultdict(list)
        for span in self.profiler_result.spans:
            lengths[span.name.partition("#")[0]].append(span.end - span.start)
        measures: list[Callable[[list[int]], float]] = [sum, lambda n: sum(n) / len(n), max, min]
        measure = measures[sorted_by.value % 4]
        rows = sorted(lengths.items(), key=lambda row: -measure(row[1]))
        print(f"{'name':<30} {'calls':>6} {'total':>10} {'average':>10} {'max':>10} {'min':>10}  ({time_unit})")
        for name, times in rows:
            numbers = (sum(times), sum(times) / len(times), max(times), min(times))
            print(f"{name:<30} {len(times):>6} " + " ".join(f"{n / unit:>10.4f}" for n in numbers))
        print("Operators are not measured here: gradtool stats --time MODEL does that.")


_files: Counter[str] = Counter()


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For *on_trace_ready*: writes every round into a file of *dir_name* for Chrome's tracing page."""
    os.makedirs(dir_name, exist_ok=True)
    worker = worker_name or f"host_{os.uname().nodename}pid_{os.getpid()}"

    def handle(profiler: Profiler) -> None:
        number = _files[f"{dir_name}/{worker}"]
        _files[f"{dir_name}/{worker}"] += 1
        profiler.export(os.path.join(dir_name, f"{worker}_round_{number}.paddle_trace.json"))

    return handle


def load_profiler_result(filename: str) -> dict[str, Any]:
    """The events of a file that :func:`export_chrome_tracing` wrote."""
    events: dict[str, Any] = json.loads(Path(filename).read_text(encoding="utf-8"))
    return events
