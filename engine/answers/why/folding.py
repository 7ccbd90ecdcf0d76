"""Long lists of names on one line: names that differ in one number stand together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

WHOLE = 8
"""Names, or groups of them, that are all shown."""


def fold_names(names: Sequence[str], whole: int = WHOLE) -> str:
    """*names* with commas between them; of a long list those that differ in one number as ``net.layers.3…1999.bias``.

    Where that is still long, names with the same numbers stand together, too: ``net.layers.0…11.* (144)``.

    >>> fold_names([f"net.{i}.bias" for i in range(12)])
    'net.0…11.bias'
    """
    if len(names) <= whole:
        return ", ".join(names)
    groups = _groups(names)
    texts = [(_text(pattern, numbers), len(numbers)) for pattern, numbers in groups]
    if len(groups) > whole:
        texts = _together(groups)
    rest = sum(count for _, count in texts[whole:])
    return ", ".join([*(text for text, _ in texts[:whole]), *([f"and {rest:,} more"] if rest else [])])


def _together(groups: Sequence[tuple[Pattern, list[str]]]) -> list[tuple[str, int]]:
    """The groups as text, each with its number of names; those with the same numbers in the same place as one."""
    alike: dict[Any, list[Pattern]] = {}
    for pattern, numbers in groups:
        key = (pattern[0], *sorted(numbers)) if len(pattern) > 1 and len(numbers) > 1 else (pattern,)
        alike.setdefault(key, []).append(pattern)
    numbers_of = dict(groups)
    texts = []
    for patterns in alike.values():
        first, *others = patterns
        numbers, count = numbers_of[first], sum(len(numbers_of[p]) for p in patterns)
        told = f"{_text((first[0], '.*'), numbers)} ({count:,})" if others else _text(first, numbers)
        texts.append((told, count))
    return texts


Pattern = tuple[str, ...]
"""What stands before a number and after it; the whole name where there is none."""


def _groups(names: Sequence[str]) -> list[tuple[Pattern, list[str]]]:
    """The names by pattern, in the order of their first ones; each by the number in which most are like it."""
    parts = [_NUMBER.split(name) for name in names]
    groups: dict[Pattern, list[str]] = {}
    if max(map(len, parts)) <= 3:  # with a number at most there is nothing to choose
        for texts in parts:
            pattern, number = _patterns(texts)[0]
            groups.setdefault(pattern, []).append(number)
        return list(groups.items())
    patterns = [*map(_patterns, parts)]
    counts: dict[Pattern, int] = {}
    for choices in patterns:
        for pattern, _ in choices:
            counts[pattern] = counts.get(pattern, 0) + 1
    for choices in patterns:
        pattern, number = choices[0]
        for other, place in choices[1:]:
            if counts[other] > counts[pattern]:
                pattern, number = other, place
        groups.setdefault(pattern, []).append(number)
    return list(groups.items())


_NUMBER = re.compile(r"(\d+)")


def _patterns(texts: Sequence[str]) -> list[tuple[Pattern, str]]:
    """Return what a name of these *texts*, numbers in between, can be told by.

    Its pattern but for one number, and that.
    """
    if len(texts) == 3:
        return [((texts[0], texts[2]), texts[1])]
    places = range(1, len(texts), 2)
    return [(("".join(texts[:i]), "".join(texts[i + 1 :])), texts[i]) for i in places] or [((texts[0],), "")]


def _text(pattern: Pattern, numbers: Sequence[str]) -> str:
    if len(pattern) == 1:
        return pattern[0]
    before, after = pattern
    ranges: list[tuple[int, int]] = []
    for n in sorted(map(int, numbers)):
        if ranges and n <= ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], n
        else:
            ranges.append((n, n))
    shown = [str(a) if a == b else f"{a}…{b}" for a, b in ranges[:_RANGES]]
    more = ["…"] if len(ranges) > _RANGES else []
    return f"{before}{','.join([*shown, *more])}{after}"


_RANGES = 4
"""Stretches of numbers that are shown."""
