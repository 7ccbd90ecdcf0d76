"""The nodes of a framework's graph that a recorder has met: where their gradients go, and what they got and gave."""

from __future__ import annotations

import sys
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...answers.why import callers
from ...core import source
from . import events
from .tensors import Known, Sink, Tensors

UNTOLD = -1
"""The output of a node that an edge leads to, where the framework does not say which it is."""


class TakenTensor(NamedTuple):
    """A tensor that a call took.

    Attributes:
        reference: to it, which gives None when the program has freed it.
        is_real: whether its numbers are such as have gradients.
    """

    reference: weakref.ref[Any]
    is_real: bool


class GraphRecorder(Tensors):
    """Tells a sink of nodes."""

    def __init__(self, sink: Sink, spared: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__(sink, spared)
        self._nodes: dict[int, int] = {}
        self._freed: list[int] = []
        self._node_numbers = iter(range(1, sys.maxsize))

    # -- what the framework is asked ----------------------------------------------------------------------------------

    @abstractmethod
    def next_nodes(self, function: Any) -> Sequence[tuple[Any, int]]:
        """The nodes that one gives gradients to, with the number of their output, or :data:`UNTOLD`."""

    @abstractmethod
    def is_end(self, function: Any) -> bool:
        """Return whether a node only accumulates the gradient of a leaf."""

    @abstractmethod
    def leaf_of(self, function: Any) -> Any:
        """The leaf of such a node; None where it is not known."""

    @abstractmethod
    def describe(self, function: Any) -> tuple[tuple[Any, ...], tuple[int, ...], str, Any]:
        """Of a node: shape and dtype of each output, what it retains, its own class and where that says its rule."""

    @abstractmethod
    def hook(self, function: Any, number: int, key: int) -> None:
        """Have a node tell :meth:`note_pull` what it gets and gives."""

    # -- nodes --------------------------------------------------------------------------------------------------------

    def follow(self, t: Any, known: Known, function: Any, site: Any) -> None:
        """Tell of a node that a tensor hangs on and that no operator has told of."""
        nodes: list[events.GraphNode] = []
        self.untold(function, nodes)
        if not nodes:
            nodes = [self.node(function)[1]]
        where = site if site is not None else self.site()
        self.sink(events.Adopted(known.number, self.output_of(t), tuple(nodes), where))

    def untold(self, function: Any, nodes: list[events.GraphNode]) -> None:
        """The nodes behind *function* that were not told yet, those that it stands on first."""
        todo = [(function, False)]
        seen: set[int] = set()
        while todo:
            node, done = todo.pop()
            if done:
                nodes.append(self.node(node)[1])
                continue
            key = self.key(node)
            if key in self._nodes or key in seen:
                continue
            seen.add(key)
            todo.append((node, True))
            todo += [(f, False) for f, _ in self.next_nodes(node) if f is not None and not self.is_end(f)]

    def record_node(
        self, function: Any, taken: Sequence[TakenTensor], before: Sequence[tuple[Any, int]]
    ) -> tuple[events.GraphNode, tuple[int | None, ...]]:
        """The node of a call, and by tensor that it took which edge is its.

        Args:
            before: node and output of each tensor as it was before the call, None and -1 where it takes no gradient.
        """
        edges, outputs = self._match_edges(function, taken, before)
        return self.node(function, outputs)[1], edges

    def misses(self, function: Any, taken: Sequence[TakenTensor], before: Sequence[tuple[Any, int]]) -> bool:
        """Return whether a tensor of a call that takes a gradient has no edge: there are nodes in between."""
        edges, _ = self._match_edges(function, taken, before)
        return any(edge is None and output >= 0 for edge, (_, output) in zip(edges, before, strict=True))

    def _match_edges(
        self, function: Any, taken: Sequence[TakenTensor], before: Sequence[tuple[Any, int]]
    ) -> tuple[tuple[int | None, ...], dict[int, int]]:
        """By tensor that a call took which edge is its, and by edge which output it leads to."""
        following = self.next_nodes(function)
        edges: list[int | None] = []
        outputs: dict[int, int] = {}
        at = 0
        for t, (was, output) in zip(taken, before, strict=True):
            edges.append(None)
            for i in range(at, len(following)):
                if self._hangs(t, was, output, *following[i]):
                    edges[-1], at = i, i + 1
                    outputs[i] = output
                    break
        self._match_copies(taken, before, following, edges, outputs)
        return tuple(edges), outputs

    def _match_copies(
        self,
        taken: Sequence[TakenTensor],
        before: Sequence[tuple[Any, int]],
        following: Sequence[tuple[Any, int]],
        edges: list[int | None],
        outputs: dict[int, int],
    ) -> None:
        """Match what is left: frameworks make copies of lazily conjugated operands, which hang on nothing."""
        left = [i for i, (f, _) in enumerate(following) if f is not None and i not in edges]
        copies = [k for k, e in enumerate(edges) if e is None and before[k][1] < 0 and taken[k].is_real]
        if left and len(left) == len(copies):
            for i, k in zip(left, copies, strict=True):
                edges[k], outputs[i] = i, max(following[i][1], 0)

    def _hangs(self, t: TakenTensor, was: Any, output: int, function: Any, number: int) -> bool:
        """Return whether an edge is that of a tensor."""
        if function is None:
            return output < 0 and t.is_real
        if was is not None:
            return function is was and number in (output, UNTOLD)
        return output == 0 and self.is_end(function) and self.leaf_of(function) is t.reference()

    @abstractmethod
    def is_real(self, t: Any) -> bool:
        """Return whether a tensor's numbers are such as have gradients."""

    def node(self, function: Any, outputs: Mapping[int, int] | None = None) -> tuple[int, events.GraphNode]:
        """The number of a node, and what there is to tell of it.

        Args:
            outputs: by edge, the output that it leads to, where the framework does not say it.
        """
        key = self.key(function)
        known = self._nodes.get(key)
        if known is not None:
            return known, events.GraphNode(known, function.name(), (), ())
        number = self._nodes[key] = next(self._node_numbers)
        told = outputs or {}
        edges = tuple([self._edge(f, nr, told.get(i, 0)) for i, (f, nr) in enumerate(self.next_nodes(function))])
        shapes, saved, custom, rule = self.describe(function)
        self.hook(function, number, key)
        return number, events.GraphNode(number, function.name(), edges, shapes, saved, custom, rule)

    def _edge(self, function: Any, output: int, told: int) -> events.Edge:
        if function is None:
            return None
        if self.is_end(function):
            leaf = self.leaf_of(function)
            return None if leaf is None else self.number(leaf)
        return self.node(function)[0], told if output == UNTOLD else output

    def note_pull(self, number: int, gradients: Any, arriving: Any) -> None:
        """Keep what a node got and gave in the pass that runs."""
        if self._pulled is not None:
            with self.unheard():
                self._pulled.append(events.NodeDifferentiated(number, self.arrays(arriving), self.arrays(gradients)))

    def freed(self, number: int, key: int) -> None:
        """Let a node be one that is no more."""
        self._nodes.pop(key, None)
        self._freed.append(number)

    def arrays(self, tensors: Any) -> tuple[Any, ...]:
        """The values of gradients, None for those that there are not."""
        return tuple([None if t is None or not self.is_told(t) else self.array(t) for t in tensors])

    def tell_gone(self) -> None:
        """Tell of tensors and nodes that nobody holds any more."""
        super().tell_gone()
        freed, self._freed[:] = tuple(self._freed), []
        if freed:
            self.sink(events.NodesFreed(freed))


def returns_at(function: Any) -> source.Location:
    """Return the place where a function of the user's returns its result; nowhere for what is not Python."""
    code = getattr(function, "__code__", None)
    return source.NOWHERE if code is None else callers.result(code)
