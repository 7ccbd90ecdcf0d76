"""Gradients of a recorded graph, compared with differences of its loss."""

from __future__ import annotations

from typing import Any

from ...answers import checking
from ...answers.tape_pass import expect_recorded
from ...core.notes import Notes
from .model import TapeModel


def check(model: TapeModel, recorder: Any, order: int, feed: str | None, notes: Notes) -> list[Any]:
    """Gradients compared with differences; *recorder* listened while the loss was computed."""
    names = {e.tensor: e.display_name for e in model.gradient_entries()}
    expect_recorded(model.loss, model.loss_name)
    entries: list[Any] = model.call(checking.check_loss, model.start, recorder, names, order, model.seed)
    return entries
