"""Description of what runs an operator's block: complete before the first run, and never changed.

An *argument* is a place among what the instruction of the operator reads; a *register* belongs to the plan of one run.
"""

from __future__ import annotations

from ..core.records import dataclass
from ..ir.operator import Operator
from .plan import Plan

NOTHING, FRAMES, CARRIED = 0, 1, 2
"""Places among what an operator with a block can give: nothing, the frames of its runs, and from the third on the
carried values and then the sums."""


@dataclass(frozen=True, slots=True)
class ShapeAt:
    """Place where the shape of a value before the first run is found.

    Attributes:
        place: the argument that has it, or a place among what frames know about the beginning.
        frames: which of the frames that are read; None for an argument.
    """

    place: int
    frames: int | None = None


@dataclass(frozen=True, slots=True)
class Carry:
    """A value that is handed from run to run.

    Attributes:
        before: the argument that it is at first; None for zeros, or for nothing yet.
        start, end: the registers that it is put into before a run and found in after it; None where no run reads it, or
            leaves it.
        zeros: for zeros, the place of their shape among what the first frames know about the end.
    """

    before: int | None
    start: int | None
    end: int | None
    zeros: int | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """A register that is added up over the runs, and the shape of the zeros that no run gives."""

    register: int
    shape: ShapeAt


@dataclass(frozen=True, slots=True)
class Reading:
    """Way in which a backward block takes what it needs from the frames of another one.

    Attributes:
        argument: the frames.
        registers: ``(register, place in a frame)``.
        consumes: whether a frame can be let go of once its values are taken.
    """

    argument: int
    registers: tuple[tuple[int, int], ...]
    consumes: bool


@dataclass(frozen=True, slots=True)
class Leaving:
    """Facts about the runs that backward operators need.

    Attributes:
        registers: what goes into the frame of each run.
        begins: of which values to note the shape before the first run.
        ends: of which carried values to note the shape after the last one; None for one that is not carried.
    """

    registers: tuple[int, ...]
    begins: tuple[ShapeAt, ...]
    ends: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """The runs of an operator's block.

    Attributes:
        plan: what one run does.
        fixed: ``(register, argument)``: what every run reads.
        results: for each result of the operator, its place; see :data:`CARRIED`.
        leaving: the frames to leave; None where no backward operator reads them.
        condition: the argument that says whether to run at all; None for yes.
        go_on: the register that says after a run whether to run again; None for no.
        readings: of a backward block, the frames that it reads; it runs once for each.
        backwards: whether it takes the frames from the last to the first.
    """

    op: Operator
    plan: Plan
    fixed: tuple[tuple[int, int], ...]
    carried: tuple[Carry, ...]
    sums: tuple[Sum, ...]
    results: tuple[int, ...]
    leaving: Leaving | None
    condition: int | None
    go_on: int | None
    readings: tuple[Reading, ...]
    backwards: bool
