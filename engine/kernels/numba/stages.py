"""Functions one after the other for a group whose sums over rows are read by its own operators.

A sum over rows (of a channel over all images) is there when the last row has been gone through. What reads it is
computed by a next function, over the same rows: it computes again from the operands what it needs besides. That costs
less than keeping it, as long as it is expressions; an operator that would have others than these computed again begins
a group of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.identity import identity
from ...core.records import dataclass
from .expressions import inline
from .loop_nest import LoopNest, order_nodes
from .nodes import FLEXIBLE, SUMS, GroupValue, Untraceable
from .source import Source, generate
from .source import check as check_one

MOST_STAGES = 4


@dataclass(slots=True)
class Stage:
    """Part of a group that one function computes.

    Attributes:
        source: the function; operands with numbers below zero are results of earlier ones.
        results: which of the arrays of the group they are.
        calls: how many of NumPy's loops it calls for a row.
    """

    source: Source
    results: list[int]
    calls: int


def array_of(register: int) -> int | None:
    """Return which of the arrays of a group an operand is; None for a register of the plan."""
    return -register - 1 if register < 0 else None


class _Levels:
    """Number of sums over rows behind each node, one after the other."""

    def __init__(self, results: Sequence[GroupValue]) -> None:
        self.frame = LoopNest(results)
        self.nodes = self.frame.nodes
        sums = {identity(n) for n in self.frame.outer}
        self.of: dict[int, int] = {}
        self.read: list[GroupValue] = []
        """Sums that others read."""
        for node in self.nodes:
            read = [a for a in node.args if identity(a) in sums and node.op != "joined"]
            self.of[identity(node)] = max([self.of[identity(a)] + (a in read) for a in node.args], default=0)
            self.read += [a for a in read if a not in self.read]
        self.last = max(self.of.values(), default=0)
        if self.last >= MOST_STAGES:
            raise Untraceable("sums of sums")
        for node in self.nodes:
            pattern = self.frame.patterns[identity(node)]
            if self.of[identity(node)] and node.op not in FLEXIBLE and pattern[-1] and not all(pattern):
                raise Untraceable("sum of rows")  # once for each element of a row would be once for each row

    def parts(self, results: Sequence[GroupValue]) -> tuple[list[GroupValue], list[tuple[list[int], list[GroupValue]]]]:
        """All arrays, those of *results* first; by stage, which of them it computes, and from what."""
        arrays = list(results)
        arrays += [n for n in self.read if not any(n is r for r in results)]
        places = {identity(n): i for i, n in enumerate(arrays)}
        stages = []
        for level in range(self.last + 1):
            ours: dict[int, GroupValue] = {}
            for node in self.nodes:
                if self.of[identity(node)] < level and any(node is r for r in self.read):
                    ours[identity(node)] = GroupValue("leaf", (), node.dtype, node.layout, -places[identity(node)] - 1)
                    continue
                args = tuple([ours[identity(a)] for a in node.args])
                same = all(a is b for a, b in zip(args, node.args, strict=True))
                ours[identity(node)] = (
                    node if same else GroupValue(node.op, args, node.dtype, node.layout, node.value, node.strip)
                )
            at = [i for i, n in enumerate(arrays) if self.of[identity(n)] == level]
            stages.append((at, [ours[identity(arrays[i])] for i in at]))
            earlier = {
                identity(ours[identity(n)]) for n in self.nodes if self.of[identity(n)] < level and self._takes_long(n)
            }
            if any(identity(n) in earlier for n in order_nodes(stages[-1][1])):
                raise Untraceable("computed again")
        return arrays, stages

    def _takes_long(self, node: GroupValue) -> bool:
        """Return whether *node* is worth keeping: another group computes it then, and this one reads it."""
        of_rows = node.op in SUMS and not any(node is r for r in self.read)
        return of_rows or (node.op not in FLEXIBLE and not inline(node) and self.frame.patterns[identity(node)][-1])


def divide_stages(results: Sequence[GroupValue]) -> tuple[list[GroupValue], list[Stage]]:
    """The arrays that are computed for *results*, these first, and the functions that compute them.

    Raises:
        Untraceable: there are none.
    """
    arrays, parts = _Levels(results).parts(results)
    calls = [sum(not inline(n) for n in order_nodes(nodes) if n.op not in FLEXIBLE) for _, nodes in parts]
    return arrays, [Stage(generate(nodes), at, n) for (at, nodes), n in zip(parts, calls, strict=True)]


def check(before: Sequence[GroupValue], after: Sequence[GroupValue]) -> None:
    """See that an operator that gives *after* can be computed with others, which give *before*.

    Raises:
        Untraceable: it cannot, or it would compute a few numbers again and again, of sums over rows.
    """
    results = [*before, *after]
    levels = _Levels(results)
    deep = [n for n in after if levels.of[identity(n)]]
    if deep and not any(all(levels.frame.patterns[identity(n)]) for n in deep):
        raise Untraceable("sum of rows")
    for _, nodes in levels.parts(results)[1]:
        check_one(nodes)
