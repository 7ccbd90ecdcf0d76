"""Sums over the turns of a loop that no backward goes through: the graph of every turn stays until the sum goes.

``val_loss += loss`` in a loop without ``no_grad`` is one, ``torch.cat(outputs)`` of what such a loop put into a list
another. A turn is known by its graph: the terms of one place have operators of their own, none of which another term
goes through, and these read the same parameters. Neither the steps of a recurrent network are such terms, nor heads
with parameters of their own, nor the parts of a loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

from ...core.records import dataclass
from ...core.source import Location
from ...eager.recorded_calls import collect_nodes
from ...eager.tape import GradNode
from ...eager.tensor import Leaf
from ...executor.live import nbytes
from .memory import address, find_retained

_LEAST = 3
"""Terms that are compared; a sum of fewer is none over turns."""
_TRIES = 16
"""So many sums of a place are compared: a network may add on the line that calls it, too."""
_BETWEEN = 2
"""Operators of one line through which a sum may go to its next value: ``mean = 0.9 * mean + 0.1 * loss``."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Graphs of steps, or of turns, that tensors keep.

    Attributes:
        steps: how many steps these are.
        nodes: operators in the graph of a step: the median.
        saved: bytes of values that these retain for backward, likewise; each buffer counts once, parameters do not.
        held: bytes of the tensors themselves, a step.
        is_least: whether some operators retain what nobody can say the size of.
        loc: where the newest of the tensors was computed.
        is_one: whether a single tensor keeps them all.
        is_number: whether the tensors are single numbers.
    """

    steps: int
    nodes: int
    saved: int
    held: int
    is_least: bool
    loc: Location
    is_one: bool
    is_number: bool


@dataclass
class TurnSum:
    """Turns whose graphs a sum, or a tensor of many, keeps alive.

    Attributes:
        stay: what it keeps, of at most so many turns.
        made: how many parts of steps were over when one was added last.
    """

    stay: Stay
    made: int


class TurnSums:
    """Hears of operators as they are recorded, and of those that a backward goes back through."""

    def __init__(self) -> None:
        self._lengths: WeakKeyDictionary[GradNode, int] = WeakKeyDictionary()
        """By operator of a sum, the terms up to it."""
        self._tops: WeakKeyDictionary[GradNode, Any] = WeakKeyDictionary()
        """By operator of a sum, and by the last operator of each term, the place of the sum."""
        self._sums: dict[Any, TurnSum | None] = {}
        """By place what is known of a sum there; None where a backward has gone through it."""
        self._tries: Counter[Any] = Counter()
        """By place, how often a sum there was compared."""

    @property
    def sums(self) -> list[TurnSum]:
        """Those that no backward has gone through, in the order in which they began."""
        return [known for known in self._sums.values() if known is not None]

    def note_pulled(self, node: GradNode) -> None:
        """Note that a backward goes back through an operator: a sum that it belongs to is there for a reason."""
        if self._tops and node in self._tops:
            self._sums[self._tops[node]] = None

    def note_recorded(self, node: GradNode, part: int) -> None:
        """Note an operator.

        Args:
            part: how many parts of steps are over.
        """
        if len(node.to) < 2:
            return
        place = node.op.type, node.code, node.offset
        before = _find_before(node)
        if before is not None:
            self._note_sum(node, before, place, part)
        elif len(node.to) >= _LEAST:
            terms = _parents(node)
            if len(terms) >= _LEAST and len({(t.op.type, t.code, t.offset) for t in terms}) == 1:
                self._note(node, terms, len(terms), place, part)

    def _note_sum(self, node: GradNode, before: GradNode, place: Any, part: int) -> None:
        number = self._lengths.get(before, len(_parents(before))) + 1
        self._lengths[node] = number
        if number >= _LEAST:
            self._note(node, _terms(node, 1 if place in self._sums else _LEAST), number, place, part)

    def _note(self, node: GradNode, terms: Sequence[GradNode], number: int, place: Any, part: int) -> None:
        """Note that terms are put together, if each is that of a turn, or those before them were."""
        if place not in self._sums:
            self._tries[place] += 1
            stay = measure(terms, node) if self._tries[place] <= _TRIES else None
            if stay is None:
                return
            self._sums[place] = TurnSum(stay, part)
        known = self._sums[place]
        if known is not None:
            known.stay, known.made = replace(known.stay, steps=max(known.stay.steps, number)), part
            for top in (node, *terms):
                self._tops[top] = place


def _parents(node: GradNode) -> list[GradNode]:
    """The operators that gave the operands of one."""
    nodes = [p[0] if type(p) is tuple else p for p in node.to if p is not None and type(p) is not Leaf]
    return [n for n in nodes if isinstance(n, GradNode)]


def _find_before(node: GradNode) -> GradNode | None:
    """The operator of the same place of which the sum before came; None where it is no sum."""
    nodes = _parents(node)
    for _ in range(_BETWEEN):
        for found in nodes:
            if found.offset == node.offset and found.code is node.code and found.op.type == node.op.type:
                return found
        above = [_parents(n) for n in nodes]
        nodes = [a[0] for a in above if len(a) == 1]
    return None


def _terms(node: GradNode, number: int) -> list[GradNode]:
    """The last operators of the newest terms of a sum."""
    terms: list[GradNode] = []
    at: GradNode | None = node
    while at is not None and len(terms) < number:
        before = _find_before(at)
        terms += _parents(at) if before is None else [p for p in _parents(at) if not _leads_to(p, before)][:1]
        at = before
    return terms


def _leads_to(node: GradNode, before: GradNode) -> bool:
    """Return whether an operator is the sum before, or only moves it on."""
    for _ in range(_BETWEEN + 1):
        if node is before:
            return True
        above = _parents(node)
        if len(above) != 1:
            return False
        node = above[0]
    return False


def measure(terms: Sequence[GradNode], node: GradNode) -> Stay | None:
    """Return what the terms of a sum keep alive, where each is a turn of a loop; None where they are none.

    Args:
        terms: the last operators of at least three of them; the first three are compared.
        node: the operator that puts them together.
    """
    graphs = [collect_nodes([term]) for term in terms[:_LEAST]]
    if len(graphs) < _LEAST:
        return None
    shared = graphs[0].intersection(*graphs[1:])
    owns = [graph - shared for graph in graphs]
    if not all(owns) or any(not a.isdisjoint(b) for a, b in [*pairwise(owns), (owns[0], owns[-1])]):
        return None
    read = [{p for n in own for p in n.to if type(p) is Leaf} for own in owns]
    if not read[0].intersection(*read[1:]) or any(n.freed is not None for own in owns for n in own):
        return None
    saved, is_least = _measure_retained(owns[0])
    shape, dtype = terms[0].shapes[0]
    size = prod(shape)
    return Stay(len(terms), len(owns[0]), saved, size * dtype.itemsize, is_least, node.loc, False, size == 1)


def _measure_retained(nodes: Iterable[GradNode]) -> tuple[int, bool]:
    """The bytes that operators retain, each buffer once, and whether there are at least so many."""
    buffers: dict[Any, int] = {}
    is_least = False
    for node in nodes:
        retained = find_retained(node)
        is_least = is_least or retained is None
        buffers.update((address(array), nbytes(array)) for array in retained or ())
    return sum(buffers.values()), is_least
