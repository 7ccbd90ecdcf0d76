"""Choice of the steps to measure: states, and functions from the number of a step to a state."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from gradtool.engine.core.errors import UsageError


class ProfilerState(Enum):
    """Treatment of a step."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3
    """Measured, and the last one of its round."""


class ProfilerTarget(Enum):
    """Hardware to measure; gradtool measures the CPU, whatever is requested."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


class SortedKeys(Enum):
    """Keys that a summary is sorted by."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """The tables of Paddle's summary."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


Schedule = Callable[[int], ProfilerState]


class ScheduleRangeError(UsageError, AssertionError):
    """A number of steps outside its range (Paddle raises AssertionError)."""


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Rounds of *closed* steps, *ready* ones and *record* ones, which are measured.

    Args:
        repeat: how many rounds; 0 for no end.
        skip_first: steps before the first round.

    Raises:
        ScheduleRangeError: a negative number, or nothing to record (an AssertionError).

    >>> from gradtool import paddle
    >>> state = paddle.profiler.make_scheduler(closed=1, ready=1, record=2)
    >>> [state(i).name for i in range(5)]
    ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    if min(closed, ready, repeat, skip_first) < 0 or record <= 0:
        raise ScheduleRangeError("Invalid profiler scheduler arguments: steps must be 0 or more, record 1 or more.")
    length = closed + ready + record

    def state(step: int) -> ProfilerState:
        place = step - skip_first
        if place < 0 or (repeat and place >= repeat * length):
            return ProfilerState.CLOSED
        place %= length
        if place < closed:
            return ProfilerState.CLOSED
        if place < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if place < length - 1 else ProfilerState.RECORD_AND_RETURN

    return state


def between(start: int, end: int) -> Schedule:
    """Measure the steps from *start* to *end*, which is the first one that is not.

    Raises:
        ScheduleRangeError: no such steps (an AssertionError).
    """
    if not 0 <= start < end:
        raise ScheduleRangeError(f"scheduler must be two steps, the first 0 or more and smaller: got ({start}, {end}).")
    if start:
        return make_scheduler(closed=start - 1, ready=1, record=end - start, repeat=1)
    return make_scheduler(closed=0, ready=0, record=end - start, repeat=1)


def always(step: int) -> ProfilerState:
    """Measure every step."""
    return ProfilerState.RECORD
