"""``profile --fused``: which operators are computed together, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..answers.fused import FusedStory
from ..core.answer import Answered
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from .question import Question


@dataclass(frozen=True, slots=True)
class FusedGroups(Answered):
    """The groups of a model.

    Attributes:
        names: of operators.
    """

    about: About
    story: FusedStory
    names: Mapping[Any, str]

    def name(self, op: Any) -> str:
        """Return the name of an operator."""
        return self.names.get(op) or str(op.type)


@dataclass(frozen=True, kw_only=True)
class Fusion(Question[FusedGroups]):
    """Options of the measurement.

    Attributes:
        repeats: how often.
        feed: a file of arrays to feed.
    """

    repeats: int = 5
    feed: str | None = None

    def answer(self, model: Model, notes: Notes = SILENT) -> FusedGroups:
        """As in the base; operators of dynamic mode are computed one by one."""
        model.must_take({"--feed": self.feed})
        story = model.find_groups(self.repeats, self.feed, notes)
        return FusedGroups(model.about, story, model.names().operators)
