"""Gradients of the maximum of windows: which element of a window it is, is settled once for all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ops.library import pool
from ...ops.library.window import WindowLine
from ..backend import Kernel, override
from ..choice import backend


class _Taps:
    """The elements of regular windows: with their image padded, every window has all of them.

    Attributes:
        padding: by dimension, how far windows reach beyond the image, before and behind it.
    """

    def __init__(self, lines: Sequence[WindowLine]) -> None:
        self.lines = lines
        self.padding = [(max(-first, 0), max(end - line.size, 0)) for line, (first, end) in self._spans()]

    def _spans(self) -> Iterator[tuple[WindowLine, tuple[int, int]]]:
        for line in self.lines:
            yield line, (line.first, line.first + (len(line.starts) - 1) * line.step + line.reach)

    def each(self) -> Iterator[tuple[list[tuple[int, int, int]], Any]]:
        """For every element: by dimension its first place in the padded image, the place behind its last, the step.

        And for which windows it lies within the image.
        """
        for place in itertools.product(*(range(line.reach) for line in self.lines)):
            sides, inside = [], np.ones((), bool)
            for line, at, (before, _) in zip(self.lines, place, self.padding, strict=True):
                start, count = line.first + before + at, len(line.starts)
                sides.append((start, start + (count - 1) * line.step + 1, line.step))
                places = line.first + at + np.arange(count) * line.step
                inside = inside[..., None] & ((places >= 0) & (places < line.size))
            yield sides, inside

    def pad(self, x: Any) -> Any:
        return jnp.pad(x, [(0, 0), (0, 0), *self.padding])

    def part(self, padded: Any, sides: list[tuple[int, int, int]]) -> Any:
        """Return that element of every window."""
        return padded[(slice(None), slice(None), *(slice(*s) for s in sides))]

    def first(self, image: Any, largest: Any) -> Any:
        """Return which element of each window is the first one that is its maximum; where NaN is, the first NaN."""
        # Two branches, of which one runs: XLA would search anew for each element of what follows otherwise.
        return lax.cond(jnp.isnan(largest).any(), self._first_or_nan, self._first, image, largest)

    def _first(self, image: Any, largest: Any) -> Any:
        return self._search(image, largest, lambda part: part == largest)

    def _first_or_nan(self, image: Any, largest: Any) -> Any:
        return self._search(image, largest, lambda part: (part == largest) | ((part != part) & (largest != largest)))

    def _search(self, image: Any, largest: Any, hit: Callable[[Any], Any]) -> Any:
        padded, found = self.pad(image), jnp.full(largest.shape, -1, "int32")
        for n, (sides, inside) in reversed([*enumerate(self.each())]):
            found = jnp.where(inside & hit(self.part(padded, sides)), jnp.int32(n), found)
        return found

    def spread(self, x: Any, found: Any) -> Any:
        """*x* added to the image, each window's where it is *found*.

        Elements of the image that are a step apart go together: they meet the same elements of windows.
        """
        steps = [line.step for line in self.lines]
        sizes = [line.size + sum(pad) for line, pad in zip(self.lines, self.padding, strict=True)]
        counts = [-(-size // step) for size, step in zip(sizes, steps, strict=True)]
        nothing = jnp.zeros((*x.shape[:2], *counts), x.dtype)
        phases = dict.fromkeys(itertools.product(*map(range, steps)), nothing)
        for n, (sides, _) in enumerate(self.each()):
            phase = tuple([a % step for a, _, step in sides])
            offsets = [a // step for a, _, step in sides]
            edges = [(a, c - a - m, 0) for a, c, m in zip(offsets, counts, x.shape[2:], strict=True)]
            own = jnp.where(found == n, x, jnp.zeros((), x.dtype))
            phases[phase] += lax.pad(own, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *edges])
        rank = len(steps)
        grid = jnp.stack([*phases.values()], axis=-1).reshape((*nothing.shape, *steps))
        order = [d for i in range(rank) for d in (2 + i, 2 + rank + i)]
        total = grid.transpose((0, 1, *order)).reshape((*x.shape[:2], *map(math.prod, zip(counts, steps, strict=True))))
        inner = [slice(before, before + line.size) for line, (before, _) in zip(self.lines, self.padding, strict=True)]
        return total[(slice(None), slice(None), *inner)]

    def take(self, x: Any, found: Any) -> Any:
        """The elements of *x*, an image, that are *found*: the transpose of :meth:`spread`."""
        padded, total = self.pad(x), jnp.zeros(found.shape, x.dtype)
        for n, (sides, _) in enumerate(self.each()):
            total = total + jnp.where(found == n, self.part(padded, sides), 0)
        return total


def _regular(lines: Sequence[WindowLine]) -> bool:
    """Return whether the windows are all of one size and distance, none is void, and their elements are few."""
    if not all(line.step and line.starts and not line.void for line in lines):
        return False
    return max(math.prod(line.reach for line in lines), math.prod(line.step for line in lines)) <= pool.STEPS


@override("put_largest", "jax")
def put_largest(attrs: Any, specs: Any) -> Kernel:
    """The gradient of a maximum."""
    return _move_largest(attrs["window"], pool.put_largest, _Taps.spread)


@override("take_largest", "jax")
def take_largest(attrs: Any, specs: Any) -> Kernel:
    """Its transpose."""
    return _move_largest(attrs["window"], pool.take_largest, _Taps.take)


def _move_largest(window: Any, otherwise: Any, moved: Callable[[_Taps, Any, Any], Any]) -> Kernel:
    """Move values between windows and the largest of their elements; by the definition where windows differ."""

    def kernel(x: Any, image: Any, largest: Any) -> Any:
        k = backend("jax")
        lines = pool.lines_of("pool2d", pool.first(k, image, window).shape[2:], window)
        if not _regular(lines):
            return otherwise.kernel(k, x, image, largest, window=window)
        taps = _Taps(lines)
        found = taps.first(pool.first(k, image, window), pool.first(k, largest, window))
        return pool.back(k, moved(taps, pool.first(k, x, window), found), window)

    return kernel
