"""Frozen parameters among equal ones that are trained: a setting that was copied along with a layer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_NUMBER = re.compile(r"\d+")


def odd_ones(parameters: Iterable[tuple[str, tuple[int, ...], bool]]) -> Mapping[str, tuple[str, ...]]:
    """The frozen parameters that have trained ones before and behind them in a row of equals: their names and those.

    What is frozen from the first layer to some layer, as for fine-tuning, or from some layer to the last one, is no odd
    one; nor is what is frozen in every layer.

    Args:
        parameters: name, shape, and whether it is frozen; ``net.2.a.weight`` is in a row with ``net.3.a.weight``.
    """
    rows: dict[tuple[str, tuple[int, ...]], list[tuple[int, str, bool]]] = {}
    for name, shape, frozen in parameters:
        for match in _NUMBER.finditer(name):
            row = f"{name[: match.start()]}#{name[match.end() :]}", shape
            rows.setdefault(row, []).append((int(match[0]), name, frozen))
    odd: dict[str, tuple[str, ...]] = {}
    for entries in rows.values():
        entries.sort()
        trained = [i for i, (_, _, frozen) in enumerate(entries) if not frozen]
        still = [i for i, (_, _, frozen) in enumerate(entries) if frozen]
        if len(trained) < 2 or len(still) >= len(trained):
            continue
        for i in still:
            if trained[0] < i < trained[-1]:
                odd.setdefault(entries[i][1], tuple(entries[t][1] for t in trained))
    return odd
