"""Whether all numbers of an array are in order: never said of one that holds another, whatever its type and layout."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gradtool.engine.core.finite import is_finite
from gradtool.engine.core.rows import SelectedRows

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
TYPES = ("float16", "float32", "float64", "complex64", ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (40, 50)])
def test_one_number_is_enough(dtype: Any, shape: tuple[int, ...]) -> None:
    good = np.ones(shape, dtype)
    assert is_finite(good)
    for bad in (np.nan, np.inf, -np.inf):
        for place in {0, good.size // 2, good.size - 1}:
            x = good.copy()
            x.reshape(-1)[place] = bad
            assert not is_finite(x)
            assert not is_finite(x.T)
            assert not is_finite(np.repeat(x[..., None], 2, -1)[..., 0])


def test_finite_numbers_whose_squares_are_not() -> None:
    assert is_finite(np.full(9, 3e38, "float32"))
    assert is_finite(np.array([1e300, -1e300]))
    assert is_finite(np.full((3, 2), 6e4, "float16"))
    assert is_finite(np.zeros((0, 3)))


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("largest", [1e-3, 2.5, 1e30])
def test_the_largest(size: int, largest: float) -> None:
    x = np.full(size, largest, "float64")
    assert is_finite(x, largest)
    assert is_finite((x * 0.99).astype("float32"), largest)
    x[size // 2] *= -1.0000001
    assert not is_finite(x, largest)
    assert not is_finite(np.append(x, np.nan), largest)


def test_rows_of_a_table() -> None:
    values = np.ones((2, 3), "float32")
    assert is_finite(SelectedRows(np.array([0, 4]), values, 5))
    values[1, 1] = np.inf
    assert not is_finite(SelectedRows(np.array([0, 4]), values, 5))


def test_what_is_no_array_is_not_known() -> None:
    assert not is_finite(None)
    assert not is_finite(object())
