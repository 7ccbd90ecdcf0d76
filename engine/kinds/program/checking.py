"""Gradients of a static program, compared with differences of its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...answers import checking
from ...core.notes import Notes
from ...ir.variable import Variable
from . import feeds
from .model import ProgramModel


def check(model: ProgramModel, recorder: Any, order: int, feed: str | None, notes: Notes) -> list[Any]:
    """Gradients compared with differences."""

    def once(fetch: Sequence[Variable]) -> Any:
        return feeds.run(model, fetch, feed, notes, stays=True)

    return checking.check_program(model.the_loss, once, order, model.seed)
