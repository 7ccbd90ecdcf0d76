"""Events of backward passes: sweeps over the nodes, gradients of leaves, and hooks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core import state, watch
from ...core.errors import UnsupportedError
from ...eager.pass_start import PassRequest, Start
from ...eager.tensor import Leaf, Tensor
from . import events
from .counterparts import Counterparts
from .nodes import close

_MOST_TOLD = 3
"""Passes of the framework's over a node whose gradients are kept."""

_MOST_HOOKED = 16
"""Calls of a hook that are kept."""


class PassPlayer:
    """Plays backward passes.

    Args:
        apart: whether gradients come apart from the tensors that the program holds, as from a file.
    """

    def __init__(self, counterparts: Counterparts, apart: bool) -> None:
        self._counterparts, self._tensors = counterparts, counterparts.tensors
        self._apart = apart
        self._open: list[Sequence[Tensor] | None] = []
        """The inputs of the passes that run, None for all leaves."""
        self._passes = itertools.count(1)
        self._hooked: dict[int, list[tuple[Any, Any]]] = {}

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method that plays each type of event."""
        return {
            events.BackwardBegan: self._play_began,
            events.BackwardEnded: self._play_ended,
            events.Explored: self._play_explored,
            events.GradientCleared: self._play_cleared,
            events.Hooking: self._play_hooking,
            events.HookCalled: self._play_hook_call,
        }

    def _play_began(self, event: events.BackwardBegan) -> None:
        while len(self._open) > event.depth:  # passes that the program's own error ended: nobody told of their end
            self._open.pop()
            state.passed.note()
        inputs = None if event.inputs is None else [self._tensors[n] for n in event.inputs]
        self._open.append(inputs)
        request = PassRequest(event.gradients, inputs)
        state.passes.note([self._tensors[n] for n in event.roots], event.how, event.recorded, request)

    def _play_ended(self, event: events.BackwardEnded) -> None:
        roots = [self._tensors[n] for n in event.roots]
        number = next(self._passes)
        for pulled in event.pulled:
            self._note_pull(number, pulled)
        if event.recorded and watch.noting:
            watch.note(watch.Differentiated(tuple(roots)))
        gave: dict[Leaf, Any] = {}
        inputs = self._open.pop() if self._open else None
        if not event.recorded and any(not t.stop_gradient for t in roots):
            self._counterparts.passing[0] = number
            try:
                gave = self._sweep(event, Start.of(roots, event.seeds, inputs if event.how == "backward" else None))
            except UnsupportedError:
                if not event.error:
                    raise
                # The pass ended in the middle by an error of the program's own, a hook's say, which goes on from here.
            finally:
                self._counterparts.passing[0] = 0
        if event.recorded:
            gave = self._differences(event.gradients)
        gave |= {self._tensors[n].leaf: gradient for n, gradient in event.nested}
        state.swept.note(gave)
        filled = list(gave) if event.how == "backward" or not event.recorded else []
        if watch.noting:
            for leaf in filled:
                watch.note(watch.Added(leaf, roots[0]))
        for n, gradient in event.gradients:
            self._take_gradient(n, gradient)
        if filled and watch.noting:
            watch.note(watch.Filled(tuple(filled)))
        state.passed.note()

    def _differences(self, gradients: Sequence[tuple[int, Any]]) -> dict[Leaf, Any]:
        """By leaf what a pass gave that was recorded itself: what it added to ``.grad``."""
        gave: dict[Leaf, Any] = {}
        for n, gradient in gradients:
            leaf = self._tensors[n].leaf
            before = None if leaf.grad is None or leaf.cleared else leaf.grad.array
            if gradient is not None and gradient is not before and not np.shares_memory(gradient, before):
                gave[leaf] = gradient if before is None else gradient - before
        return gave

    @staticmethod
    def _sweep(event: events.BackwardEnded, start: Start) -> dict[Leaf, Any]:
        """Sweep over the nodes of a pass, and return what it added to ``.grad``, by leaf.

        The framework has added the gradients already: nothing is added here.
        """
        fills = event.how == "backward"
        work = start.begin(retain_graph=event.retains, fill=fills)
        work.run()
        if not fills:
            return {}
        leaves = [leaf for leaf in work.leaves if start.inputs is None or leaf in start.inputs]
        return {leaf: work.total(leaf) for leaf in leaves}

    def _take_gradient(self, number: int, gradient: Any) -> None:
        """Take the ``.grad`` of a leaf from the framework."""
        held = self._tensors.get(self._counterparts.grads.get(number, 0)) if self._apart else None
        if held is not None and gradient is not None and held.array.shape == gradient.shape:
            np.copyto(held.array, gradient)  # frameworks add in place
            gradient = held.array
        self._counterparts.set_gradient(self._tensors[number], gradient)

    def _play_explored(self, event: events.Explored) -> None:
        number = next(self._passes)
        for pulled in event.pulled:
            self._note_pull(number, pulled)

    def _note_pull(self, number: int, pulled: events.NodeDifferentiated) -> None:
        node = self._counterparts.nodes.get(pulled.node)
        if node is None:
            return
        arriving = tuple([None if o is None else _entry(pulled.arriving, o) for o in node.outs_of])
        given = tuple([None if e is None else _entry(pulled.gradients, e) for e in node.order])
        node.told.append((number, arriving, given))
        del node.told[:-_MOST_TOLD]

    def _play_cleared(self, event: events.GradientCleared) -> None:
        t = self._tensors[event.tensor]
        if event.removed:
            self._counterparts.grads.pop(event.tensor, None)
        if watch.noting:
            watch.note(watch.Cleared("clear_grad" if not event.removed else "grad = None", t))
        leaf = t._leaf
        if leaf is None or leaf.grad is None:
            return
        if event.removed:
            leaf.grad = None
        else:
            leaf.grad = Tensor(np.zeros_like(leaf.grad.array), stop_gradient=False)
            leaf.cleared = True

    def _play_hooking(self, event: events.Hooking) -> None:
        t = self._tensors[event.tensor]
        seen = self._hooked.setdefault(event.key, [])

        def hook(gradient: Tensor) -> Tensor | None:
            """Return what the hook made of this gradient in the framework; of one that it has not seen, what it
            made last.
            """
            after = next((a for before, a in reversed(seen) if close(before, gradient.array)), None)
            if after is None and seen and not any(close(before, gradient.array) for before, _ in seen):
                after = seen[-1][1]
            return None if after is None else Tensor(after)

        hook.__dict__["stands_at"] = event.hook
        t.register_hook(hook)

    def _play_hook_call(self, event: events.HookCalled) -> None:
        seen = self._hooked.setdefault(event.key, [])
        seen.append((event.before, event.gradient))
        del seen[:-_MOST_HOOKED]


def _entry(values: Sequence[Any], at: int) -> Any:
    return values[at] if at < len(values) else None
