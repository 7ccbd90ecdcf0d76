"""Costs of the operators of a static program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...answers import profile
from ...answers.fused import FusedStory, StepClock, fuse_nothing
from ...autodiff.backward import append_backward
from ...autodiff.existing_gradients import gradients_of_parameters
from ...core import state, watch
from ...core.notes import SILENT, Notes
from ...core.progress import count
from ...ir.variable import Variable
from ...kernels import choice
from . import feeds
from .backward_request import append
from .model import ProgramModel


def measure_costs(
    model: ProgramModel, calls: Any, repeats: int, feed: str | None, notes: Notes
) -> profile.ProfileStory:
    """Measure the costs of operators; the program runs *repeats* times, after a run that does not count."""
    clock = profile.Clock()
    append(model)
    profile.profile_program(model.the_loss, clock, repeats, _run_repeatedly(model, feed, notes))
    profile.add_layers(clock.story().costs, ())
    return clock.story()


_BEFORE = 2
"""Runs that do not count: groups are compiled in the first one, and compared with NumPy in the second."""


def find_groups(model: ProgramModel, repeats: int, feed: str | None, notes: Notes) -> FusedStory:
    """Find the operators that are computed together, and what that takes; nobody watches the runs."""
    if choice.current().fusion_obstacle:
        return fuse_nothing(choice.current().fusion_obstacle)
    clock = StepClock()
    append(model)
    there = gradients_of_parameters(model.the_loss)
    pairs = append_backward(model.the_loss) if there is None else there.items()
    fetch = [model.the_loss, *(g for _, g in pairs)]
    once = _run_repeatedly(model, feed, notes)
    with choice.use_backend(choice.current().time_groups(clock)), watch.pause_watchers(), state.started.unheard():
        for n in count("repeats", range(_BEFORE + repeats)):
            if n >= _BEFORE:
                clock.begin()
            once(fetch)
    return clock.story()


def _run_repeatedly(model: ProgramModel, feed: str | None, notes: Notes) -> Callable[[Sequence[Variable]], Any]:
    """Return a function that runs the program again and again; it prints the notes of its first run."""
    takers = iter([notes])

    def once(fetch: Sequence[Variable]) -> Any:
        return feeds.run(model, fetch, feed, next(takers, SILENT), stays=True)

    return once
