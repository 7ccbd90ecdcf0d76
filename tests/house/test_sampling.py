"""Samples of generated campaigns: always the same, of each family some, and all where all are wanted."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tests import sampling
from tests.conftest import shuffled
from tests.sampling import drawn, sampled

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
    seen = (set(sampled(CASES, lambda case, n=n: f"{n} {case}", 4, family)) for n in range(40))
    assert set.union(*seen) == set(CASES)


def test_all_are_taken_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "whole", True)
    assert sampled(CASES, str, 4, family) == CASES


class Case:
    """Stands for a case of a test with parameters."""

    def __init__(self, test: str, marker: tuple[Any, ...] | None, **params: str) -> None:
        self.nodeid = f"{test}[{'-'.join(params.values())}]"
        self.marker, self.callspec = marker, SimpleNamespace(params=params)

    def get_closest_marker(self, name: str) -> Any:
        """Return the marker of that name."""
        return None if name != "sampled" or self.marker is None else SimpleNamespace(args=self.marker)


def cases(test: str, marker: tuple[Any, ...] | None) -> list[Any]:
    """Return twelve cases of a test: four commands with three forms each."""
    return [Case(test, marker, command=c, form=f) for c in ("why", "nan", "graph", "stats") for f in ("x", "y", "z")]


@pytest.mark.usefixtures("of_a_sample")
def test_marked_tests_are_drawn_each_for_itself() -> None:
    few, by_command, every = cases("few", (6,)), cases("by command", (3, "command")), cases("every", None)
    taken = drawn([*few, *by_command, *every])
    assert [case for case in [*few, *by_command, *every] if case in taken] == taken
    assert sum(case in taken for case in few) == 2
    assert [case.callspec.params["command"] for case in by_command if case in taken] == ["why", "nan", "graph", "stats"]
    assert taken[-12:] == every


@pytest.mark.usefixtures("of_a_sample")
def test_a_case_that_is_named_is_taken() -> None:
    assert all(drawn([case]) == [case] for case in cases("few", (6,)))


def test_all_cases_of_marked_tests_are_taken_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "whole", True)
    assert drawn(few := cases("few", (6,))) == few


class Item:
    """Stands for a test of pytest."""

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number


def test_a_random_order_runs_half_of_the_modules_in_two_parts() -> None:
    items = [Item(path, n) for path in "abcdefghijkl" for n in range(9)]
    order = shuffled(items, Random(3))  # type: ignore[type-var, arg-type]
    assert sorted(map(id, order)) == sorted(map(id, items))
    assert order != items
    parts = Counter(path for path, _ in groupby(order, key=lambda item: item.path))
    assert {*parts.values()} == {1, 2}
    assert 3 < [*parts.values()].count(2) < 9
    assert [i.number for i in order[:9]] != [*range(9)]
