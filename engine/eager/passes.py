"""One backward pass through the tape: the one sweep, over recorded nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from heapq import heappop, heappush
from time import perf_counter
from typing import Any

import numpy as np

from ..core import source, watch
from ..core.errors import DtypeError, GradientError, GradtoolError, ShapeError, describe
from ..core.spec import TensorSpec
from ..ops.registry import get_by_type
from . import tape
from .embedding_gradients import adding_rows
from .mode import _GradMode, is_grad_enabled
from .piecewise_linear import BENT, Bend
from .pull_by_loops import pull_by_loops
from .record import apply
from .tape import Freed, GradNode, Place
from .tensor import Keep, Leaf, Tensor, array_of

_running: ContextVar[Pass | None] = ContextVar("gradtool_running_pass", default=None)

running = _running.get
"""The innermost pass that runs now, or None: for those whom its hooks and rules call."""

TAKEN_OVER = 1 << 16
"""Bytes from which a sum goes into the memory of its first gradient, where that is nobody else's: asking takes as long
as allocating little."""

HELD_BY_US = 4
"""References to an array whose only holder is the place where it arrived, as :meth:`Pass._join` counts them."""

Grad = Any
"""A gradient on its way: an array, or a Tensor where the backward pass itself is recorded."""


class Pass:
    """One backward pass.

    The nodes wait in a heap, newest first: a node is always newer than those it was computed from, so all gradients of
    its results have arrived when it comes up. An entry of the heap is a list: the node, then a gradient (or None) for
    each of its outputs.

    Args:
        retain_graph: keep what the nodes retained, for another pass.
        create_graph: record the pass itself, so that its results can be differentiated.
        fill: whether the pass fills ``.grad``; hooks run in any case.
        targets: the places whose gradients are asked for; None for all leaves.
        needed: the nodes that lead to the targets; None for all.
        constants: places through which no gradient flows in this pass.

    Attributes:
        leaves: after the sweep, the gradients of the leaves it came to (see :meth:`total`).
        roots: the tensors that it starts from.
        at: the entry that is being differentiated, or None.
        hooking: whether its hooks are being called, and not its rule.
        recording: whether what hooks compute is recorded: as it was where the pass was started, as in Paddle, so that a
            hook can run backward itself; always where the pass is recorded too.
        pending: the entries of nodes that gradients have arrived at, by their keys.
        bends: of a recorded pass, the operators of straight pieces that it came through.
        adds_rows: gradients of leaves may be sums of rows (:mod:`.embedding_gradients`) where nobody watches.
    """

    def __init__(
        self,
        *,
        retain_graph: bool,
        create_graph: bool = False,
        fill: bool = True,
        targets: Collection[Place] = (),
        needed: set[GradNode] | None = None,
        constants: frozenset[Place] = frozenset(),
    ) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.fill = fill
        self.targets = targets
        self.needed = needed
        self.constants = constants
        self.leaves: dict[Leaf, Grad] = {}
        self.intermediate: list[tuple[Leaf, Grad]] = []
        self.loc = source.here()
        self.roots: list[Tensor] = []
        self.at: list[Any] | None = None
        self.hooking = False
        self.recording = create_graph or is_grad_enabled()
        self._results: dict[Place, Grad] = {}
        self._order: list[int] = []
        self.pending: dict[int, list[Any]] = {}
        self.adds_rows = False
        self.bends: list[Bend] = []
        self._own: set[Any] = set()
        """Where a sum stands that nobody else holds: keys of leaves, and of entries with the position in them."""

    def seed(self, tensor: Tensor, gradient: Tensor | None) -> None:
        """Start from *tensor*, with ones when *gradient* is None.

        Raises:
            ShapeError: the gradient has another shape (a ValueError).
            DtypeError: the gradient's dtype cannot become the tensor's (a TypeError).
        """
        place = tensor.tape_place()
        if place in self.constants:
            return
        if gradient is None:
            start: Grad = np.ones(tensor.array.shape, tensor.array.dtype)
        else:
            start = check_gradient(gradient, tensor.spec, f"the gradient given for '{tensor.name}'")
        self.roots.append(tensor)
        self._deliver((place,), (as_tensor(start) if self.create_graph else array_of(start),))

    def run(self) -> None:
        """Sweep from the seeds to the leaves."""
        by = watch.watcher()
        if by is not None:
            by(watch.Began(tuple(self.roots), self.create_graph, self._seeds()))
        token = _running.set(self)
        try:
            with _GradMode(self.create_graph), np.errstate(all="ignore"):
                self._sweep(None if by is None else lambda event: by(event) and False)
        except Exception as error:
            if by is not None and self.at is not None:
                by(watch.OpFailed(error, node=self.at[0], arriving=tuple(self.at[1:])))
            raise
        finally:
            _running.reset(token)
            if by is not None:
                by(watch.Ended())

    def steps(self) -> Iterator[watch.Pulled]:
        """As :meth:`run`, stopping after each operator with what it got and gave."""
        events: list[watch.Pulled] = []

        def pause(event: watch.Pulled) -> bool:
            events.append(event)
            return True

        while self._order:
            with _GradMode(self.create_graph), np.errstate(all="ignore"):
                self._sweep(pause)
            while events:
                yield events.pop()

    def total(self, place: Place) -> Grad | None:
        """The whole gradient at *place* after the sweep, or None where none arrived."""
        if isinstance(place, Leaf):
            gradient = self.leaves.get(place)
        elif place in self._results:
            gradient = self._results[place]
        else:
            entry = self.pending.get(place[0].key)
            gradient = entry[place[1] + 1] if entry is not None else None
        return self._sum(gradient)

    def pull(
        self, node: GradNode, arriving: Sequence[Grad | None], wrt: Sequence[Place | None]
    ) -> Sequence[Grad | None]:
        """Return the gradients of *node* by *wrt* for gradients *arriving*; none of them goes on."""
        return pull_by_loops(node, arriving, wrt, self.create_graph)

    def run_hooks(self, hooks: dict[int, Any], gradient: Grad, spec: TensorSpec, what: str, site: str | None) -> Grad:
        """*gradient* after all *hooks*, in the order of registration.

        Raises:
            GradientError: a hook returned neither a Tensor nor None. What a hook raises passes through.
            ShapeError: a hook returned a tensor of another shape (a ValueError).
        """
        # The hooks get a copy: the same array may be on its way to other tensors as well.
        current = as_tensor(gradient)
        current = Tensor(
            current.array.copy(), stop_gradient=current.node is None, node=current.node, index=current.index
        )
        for hook in list(hooks.values()):
            if isinstance(hook, Keep):
                tensor = hook.tensor()
                if tensor is not None and self.fill:
                    self.intermediate.append((tensor.leaf, current if self.create_graph else current.array.copy()))
                continue
            try:
                with _GradMode(self.recording):
                    result = hook(current)
            except Exception as error:
                error.add_note(f"raised by a hook on {what}{f', made at {site}' if site else ''}")
                raise
            if result is None:
                continue
            if not isinstance(result, Tensor):
                raise GradientError(
                    f"a hook on {what} returned {type(result).__name__}; it must return a Tensor or None.", made=site
                )
            current = as_tensor(check_gradient(result, spec, f"what a hook on {what} returned"))
        return current if self.create_graph else current.array

    def run_leaf_hooks(self, leaf: Leaf, gradient: Grad) -> Grad:
        """*gradient* after the hooks of *leaf*."""
        return self.run_hooks(leaf.hooks, gradient, leaf.spec, f"'{leaf.name}'", None) if leaf.hooks else gradient

    def run_output_hooks(self, node: GradNode, index: int, gradient: Grad | None) -> Grad | None:
        """*gradient* of output *index* of *node* after the hooks on it; they get zeros where none arrived.

        For a PyLayer that tells None from zeros, they are not called then.
        """
        hooks = node.hooks.get(index) if node.hooks is not None else None
        rule = node.op.rule
        if not hooks or (gradient is None and rule is not None and rule.takes_none):
            return gradient
        if gradient is None:
            gradient = np.zeros(*node.shapes[index])
        what = f"the output of {node.op.type}"
        return self.run_hooks(hooks, gradient, node.outs[index], what, source.describe(node.loc))

    # -- parts ----------------------------------------------------------------------------------------------------

    def _seeds(self) -> dict[Place, Grad]:
        """Return the gradient at each place before the sweep; copies of sums, which go on in their own storage."""
        seeds: dict[Place, Grad] = {}
        for key, (node, *gradients) in self.pending.items():
            seeds |= {
                (node, i): g.copy() if (key, i) in self._own else g for i, g in enumerate(gradients) if g is not None
            }
        for leaf, g in self.leaves.items():
            seeds[leaf] = g.copy() if leaf in self._own else g
        return seeds

    def _sweep(self, by: watch.Watcher | None) -> None:
        if by is None and self.needed is None and not (self.constants or self.create_graph or self.targets):
            self._sweep_all()
            return
        order, entries, deliver = self._order, self.pending, self._deliver
        everything = self.needed is None and not self.constants
        recorded, targets = self.create_graph, self.targets
        freed = None if self.retain_graph else Freed(self.loc)
        while order:
            # the newest node, if a gradient through it matters
            entry = entries.pop(heappop(order))
            node = entry[0]
            wrt = node.wrt
            if not everything:
                wrt = [p if p is not None and self.flows_to(p) else None for p in wrt]
            if wrt.count(None) == len(wrt):
                continue
            # what has arrived there
            self.at = entry
            if recorded:
                entry[1:] = [self._sum(g) for g in entry[1:]]
                if node.op.type in BENT:
                    self.bends.append(Bend(node.op.type, node.site))
            if node.hooks is not None:
                self._run_hooks(entry)
            if targets:
                self._note_targets(entry)
            # its gradient
            pull = node.call.recipe.pull
            start = perf_counter() if by is not None else 0.0
            try:
                by_loops = pull is None or recorded
                gradients = pull_by_loops(node, entry[1:], wrt, recorded) if by_loops else pull(node, entry, wrt)
            except GradtoolError as error:
                raise _add_place(error, node) from None
            except Exception as error:
                _note_place(error, node)
                raise
            pause = by is not None and by(
                watch.Pulled(node, entry[1:], wrt, gradients, recorded, perf_counter() - start, node.kept)
            )
            # what it kept is let go of, and what it gave goes on
            self.at = None
            self._let_go(node, freed)
            deliver(wrt, gradients)
            if pause:
                return
            del entry, gradients  # what has been used is let go before the next node is computed

    def _let_go(self, node: GradNode, freed: Freed | None) -> None:
        """Free what a node retained; of a graph that is kept, what a step may overwrite is set aside for tools."""
        if freed is not None:
            node.free(freed)
        elif self.fill and tape.keeping:
            node.set_aside()

    def _sweep_all(self) -> None:
        """As :meth:`_sweep`, of a pass that goes to all leaves, is not recorded, and which nobody watches."""
        try:
            if not self.adds_rows:
                self._sweep_quickly()
                return
            token = adding_rows.set(True)
            try:
                self._sweep_quickly()
            finally:
                adding_rows.reset(token)
        except GradtoolError as error:
            if self.hooking or self.at is None:
                raise
            raise _add_place(error, self.at[0]) from None
        except Exception as error:
            if self.at is not None and not self.hooking:
                _note_place(error, self.at[0])
            raise

    def _sweep_quickly(self) -> None:
        """The loop of :meth:`_sweep_all`: what it does for a node is what an operator costs on the way back.

        Most of what a node gives goes to one that is the next, which need not wait among the others.
        """
        order, entries, own = self._order, self.pending, self._own
        leaves: dict[Leaf, Any] = self.leaves
        gone, lets_go = Freed(self.loc), not self.retain_graph
        freed = gone if lets_go else None
        just_lets_go = lets_go and not tape.keeping
        just_keeps = not lets_go and not (self.fill and tape.keeping)
        entry: Any = entries.pop(heappop(order)) if order else None
        gradient: Any
        gradients: Any
        while entry is not None:
            # the newest node, and its gradient
            self.at = entry
            node = entry[0]
            to = node.to
            pull = self._pull_rare if node.rare is not None else node.call.recipe.pull or self._pull_rare
            gradients = pull(node, entry, to)
            # what it kept is let go of
            if just_lets_go and type(node) is GradNode:
                node.kept = gone
            elif not just_keeps:
                self._let_go(node, freed)
            # and what it gave goes on
            entry, newest, i = None, 1, -1
            for place in to:
                i += 1
                gradient = gradients[i]
                if place is None or gradient is None:
                    continue
                kind = type(place)
                before: Any
                if kind is Leaf:
                    before = leaves.get(place)
                    if place in own:
                        np.add(before, gradient, before)
                    else:
                        leaves[place] = gradient if before is None else self._join(place, before, gradient)
                    continue
                if (
                    kind is GradNode
                    and entry is None
                    and (not order or place.key < order[0])
                    and type(place.form) is not tuple
                ):  # the commonest: the only output of a node, which is the next one
                    entry, newest = [place, gradient], place.key
                    continue
                maker, at = place if kind is tuple else (place, 0)
                key = maker.key
                if key == newest:
                    there = entry
                elif entry is None and (not order or key < order[0]):
                    entry = there = self._entry(maker)
                    newest = key
                else:
                    there = self._queue_entry(maker)
                at += 1
                before = there[at]
                there[at] = gradient if before is None else self._join((key, at - 1), before, gradient)
            if order and (entry is None or order[0] < newest):
                entry = self._next(entry)
            gradients = gradient = None  # what has been used is let go before the next node is computed
        self.at = None

    def _pull_rare(self, node: GradNode, entry: list[Any], to: Sequence[Any]) -> Sequence[Grad | None]:
        """The gradients of a node that has anything beyond what all nodes have, or whose rule must be asked."""
        if node.hooks is not None:
            self._run_hooks(entry)
        pull: Callable[..., Sequence[Grad | None]] | None = node.call.recipe.pull
        if pull is not None:
            return pull(node, entry, to)
        gradients = pull_by_loops(node, entry[1:], to, self.create_graph)
        if len(gradients) != len(to):
            raise ValueError(f"{len(gradients)} gradients for {len(to)} operands")
        return gradients

    @staticmethod
    def _entry(node: GradNode) -> list[Any]:
        """An entry of the heap at which nothing has arrived yet."""
        form = node.form
        return [node, *[None] * len(form)] if type(form) is tuple else [node, None]

    def _queue_entry(self, node: GradNode) -> list[Any]:
        """The entry of *node* among those that wait."""
        entry = self.pending.get(node.key)
        if entry is None:
            entry = self.pending[node.key] = self._entry(node)
            heappush(self._order, node.key)
        return entry

    def _next(self, entry: list[Any] | None) -> list[Any]:
        """The newest of those that wait, among which *entry* is from now on."""
        if entry is not None:
            key = entry[0].key
            self.pending[key] = entry
            heappush(self._order, key)
        return self.pending.pop(heappop(self._order))

    def _run_hooks(self, entry: list[Any]) -> None:
        self.hooking = True
        entry[1:] = [self.run_output_hooks(entry[0], i, g) for i, g in enumerate(entry[1:])]
        self.hooking = False

    def _note_targets(self, entry: list[Any]) -> None:
        """Keep the gradients that are asked for."""
        for i, g in enumerate(entry[1:]):
            place = entry[0], i
            if g is not None and place in self.targets:
                self._results[place] = g

    def _deliver(self, places: Sequence[Place | None], gradients: Sequence[Grad | None]) -> None:
        """Add each gradient to what has arrived at its place: borrow the first, allocate at the second, then in place.

        A pass that is recorded only collects them.
        """
        entries = self.pending
        for place, gradient in zip(places, gradients, strict=True):
            if gradient is None or place is None:
                continue
            if isinstance(place, tuple):
                node, index = place
                key = node.key
                entry = entries.get(key)
                if entry is None:
                    entry = entries[key] = [node, *[None] * len(node.shapes)]
                    if self.needed is None or node in self.needed:
                        heappush(self._order, key)
                before = entry[index + 1]
                if before is None:
                    entry[index + 1] = gradient
                else:
                    entry[index + 1] = self._join((key, index), before, gradient)
            else:
                before = self.leaves.get(place)
                self.leaves[place] = gradient if before is None else self._join(place, before, gradient)

    def _join(self, at: Any, before: Grad, gradient: Grad) -> Grad:
        if self.create_graph:
            return [*before, gradient] if isinstance(before, list) else [before, gradient]
        if at in self._own:
            return np.add(before, gradient, out=before)
        if type(before) is np.ndarray and before.nbytes >= TAKEN_OVER and sys.getrefcount(before) == HELD_BY_US:
            flags = before.flags
            alike = type(gradient) is np.ndarray and (before.shape, before.dtype) == (gradient.shape, gradient.dtype)
            if alike and flags.owndata and flags.writeable:
                self._own.add(at)
                return np.add(before, gradient, out=before)
        total = before + gradient
        if type(total) is np.ndarray:
            self._own.add(at)
        return total

    def _sum(self, gradient: Grad | None) -> Grad | None:
        """The gradient for what a recorded pass collected."""
        return apply(get_by_type("sum"), [gradient], {}) if isinstance(gradient, list) else gradient

    def flows_to(self, place: Place) -> bool:
        """Return whether a gradient that is sent to *place* matters."""
        if place in self.constants:
            return False
        if self.needed is None:
            return True
        return place in self.targets or (not isinstance(place, Leaf) and place[0] in self.needed)


def _place_of_pass() -> Any:
    """Return the place where the current pass was started."""
    work = running()
    return None if work is None else work.loc


source.stand_in(Pass._sweep, _place_of_pass)


def check_gradient(gradient: Tensor, spec: TensorSpec, what: str) -> Grad:
    """*gradient* in the dtype of *spec*, after checking its shape."""
    if gradient.array.shape != spec.shape:
        raise ShapeError(f"{what} must have shape {list(spec.shape)}, but has {list(gradient.array.shape)}.")
    if gradient.array.dtype == spec.dtype.numpy:
        return gradient
    if gradient.array.dtype.kind == "c" and spec.dtype.is_floating:
        raise DtypeError(f"{what} is {gradient.dtype.name} and cannot become {spec.dtype.name}.")
    cast = get_by_type("cast")
    return apply(cast, [gradient], cast.attributes({"in_dtype": gradient.dtype.code, "out_dtype": spec.dtype.code}))


def _add_place(error: GradtoolError, node: GradNode) -> GradtoolError:
    """*error* of the gradient of *node*, saying where that was made."""
    return describe(error, op=f"the gradient of {node.op.type}", made=source.describe(node.loc))


def _note_place(error: Exception, node: GradNode) -> None:
    error.add_note(f"in the gradient of {node.op.type}, made at {source.describe(node.loc)}")


def as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(value)
