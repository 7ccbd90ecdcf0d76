"""Steps of optimizers that change nothing, and frozen parameters that change all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...eager.tensor import Tensor
from .. import magnitudes
from ..why import callers
from ..why.statistics import state_places


@dataclass
class Idle:
    """An optimizer whose steps have left all or some of what it holds as it was.

    Attributes:
        by: its class.
        rate: its learning rate.
        steps: how many there were.
        loc: the line of the last one.
        made: where the optimizer was made; empty where nobody saw that.
        held: how many tensors it holds.
        tensors: those of them that no step has changed.
        pushed: of each of these, in how many steps it had a gradient that is not zero.
        hook: where the last hook on the gradient of one of these returns; nowhere without hooks.
        fixed: whether no scheduler changes the rate.
    """

    by: str
    rate: float | None
    steps: int
    loc: Location
    made: Location
    held: int
    tensors: tuple[Tensor, ...]
    pushed: tuple[int, ...]
    hook: Location = NOWHERE
    fixed: bool = False


@dataclass
class Unstepped:
    """An optimizer that has made no step.

    Attributes:
        tensors: what it holds.
        loc: where it was made.
        passes: how many backward passes have given some of these a gradient.
        cleared: after how many passes gradients of these were cleared.
    """

    tensors: tuple[Tensor, ...]
    loc: Location
    passes: int = 0
    cleared: int = 0
    _last: int = 0

    def clear(self, passes: int) -> None:
        """A gradient is cleared after so many passes."""
        if passes > self._last:
            self.cleared, self._last = self.cleared + 1, passes


@dataclass
class SpentOptimizer:
    """An optimizer whose learning rate is 0, after steps that had one.

    Attributes:
        by: its class.
        tensors: what it holds.
        steps: how many steps there were.
        last: how many of them, up to the last, had a rate of 0.
        loc: the line of these.
    """

    by: str
    tensors: tuple[Tensor, ...]
    loc: Location
    steps: int = 0
    last: int = 0


@dataclass
class FrozenInVain:
    """An attribute of a layer that was to freeze its parameters.

    Attributes:
        text: the assignment.
        loc: its line.
        tensors: the parameters, none of which it froze.
    """

    text: str
    loc: Location
    tensors: tuple[Tensor, ...]


@dataclass
class Updates:
    """Hears what becomes of tensors while a file runs.

    Attributes:
        idle: by what an optimizer holds, those with something that no step has changed.
        unstepped: by what an optimizer holds, those that have made no step.
        spent: by what an optimizer holds, all that have made one.
        thawed: frozen tensors that an optimizer holds and whose values were changed: the line.
    """

    idle: dict[tuple[int, ...], Idle] = field(default_factory=dict)
    unstepped: dict[tuple[int, ...], Unstepped] = field(default_factory=dict)
    spent: dict[tuple[int, ...], SpentOptimizer] = field(default_factory=dict)
    thawed: dict[int, tuple[Tensor, Location]] = field(default_factory=dict)
    _moved: dict[tuple[int, ...], set[int]] = field(default_factory=dict)
    """By what an optimizer holds, what of it its steps have changed."""
    labelled: list[FrozenInVain] = field(default_factory=list)
    """Layers that were given an attribute in place of their parameters."""
    _made: dict[frozenset[int], Location] = field(default_factory=dict)
    """By what an optimizer holds, where it was made."""
    _passes: int = 0
    _listed: dict[int, Tensor] = field(default_factory=dict)
    _stopped: dict[int, Tensor] = field(default_factory=dict)
    """What somebody froze; running statistics are made so, and are written by their layer."""
    _frozen: dict[int, Any] = field(default_factory=dict)
    _open: list[tuple[watch.Updating, list[Any]]] = field(default_factory=list)

    def _note_optimizer(self, event: watch.Listed) -> None:
        self._listed.update((identity(t), t) for t in event.tensors)
        self.unstepped[tuple(map(identity, event.tensors))] = Unstepped(event.tensors, source.here())
        self._made[frozenset(map(identity, event.tensors))] = source.here()

    def _note_cleared(self, event: watch.Cleared) -> None:
        for key, optimizer in self.unstepped.items():
            if identity(event.tensor) in key:
                optimizer.clear(self._passes)

    def _note_frozen(self, event: watch.Cutting) -> None:
        if event.tensor is not None and event.how != "detach":
            self._stopped[identity(event.tensor)] = event.tensor

    def _note_updated(self, event: watch.Updated) -> None:
        if self._open:
            self._end(*self._open.pop())

    def _note_unscaled(self, event: watch.Unscaled) -> None:
        if not event.finite:  # its step was called, and the scaler skipped it
            self._forget_unstepped(event.tensors)

    def _note_label(self, event: watch.Labelled) -> None:
        self.labelled.append(FrozenInVain(event.text, source.here(), event.tensors))

    def _begin(self, event: watch.Updating) -> None:
        self._forget_unstepped(event.tensors)
        key = tuple(map(identity, event.tensors))
        spent = self.spent.setdefault(key, SpentOptimizer(event.by, event.tensors, source.here()))
        spent.steps += 1
        spent.last = spent.last + 1 if event.rate == 0 else 0
        if spent.last == 1:
            spent.loc = source.here()
        # Of what has changed once nothing more is asked.
        moved = self._moved.setdefault(key, set())
        before = [None if identity(t) in moved else t.array.copy() for t in event.tensors]
        self._open.append((event, before))

    def _forget_unstepped(self, tensors: Sequence[Tensor]) -> None:
        """Take note that the optimizers that hold any of *tensors* are stepped."""
        if self.unstepped:
            updated = {identity(t) for t in tensors}
            self.unstepped = {key: o for key, o in self.unstepped.items() if updated.isdisjoint(key)}

    def _end(self, event: watch.Updating, before: list[Any]) -> None:
        key = tuple(map(identity, event.tensors))
        known = self.idle.pop(key, None)
        pushed = {} if known is None else dict(zip(map(identity, known.tensors), known.pushed, strict=True))
        still = []
        for tensor, array in zip(event.tensors, before, strict=True):
            if array is None:
                continue
            if not np.array_equal(array, tensor.array, equal_nan=array.dtype.kind == "f"):
                self._moved[key].add(identity(tensor))
                continue
            still.append(tensor)
        if still:
            for tensor in _note_push(still, event.tensors):
                pushed[identity(tensor)] = pushed.get(identity(tensor), 0) + 1
            steps = 1 if known is None else known.steps + 1
            self.idle[key] = Idle(
                event.by,
                event.rate,
                steps,
                source.here(),
                self._made.get(frozenset(key), NOWHERE),
                len(event.tensors),
                tuple(still),
                tuple(pushed.get(identity(t), 0) for t in still),
                next(_hooks(still), NOWHERE),
                event.fixed,
            )

    def _note_filled(self, event: watch.Filled) -> None:
        """A backward pass is over: from now on what is frozen is to stay as it is."""
        self._passes += 1
        if self.unstepped:
            filled = set(event.leaves)
            for optimizer in self.unstepped.values():
                optimizer.passes += any(t.leaf in filled for t in optimizer.tensors)
        for key, tensor in self._listed.items():
            if tensor.stop_gradient and key in self._stopped and key not in self._frozen:
                self._frozen[key] = tensor.array.copy()

    def _note_written(self, event: watch.Written) -> None:
        """Note that a frozen parameter that an optimizer holds is given other values, after gradients were computed.

        Running statistics are their layer's to write: in fine-tuning they go on in a frozen trunk.
        """
        tensor, array = event.tensor, event.array
        before = self._frozen.get(identity(tensor))
        if before is None or not tensor.stop_gradient or self._open or state_places(event.writer):
            return
        values = np.asarray(getattr(array, "array", array))
        if values.shape != before.shape or not np.array_equal(values, before):
            self.thawed.setdefault(identity(tensor), (tensor, source.here()))

    _TAKES: ClassVar[Mapping[type, Callable[[Any, Any], None]]] = {
        watch.Listed: _note_optimizer,
        watch.Cleared: _note_cleared,
        watch.Cutting: _note_frozen,
        watch.Filled: _note_filled,
        watch.Updating: _begin,
        watch.Updated: _note_updated,
        watch.Written: _note_written,
        watch.Labelled: _note_label,
        watch.Unscaled: _note_unscaled,
    }
    """Class of an event -> the method that takes it."""

    @handles(*_TAKES)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        take = self._TAKES.get(type(event))
        if take is not None:
            take(self, event)


def _hooks(tensors: Sequence[Tensor]) -> Iterator[Location]:
    """Yield where the hooks on the gradients of tensors return, the last of each first."""
    for t in tensors:
        for hook in reversed(t.leaf.hooks.values()):
            place = callers.hook_place(hook)
            if place:
                yield place


def _note_push(still: Sequence[Tensor], held: Sequence[Tensor]) -> list[Tensor]:
    """Return which of the parameters that are *still* as they were have a gradient that is to move them.

    One whose own rate is 0 is to stay. A gradient that is rounding beside those of the others is none: that of a bias
    before batch norm is, whatever the loss. Where others move, one that is tiny next to its own weights is none either.
    """
    norms = {
        identity(t): _norm(t) for t in still if (getattr(t, "optimize_attr", None) or {}).get("learning_rate", 1.0) != 0
    }
    if not any(norms.values()):
        return []
    largest = max(_norm(t) for t in held)
    pushed = [t for t in still if norms.get(identity(t), 0.0) > _ROUNDING * largest]
    if len(still) == len(held):
        return pushed
    return [
        t
        for t in pushed
        if norms[identity(t)] > magnitudes.LEAST_SHARE * float(np.linalg.norm(magnitudes.wide(t.array)))
    ]


_ROUNDING = 1e-6


def _norm(tensor: Tensor) -> float:
    """The norm of its gradient; 0 where it has none, or one that is not finite."""
    if tensor.grad is None:
        return 0.0
    norm = float(np.linalg.norm(magnitudes.wide(magnitudes.plain(tensor.grad.array))))
    return norm if np.isfinite(norm) else 0.0
