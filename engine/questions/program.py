"""``program``: the operators of a model as text, or beside their gradient operators."""

from __future__ import annotations

from typing import ClassVar

from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.listing import Listing
from ..kinds.model import Model
from ..request.options import Cuts
from .question import Question


@dataclass(frozen=True, kw_only=True)
class Operators(Cuts, Question[Listing]):
    """Options of the list.

    Attributes:
        part: ``fwd``, ``bwd`` or ``both``.
        blocks: all blocks of a program, not block 0 alone.
    """

    part: str = "both"
    blocks: bool = False

    needs: ClassVar = {"need_loss": False, "journal": True}

    def answer(self, model: Model, notes: Notes = SILENT) -> Listing:
        """The operators."""
        return model.list_operators(self.part, self.blocks, self, notes)
