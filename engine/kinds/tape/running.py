"""Backward passes over a recorded graph: under watch, with a clock, against differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...answers import checking, profile, stats, watched_passes
from ...answers.depth import calls_of_nodes
from ...answers.fused import FusedStory, fuse_nothing
from ...core import vocabulary
from ...core.notes import Notes
from ...core.summary import Measured
from ...eager.tape import loss_scale
from ...eager.tensor import Leaf
from ...kernels.choice import current
from .model import TapeModel

if TYPE_CHECKING:
    from ..gradients import GradientTable


def run(
    model: TapeModel, listener: Any, feed: str | None, notes: Notes, *, order: int, table: GradientTable | None
) -> dict[Leaf, Any]:
    """Run backward once and tell *listener*, if any; the gradients by leaf."""
    watched_passes.expect_recorded(model.loss, model.loss_name)
    gradients: dict[Leaf, Any] = model.call(watched_passes.watch_tape, model.start, listener or _Nobody(), order)
    if order > 1 or current().compiles:
        return gradients
    gave = {} if model.pass_call is None else model.pass_call.gave
    return {**gradients, **gave, **{t.leaf: share.array for t, share in model.file_shares().items()}}


class _Nobody:
    """Listener for a pass whose gradients are all that is needed: nothing is measured for it, wherever arrays are."""

    summarised = Measured(lambda op: False)

    def __call__(self, event: Any) -> None:
        pass


def sizes(model: TapeModel, gatherer: stats.Gatherer, gradients: Mapping[Any, Any]) -> stats.StatsStory:
    """Sizes of the gradients of a pass that *gatherer* listened to."""
    leaves = model.expected_entries()
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


def measure_costs(model: TapeModel, calls: Any, repeats: int, feed: str | None, notes: Notes) -> profile.ProfileStory:
    """Measure the costs of operators: the recorded calls are computed again on what they read, then backward runs."""
    clock = profile.Clock()
    if not model.call(profile.profile_recorded, model.start, clock, repeats):
        model.call(calls.measure, model.nodes, clock, repeats)
        model.call(profile.profile_tape, model.start, clock, repeats)
    shown = {e.tensor.leaf: e.display_name for e in model.gradient_entries()}
    profile.add_layers(clock.story().costs, model.nodes, shown)
    if model.live:
        notes.note(f"{model.name} has been computed: the backward pass alone is measured")
    words = vocabulary.current()
    if words is not vocabulary.PADDLE:
        notes.note(
            f"{model.name}: forward operators are timed in {words.framework} where it is installed, backward ones "
            f"in gradtool, which hands out what {words.framework} gave"
        )
    return clock.story()


def find_groups(model: TapeModel, repeats: int, feed: str | None, notes: Notes) -> FusedStory:
    """Return the reason why no operators are computed together."""
    return fuse_nothing("dynamic mode computes operators one by one")


def check(model: TapeModel, recorder: Any, order: int, feed: str | None, notes: Notes) -> list[Any]:
    """Gradients compared with differences; *recorder* listened while the loss was computed."""
    names = {e.tensor: e.display_name for e in model.gradient_entries()}
    watched_passes.expect_recorded(model.loss, model.loss_name)
    entries: list[Any] = model.call(checking.check_loss, model.start, recorder, names, order, model.seed)
    return entries
