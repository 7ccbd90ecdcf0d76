"""Gradients of chosen targets by chosen inputs, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.answer import Answered
from ..core.records import dataclass
from .about import About
from .gradients import GradientRow


@dataclass(frozen=True, slots=True)
class Derivatives(Answered):
    """Gradients of targets by inputs.

    Attributes:
        targets: names and shapes of what is differentiated.
        rows: one for each input.
        added: how many operators were added to the program.
    """

    about: About
    targets: Sequence[tuple[str, Sequence[int]]]
    rows: Sequence[GradientRow]
    added: int
