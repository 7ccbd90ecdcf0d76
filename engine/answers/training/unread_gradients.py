"""Gradients that are cleared before anything goes by them, and clips of gradients that no step goes by afterwards."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ...core import source, watch
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location
from ...eager.tensor import Leaf, Tensor
from .memory import address


@dataclass
class ClearedUnread:
    """A backward call whose gradients are cleared unread after some of its passes, while steps go by those of others.

    Attributes:
        call: the line of the call.
        loc: the line that clears them.
        tensors: those whose gradients it clears.
        unread: how many passes of that call nothing has gone by.
        read: how many something has gone by.
    """

    call: Location
    loc: Location
    tensors: tuple[Tensor, ...]
    unread: int
    read: int


@dataclass
class Vain:
    """A line that clips, and never what a step goes by later.

    Attributes:
        by: the function.
        loc: the line.
        tensors: whose gradients it is given; none where it is given no gradients.
        after: the line of the step that has gone by them already, where there was one.
        times: how often that happens.
    """

    by: str
    loc: Location
    tensors: tuple[Tensor, ...]
    after: Location | None
    times: int = 0


@dataclass(eq=False)
class _Pass:
    """A backward pass.

    Attributes:
        call: its line.
        finite: whether its loss is: the gradients of one that is not are thrown away for good reasons.
        read: whether anything went by one of its gradients.
        open: the leaves that still have theirs.
        cleared: those that have not, and the first line that cleared one.
    """

    call: Location
    finite: bool
    read: bool = False
    open: set[Leaf] = field(default_factory=set)
    cleared: list[Tensor] = field(default_factory=list)
    loc: Location = ()


@dataclass
class Unread:
    """Hears what becomes of gradients between the pass that gives them and what clears them.

    A pass is read once a step goes by one of its gradients, or the user's code computes with one (a sharpness-aware
    step, gradients of several losses that are put together): only what was cleared without either is unread. A step of
    any optimizer counts: what a generator's loss leaves in its discriminator is thrown away on purpose.
    """

    _passes: dict[Leaf, list[_Pass]] = field(default_factory=dict)
    """By leaf, the passes that its gradient comes of, until one is read."""
    _held: set[Leaf] = field(default_factory=set)
    _reads: dict[Location, int] = field(default_factory=dict)
    _over: list[_Pass] = field(default_factory=list)
    """Those with a gradient that was cleared, and none that was read before."""
    _now: tuple[Any, _Pass] | None = None
    _filled: set[Leaf] = field(default_factory=set)
    """Leaves with a gradient that nothing has gone by."""
    _gradients: dict[int, Leaf] | None = None
    """The same by where the memory of their gradients begins; None where that is not known yet."""
    _stale: dict[Leaf, tuple[Any, Location | None]] = field(default_factory=dict)
    """Leaves whose gradient a step has gone by (its array, and the step), or was cleared."""
    _clips: dict[Location, Vain] = field(default_factory=dict)
    _clipped: dict[Location, int] = field(default_factory=dict)

    @handles(watch.Computed)
    def step(self, event: watch.Computed) -> None:
        """Hear of a step."""
        if self._filled:
            for entry in event.inputs:
                for array in entry if isinstance(entry, (list, tuple)) else (entry,):
                    self._look(array)

    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        act = _ACTS.get(type(event))
        if act is not None:
            act(self, event)

    @property
    def find_cleared(self) -> list[ClearedUnread]:
        """Backward calls of which at least as many passes are unread as are read, and of which some are read."""
        calls: dict[Location, ClearedUnread] = {}
        for over in self._over:
            if over.read or not over.finite or over.open & self._held:
                continue
            known = ClearedUnread(over.call, over.loc, tuple(over.cleared), 0, self._reads.get(over.call, 0))
            calls.setdefault(over.call, known).unread += 1
        return [c for c in calls.values() if c.unread >= c.read > 0]

    @property
    def vain(self) -> list[Vain]:
        """Lines that have clipped nothing else."""
        return [v for v in self._clips.values() if v.times == self._clipped[v.loc]]

    def _note_added(self, event: watch.Added) -> None:
        if self._now is None or self._now[0] is not event.root:
            finite = event.root is None or bool(np.isfinite(np.asarray(event.root.array, np.float64)).all())
            self._now = event.root, _Pass(source.here(), finite)
        now = self._now[1]
        now.open.add(event.leaf)
        passes = self._passes.setdefault(event.leaf, [])
        if not passes or passes[-1] is not now:
            passes.append(now)
        self._stale.pop(event.leaf, None)

    def _fill(self, event: watch.Filled) -> None:
        self._now = None
        self._filled.update(event.leaves)
        self._gradients = None  # of another framework they are known after this

    def _move(self, event: watch.GradientMoved) -> None:
        self._gradients = None

    def _clear(self, event: watch.Cleared) -> None:
        leaf = event.tensor.leaf
        self._filled.discard(leaf)
        self._stale[leaf] = None, None
        for over in self._passes.pop(leaf, ()):
            over.open.discard(leaf)
            if over.read:
                continue
            if not over.cleared:
                over.loc = source.here()
                self._over.append(over)
            over.cleared.append(event.tensor)

    def _note_listed(self, event: watch.Listed) -> None:
        self._held.update(t.leaf for t in event.tensors)

    def _begin_update(self, event: watch.Updating) -> None:
        for tensor in event.tensors:
            leaf = tensor.leaf
            self._read(leaf)
            self._filled.discard(leaf)
            if leaf.grad is not None:
                self._stale[leaf] = leaf.grad.array, source.here()

    def _note_read(self, event: watch.GradRead) -> None:
        for tensor in event.tensors:
            self._read(tensor.leaf)

    def _note_unscaling(self, event: watch.Unscaled) -> None:
        if not event.finite:  # the update is left out for a good reason
            for tensor in event.tensors:
                self._read(tensor.leaf)

    def _note_left(self, event: watch.Left) -> None:
        self._look(event.tensor.array)

    def _note_copied(self, event: watch.Copied) -> None:
        for tensor in event.given:
            self._look(tensor.array)

    def _note_clipped(self, event: watch.Limited) -> None:
        loc = source.here()
        self._clipped[loc] = self._clipped.get(loc, 0) + 1
        if all(map(self._is_stale, event.tensors)):
            after = next((self._stale[t.leaf][1] for t in event.tensors), None)
            self._clips.setdefault(loc, Vain(event.by, loc, event.tensors, after)).times += 1

    def _is_stale(self, tensor: Tensor) -> bool:
        """Return whether its gradient was neither added to nor replaced since a step or since it was cleared."""
        grad = tensor.leaf.grad
        if tensor.leaf not in self._stale or grad is None:
            return False
        array, _ = self._stale[tensor.leaf]
        return not np.any(grad.array) if array is None else array is grad.array

    def _look(self, array: Any) -> None:
        """The user's code computes with an array."""
        if not self._filled:
            return
        if self._gradients is None:
            self._gradients = {address(leaf.grad.array): leaf for leaf in self._filled if leaf.grad is not None}
        leaf = self._gradients.get(address(array))
        if leaf is not None and leaf in self._filled:
            self._read(leaf)

    def _read(self, leaf: Leaf) -> None:
        """Something goes by the gradient of a leaf."""
        for known in self._passes.pop(leaf, ()):
            if not known.read:
                known.read = True
                self._reads[known.call] = self._reads.get(known.call, 0) + 1


_ACTS: dict[type, Any] = {
    watch.Added: Unread._note_added,
    watch.Filled: Unread._fill,
    watch.GradientMoved: Unread._move,
    watch.Cleared: Unread._clear,
    watch.Listed: Unread._note_listed,
    watch.Updating: Unread._begin_update,
    watch.GradRead: Unread._note_read,
    watch.Unscaled: Unread._note_unscaling,
    watch.Left: Unread._note_left,
    watch.Copied: Unread._note_copied,
    watch.Limited: Unread._note_clipped,
}
handles(*_ACTS)(Unread.__call__)
