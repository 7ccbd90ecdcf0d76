"""Entries of the journal: calls and what happened to values; why a call is not on the tape."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from ..core import source
from ..core.source import Location
from ..ops.opdef import OpDef
from .mode import grad_enabled
from .tensor import Tensor

_FLATTENING = frozenset({"tanh", "sigmoid", "softmax"})
"""Operators that say little of what they read where they are flat, and whose gradient rule keeps the result alone."""


class Unrecorded(enum.Enum):
    """Reason why a call was not recorded on the tape."""

    NO_GRAD = enum.auto()
    """Gradients were switched off."""
    NO_RULE = enum.auto()
    """The operator has no gradient, or none for what it was given."""
    INTEGERS = enum.auto()
    """Its results are whole numbers or truth values."""
    COPIED = enum.auto()
    """Values were copied without a way back: no operator was called."""


class Call(NamedTuple):
    """One operator call, values by number.

    Attributes:
        reads, writes: what it read and made, list slots laid flat.
        passes: for each read, whether the operator has a gradient for it.
        halted: for each read, whether the tensor had ``stop_gradient`` then.
        taken: for each of *writes*, whether gradients come back through it.
        key: of the node on the tape, or None if the call was not recorded.
        unrecorded: what kept it from being recorded; None if it was, or if all its inputs stopped gradients.
        site: where the user called, see :func:`gradtool.engine.core.source.site`.
    """

    type: str
    reads: tuple[int | None, ...]
    writes: tuple[int, ...]
    passes: tuple[bool, ...]
    halted: tuple[bool, ...]
    taken: tuple[bool, ...]
    key: int | None
    unrecorded: Unrecorded | None
    site: Any
    time: int

    @property
    def loc(self) -> Location:
        return source.locate(self.site)


class Event(NamedTuple):
    """Something that happened to a value, or to the gradient of a leaf.

    Attributes:
        kind: ``left`` (values went to Python), ``stopped`` (``stop_gradient`` was set), ``added`` (backward added to
            ``.grad``), ``cleared``, ``step`` (an optimizer updated), ``written``, ``initialised`` (a parameter was
            filled with values that read nothing), ``unfilled`` (``.grad`` of a result was read) or
            ``thawed`` (a parameter takes gradients again).
        into: the number of the tensor that values were copied to, where that is known; of ``added``, of the loss.
        time: counts on with the numbers of values: a value with a greater number was met later.
        how: the method or operator.
    """

    kind: str
    time: int
    how: str
    site: Any
    into: int | None = None

    @property
    def loc(self) -> Location:
        return source.locate(self.site)


class ListedLeaves(NamedTuple):
    """Leaves that an optimizer was given, or that processes wait for, and where."""

    leaves: frozenset[int]
    loc: Location
    time: int


class Replacement(NamedTuple):
    """Object in a layer at the place of a former parameter.

    Attributes:
        after: the number of the parameter that took its place; None where nothing of its name did.
    """

    after: int | None
    loc: Location


class DeepCopy(NamedTuple):
    """The number of a leaf with the values of another one, and where it was made."""

    made: int
    loc: Location


class Guard(NamedTuple):
    """A place from which nothing is recorded.

    Attributes:
        kind, name: of the call that records nothing by itself; empty where the program switched recording off.
        inputs: the numbers of the tensors that this call was given.
    """

    site: Any
    kind: str = ""
    name: str = ""
    inputs: tuple[int, ...] = ()

    @property
    def loc(self) -> Location:
        return source.locate(self.site)


def iterate_by_type(calls: Iterable[Call], on_tape: Callable[[Call], bool], depends: Set[int | None]) -> Iterator[Call]:
    """*calls* in the order in which they are numbered by type (``relu.0``, ``relu.1``, …).

    Those that the tape holds behind a loss come first, as in pictures of it, then what the loss depends on all the
    same, then the others.

    Args:
        on_tape: whether a call is one of the first.
        depends: the numbers of the values that the loss depends on.
    """
    beside: list[Call] = []
    others: list[Call] = []
    for call in calls:
        if on_tape(call):
            yield call
        elif depends.isdisjoint(call[2]):
            others.append(call)
        else:
            beside.append(call)
    yield from beside
    yield from others


def find_reason(op: OpDef, read: Sequence[Tensor | None], results: Sequence[Tensor]) -> Unrecorded | None:
    """Return why a call is not on the tape; None where all that it read stopped gradients."""
    if all(t is None for t in read):
        return None
    if not grad_enabled():
        return Unrecorded.NO_GRAD
    if all(t is None or t._stop for t in read):
        return None  # whatever the operator, what stopped its inputs is the reason
    if op.rule is not None and op.differentiable and results and results[0].array.dtype.kind in "biu":
        return Unrecorded.INTEGERS
    return Unrecorded.NO_RULE


def find_passes(op: OpDef, operands: Sequence[Any]) -> tuple[bool, ...]:
    """Return for each operand, lists laid flat, whether the operator has a gradient for it."""
    wrt = set(op.rule.wrt) if op.rule is not None else set()
    passes: list[bool] = []
    for i, value in enumerate(operands):
        passes += [i in wrt] * (len(value) if isinstance(value, (list, tuple)) else 1)
    return tuple(passes)


def is_flat(type_: str, results: Sequence[Tensor]) -> bool:
    """Return whether the range of what an operator read says more than its result: of relu, if that is 0 everywhere."""
    if type_ == "relu":
        made = results[0].array
        return not made.ravel()[:64].any() and not made.any()  # mostly the first elements say that it is not
    return type_ in _FLATTENING
