"""Records of a recorder: calls, and passes with what happened in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from ..core.records import dataclass
from ..core.source import Location
from ..eager.tape import GradNode, Place
from ..eager.tensor import Tensor
from ..kernels.backend import Backend
from ..kernels.choice import eager
from ..ops.opdef import Trait


class UsersSlot(NamedTuple):
    """An argument or a result of the user's own operator."""

    name: str
    many: bool = False


class UsersOp(NamedTuple):
    """Part of a :class:`CallRecord` about the user's own operator."""

    type: str
    inputs: tuple[UsersSlot, ...]
    outputs: tuple[UsersSlot, ...]
    trait: Trait = Trait(0)


@dataclass(slots=True)
class CallRecord:
    """A forward operator as it happened: numbers of values in and out, nested as its slots are."""

    op: Any
    """An ``OpDef``, or a :class:`UsersOp`."""
    attrs: Mapping[str, Any]
    operands: list[Any]
    outs: list[Any]
    loc: Location
    key: int
    fixed: str = ""
    """Why it cannot run again, or empty."""
    recorded: bool = True
    """Whether there may be a node of it on the tape."""
    node: GradNode | None = None
    """The node, where the operator is the user's own."""
    backend: Backend = field(default_factory=eager)
    """What computed it."""
    again: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None
    """What computes it once more, where the kernel did not; see :class:`~gradtool.engine.core.watch.Computed`."""


@dataclass(slots=True)
class Pull:
    """A gradient operator as it happened.

    Attributes:
        operands: what the rule read, slot by slot; None for a node whose rule is the user's.
        arriving: the gradients of its results.
        outs: one number per place.
        sums: sums that its results went into: the number, the sum before, and what was added.
        saved: what the user's forward saved for this: numbers of values, or (:class:`FixedOperand`) anything else.
    """

    node: GradNode
    operands: list[Any] | None
    arriving: list[int | None]
    wrt: Sequence[Place | None]
    outs: list[int]
    sums: list[tuple[int, int, int]]
    saved: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Changed:
    """A value that an operator kept for backward and that was another when backward read it.

    Attributes:
        type, loc: of the operator.
        kept: what was kept, in words.
        count, total: how many elements are others, and how many there are.
        how, where: who else has the memory: the method that gave it to them, and the line. The method is empty where
            they had it before, and None where the program itself wrote it, at that line.
        step: the number of the pass.
        others: type and line of further operators that kept it.
    """

    type: str
    loc: Location
    kept: str
    count: int
    total: int
    how: str | None
    where: Location
    step: int
    others: list[tuple[str, Location]] = field(default_factory=list)


@dataclass(slots=True)
class Hooked:
    """Hooks that changed a gradient on its way."""

    before: int
    after: int
    place: Place
    hooks: list[Any]
    loc: Location


@dataclass(frozen=True, slots=True)
class Failure:
    """An operator that raised: a call, or one of the pass that was recorded last."""

    of: CallRecord | Pull
    error: BaseException

    def led_to(self, error: BaseException) -> bool:
        """Return whether *error* is this one, or was raised because of it."""
        seen: list[BaseException] = []
        todo: BaseException | None = error
        while todo is not None and not any(todo is e for e in seen):
            if todo is self.error:
                return True
            seen.append(todo)
            todo = todo.__cause__ or todo.__context__
        return False


@dataclass
class PassRecord:
    """One backward pass.

    Attributes:
        totals: the number of the latest sum of gradients at each place.
        done: whether it came to its end.
        parameters: those that it reached; what is known of them goes when the last one lets go of them.
    """

    roots: tuple[Tensor, ...]
    events: list[Pull | Hooked] = field(default_factory=list)
    totals: dict[Place, int] = field(default_factory=dict)
    seeds: dict[Place, int] = field(default_factory=dict)
    done: bool = False
    parameters: list[Tensor] = field(default_factory=list)


def flat(values: Sequence[Any]) -> list[int]:
    """The numbers among nested numbers."""
    laid = [n for v in values for n in (v if isinstance(v, list) else (v,))]
    return [n for n in laid if type(n) is int and n >= 0]
