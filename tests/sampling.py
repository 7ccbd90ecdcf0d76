"""Which cases of a generated campaign the test command takes: some of each subject, always the same; or all of them.

``python -m pytest --whole PATH`` takes all. A sample is drawn by a stable hash of the cases' labels, so that it is the
same in each run and on each machine, and differs from test to test: together the tests see most cases.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

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
