"""Batch norm that goes on in a frozen network: its parameters stay, and its running statistics move."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...core import source, watch
from ...core.identity import identity
from ...core.listeners import handles
from ...core.records import dataclass
from ...core.source import Location
from ...eager.parameter import TensorParameter
from ...eager.tensor import Leaf, Tensor
from .memory import address

_PYTORCHS = frozenset({"native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"})
_NORMALISING = frozenset({"batch_norm", "sync_batch_norm"}) | _PYTORCHS
_STATISTICS = slice(3, 5)
"""Where these operators take the running mean and variance, in both frameworks."""


@dataclass(eq=False)
class MovingLayer:
    """A layer that normalises with the statistics of the batch.

    Attributes:
        mean: its running mean; None where it is gone.
        scale: its parameter, if it has one.
        loc: the line of its first call.
        calls: how many calls moved the statistics.
        steps: before how many backward passes they did.
        passes_on: whether gradients went back through it.
    """

    mean: Callable[[], Tensor | None]
    scale: Callable[[], Tensor | None]
    loc: Location
    calls: int = 1
    steps: int = 1
    passes_on: bool = False
    _last: Any = None
    _first: list[Any] = field(default_factory=list)
    _pass: int = 0
    _excused: bool = False
    """Whether it is trained, or its values are written by the script."""
    _readers: set[Leaf] = field(default_factory=set)
    """Of parameters that are read together with what it gives."""


@dataclass
class FrozenStatistics:
    """Hears which layers move their running statistics while nothing of them is trained.

    A layer whose results go into an operator with parameters that are trained is part of what is fine-tuned, and one
    whose parameters or statistics the script writes is no frozen one: a teacher that follows its student, say.
    """

    _layers: dict[int, MovingLayer] = field(default_factory=dict)
    _written: dict[int, MovingLayer] = field(default_factory=dict)
    """By address, the layer whose values lie there."""
    _given: dict[int, tuple[weakref.ref[Tensor], frozenset[int]]] = field(default_factory=dict)
    """By tensor, the layers that it was computed from."""
    _weights: dict[int, tuple[weakref.ref[Tensor], frozenset[Leaf]]] = field(default_factory=dict)
    """What was computed from parameters alone, as a transposed weight is, and from which."""
    _passes: int = 0
    _trained: weakref.WeakSet[Leaf] = field(default_factory=weakref.WeakSet)
    """Leaves that got gradients."""
    _moves: bool = False
    """Whether the operator that was computed last is to move the statistics that it is given."""

    @handles(watch.Computed)
    def step(self, event: watch.Computed) -> None:
        """Hear of a step: of a run that is played, arrays do not show what the framework wrote to its buffers."""
        if event.op.type in _PYTORCHS:
            self._moves = bool(event.attrs.get("training")) and event.attrs.get("momentum", 0.1) != 0

    @handles(watch.Called, watch.Copied, watch.Filled, watch.Written)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        kind = type(event)
        if kind is watch.Called:
            self._call(event)
        elif kind is watch.Copied:
            self._give(self._find_layers(event.given), [event.made])
        elif kind is watch.Filled:
            self._passes += 1
            self._trained.update(event.leaves)
        elif kind is watch.Written and self._written and event.writer not in _NORMALISING:
            layer = self._written.get(address(event.tensor.array))
            if layer is not None:
                layer._excused = True

    @property
    def find(self) -> list[MovingLayer]:
        """The layers whose statistics moved, and of which nothing is trained."""
        layers = [x for x in self._layers.values() if not x._excused and x.calls > 1 and x.mean() is not None]
        return [x for x in layers if self._trained.isdisjoint(x._readers)]

    def is_trained(self, tensor: Tensor) -> bool:
        """Return whether a tensor ever got a gradient."""
        return tensor._leaf is not None and tensor._leaf in self._trained

    def _call(self, event: watch.Called) -> None:
        if event.op.type in _NORMALISING:
            self._normalise(event, event.results[event.op.output_index.get("Y", 0)])
            return
        if all(layer._excused for layer in self._layers.values()):
            return
        operands, results = list(_tensors(event.operands)), list(_tensors(event.results))
        layers, weights = self._find_layers(operands), [self._weights_in(t) for t in operands]
        read = frozenset[Leaf]().union(*weights)
        for key in layers if read else ():
            self._layers[key]._readers |= read
        if layers:
            self._give(layers, results)
        elif weights and all(weights):
            for t in results:
                self._weights[identity(t)] = weakref.ref(t, _forget_on_death(self._weights, identity(t))), read

    def _normalise(self, event: watch.Called, result: Tensor) -> None:
        """Note a call of a layer."""
        statistics = [t for t in event.operands[_STATISTICS] if isinstance(t, Tensor)]
        scale = [t for t in event.operands[1:3] if isinstance(t, Tensor)]
        if not statistics:
            return
        mean, key = statistics[0], identity(statistics[0])
        layer = self._layers.get(key)
        if layer is None or layer.mean() is not mean:
            layer = self._layers[key] = self._make_layer(mean, scale)
            self._written.update((address(t.array), layer) for t in (*statistics, *scale))
        elif self._moves or not np.array_equal(layer._last, mean.array, equal_nan=True):
            layer._last = mean.array.copy()
            layer.calls += 1
            layer.steps += layer._pass != self._passes
            layer._pass = self._passes
        self._moves = False
        passes_on = result.node is not None
        layer.passes_on = layer.passes_on or passes_on
        layer._excused = layer._excused or _trains_scale(layer, scale, passes_on)
        if not layer._excused:
            self._give(self._find_layers([event.operands[0]]) | {key}, [result])

    def _make_layer(self, mean: Tensor, scale: Sequence[Tensor]) -> MovingLayer:
        """Return a layer as it is on its first call."""
        first = weakref.ref(scale[0]) if scale else lambda: None
        layer = MovingLayer(weakref.ref(mean), first, source.here(), _pass=self._passes)
        layer._first = [t.array.copy() for t in scale]
        layer._last = mean.array.copy()
        return layer

    def _find_layers(self, tensors: Iterable[Any]) -> frozenset[int]:
        """The layers that tensors were computed from."""
        found: frozenset[int] = frozenset()
        for t in tensors:
            reference, layers = self._given.get(identity(t), (None, frozenset[int]()))
            if reference is not None and reference() is t:
                found |= layers
        return found

    def _give(self, layers: frozenset[int], results: Iterable[Tensor]) -> None:
        for t in results if layers else ():
            self._given[identity(t)] = weakref.ref(t, _forget_on_death(self._given, identity(t))), layers

    def _weights_in(self, t: Tensor) -> frozenset[Leaf]:
        """The leaves of the parameters that take gradients and that a tensor is, or is computed from alone."""
        if isinstance(t, TensorParameter):
            return frozenset() if t.stop_gradient else frozenset({t.leaf})
        reference, leaves = self._weights.get(identity(t), (None, frozenset[Leaf]()))
        return leaves if reference is not None and reference() is t else frozenset()


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    for v in values:
        yield from (t for t in (v if isinstance(v, (list, tuple)) else (v,)) if isinstance(t, Tensor))


def _trains_scale(layer: MovingLayer, scale: Sequence[Tensor], passes_on: bool) -> bool:
    """Return whether scale and shift of a layer take gradients, or have other values than on its first call."""
    if passes_on and any(not t.stop_gradient for t in scale):
        return True
    return any(not np.array_equal(a, t.array) for a, t in zip(layer._first, scale, strict=False))


def _forget_on_death(table: dict[int, Any], key: int) -> Callable[[Any], object]:
    return lambda _: table.pop(key, None)
