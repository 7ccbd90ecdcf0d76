"""A run as a list of entries over numbered values, each of them made once.

Where a variable is overwritten, or a gradient summed up, every version is a value of its own. So the run is a pure
function: any value can be computed again from those before it, which is what reverse stepping and edits rest on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..core.records import dataclass
from ..core.source import NOWHERE, Location
from ..core.streams import Position
from ..ir.program import Program
from ..view.graph import BACKWARD, GraphView
from .store import Store

if TYPE_CHECKING:
    from .bound_kernels import Binding
    from .rounds import Round

NOBODY: Final = -1
"""The maker of values that were there before the run: parameters, data, constants."""


@dataclass(slots=True)
class Value:
    """One version of a tensor.

    Attributes:
        name: ``h@GRAD``; versions of a tensor share it.
        maker: the index of the entry that makes it, or :data:`NOBODY`.
        slot: the output slot of that entry.
        role: ``parameter``, ``buffer`` (of a layer), ``data``, ``constant``, ``gradient``, ``part`` (a summand of a
            gradient), ``temporary``.
        parts: of a sum that the engine makes between operators: the sum before, and what is added to it.
        names: other names that it answers to.
    """

    name: str
    maker: int = NOBODY
    slot: str = ""
    role: str = "temporary"
    parts: tuple[int, int] | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedOperand:
    """An operand that is the same in every run, and no value of the timeline."""

    value: Any


@dataclass(slots=True)
class Entry:
    """One operator.

    Attributes:
        index: its place in the timeline.
        name: ``sqrt_grad.0``.
        part: forward or backward.
        loc: the user's line; of a gradient operator, that of its forward operator.
        layer: the layer it belongs to, or empty.
        pair: the index of the forward operator of a gradient operator, or of the first gradient operator of a forward
            operator; :data:`NOBODY` if there is none.
        operands: what the kernel takes: numbers of values, lists of these, :class:`FixedOperand` or None.
        needs: values that it depends on and does not take: where one of them is another, it cannot run again.
        reads: slot and value of what it reads, for people.
        outs: slot and value of each result; :data:`NOBODY` for one that is not made.
        sums: values that are made of its results, in order.
        kernel: takes the operands and returns the results in the order of ``outs``; None where it cannot run again.
        fixed: why its results are kept and never computed again, or empty.
        binding: what the kernel follows from; None for what is the user's own Python, and in timelines of a plan.
        drawn: where the stream of random numbers was when it first ran, if it draws any.
        region: whether it runs a block (a branch or a loop).
        origin: the static operator, or the recorded call.
    """

    index: int
    name: str
    type: str
    part: str
    loc: Location = NOWHERE
    layer: str = ""
    pair: int = NOBODY
    operands: Sequence[Any] = ()
    needs: Sequence[int] = ()
    reads: list[tuple[str, int]] = field(default_factory=list)
    outs: list[tuple[str, int]] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    kernel: Callable[..., Sequence[Any]] | None = None
    fixed: str = ""
    binding: Binding | None = None
    drawn: Position | None = None
    region: bool = False
    origin: Any = None

    @property
    def backward(self) -> bool:
        return self.part == BACKWARD

    @property
    def inputs(self) -> list[int]:
        """The numbers of the values that the kernel takes."""
        return [v for o in self.operands for v in (o if isinstance(o, list) else (o,)) if type(v) is int]

    @property
    def made(self) -> list[int]:
        """The numbers of the values that it makes, sums included."""
        return [*(v for _, v in self.outs if v >= 0), *self.sums]


@dataclass(frozen=True, slots=True)
class Lowered:
    """Program that a timeline was lowered from, so that this can be done again.

    Attributes:
        version: that of the program at the time.
        fed, fetched: the names for which the plan was made.
    """

    program: Program
    version: int
    fed: tuple[str, ...]
    fetched: tuple[str, ...]


@dataclass
class Timeline:
    """A run.

    Attributes:
        title: the model's name.
        mode: static or eager.
        entries: in the order of execution.
        values: by number.
        store: what the run computed.
        results: gradient by the name of the parameter (or leaf) that people know; None for one that got none.
        begin: the index of the first backward operator.
        loss: the number of the loss.
        failed: what the run ended in, if it did not come to its end; the entry after the last one that was done.
        picture: makes the graph for pictures, whose operators are called as the entries are; None where there is none.
        recalled: of operators that are the user's own Python, by the index of the entry: what they gave when they ran
            again, by what they were given.
        recalls: whether that is noted, for a session that may be saved.
        lowered: of a static program, what its plan was made from.
        leaves: the values that operators read of a leaf, or of a persistable or fed variable, the first one first.
        guards: what decided that a branch was taken, and that a loop went on or ended, where these are unrolled.
        gaps: where values came about outside of operators: what did that, and the line.
        unrolled: the entries by the runs of blocks, where these are unrolled.
        compiled: whether its values were computed by a compiled program: an operator that runs again by itself may give
            others in the last digits.
        repeated: by the index of an operator that was compared, why it cannot be repeated, or empty; see
            :mod:`.repeating`.
    """

    title: str
    mode: str
    entries: list[Entry]
    values: list[Value]
    store: Store
    results: dict[str, int | None]
    begin: int
    loss: int | None = None
    failed: tuple[int, BaseException] | None = None
    picture: Callable[[], GraphView] | None = None
    recalled: dict[int, dict[str, Sequence[Any]]] = field(default_factory=dict)
    recalls: bool = False
    lowered: Lowered | None = None
    leaves: dict[Any, list[int]] = field(default_factory=dict)
    guards: list[int] = field(default_factory=list)
    gaps: list[tuple[str, Location]] = field(default_factory=list)
    unrolled: Round[Entry] | None = None
    compiled: bool = False
    repeated: dict[int, str] = field(default_factory=dict)

    @cached_property
    def _values_by_name(self) -> dict[str, list[int]]:
        by_name: dict[str, list[int]] = {}
        for number, value in enumerate(self.values):
            for name in dict.fromkeys((value.name, *value.names)):
                if name:
                    by_name.setdefault(name, []).append(number)
        for numbers in by_name.values():
            numbers.sort(key=lambda n: (self.values[n].maker, n))
        return by_name

    @property
    def names(self) -> list[str]:
        """The names of all values, those that are there before the run first."""
        return list(self._values_by_name)

    def find(self, name: str, cursor: int) -> int | None:
        """The number of the value that *name* has when the entries before *cursor* are done.

        If it has none yet, the first one it will have. None if there is no such name.
        """
        numbers = self._values_by_name.get(name)
        if numbers is None:
            return None
        at = bisect_right(numbers, cursor - 1, key=lambda n: self.values[n].maker)
        return numbers[max(at - 1, 0)]

    def versions(self, name: str) -> Sequence[int]:
        """All values of that name, in the order in which they are made."""
        return self._values_by_name.get(name, ())

    def parts_of(self, number: int) -> Iterator[int]:
        """The summands of a value that was summed up, the first one first."""
        summands = []
        while (parts := self.values[number].parts) is not None:
            number, added = parts
            summands.append(added)
        yield number
        yield from reversed(summands)


def is_made_up(name: str) -> bool:
    """Return whether nobody but gradtool has given a value its name.

    >>> is_made_up("slice.c0"), is_made_up("eager_tmp_3"), is_made_up("net.weight")
    (True, True, False)
    """
    return not name or re.fullmatch(r"[\w.]*\.c?\d+|(eager_tmp|result)_\d+", name) is not None
