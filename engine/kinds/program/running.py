"""Runs of a static program: under watch, with a clock, against differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...answers import checking, profile, stats, watched_passes
from ...answers.depth import calls_of_program
from ...answers.fused import FusedStory, StepClock, fuse_nothing
from ...answers.why.statistics import find_in_program
from ...autodiff.backward import append_backward
from ...autodiff.existing_gradients import gradients_of_parameters
from ...core import state, watch
from ...core.notes import SILENT, Notes
from ...core.progress import count
from ...executor.scope import global_scope
from ...ir.variable import Variable
from ...kernels import choice
from ..gradients import GradientTable
from . import feeds
from .backward_request import append
from .gradients import fetch_list, fill
from .model import ProgramModel


def run(
    model: ProgramModel, listener: Any, feed: str | None, notes: Notes, *, order: int, table: GradientTable | None
) -> dict[Variable, Any]:
    """Run the program once and tell *listener*, if any; the gradients by parameter. The same run fills *table*."""
    values: dict[Variable, Any] = {}
    if table is None:
        append(model)
    also = [] if table is None else fetch_list(model, table)

    stays = table is None and (listener is None or watched_passes.stays(listener))

    def once(fetch: Sequence[Variable]) -> Any:
        arrays = feeds.run(model, [*fetch, *also], feed, notes, stays=stays)
        if table is not None:
            fill(table, arrays[len(fetch) :])
        return arrays[: len(fetch)]

    pairs = watched_passes.watch_program(model.the_loss, listener, order=order, run=once, keep=values)
    return {p: values[g] for p, g in pairs}


def sizes(model: ProgramModel, gatherer: stats.Gatherer, gradients: Mapping[Any, Any]) -> stats.StatsStory:
    """Sizes of the gradients of a run that *gatherer* listened to."""
    held = global_scope().values.raw
    kept = find_in_program(model.program.global_block().ops, model.parameters())
    lines = [
        stats.parameter(getattr(p, "layer_path", None) or p.name, held[p.name], gradients.get(p), p, p.made_at)
        for p in model.program.all_parameters()
        if p.name in held and p not in kept
    ]
    names = model.names()
    calls = calls_of_program(model.program.global_block().ops)
    return stats.story(lines, gatherer, lambda line: names.operators.get(line.origin, line.name), calls=calls)


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


def check(model: ProgramModel, recorder: Any, order: int, feed: str | None, notes: Notes) -> list[Any]:
    """Gradients compared with differences."""

    def once(fetch: Sequence[Variable]) -> Any:
        return feeds.run(model, fetch, feed, notes, stays=True)

    return checking.check_program(model.the_loss, once, order, model.seed)


def _run_repeatedly(model: ProgramModel, feed: str | None, notes: Notes) -> Callable[[Sequence[Variable]], Any]:
    """Return a function that runs the program again and again; it prints the notes of its first run."""
    takers = iter([notes])

    def once(fetch: Sequence[Variable]) -> Any:
        return feeds.run(model, fetch, feed, next(takers, SILENT), stays=True)

    return once
