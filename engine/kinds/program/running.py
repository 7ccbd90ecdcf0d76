"""Runs of a static program, under watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...answers import program_run, stats
from ...answers.depth import calls_of_program
from ...answers.why.statistics import find_in_program
from ...core.notes import Notes
from ...executor.scope import global_scope
from ...ir.variable import Variable
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

    stays = table is None and (listener is None or program_run.stays(listener))

    def once(fetch: Sequence[Variable]) -> Any:
        arrays = feeds.run(model, [*fetch, *also], feed, notes, stays=stays)
        if table is not None:
            fill(table, arrays[len(fetch) :])
        return arrays[: len(fetch)]

    pairs = program_run.watch_program(model.the_loss, listener, order=order, run=once, keep=values)
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
