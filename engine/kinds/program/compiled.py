"""Report of a backend that compiles a program: which operators it leaves to the reference, where and why.

An operator whose block is not compiled is followed by those in the block that are not.
"""

from __future__ import annotations

from typing import Any

from ...core import source, state, watch
from ...core.notes import SILENT
from ...core.wording import count
from ...kernels.choice import current, reference
from ..gradients import GradientTable
from . import feeds
from .gradients import fetch_list
from .model import ProgramModel


def describe(model: ProgramModel, table: GradientTable, feed: str | None) -> list[str]:
    """Lines for people, from one run that nobody watches; none where the backend compiles nothing."""
    name = current().name
    if not current().compiles:
        return []
    executor, values = feeds.ready(model, feed, SILENT)
    with watch.pause_watchers(), state.started.unheard():
        executor.run(model.program, feed=values, fetch_list=[model.the_loss, *fetch_list(model, table)])
    plan: Any = executor.plan
    splits = [s for s in plan.compiled.splits() if s.op is not None]
    if not splits:
        return [f"all {count(len(plan.instructions), 'operator')} by {name}"]
    lines = [f"{len(plan.instructions) - len(splits)} of {count(len(plan.instructions), 'operator')} by {name}"]
    named = model.names().operators
    todo = [(split, "") for split in reversed(splits)]
    while todo:
        split, around = todo.pop()
        called = named.get(split.op, split.op.type)
        where = source.short(split.op.loc)
        lines.append(f"{called}{around} by {reference().name}, {where}: {split.reason}")
        todo += [(s, f" in {called}") for s in reversed(split.inside) if s.op is not None]
    return lines
