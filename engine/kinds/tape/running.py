"""Backward passes over a recorded graph, under watch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...answers import stats, tape_pass
from ...answers.depth import calls_of_nodes
from ...core.notes import Notes
from ...core.summary import Measured
from ...eager.tape import loss_scale
from ...eager.tensor import Leaf
from ...kernels.choice import current
from ..gradients import GradientTable
from .model import TapeModel


def run(
    model: TapeModel, listener: Any, feed: str | None, notes: Notes, *, order: int, table: GradientTable | None
) -> dict[Leaf, Any]:
    """Run backward once and tell *listener*, if any; the gradients by leaf."""
    tape_pass.expect_recorded(model.loss, model.loss_name)
    gradients: dict[Leaf, Any] = model.call(tape_pass.watch_tape, model.start, listener or _Nobody(), order)
    if order > 1 or current().compiles:
        return gradients
    gave = {} if model.pass_call is None else model.pass_call.gave
    return {**gradients, **gave, **{t.leaf: share.array for t, share in model.file_shares().items()}}


class _Nobody:
    """Listener for a pass whose gradients are all that is needed: nothing is measured for it, wherever arrays are."""

    summary_needs = Measured(lambda op: False)

    def __call__(self, event: Any) -> None:
        pass


def sizes(model: TapeModel, gatherer: stats.Gatherer, gradients: Mapping[Any, Any]) -> stats.StatsStory:
    """Sizes of the gradients of a pass that *gatherer* listened to."""
    leaves = model.entries_with_frozen()
    shown = Counter(e.display_name for e in leaves)
    lines = [
        stats.parameter(
            e.display_name if shown[e.display_name] == 1 else e.name,
            e.tensor.array,
            gradients.get(e.tensor.leaf),
            e.tensor.leaf,
            e.tensor.loc,
        )
        for e in leaves
    ]
    names = model.names()
    scale = loss_scale(model.nodes)
    return stats.story(
        lines, gatherer, lambda line: names.operators.get(line.origin, line.name), scale, calls_of_nodes(model.nodes)
    )
