"""Which cases of a generated campaign the test command takes: some of each subject, always the same; or all of them.

``python -m pytest --whole PATH`` takes all. A sample is drawn by a stable hash of the cases' labels, so that it is the
same in each run and on each machine, and differs from test to test: together the tests see most cases.

A campaign that is a list takes :func:`sampled` of it. A test with parameters is marked instead:
``@pytest.mark.sampled(3, "command")`` takes one in three of its cases, of each command at least one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

whole = False
"""Whether all cases are taken: ``--whole``."""


def sampled(
    cases: Iterable[T], label: Callable[[T], str], one_in: int, family: Callable[[T], str] = lambda case: ""
) -> list[T]:
    """Return the cases of one subject that are taken, in their order: of each family at least one.

    Args:
        label: of a case and the test that takes it; it decides.
        one_in: the part that is taken: one of so many.
        family: cases of the same family stand for each other.
    """
    every = list(cases)
    if whole:
        return every
    families: dict[str, list[T]] = {}
    for case in every:
        families.setdefault(family(case), []).append(case)
    drawn = set()
    for members in families.values():
        members = sorted(members, key=lambda case: (zlib.crc32(label(case).encode()), label(case)))
        drawn.update(label(case) for case in members[: -(-len(members) // one_in)])
    return [case for case in every if label(case) in drawn]


def drawn(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests without the cases of marked ones that are not taken, in their order.

    Whoever names a single case gets it: of each test that was collected, at least one case is taken.
    """
    cases: dict[tuple[str, int, tuple[str, ...]], list[pytest.Item]] = {}
    for item in items:
        if (marker := item.get_closest_marker("sampled")) is not None:
            one_in, *parameters = marker.args
            cases.setdefault((item.nodeid.partition("[")[0], one_in, tuple(parameters)), []).append(item)
    if whole or not cases:
        return list(items)
    left_out: set[pytest.Item] = set()
    for (_, one_in, parameters), every in cases.items():
        taken = sampled(every, _label, one_in, lambda item, parameters=parameters: _values(item, parameters))
        left_out.update(set(every).difference(taken))
    return [item for item in items if item not in left_out]


def _label(item: pytest.Item) -> str:
    return item.nodeid


def _values(item: pytest.Item, parameters: Sequence[str]) -> str:
    """Return the values that a case gives to some parameters."""
    values = getattr(item, "callspec").params  # noqa: B009  (an item of pytest; only functions have it)
    return "\0".join(str(values[name]) for name in parameters)
