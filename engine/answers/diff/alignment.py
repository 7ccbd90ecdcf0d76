"""Alignment of two sequences, in order: what is equal at both ends, then between entries that stand once on each side
(patience diff), and by the longest common subsequence where no such entries are left.

The source of the method: Bram Cohen's patience diff; the longest increasing run of positions is found by patience
sorting in n·log(n). Short stretches without unique entries take their lengths' product, long ones are matched greedily.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

_TABLE: Final = 250_000
"""Cells of the table for the longest common subsequence of a stretch; a longer one is matched greedily."""

Stretch = tuple[int, int, int, int]
"""``a[i:j]`` and ``b[k:l]`` as ``i, j, k, l``."""


def align(a: Sequence[Hashable], b: Sequence[Hashable], within: Stretch | None = None) -> list[tuple[int, int]]:
    """Pairs of positions of equal entries, both positions increasing.

    Args:
        within: the stretches to look at; all of *a* and *b* by default.
    """
    pairs: list[tuple[int, int]] = []
    waiting = [within if within is not None else (0, len(a), 0, len(b))]
    while waiting:
        i, j, k, end = waiting.pop()
        # Equal entries at both ends belong together.
        first, last = _count_equal_ends(a, b, (i, j, k, end))
        pairs += [(i + n, k + n) for n in range(first)]
        pairs += [(j - n, end - n) for n in range(1, last + 1)]
        i, j, k, end = i + first, j - last, k + first, end - last
        if i == j or k == end:
            continue
        # Between them, entries that are unique on both sides divide the rest.
        anchors = _longest_increase(_unique(a, b, (i, j, k, end)))
        if anchors:
            pairs += anchors
            waiting += gaps(anchors, (i, j, k, end))
        elif (j - i) * (end - k) <= _TABLE:
            pairs += _longest(a, b, (i, j, k, end))
        else:
            pairs += _greedy(a, b, (i, j, k, end))
    return sorted(pairs)


def _count_equal_ends(a: Sequence[Hashable], b: Sequence[Hashable], within: Stretch) -> tuple[int, int]:
    """Return how many entries at the beginning of two stretches are equal, and how many of the others at their end."""
    i, j, k, end = within
    # What is equal at the beginning does not count again at the end: of "aa" and "a" one entry belongs together.
    most = min(j - i, end - k)
    first = 0
    while first < most and a[i + first] == b[k + first]:
        first += 1
    last = 0
    while last < most - first and a[j - 1 - last] == b[end - 1 - last]:
        last += 1
    return first, last


def gaps(pairs: Sequence[tuple[int, int]], within: Stretch) -> Iterator[Stretch]:
    """The stretches before, between and after *pairs* that are not empty on either side."""
    i, j, k, end = within
    for left, right in (*pairs, (j, end)):
        if i < left and k < right:
            yield i, left, k, right
        i, k = left + 1, right + 1


def _unique(a: Sequence[Hashable], b: Sequence[Hashable], within: Stretch) -> list[tuple[int, int]]:
    """Positions of entries that stand once on each side, in the order of *a*."""
    i, j, k, end = within
    left, right = Counter(a[i:j]), Counter(b[k:end])
    at = {b[n]: n for n in range(k, end) if right[b[n]] == 1}
    return [(n, at[a[n]]) for n in range(i, j) if left[a[n]] == 1 and a[n] in at]


def _longest_increase(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of *pairs*, which are in the order of the first, in which the second increases."""
    tops: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for n, (_, at) in enumerate(pairs):
        pile = bisect_left(tops, at)
        before.append(last[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(at)
            last.append(n)
        else:
            tops[pile], last[pile] = at, n
    run = []
    n = last[-1] if last else -1
    while n >= 0:
        run.append(pairs[n])
        n = before[n]
    return run[::-1]


def _longest(a: Sequence[Hashable], b: Sequence[Hashable], within: Stretch) -> list[tuple[int, int]]:
    """The longest common subsequence, by the table of its lengths; the earliest entries where there are several."""
    i, j, k, end = within
    width = end - k + 1
    table = [[0] * width for _ in range(j - i + 1)]
    for n in range(j - i - 1, -1, -1):
        row, below = table[n], table[n + 1]
        for m in range(width - 2, -1, -1):
            row[m] = below[m + 1] + 1 if a[i + n] == b[k + m] else max(below[m], row[m + 1])
    pairs, n, m = [], 0, 0
    while n < j - i and m < width - 1:
        if a[i + n] == b[k + m]:
            pairs.append((i + n, k + m))
            n, m = n + 1, m + 1
        elif table[n + 1][m] >= table[n][m + 1]:
            n += 1
        else:
            m += 1
    return pairs


def _greedy(a: Sequence[Hashable], b: Sequence[Hashable], within: Stretch) -> list[tuple[int, int]]:
    """Each entry of *a* with the next equal one of *b*."""
    i, j, k, end = within
    places: dict[Hashable, list[int]] = {}
    for n in range(k, end):
        places.setdefault(b[n], []).append(n)
    pairs = []
    for n in range(i, j):
        at = places.get(a[n], ())
        m = bisect_left(at, k)
        if m < len(at):
            pairs.append((n, at[m]))
            k = at[m] + 1
    return pairs
