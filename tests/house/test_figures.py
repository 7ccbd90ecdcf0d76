"""Figures of the sources that may fall and not rise, see :mod:`.figures`."""

from __future__ import annotations

from . import figures


def test_no_figure_is_above_its_bound() -> None:
    """One test for all of them, since each needs every source read."""
    bounds = figures.bounds()
    assert {*bounds} == {*figures.FIGURES}
    computed = {name: figure() for name, figure in figures.FIGURES.items()}
    risen = {name: (bounds[name], figure) for name, figure in computed.items() if figure > bounds[name]}
    assert not risen, f"python -m tests.house.figures: bound and figure of today: {risen}"


def test_names_that_are_participles_or_prepositions_are_seen() -> None:
    bad = ("told", "of_rows", "_drawn", "beside", "watched", "computing", "found_in")
    good = ("find_births", "norm", "source_line", "feed", "read_header", "string", "set_value", "__init__")
    assert all(map(figures.is_participle, bad))
    assert not any(map(figures.is_participle, good))
