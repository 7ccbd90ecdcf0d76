"""Steps of optimizers that change nothing, and frozen parameters that change all the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core import source, watch
from ...core.source import Location
from ...eager.tensor import Tensor


@dataclass
class Idle:
    """An optimizer whose steps have changed nothing so far.

    Attributes:
        by: its class.
        rate: its learning rate.
        steps: how many there were.
        loc: the line of the last one.
        tensors: what it holds.
        gradients: how many of these had a gradient that is not zero.
    """

    by: str
    rate: float | None
    steps: int
    loc: Location
    tensors: tuple[Tensor, ...]
    gradients: int


@dataclass
class Updates:
    """Hears what becomes of tensors while a file runs.

    Attributes:
        idle: by what an optimizer holds, those whose steps have changed nothing.
        thawed: frozen tensors that an optimizer holds and whose values were changed: the line.
    """

    idle: dict[tuple[int, ...], Idle] = field(default_factory=dict)
    thawed: dict[int, tuple[Tensor, Location]] = field(default_factory=dict)
    _moved: set[tuple[int, ...]] = field(default_factory=set)
    _listed: dict[int, Tensor] = field(default_factory=dict)
    _stopped: dict[int, Tensor] = field(default_factory=dict)
    """What somebody froze; running statistics are made so, and are written by their layer."""
    _frozen: dict[int, Any] = field(default_factory=dict)
    _open: list[tuple[watch.Updating, list[Any]]] = field(default_factory=list)

    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if isinstance(event, watch.Listed):
            self._listed.update((id(t), t) for t in event.tensors)
        elif isinstance(event, watch.Cutting) and event.tensor is not None and event.how != "detach":
            self._stopped[id(event.tensor)] = event.tensor
        elif isinstance(event, watch.Filled):
            self._passed()
        elif isinstance(event, watch.Updating):
            self._begin(event)
        elif isinstance(event, watch.Updated) and self._open:
            self._end(*self._open.pop())
        elif isinstance(event, watch.Written):
            self._written(event.tensor, event.array)

    def _begin(self, event: watch.Updating) -> None:
        key = tuple(map(id, event.tensors))
        # Of one that has changed something nothing more is asked.
        before = [] if key in self._moved else [t.array.copy() for t in event.tensors]
        self._open.append((event, before))

    def _end(self, event: watch.Updating, before: list[Any]) -> None:
        key = tuple(map(id, event.tensors))
        if key in self._moved:
            return
        gradients = [t.grad for t in event.tensors if t.grad is not None]
        live = sum(bool(np.any(np.asarray(g.array))) for g in gradients)
        same = all(
            np.array_equal(a, t.array, equal_nan=a.dtype.kind == "f")
            for a, t in zip(before, event.tensors, strict=True)
        )
        if not same:
            self._moved.add(key)
            self.idle.pop(key, None)
            return
        known = self.idle.get(key)
        steps = 1 if known is None else known.steps + 1
        live = live if known is None else max(live, known.gradients)
        self.idle[key] = Idle(event.by, event.rate, steps, source.here(), event.tensors, live)

    def _passed(self) -> None:
        """A backward pass is over: from now on what is frozen is to stay as it is."""
        for key, tensor in self._listed.items():
            if tensor.stop_gradient and key in self._stopped and key not in self._frozen:
                self._frozen[key] = tensor.array.copy()

    def _written(self, tensor: Tensor, array: Any) -> None:
        """A frozen parameter that an optimizer holds is given other values, after gradients were computed."""
        before = self._frozen.get(id(tensor))
        if before is None or not tensor.stop_gradient or self._open:
            return
        values = np.asarray(getattr(array, "array", array))
        if values.shape != before.shape or not np.array_equal(values, before):
            self.thawed.setdefault(id(tensor), (tensor, source.here()))
