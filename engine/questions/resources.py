"""Resources of one step of a model, for comparisons: operators, bytes kept for backward, time."""

from __future__ import annotations

from ..core.notes import SILENT
from ..core.records import dataclass
from ..request.request import Request
from .profile import Profile
from .saved import Saved

_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one step.

    Attributes:
        operators: how many are computed, forward and backward.
        kept: bytes that are alive for backward alone.
        peak: the most of them at one time.
        seconds: the median of some repeats, of forward and backward.
    """

    operators: int
    kept: int
    peak: int
    seconds: float


def measure(request: Request, feed: str | None = None) -> Resources:
    """Measure the resources of one step of a model; it is loaded and run for it.

    Raises:
        CommandError: there is no such model, or *feed* does not fit it.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    story = Saved(feed=feed).ask(request, SILENT).story
    seconds = Profile(feed=feed, repeats=_REPEATS).ask(request, SILENT).story.total.median
    return Resources(len(story.operations), story.total, story.peak, seconds)
