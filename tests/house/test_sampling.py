"""Samples of generated campaigns: always the same, of each family some, and all where all are wanted."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from tests import sampling
from tests.conftest import shuffled
from tests.sampling import sampled

CASES = [f"{family}-{n}" for family in ("relu", "tanh", "sum") for n in range(40)] + ["once-0"]


def family(case: str) -> str:
    return case.partition("-")[0]


@pytest.fixture
def of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take samples, whatever this run takes."""
    monkeypatch.setattr(sampling, "whole", False)


@pytest.mark.usefixtures("of_a_sample")
def test_each_family_keeps_its_part_and_at_least_one_in_its_order() -> None:
    taken = sampled(CASES, str, 4, family)
    assert Counter(map(family, taken)) == {"relu": 10, "tanh": 10, "sum": 10, "once": 1}
    assert taken == [case for case in CASES if case in taken] == sampled(CASES, str, 4, family)


@pytest.mark.usefixtures("of_a_sample")
def test_other_tests_take_other_cases() -> None:
    one, other = (set(sampled(CASES, lambda case, test=test: test + case, 4, family)) for test in ("a", "b"))
    assert one != other
    drawn = (set(sampled(CASES, lambda case, n=n: f"{n} {case}", 4, family)) for n in range(40))
    assert set.union(*drawn) == set(CASES)


def test_all_are_taken_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "whole", True)
    assert sampled(CASES, str, 4, family) == CASES


class Item:
    """Stands for a test of pytest."""

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number


def test_a_random_order_keeps_modules_together() -> None:
    items = [Item(path, n) for path in "abcd" for n in range(9)]
    order = shuffled(items, Random(3))  # type: ignore[type-var, arg-type]
    assert sorted(map(id, order)) == sorted(map(id, items))
    assert order != items
    assert sum(a.path != b.path for a, b in pairwise(order)) == 3
    assert [i.number for i in order[:9]] != [*range(9)]
