"""Matching of operators and leaves between two outlines.

Operators are aligned in the order of execution, by keys that ask for less and less: everything before an operator and
what becomes of its results; everything before it; its layer, type, attributes and the leaves that it reads; its layer
and type; its type alone. What a finer key has matched stays, and a coarser one looks only at what lies between. What
reads the same parameters as one other operator belongs to it, wherever that stands. Positions count for nothing, and
neither do names that are numbered (``relu.3``), so that an operator more at the top leaves the rest as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Final

from ...core.records import dataclass
from .alignment import align, gaps
from .outline import CONSTANT, NOTHING, PARAMETER, Outline, OutlineLeaf, OutlineOperand, OutlineOperation

Key = Callable[[int], Hashable]

_FINE: Final = 3
"""How many of the keys ask for the leaves that an operator reads."""


@dataclass(frozen=True)
class Matching:
    """Operators and leaves of *before* with those of *after*.

    Attributes:
        operations: position of a forward operator -> that of its partner.
        leaves: name of a leaf -> that of its partner.
        moved: the pairs of ``operations`` that stand elsewhere in the order.
        recorded_before, recorded_after: operators of one side through which gradients pass only to leaves that are
            frozen on the other side; a recorded graph does not hold them there.
    """

    before: Outline
    after: Outline
    operations: Mapping[int, int]
    leaves: Mapping[str, str]
    moved: Mapping[int, int] = field(default_factory=dict)
    recorded_before: Collection[int] = ()
    recorded_after: Collection[int] = ()

    @cached_property
    def back(self) -> Mapping[int, int]:
        """As ``operations``, from *after* to *before*."""
        return {there: here for here, there in self.operations.items()}

    @cached_property
    def leaves_back(self) -> Mapping[str, str]:
        """As ``leaves``, from *after* to *before*."""
        return {there: here for here, there in self.leaves.items()}


def match(before: Outline, after: Outline) -> Matching:
    """The operators and leaves of two outlines that belong together."""
    named = {name for name, leaf in before.leaves.items() if _same_kind(leaf, after.leaves.get(name))}
    frozen_after = {n for n in named if _is_frozen(before, after, n)}
    frozen_before = {n for n in named if _is_frozen(after, before, n)}
    known = frozenset(named - frozen_after - frozen_before)
    # What one side records for leaves alone that are frozen on the other has no partner there.
    recorded_before = _find_record_only(before, frozen_after)
    recorded_after = _find_record_only(after, frozen_before)
    a = sorted({*range(before.forward)}.difference(recorded_before))
    b = sorted({*range(after.forward)}.difference(recorded_after))
    marks, marks_after = _upstream(before, known), _upstream(after, known)
    fine, coarse = (zip(*keys, strict=True) for keys in _both(before, after, known, marks, marks_after))
    pairs = _align(a, b, fine, [])
    # What reads the same parameters is the same operator, wherever it stands.
    elsewhere = _match_reordered(before, after, known, {a[n]: b[m] for n, m in pairs}, (a, b))
    taken = {*elsewhere}, {*elsewhere.values()}
    pairs = _align(a, b, coarse, pairs, taken)
    operations = {a[n]: b[m] for n, m in pairs} | elsewhere
    moved = elsewhere | _match_moved(marks, marks_after, operations)
    operations |= moved
    leaves = {name: name for name in named} | _match_renamed(before, after, operations, known)
    return Matching(before, after, operations, leaves, moved, recorded_before, recorded_after)


def _both(
    before: Outline, after: Outline, known: frozenset[str], marks: Sequence[int], marks_after: Sequence[int]
) -> Iterator[tuple[Sequence[Key], Sequence[Key]]]:
    """The keys of both sides: those that ask for what an operator reads, and those that do not."""
    left, right = [*_keys(before, known, marks)], [*_keys(after, known, marks_after)]
    yield left[:_FINE], right[:_FINE]
    yield left[_FINE:], right[_FINE:]


def _align(
    a: Sequence[int],
    b: Sequence[int],
    keys: Iterable[tuple[Key, Key]],
    pairs: list[tuple[int, int]],
    taken: tuple[Collection[int], Collection[int]] = ((), ()),
) -> list[tuple[int, int]]:
    """*pairs* and those that keys match between them, in places of *a* and *b*, but for operators that are *taken*."""
    for left, right in keys:
        one = [("before", n) if n in taken[0] else left(n) for n in a]
        other = [("after", n) if n in taken[1] else right(n) for n in b]
        stretches = list(gaps(pairs, (0, len(a), 0, len(b))))
        pairs = sorted([*pairs, *(pair for within in stretches for pair in align(one, other, within))])
    return pairs


def _match_reordered(
    before: Outline,
    after: Outline,
    known: frozenset[str],
    matched: Mapping[int, int],
    sides: tuple[Sequence[int], Sequence[int]],
) -> dict[int, int]:
    """Operators without a partner that read the same parameters as one other of their kind, elsewhere in the order."""
    there = {*matched.values()}
    places = _once(after, known, (n for n in sides[1] if n not in there))
    own = _once(before, known, (n for n in sides[0] if n not in matched))
    return {n: places[key] for key, n in own.items() if key in places}


def _once(outline: Outline, known: frozenset[str], operators: Iterable[int]) -> dict[Hashable, int]:
    """Those that read parameters, by what they are and which, as far as they are the only one."""
    found: dict[Hashable, list[int]] = {}
    for n in operators:
        op = outline.operations[n]
        read = (o.tensor for o in op.operands if o.maker == NOTHING and o.tensor in known)
        if any(outline.leaves[name].role == PARAMETER for name in read):
            found.setdefault(_exact(op, known), []).append(n)
    return {key: numbers[0] for key, numbers in found.items() if len(numbers) == 1}


def _is_frozen(outline: Outline, other: Outline, name: str) -> bool:
    """Return whether a leaf takes gradients in *outline* and none in *other*."""
    return other.leaves[name].is_frozen and not outline.leaves[name].is_frozen


def _find_record_only(outline: Outline, frozen: Collection[str]) -> set[int]:
    """Forward operators through which gradients go to leaves among *frozen* and to no others, of a recorded graph."""
    if not frozen or outline.mode != "eager":
        return set()
    others: list[bool] = []
    for op in outline.operations[: outline.forward]:
        others.append(any(_takes_gradients(outline, o, others, frozen) for o in op.operands))
    return {n for n, other in enumerate(others) if not other}


def _takes_gradients(outline: Outline, operand: OutlineOperand, made: Sequence[bool], frozen: Collection[str]) -> bool:
    """Return whether a gradient goes through an operand to any leaf that is not among *frozen*."""
    if operand.maker != NOTHING:
        return made[operand.maker]
    leaf = outline.leaves[operand.tensor]
    return leaf.role != CONSTANT and not leaf.is_frozen and operand.tensor not in frozen


def _same_kind(leaf: OutlineLeaf, other: OutlineLeaf | None) -> bool:
    """Return whether leaves of one name belong together; names of constants are numbered and say nothing."""
    return other is not None and leaf.role == other.role != CONSTANT


def _keys(outline: Outline, known: frozenset[str], upstream: Sequence[int]) -> Iterator[Key]:
    """Keys of forward operators, the finest first."""
    operations = outline.operations
    downstream = _downstream(outline)
    exact = [_exact(op, known) for op in operations[: outline.forward]]
    yield lambda n: (upstream[n], downstream[n])
    yield lambda n: upstream[n]
    yield lambda n: exact[n]
    yield lambda n: (operations[n].depth, operations[n].layer, operations[n].type)
    yield lambda n: (operations[n].depth, operations[n].type)


def _exact(op: OutlineOperation, known: frozenset[str]) -> Hashable:
    """Return what an operator is, with the leaves that it reads and without what it reads of other operators."""
    leaves = tuple((o.slot, o.tensor) for o in op.operands if o.maker == NOTHING and o.tensor in known)
    return op.depth, op.layer, op.type, attributes_key(op.attributes), leaves


def _leaf_key(name: str, known: frozenset[str]) -> str:
    return name if name in known else "?"


def attributes_key(attributes: Mapping[str, object] | None) -> Hashable:
    """Attributes as something that can be looked up."""
    return None if attributes is None else tuple((name, repr(value)) for name, value in sorted(attributes.items()))


def _upstream(outline: Outline, known: frozenset[str]) -> list[int]:
    """Of each forward operator a number that is the same where it and everything before it are the same."""
    marks: list[int] = []
    for op in outline.operations[: outline.forward]:
        read = tuple(
            (o.slot, _leaf_key(o.tensor, known) if o.maker == NOTHING else (marks[o.maker], o.tensor))
            for o in op.operands
            if o.maker < len(marks)
        )
        marks.append(hash((op.depth, op.type, attributes_key(op.attributes), read)))
    return marks


def _downstream(outline: Outline) -> list[int]:
    """Of each forward operator a number that is the same where what its results become is the same."""
    readers: list[list[int]] = [[] for _ in range(outline.forward)]
    marks = [0] * outline.forward
    for n in range(outline.forward - 1, -1, -1):
        op = outline.operations[n]
        marks[n] = hash((op.type, attributes_key(op.attributes), tuple(sorted(readers[n]))))
        for o in op.operands:
            if 0 <= o.maker < n:
                readers[o.maker].append(hash((o.slot, o.tensor, marks[n])))
    return marks


def _match_moved(before: Sequence[int], after: Sequence[int], matched: Mapping[int, int]) -> dict[int, int]:
    """Operators that are the same with everything before them, and stand elsewhere in the order.

    Args:
        before, after: what :func:`_upstream` gives.
    """
    there = set(matched.values())
    places: dict[int, deque[int]] = {}
    for n, mark in enumerate(after):
        if n not in there:
            places.setdefault(mark, deque()).append(n)
    moved = {}
    for n, mark in enumerate(before):
        if n not in matched and places.get(mark):
            moved[n] = places[mark].popleft()
    return moved


def _match_renamed(
    before: Outline, after: Outline, operations: Mapping[int, int], known: frozenset[str]
) -> dict[str, str]:
    """Leaves of other names that matched operators read in the same slot, and that are of the same role."""
    renamed: dict[str, str] = {}
    used: set[str] = set()
    for here, there in sorted(operations.items()):
        for left, right in _both_leaves(before.operations[here], after.operations[there]):
            if left in known or right in known or left in renamed or right in used:
                continue
            if before.leaves[left].role == after.leaves[right].role:
                renamed[left] = right
                used.add(right)
    return renamed


def _both_leaves(before: OutlineOperation, after: OutlineOperation) -> Iterator[tuple[str, str]]:
    """The names of leaves that stand in the same place of both."""
    for left, right in operand_pairs(before, after):
        if left.maker == right.maker == NOTHING:
            yield left.tensor, right.tensor


def operand_pairs(before: OutlineOperation, after: OutlineOperation) -> Iterator[tuple[OutlineOperand, OutlineOperand]]:
    """Operands of two operators that stand in the same slot, the first with the first."""
    slots: dict[str, deque[OutlineOperand]] = {}
    for operand in after.operands:
        slots.setdefault(operand.slot, deque()).append(operand)
    for operand in before.operands:
        others = slots.get(operand.slot)
        if others:
            yield operand, others.popleft()
