"""Tensors and nodes of dynamic mode that stand for those of another framework."""

from __future__ import annotations

from typing import Any

from ...core import state
from ...eager.parameter import TensorParameter
from ...eager.tensor import Tensor, announce_write, writes
from .nodes import ForeignNode


class Counterparts:
    """Stand-ins of gradtool's for the tensors and nodes of the framework, by the numbers that its events give them.

    Attributes:
        tensors: by number, what stands for a tensor of the framework that is still there.
        pinned: numbers of tensors that stay when the program frees them.
        nodes: by number, what stands for a node of the framework's graph.
        of_data: by tensor whose memory is that of a leaf, this leaf: ``p.data``, a detached one, and views of them.
            They are written in place of ``p``.
        grads: by leaf, the tensor of the program's that its ``.grad`` is, once it was met.
        read: by tensor that is about to be written by an operator, the values that this one reads.
        before: by tensor that is about to be written, its values, where somebody watches writes.
        passing: number of the backward pass that runs, 0 between passes; nodes share the list.
    """

    def __init__(self) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.pinned: frozenset[int] = frozenset()
        self.nodes: dict[int, ForeignNode] = {}
        self.of_data: dict[int, int] = {}
        self.grads: dict[int, int] = {}
        self.read: dict[int, Any] = {}
        self.before: dict[int, Any] = {}
        # A list, since every node holds it: one write reaches them all.
        self.passing = [0]

    def note_written(self, number: int) -> None:
        """Note that the program wrote a leaf, itself or through a tensor of the same memory."""
        t = self.tensors.get(self.of_data.get(number, number))
        if t is not None and t.node is None:
            state.written.note(t)

    def announce_write(self, number: int) -> None:
        """Announce that a tensor is about to be written, and keep its values for :meth:`report_write`."""
        t = self.tensors[number]
        if writes.get() is not None:
            self.before[number] = t.array.copy()  # of its own: what was read stays known by its own array
        announce_write(t, None)

    def report_write(self, number: int) -> None:
        """Report what was written where: the framework wrote it before its values could be announced."""
        watcher, before = writes.get(), self.before.pop(number, None)
        if watcher is None or before is None:
            return
        t = self.tensors[number]
        now = t.array
        t.array = before
        try:
            watcher(t, now)
        finally:
            t.array = now

    @staticmethod
    def set_gradient(t: Tensor, gradient: Any) -> None:
        """Let the ``.grad`` of a leaf share memory with the framework's."""
        if gradient is None:
            if t._leaf is not None:
                t._leaf.grad = None
            return
        t.leaf.grad = Tensor(gradient, stop_gradient=False)
        t.leaf.cleared = False


def is_a_leaf(t: Tensor) -> bool:
    """Return whether gradients end in a tensor, or would if it were not frozen."""
    return t.node is None and (isinstance(t, TensorParameter) or not t._stop)
