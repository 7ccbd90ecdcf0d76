"""Costs of the operators of a recorded graph."""

from __future__ import annotations

from typing import Any

from ...answers import profile
from ...answers.fused import FusedStory, fuse_nothing
from ...core import vocabulary
from ...core.notes import Notes
from .model import TapeModel


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
