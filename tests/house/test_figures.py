"""Figures of the sources that may fall and not rise, see :mod:`.figures`."""

from __future__ import annotations

import pytest

from . import figures


@pytest.mark.parametrize("name", figures.FIGURES)
def test_a_figure_is_not_above_its_bound(name: str) -> None:
    figure, bound = figures.FIGURES[name](), figures.bounds()[name]
    assert figure <= bound, f"python -m tests.house.figures: {name} was {bound:g} and is {figure:g}"


def test_every_bound_is_of_a_figure() -> None:
    assert {*figures.bounds()} == {*figures.FIGURES}


def test_names_that_are_participles_or_prepositions_are_seen() -> None:
    bad = ("told", "of_rows", "_drawn", "beside", "watched", "computing", "found_in")
    good = (
        "find_births",
        "norm",
        "source_line",
        "feed",
        "read_header",
        "string",
        "set_value",
        "__init__",
        "embedding"[:5],
    )
    assert all(map(figures.is_participle, bad))
    assert not any(map(figures.is_participle, good))
