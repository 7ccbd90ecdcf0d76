"""Layout of the elements of a value in the domain of a group: the index space that its loops go over.

A layout says of the domain's elements, in C order, along which factors of their number a value varies. The mean of the
rows of a ``[8, 64, 128]`` is ``((512, True), (128, False))``, a bias of the last dimension ``((512, False), (128,
True))``, and what has an element for each is ``((65536, True),)``, whatever its shape. Reshaping changes nothing then.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

Layout = tuple[tuple[int, bool], ...]
"""Factors of the number of elements, the last one runs fastest, and whether the value varies along each."""


class NoLayout(Exception):
    """Two layouts do not go together: dimensions are cut at places that do not divide each other."""


def normal(factors: Iterable[tuple[int, bool]]) -> Layout:
    """Without factors of one, and neighbours of a kind as one."""
    merged: list[tuple[int, bool]] = []
    for size, varies in factors:
        if size == 1:
            continue
        if merged and merged[-1][1] == varies:
            merged[-1] = (merged[-1][0] * size, varies)
        else:
            merged.append((size, varies))
    return tuple(merged)


def full(count: int) -> Layout:
    """Of a value with an element for each of *count*."""
    return normal([(count, True)])


def size(layout: Layout) -> int:
    """The number of elements of the domain."""
    return math.prod(n for n, _ in layout)


def count(layout: Layout) -> int:
    """The number of elements of the value."""
    return math.prod(n for n, varies in layout if varies)


def broadcast_layout(shape: Sequence[int], target: Sequence[int]) -> Layout:
    """Of an array of *shape* that is broadcast to *target*."""
    aligned = (1,) * (len(target) - len(shape)) + tuple(shape)
    return normal((n, n == m) for m, n in zip(aligned, target, strict=True))


def compose(part: Layout, whole: Layout) -> Layout:
    """*part*, a layout over the elements that *whole* varies along, in the domain of *whole*.

    Raises:
        NoLayout: they are cut at places that do not divide each other.
    """
    left = list(part)
    factors: list[tuple[int, bool]] = []
    for count, varies in reversed(whole):
        if not varies:
            factors.append((count, False))
            continue
        rest = count
        while rest > 1:
            if not left:
                raise NoLayout
            size, flag = left.pop()
            if size > rest:
                if size % rest:
                    raise NoLayout
                left.append((size // rest, flag))
                size = rest
            elif rest % size:
                raise NoLayout
            factors.append((size, flag))
            rest //= size
    if left:
        raise NoLayout
    return normal(reversed(factors))


def dimensions(layouts: Iterable[Layout], count: int) -> list[int]:
    """The sizes of the fewest loops over *count* elements in which each layout varies along a loop or does not.

    Raises:
        NoLayout: there are none.
    """
    cuts = {1, count}
    for layout in layouts:
        at = 1
        for n, _ in reversed(layout):
            at *= n
            cuts.add(at)
    ordered = sorted(cuts)
    for a, b in itertools.pairwise(ordered):
        if b % a:
            raise NoLayout
    return [b // a for a, b in itertools.pairwise(ordered)][::-1]


def pattern(layout: Layout, dims: Sequence[int]) -> tuple[bool, ...]:
    """Along which of the loops *dims* it varies; nothing varies along those that it does not reach."""
    flags: list[bool] = []
    left = list(layout)
    for n in reversed(dims):
        if not left:
            flags.append(False)
            continue
        at, varies = left.pop()
        if at % n:
            raise NoLayout
        flags.append(varies)
        if at > n:
            left.append((at // n, varies))
    return tuple(reversed(flags))
