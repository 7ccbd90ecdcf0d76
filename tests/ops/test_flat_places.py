"""Picking and adding by coordinates: what NumPy gives for as many of them, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.ops import flat_places

RNG = np.random.default_rng(0)


def places(shape: tuple[int, ...], count: tuple[int, ...], low: int = 0) -> tuple[Any, ...]:
    return tuple(RNG.integers(low if i else 0, n, count) for i, n in enumerate(shape))


CASES: dict[str, tuple[tuple[int, ...], Any]] = {
    "coordinates": ((30, 50), places((30, 50), (4000,))),
    "a grid": ((80, 60), (np.arange(80)[:, None], RNG.integers(0, 60, (80, 60)))),
    "32 bits": ((80, 60), (np.arange(80)[:, None], RNG.integers(0, 60, (80, 60), "int32"))),
    "from the end": ((30, 50), places((30, 50), (4000,), -50)),
    "few": ((3, 4), places((3, 4), (5,))),
    "rows": ((30, 50), RNG.integers(0, 30, 400)),
    "matrices": ((6, 5, 40), RNG.integers(0, 6, (8, 9))),
    "of three": ((6, 5, 4), places((6, 5, 4), (3000,))),
    "flat": ((3000,), RNG.integers(0, 3000, 5000)),
}


@pytest.mark.parametrize("case", CASES)
def test_adding(case: str) -> None:
    shape, at = CASES[case]
    for kind in ("float32", "float64", "int64", "complex64"):
        array = RNG.standard_normal(shape).astype(kind)
        values = (RNG.standard_normal(array[at].shape) * 9).astype(kind)
        for each in (values, values[-1:], values.astype("int8") if kind != "complex64" else values, 2):
            expected = array.copy()
            np.add.at(expected, at, each)
            flat_places.add(array, at, each)
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("case", [name for name, (shape, at) in CASES.items() if isinstance(at, tuple)])
def test_picking(case: str) -> None:
    shape, at = CASES[case]
    array = RNG.standard_normal(shape)
    np.testing.assert_array_equal(flat_places.pick(array, at), array[at])
    np.testing.assert_array_equal(flat_places.pick(array.T, at[::-1]), array.T[at[::-1]])


def test_what_is_too_large_is_refused() -> None:
    at = np.zeros(5000, "int64"), np.full(5000, 7)
    with pytest.raises(IndexError):
        flat_places.pick(np.zeros((9, 7)), at)
    with pytest.raises(IndexError):
        flat_places.add(np.zeros((9, 7)), at, np.ones(5000))
