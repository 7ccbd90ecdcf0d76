"""The nest of loops that computes a group: its nodes in order, the sizes of the loops, and what varies along which."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.identity import identity
from .layout import dimensions, pattern
from .nodes import SUMS, GroupValue, Untraceable
from .trace import domain


def order_nodes(results: Sequence[GroupValue]) -> list[GroupValue]:
    """All nodes that *results* are computed from, operands first."""
    order: dict[int, GroupValue] = {}
    todo: list[tuple[GroupValue, bool]] = [(n, False) for n in reversed(results)]
    while todo:
        node, ready = todo.pop()
        if identity(node) in order:
            continue
        if ready:
            order[identity(node)] = node
        else:
            todo.append((node, True))
            todo += [(a, False) for a in reversed(node.args) if identity(a) not in order]
    return list(order.values())


class LoopNest:
    """The nest of loops for *results*.

    Attributes:
        nodes: all that they are computed from, operands first.
        dims: the sizes of the loops.
        patterns: along which of them each node varies.
        rows_added: whether something is told by the elements of a row together.
        outer: sums that rows, or numbers of rows, are added to.

    Raises:
        Untraceable: there is none.
    """

    def __init__(self, results: Sequence[GroupValue]) -> None:
        self.results = results
        self.nodes = order_nodes(results)
        count = domain(self.nodes)
        runs = {n.strip.run for n in self.nodes if n.strip} | {n.value[0].run for n in self.nodes if n.op == "joined"}
        cuts = [((count // run, True), (run, True)) for run in runs]
        self.dims = dimensions([*(n.layout for n in self.nodes), *cuts], count) or [1]
        self.patterns = {identity(n): pattern(n.layout, self.dims) for n in self.nodes}
        inner = {identity(n): self._inner(n) for n in self.nodes if n.op in SUMS}
        self.rows_added = any(inner.values())
        self.outer = [n for n in self.nodes if not inner.get(identity(n), True)]

    def _inner(self, node: GroupValue) -> bool:
        """Return whether *node* adds up rows; else it adds rows, or numbers of rows, to each other.

        Raises:
            Untraceable: it is neither.
        """
        if node.op in ("vecdot", "pick"):
            return self._loops_over_row(node)
        before, after = self.patterns[identity(node.args[0])], self.patterns[identity(node)]
        dropped = [a and not b for a, b in zip(before, after, strict=True)]
        if dropped[-1] and not any(dropped[:-1]):
            return True
        # NumPy adds up in order what lies along the last dimension, by parts, and everything else one after the other.
        if node.value != "add" or not any(before) or dropped[max(i for i, b in enumerate(before) if b)]:
            raise Untraceable("sum over some of the dimensions")
        return False

    def _loops_over_row(self, node: GroupValue) -> bool:
        """True: the rows that *node* is told by are those of the loops.

        Raises:
            Untraceable: they are not.
        """
        rows = node.args if node.op == "vecdot" else node.args[:1]
        operands = [self.patterns[identity(a)] for a in rows if a.op != "constant"]
        if not operands or self.patterns[identity(node)][-1] or not all(p[-1] for p in operands):
            raise Untraceable("rows of another length")
        if any(self.patterns[identity(node)][i] < p[i] for p in operands for i in range(len(p) - 1)):
            raise Untraceable("rows of another length")
        return True
