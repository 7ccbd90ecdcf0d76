"""``fluid.profiler`` and ``paddle.utils.profiler``: measuring between two calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool.paddle.profiler import Profiler, SortedKeys

KEYS = {
    None: SortedKeys.CPUTotal,
    "default": SortedKeys.CPUTotal,
    "calls": SortedKeys.CPUTotal,
    "total": SortedKeys.CPUTotal,
    "ave": SortedKeys.CPUAvg,
    "max": SortedKeys.CPUMax,
    "min": SortedKeys.CPUMin,
}
"""What a table is sorted by, under the names of version 1."""

_profilers: list[Profiler] = []


def start_profiler(state: str = "CPU", tracer_option: str = "Default") -> None:
    """Measure from now on; the arguments are accepted for compatibility."""
    _profilers.append(Profiler())
    _profilers[-1].start()


def stop_profiler(sorted_key: str | None = None, profile_path: str = "/tmp/profile") -> None:
    """Print what was measured since :func:`start_profiler`; nothing is written to *profile_path*."""
    if _profilers:
        last = _profilers.pop()
        last.stop()
        last.summary(KEYS[sorted_key])


def reset_profiler() -> None:
    """Forget what was measured."""
    if _profilers:
        _profilers.pop().stop()
        start_profiler()


@contextmanager
def profiler(
    state: str = "CPU",
    sorted_key: str | None = None,
    profile_path: str = "/tmp/profile",
    tracer_option: str = "Default",
) -> Iterator[None]:
    """Measure inside, and print it."""
    start_profiler(state, tracer_option)
    try:
        yield
    finally:
        stop_profiler(sorted_key, profile_path)


@contextmanager
def cuda_profiler(output_file: str, output_mode: str | None = None, config: Any = None) -> Iterator[None]:
    """Nothing is measured inside: there is no graphics card."""
    yield
