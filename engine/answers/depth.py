"""Depth of a network: which weights are used one behind another, by the longest way from the data to the loss."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from ..eager.tape import GradNode
from ..ir import roles
from ..ir.operator import Operator
from ..ops.opdef import Trait


class ForwardCall(NamedTuple):
    """An operator call: the values that it reads and writes, and whether it computes nothing of its own."""

    reads: Iterable[Hashable]
    writes: Iterable[Hashable]
    passes_on: bool = False


class _Row(NamedTuple):
    """A row of weights: the last one, and the row before it."""

    weight: Hashable
    before: _Row | None
    length: int


_NO_ROW = _Row(None, None, 0)


def find_longest_row(calls: Iterable[ForwardCall], weights: Collection[Hashable]) -> list[Hashable]:
    """Return the longest row of weights, each of which is used on what was computed with the one before.

    Towers that stand next to each other are not one network of twice the depth. A weight counts where it is used first.

    Args:
        calls: in the order of the forward pass.

    >>> tower = [ForwardCall("xa", "b"), ForwardCall("bc", "d")]
    >>> find_longest_row([*tower, ForwardCall("xe", "f"), ForwardCall("df", "g")], "ace")
    ['a', 'c']
    """
    rows = _Rows(weights)
    longest = max(map(rows.extend, calls), key=lambda row: row.length, default=_NO_ROW)
    found = []
    while longest.before is not None:
        found.append(longest.weight)
        longest = longest.before
    return found[::-1]


class _Rows:
    """The longest row of weights behind each value.

    Args:
        weights: the values that make layers.
    """

    def __init__(self, weights: Collection[Hashable]) -> None:
        self._row_of: dict[Hashable, _Row] = {}
        self._weight_of: dict[Hashable, Hashable] = {w: w for w in weights}
        self._used: set[Hashable] = set()

    def extend(self, call: ForwardCall) -> _Row:
        """Return the row behind what a call writes, with the weight that it is the first to read."""
        reads = list(call.reads)
        weights = [self._weight_of[r] for r in reads if r in self._weight_of]
        if call.passes_on and len(weights) == len(reads) == 1:
            self._weight_of.update(dict.fromkeys(call.writes, weights[0]))
            return _NO_ROW
        row = max((self._row_of.get(r, _NO_ROW) for r in reads), key=lambda row: row.length, default=_NO_ROW)
        new = next((w for w in weights if w not in self._used), None)
        if new is not None:
            self._used.add(new)
            row = _Row(new, row, row.length + 1)
        self._row_of.update(dict.fromkeys(call.writes, row))
        return row


def calls_of_nodes(nodes: Iterable[GradNode]) -> Iterator[ForwardCall]:
    """Yield the calls of a recorded graph; the values of *nodes*, oldest first, are these themselves, and leaves."""
    for node in nodes:
        reads = [place[0] if isinstance(place, tuple) else place for place in node.to if place is not None]
        yield ForwardCall(reads, (node,), _passes_on(node.op))


def calls_of_program(operators: Iterable[Operator]) -> Iterator[ForwardCall]:
    """Yield the calls of the forward part of a program."""
    for op in operators:
        if roles.is_forward(op.role):
            yield ForwardCall(op.input_variables(), op.output_variables(), _passes_on(op.op))


def _passes_on(op: Any) -> bool:
    """Return whether an operator gives what it reads, in another shape or type; the user's own have no traits."""
    return Trait.VIEW in getattr(op, "trait", Trait(0)) or op.type == "cast"
