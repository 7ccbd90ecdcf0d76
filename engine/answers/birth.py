"""Birth of NaN, infinity or numbers that are too large or too small: the operator, the line, the cause."""

from __future__ import annotations

from typing import Any

from ..core.records import dataclass
from ..core.source import Location
from .events import Inside

DATA = "data"
"""The part of a birth that happened outside of all operators."""


@dataclass(eq=False)
class Birth:
    """The place and cause of the first bad numbers.

    Attributes:
        kind: nan, inf, overflow or subnormal.
        part: forward, backward, update, or ``data`` where no operator made them.
        type: the operator's type; of data the operator that read them first.
        origin: see :class:`~gradtool.engine.answers.events.OpEvent`; of data, the array.
        slot, name: the output slot, and the tensor's name as far as it is known.
        count, total: how many elements are bad.
        loc: the user's line.
        step: the step of training, from 1.
        cause, advice: why, and what to do about it.
        masked_by: the type and line of the operator that did not use these elements.
        turned: the type and line of the operator that made NaN of the infinities.
        loss: whether it reached the loss.
        scale: the loss scale at which a scaler left the update out for it; None otherwise.
        inside: the branches and loops of a static program that it happened in, with the iteration of each.
        nth: of dynamic mode, how many operators of this type the line had computed in this step, this one included.
    """

    kind: str
    part: str
    type: str
    origin: Any
    slot: str
    name: str | None
    count: int
    total: int
    shape: tuple[int, ...]
    dtype: str
    loc: Location
    step: int
    cause: str = ""
    advice: str = ""
    masked_by: tuple[str, Location] | None = None
    turned: tuple[str, Location] | None = None
    loss: bool = False
    inside: Inside = ()
    nth: int = 1
    scale: float | None = None
