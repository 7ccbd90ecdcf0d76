"""What a backend that compiles programs makes of one: which operators it leaves to the reference, where and why."""

from __future__ import annotations

from gradtool.engine.core import source, watch
from gradtool.engine.kernels.choice import current, reference

from ..gradients import GradientTable
from ..notes import SILENT
from ..wording import count
from . import feeds
from .gradients import fetched
from .model import ProgramModel


def told(model: ProgramModel, table: GradientTable, feed: str | None) -> list[str]:
    """Lines for people, from one run that nobody watches; none where the backend compiles nothing."""
    name = current().name
    if current().eager is None:
        return []
    with watch.unwatched():
        feeds.run(model, [model.the_loss, *fetched(model, table)], feed, SILENT)
    plan = list(model.program.plans.values())[-1]
    splits = [s for s in plan.compiled.splits() if s.op is not None]
    if not splits:
        return [f"all {count(len(plan.instructions), 'operator')} by {name}"]
    named = model.names().operators
    lines = [f"{len(plan.instructions) - len(splits)} of {count(len(plan.instructions), 'operator')} by {name}"]
    for split in splits:
        where = source.short(split.op.loc)
        lines.append(f"{named.get(split.op, split.op.type)} by {reference().name}, {where}: {split.reason}")
    return lines
