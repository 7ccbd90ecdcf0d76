"""``add_sorted``: what ``numpy.add.at`` gives, by slices where places follow each other regularly."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.ops.writing import add_sorted


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.37, 1.0, 1.6, 3.0])
def test_places_of_a_grid_that_is_resized(axis: int, ratio: float) -> None:
    for count in (1, 2, 7, 40):
        check(axis, np.minimum((np.arange(count) * ratio).astype(int), 11), 12)


@pytest.mark.parametrize("seed", range(20))
def test_any_places_that_do_not_fall(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(seed % 3, np.sort(rng.integers(0, 9, rng.integers(0, 30))), 9)


def check(axis: int, places: np.ndarray, size: int) -> None:
    rng = np.random.default_rng(0)
    shape = [2, 3, 4]
    shape[axis] = len(places)
    values = rng.standard_normal(shape).astype("float32")
    shape[axis] = size
    array = rng.standard_normal(shape).astype("float32")
    expected = array.copy()
    np.add.at(np.moveaxis(expected, axis, 0), places, np.moveaxis(values, axis, 0))
    result = add_sorted(array, axis, places, values)
    assert result is array
    np.testing.assert_array_equal(result, expected)
