"""Parameters in rows of equal ones, of which some are trained and others are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_NUMBER = re.compile(r"\d+")


def odd_ones(parameters: Iterable[tuple[str, tuple[int, ...], bool]]) -> Mapping[str, tuple[str, ...]]:
    """The frozen parameters that have trained ones before and behind them in a row of equals: their names and those.

    What is frozen from the first layer to some layer, as for fine-tuning, or from some layer to the last one, is no odd
    one; nor is what is frozen in every layer.

    Args:
        parameters: name, shape, and whether it is frozen; ``net.2.a.weight`` is in a row with ``net.3.a.weight``.
    """
    odd: dict[str, tuple[str, ...]] = {}
    for entries in _rows(parameters):
        trained = [i for i, (_, _, frozen) in enumerate(entries) if not frozen]
        still = [i for i, (_, _, frozen) in enumerate(entries) if frozen]
        if len(trained) < 2 or len(still) >= len(trained):
            continue
        for i in still:
            if trained[0] < i < trained[-1]:
                odd.setdefault(entries[i][1], tuple(entries[t][1] for t in trained))
    return odd


def last_ones(parameters: Iterable[tuple[str, tuple[int, ...], bool]]) -> Mapping[str, tuple[str, ...]]:
    """Return the untrained parameters at the end of a row of equals, with the trained ones before them.

    Args:
        parameters: name, shape, and whether it is untrained; rows are those of :func:`odd_ones`.
    """
    last: dict[str, tuple[str, ...]] = {}
    for entries in _rows(parameters):
        trained = [name for _, name, untrained in entries if not untrained]
        if trained and entries[-1][2] and not any(untrained for _, _, untrained in entries[:-1]):
            last.setdefault(entries[-1][1], tuple(trained))
    return last


def _rows(parameters: Iterable[tuple[str, tuple[int, ...], bool]]) -> Iterator[list[tuple[int, str, bool]]]:
    """Yield the rows of equal parameters, each in the order of its numbers."""
    rows: dict[tuple[str, tuple[int, ...]], list[tuple[int, str, bool]]] = {}
    for name, shape, untrained in parameters:
        for match in _NUMBER.finditer(name):
            row = f"{name[: match.start()]}#{name[match.end() :]}", shape
            rows.setdefault(row, []).append((int(match[0]), name, untrained))
    yield from (sorted(entries) for entries in rows.values())
