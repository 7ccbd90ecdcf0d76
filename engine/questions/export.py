"""``export``: a program as Paddle itself reads it, with its backward part and its values."""

from __future__ import annotations

from typing import ClassVar

from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.export import Exported
from ..kinds.model import Model
from ..request.options import ExportOptions
from .question import Question


@dataclass(frozen=True, kw_only=True)
class Export(ExportOptions, Question[Exported]):
    """A program as Paddle itself reads it, or as an ONNX model."""

    needs: ClassVar = {"need_loss": False, "full_stacks": True}

    def answer(self, model: Model, notes: Notes = SILENT) -> Exported:
        """The program, its backward part appended."""
        return model.export_program(self, notes)
