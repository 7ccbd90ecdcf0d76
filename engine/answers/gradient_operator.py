"""A gradient operator of a tape, as a backward pass came by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.records import dataclass
from ..eager.tape import GradNode, Place


@dataclass(frozen=True, slots=True)
class DifferentiatedOperator:
    """A recorded operator whose gradients were computed.

    Attributes:
        arriving: the gradient of each result, None where none arrived.
        wrt: where the gradients go, None where none is wanted.
        gradients: one for each of these places.
        retained: gives what the rule read, by its reads (``Rule.reads``).
        again: gives what the rule gives if something else arrives; None where it cannot be asked.
        flushed: whether what computed it makes 0 of numbers that are too small for full precision.
    """

    node: GradNode
    wrt: Sequence[Place | None]
    arriving: Sequence[Any]
    gradients: Sequence[Any]
    retained: Callable[[], Sequence[Any]]
    again: Callable[[Sequence[Any]], Sequence[Any]] | None
    flushed: bool = False
