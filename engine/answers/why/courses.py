"""Changes of gradients in size on their way from the loss: at one call, or by a factor per layer.

From every value the way goes on to the use that gives most of its gradient, so all ways make one tree, and what is
known of a value follows from the next one. Sizes are sums of magnitudes: a mean leaves them as they are, and a sum over
a million elements is a jump.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Generic

import numpy as np

from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import Location
from .reasons import C, V
from .slopes import Slopes, Use

LAYERS = 4
"""As many make depth."""
_HALF = 0.5
"""The part of a whole change that explains it."""


_LAYOUTS = frozenset({"t", "transpose", "transpose2", "permute", "reshape", "reshape2", "view", "cast", "to"})
"""Operators that hand on the numbers of a weight, and are no layer themselves."""


@dataclass(frozen=True, slots=True)
class Leg(Generic[V, C]):
    """A value on a way, and what is known of the way from the loss to it.

    Attributes:
        size: the order of magnitude of its gradient; that at the loss is :attr:`start`.
        use: how the way goes on; None at its end.
        onto: the next value.
        rise, fall: by how many orders of magnitude one call changed it at most, and at which value that was.
        layers: how many calls with a weight lie on the way; of a loop each round counts.
        first: the value that the first of them from the loss reads; None where there is none.
    """

    value: V
    size: float
    start: float
    use: Use[V, C] | None
    onto: V | None
    rise: tuple[float, V]
    fall: tuple[float, V]
    layers: int
    first: V | None = None

    @property
    def change(self) -> float:
        """From the loss to here, in orders of magnitude."""
        return self.size - self.start

    @property
    def jump(self) -> tuple[float, V]:
        """The largest change in the direction of the whole."""
        return self.rise if self.change > 0 else self.fall

    @property
    def is_by_depth(self) -> bool:
        """Return whether no single call explains the change, and there are layers that may."""
        return self.layers >= LAYERS and abs(self.jump[0]) < _HALF * abs(self.change)


@dataclass(frozen=True, slots=True)
class Gain(Generic[V, C]):
    """The change per layer.

    Attributes:
        factor: by which a layer multiplies the gradient on the way back, a geometric mean.
        uses: of the weights of the layers, the one nearest to the loss first.
        weights: how many different ones there are; none where a loop is meant.
    """

    factor: float
    uses: list[Use[V, C]]
    weights: int

    @property
    def layers(self) -> int:
        """Return how many."""
        return len(self.uses)


class Courses(Generic[V, C]):
    """The ways of all gradients of one pass.

    Args:
        weights: the values of parameters of two and more dimensions: a call that reads one is a layer.
    """

    def __init__(self, slopes: Slopes[V, C], weights: Collection[V]) -> None:
        self._slopes = slopes
        self._legs: dict[V, Leg[V, C]] = {}
        self.weight_of: dict[int, V] = {identity(call): w for w in weights for call in _find_readers(slopes, w)}
        """By the identity of a call the weight that it reads."""

    def leg(self, value: V) -> Leg[V, C] | None:
        """Return what is known of the way to *value*; None where no gradient came."""
        way: list[tuple[V, float, Use[V, C] | None, V | None]] = []
        v: V | None = value
        while v is not None and v not in self._legs:
            size = self._size(v)
            if size is None:
                return None
            use, onto = self._onward(v)
            way.append((v, size, use, onto))
            v = onto
        for v, size, use, onto in reversed(way):
            self._legs[v] = self._next(v, size, use, onto)
        return self._legs[value]

    def _size(self, value: V) -> float | None:
        slopes = self._slopes
        level = slopes.levels.get(value) or (slopes.level(value) if value in slopes.sums else None)
        if level is None or not level.total or not math.isfinite(level.total):
            return None
        return math.log10(level.total)

    def _onward(self, value: V) -> tuple[Use[V, C] | None, V | None]:
        levels = self._slopes.levels
        uses = [u for u in self._slopes.uses.get(value, ()) if u.level is not None and not u.dead]
        if value in self._slopes.targets or not uses:
            return None, None
        use = max(uses, key=lambda u: u.level.total if u.level is not None else 0.0)
        arrived = [w for w in use.onto if w in levels and levels[w].total]
        return (use, max(arrived, key=lambda w: levels[w].total)) if arrived else (None, None)

    def _next(self, v: V, size: float, use: Use[V, C] | None, onto: V | None) -> Leg[V, C]:
        if use is None or onto is None:
            return Leg(v, size, size, None, None, (0.0, v), (0.0, v), 0)
        before = self._legs[onto]
        if len(use.rounds) >= LAYERS:
            layers = before.layers + len(use.rounds)
            return Leg(v, size, before.start, use, onto, before.rise, before.fall, layers, before.first or v)
        gain = size - before.size
        rise = max(before.rise, (gain, v), key=lambda change: change[0])
        fall = min(before.fall, (gain, v), key=lambda change: change[0])
        layer = identity(use.call) in self.weight_of
        first = v if layer and before.first is None else before.first
        return Leg(v, size, before.start, use, onto, rise, fall, before.layers + layer, first)

    def way(self, value: V) -> Iterator[Leg[V, C]]:
        """From *value* to the loss."""
        leg = self.leg(value)
        while leg is not None:
            yield leg
            leg = None if leg.onto is None else self._legs[leg.onto]

    def gain(self, value: V) -> Gain[V, C] | None:
        """The change per layer on the way to *value*; None where it is not steady."""
        loop = next((x.use for x in self.way(value) if x.use is not None and len(x.use.rounds) >= LAYERS), None)
        if loop is not None:
            return round_gain(loop)
        layers = [x for x in self.way(value) if x.use is not None and identity(x.use.call) in self.weight_of][::-1]
        if len(layers) < LAYERS:
            return None
        sizes = np.array([self._legs[x.onto].size for x in layers if x.onto is not None])
        begin = _find_beginning(sizes)
        steady = sizes[begin:]
        if len(steady) < LAYERS:
            return None
        slope = float(np.polyfit(np.arange(len(steady)), steady, 1)[0])
        uses = [x.use for x in layers[begin:] if x.use is not None]
        weights = len({self.weight_of[identity(u.call)] for u in uses})
        return Gain(10.0**slope, uses, weights)


def _find_readers(slopes: Slopes[V, C], weight: V) -> Iterator[C]:
    """Yield the calls that compute with a weight: of PyTorch's layers they read its transpose."""
    forms = [weight]
    for form in forms:  # grows on the way
        for use in slopes.uses.get(form, ()):
            if use.type in _LAYOUTS:
                forms += use.onto
            else:
                yield use.call


def usual(places: Sequence[Location]) -> Location:
    """The line that occurs most."""
    return Counter(places).most_common(1)[0][0]


def round_gain(loop: Use[V, C]) -> Gain[V, C] | None:
    """The change per round of a loop; None where too few of them are left to tell."""
    sizes = np.array([math.log10(total) for total in loop.rounds if 0 < total < math.inf])
    steady = sizes[_find_beginning(sizes) :] if len(sizes) >= LAYERS else sizes
    if len(steady) < LAYERS:
        return None
    slope = float(np.polyfit(np.arange(len(steady)), steady, 1)[0])
    return Gain(10.0**slope, [loop] * len(steady), 0)


def _find_beginning(sizes: np.ndarray) -> int:
    """The layer from which on the sizes change as they do on the whole."""
    steps = np.diff(sizes)
    usual = _HALF * float(np.median(steps))
    steady = steps <= usual if usual < 0 else steps >= usual
    return int(np.argmax(steady)) if steady.any() else 0
