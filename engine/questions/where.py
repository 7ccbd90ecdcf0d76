"""``where``: where operators come from, and what they read and make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ..core.answer import Answered
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.about import About
from ..kinds.model import Model
from ..kinds.operator_places import OperatorSpot
from ..request.options import Cuts
from .question import Question


@dataclass(frozen=True, slots=True)
class Places(Answered):
    """The operators that were asked for.

    Attributes:
        what: what was asked.
    """

    about: About
    what: str
    spots: Sequence[OperatorSpot]


@dataclass(frozen=True, kw_only=True)
class Where(Cuts, Question[Places]):
    """Names to look up.

    Attributes:
        what: an operator (``relu.0``), a type (``relu``), a tensor, or a line (``line:model.py:21``).
    """

    what: str

    needs: ClassVar = {"full_stacks": True, "need_loss": False, "journal": True}

    def answer(self, model: Model, notes: Notes = SILENT) -> Places:
        """The operators that it names.

        Raises:
            CommandError: it names nothing.
        """
        about = replace(model.about, words=[*model.words, *self.words])
        return Places(about, self.what, model.spots(self, notes).find(self.what))
