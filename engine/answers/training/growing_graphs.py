"""Graphs of earlier steps that stay: something keeps the graph of every step, and memory grows with each."""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from statistics import median_low
from typing import Any

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...eager.tape import GradNode, keys
from ...eager.tensor import Tensor
from ...executor.live import nbytes, root
from .loop_sums import Stay, TurnSums, measure
from .memory import address, find_retained

_AGE = 2
"""Passes and updates after which a graph is looked at: that of the last one is there until its names are bound anew."""


@dataclass(eq=False)
class _Count:
    """Counts rounds: one is over where somebody comes who has come in it before."""

    number: int = 0
    _seen: set[Any] = field(default_factory=set)

    def count_arrival(self, who: Any) -> None:
        """Note that somebody comes."""
        if who in self._seen:
            self.number += 1
            self._seen.clear()
        self._seen.add(who)


@dataclass(eq=False)
class _Group:
    """Records of a part of a step that are still there.

    Attributes:
        place: how many updates there had been, and the round of backward calls.
        nodes: weak references to the nodes that are alive and that no later pass has gone back through.
    """

    place: tuple[int, int]
    nodes: set[weakref.ref[GradNode]] = field(default_factory=set)


class Growth:
    """Hears which nodes are recorded in which step, and which of them outlive it.

    Updates and backward passes end parts of steps. A step ends where an optimizer updates that has updated in it
    before; where none updates, where a backward call of a line comes again. Nodes are held weakly: nothing lives
    longer for this.

    Attributes:
        outlived: whether something of the graph of a part was there after later ones.
        has_passed: whether there was a backward pass.
    """

    def __init__(self) -> None:
        self.outlived = self.has_passed = False
        self._sums = TurnSums()
        self._born: list[weakref.ref[GradNode]] = []
        self._ends: list[int] = []
        """By part of a step, the time of its end; keys of nodes are times, and fall."""
        self._waiting: dict[int, tuple[tuple[int, int], list[weakref.ref[GradNode]]]] = {}
        """By part, its place and what was recorded in it, until it is old enough to be looked at."""
        self._late: set[weakref.ref[GradNode]] = set()
        """Nodes of these that a pass of a later step has gone back through."""
        self._groups: dict[int, _Group] = {}
        self._updates, self._passes = _Count(), _Count()
        self._steps: list[int] = []
        """By update, the step that it is of."""

    # -- what is heard ------------------------------------------------------------------------------------------------

    @handles(watch.Pulled)
    def step(self, event: watch.Pulled) -> None:
        """Hear of a step: what a later pass goes back through is kept for a reason."""
        self._sums.note_pulled(event.node)
        if self._ends and -event.node.key <= self._ends[-1]:
            part = bisect_left(self._ends, -event.node.key)
            group = self._groups.get(part)
            if group is None and part not in self._waiting:
                return
            place = self._waiting[part][0] if group is None else group.place
            if self._step_at(place) == self._step_at(self._place):
                return
            if group is None:
                self._late.add(weakref.ref(event.node))
            else:
                self._forget(part, group, weakref.ref(event.node))

    @handles(watch.Called, watch.Applied, watch.Updating, watch.Filled)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        kind = type(event)
        if kind is watch.Called:
            self._note_results(event.results)
        elif kind is watch.Applied:
            self._born.append(weakref.ref(event.node))
        elif kind is watch.Updating:
            self._end()
            self._updates.count_arrival((*map(identity, event.tensors[:1]), len(event.tensors)))
            self._steps.append(self._updates.number)
        elif kind is watch.Filled:
            self.has_passed = True
            self._passes.count_arrival(source.file_and_line(source.here()))
            self._end()

    def _note_results(self, results: Iterable[Any]) -> None:
        """Note the operator that gave some tensors."""
        node = None
        for t in results:
            if type(t) is list:
                self._born += [weakref.ref(v.node) for v in t if isinstance(v, Tensor) and v.node is not None]
            elif t is not None and t.node is not None:
                node = t.node
                self._born.append(weakref.ref(node))
        if node is not None:
            self._sums.note_recorded(node, len(self._ends))

    @property
    def _place(self) -> tuple[int, int]:
        return len(self._steps), self._passes.number

    def _step_at(self, place: tuple[int, int]) -> int:
        """The number of the step of which something is: that of the next update, of backward calls without any."""
        update, call = place
        if not self._steps:
            return call
        return self._steps[update] if update < len(self._steps) else self._steps[-1] + 1

    def _end(self) -> None:
        """End a part of a step."""
        part = len(self._ends)
        self._ends.append(-next(keys))
        self._waiting[part] = self._place, self._born
        self._born = []
        if part >= _AGE:
            self._look(part - _AGE)

    def _look(self, part: int) -> None:
        """Keep what there still is of a part."""
        place, born = self._waiting.pop(part)
        group = _Group(place)

        def forget(reference: weakref.ref[GradNode]) -> None:
            self._forget(part, group, reference)

        for r in born:
            node = r()
            if node is not None and r not in self._late:
                group.nodes.add(weakref.ref(node, forget))
        if group.nodes:
            self._groups[part] = group
            self.outlived = True

    def _forget(self, part: int, group: _Group, reference: weakref.ref[GradNode]) -> None:
        group.nodes.discard(reference)
        if not group.nodes:
            self._groups.pop(part, None)

    # -- what is asked ------------------------------------------------------------------------------------------------

    def find_sums(self, *, is_whole: bool) -> list[Stay]:
        """Find the sums over turns that no backward has gone through, in a file that goes backward somewhere.

        Args:
            is_whole: whether the file ran to its end; where it was stopped, a sum of the last part may go backward yet.
        """
        if not self.has_passed:
            return []
        return [found.stay for found in self._sums.sums if is_whole or found.made < len(self._ends)]

    def has_turns_left(self) -> bool:
        """Return whether something may hold the graphs of turns that came after the last part of a step."""
        nodes = [node for r in self._born if (node := r()) is not None and node.freed is None]
        return self.has_passed and max(Counter((n.code, n.offset) for n in nodes).values(), default=0) > _AGE

    def measure_held(self, tensors: Iterable[Tensor]) -> Stay | None:
        """Measure what the tensors of a container keep, where each is that of a turn; None where they are not."""
        nodes = [t.node for t in tensors if t.node is not None]
        return measure(nodes, nodes[-1]) if len(nodes) > _AGE else None

    def finish(self) -> None:
        """Look at the last steps, too, whatever their age; what follows the last update belongs to its step."""
        self._end()
        self._steps += self._steps[-1:]
        for part in list(self._waiting):
            self._look(part)

    def find_stay(self, tensors: Iterable[Tensor], seen: set[GradNode]) -> Stay | None:
        """Return what *tensors* keep of the graphs of steps; None where they keep nothing.

        Args:
            seen: nodes that others are known to keep: they are left out, and the new ones are added.
        """
        tensors = list(tensors)
        nodes: Counter[int] = Counter()
        saved: Counter[int] = Counter()
        buffers: set[int] = set()
        is_least = False
        most = 0
        for t in tensors:
            own: set[int] = set()
            for node, step in self._find_sources(t, seen):
                own.add(step)
                nodes[step] += 1
                retained = find_retained(node)
                is_least = is_least or retained is None
                for array in retained or ():
                    if (at := address(array)) not in buffers:
                        buffers.add(at)
                        saved[step] += nbytes(array)
            most = max(most, len(own))
        if not nodes:
            return None
        newest = max((t.node for t in tensors if t.node is not None), key=lambda node: -node.key)
        return Stay(
            len(nodes),
            median_low(nodes.values()),
            median_low(saved[step] for step in nodes),
            sum(nbytes(root(t.array)) for t in tensors) // len(nodes),
            is_least,
            newest.loc,
            most == len(nodes) > 1,
            all(t.array.size == 1 for t in tensors),
        )

    def _find_sources(self, t: Tensor, seen: set[GradNode]) -> Iterator[tuple[GradNode, int]]:
        """The nodes behind a tensor that nobody has met yet, each with its step."""
        todo = [] if t.node is None or t.node in seen else [t.node]
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            group = self._groups.get(bisect_left(self._ends, -node.key))
            if group is not None and weakref.ref(node) in group.nodes:
                yield node, self._step_at(group.place)
            todo += [place[0] for place in node.wrt if isinstance(place, tuple) and place[0] not in seen]
