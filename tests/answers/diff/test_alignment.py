"""Aligning two sequences: pairs are equal, in order, and as many as can be where the sequences are short."""

from __future__ import annotations

import difflib
import random
from itertools import pairwise

import pytest

from gradtool.engine.answers.diff.alignment import align, gaps


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(100))
def test_pairs_are_equal_entries_in_order(seed: int) -> None:
    source = random.Random(seed)
    a = [source.choice("abcdefgh") for _ in range(source.randint(0, 40))]
    b = [x for x in a if source.random() > 0.2]
    b[source.randint(0, len(b)) :] = [source.choice("abcdefgh") for _ in range(5)]
    pairs = align(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


@pytest.mark.parametrize(("a", "b", "expected"), [("", "", 0), ("abc", "", 0), ("abc", "abc", 3), ("xaby", "zabw", 2)])
def test_common_entries_are_found(a: str, b: str, expected: int) -> None:
    assert len(align(a, b)) == expected


def test_an_entry_more_leaves_the_rest_as_it_is() -> None:
    a = ["linear", "relu"] * 50
    b = [*a[:31], "dropout", *a[31:]]
    pairs = align(a, b)
    assert len(pairs) == 100
    assert [j for _, j in pairs] == [n for n in range(101) if n != 31]


def test_long_stretches_without_unique_entries_are_aligned_in_order() -> None:
    a = ["a", "b"] * 2000
    b = ["b", "a"] * 2000
    pairs = align(["x", *a, "y"], ["z", *b, "w"])
    assert len(pairs) >= 3999
    matcher = difflib.SequenceMatcher(None, a[:20], b[:20], autojunk=False)
    assert len(align(a[:20], b[:20])) >= sum(block.size for block in matcher.get_matching_blocks())


def test_gaps_lie_between_pairs() -> None:
    assert list(gaps([(1, 1), (3, 4)], (0, 5, 0, 6))) == [(0, 1, 0, 1), (2, 3, 2, 4), (4, 5, 5, 6)]
    assert list(gaps([(0, 0)], (0, 1, 0, 3))) == []
