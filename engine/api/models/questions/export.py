"""``export``: a program as Paddle itself reads it, with its backward part and its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..model import About, Model
from ..notes import SILENT, Notes
from .cuts import Cuts
from .question import Question


@dataclass(frozen=True, slots=True)
class Exported:
    """A program for Paddle, or for whatever runs ONNX.

    Attributes:
        program: the bytes of the description, or of the ONNX model, which holds the parameters, too.
        parameters, others: values by name: of parameters, and of the other variables that live in the scope.
        forward, backward: how many operators of each part it has.
        fed: names of what is fed.
        loss: its name; empty without one.
    """

    about: About
    program: bytes
    parameters: Mapping[str, Any]
    others: Mapping[str, Any]
    forward: int
    backward: int
    fed: tuple[str, ...]
    loss: str


@dataclass(frozen=True, kw_only=True)
class Export(Cuts, Question[Exported]):
    """What is exported.

    Attributes:
        forward_only: leave the backward part out.
        form: ``paddle`` or ``onnx``.
    """

    forward_only: bool = False
    form: str = "paddle"

    needs: ClassVar = {"need_loss": False, "full_stacks": True}

    def answer(self, model: Model, notes: Notes = SILENT) -> Exported:
        """The program, its backward part appended."""
        return model.exported(self, notes)
