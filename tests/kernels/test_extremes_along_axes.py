"""The largest and smallest elements along one axis on NumPy: NumPy's own, to the sign of a zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.numpy.extremes import LARGEST, MANY, SMALLEST, Extreme, reduce_axis

SHAPES = [(600, 20), (70, 100), (5000, 3), (8, 40, 30, 10), (3, 4096, 2), (2, 5000), (7, 3, 4), (9001, 7)]


def contents(shape: tuple[int, ...], dtype: str) -> list[Any]:
    rng = np.random.default_rng(0)
    plain = rng.standard_normal(shape).astype(dtype)
    strange = plain.copy()
    strange[rng.random(shape) < 0.01] = np.nan
    strange[rng.random(shape) < 0.01] = np.inf
    zeros = -np.abs(plain)
    zeros[rng.random(shape) < 0.3] = 0.0
    zeros[rng.random(shape) < 0.3] = -0.0
    return [plain, strange, zeros, -zeros, plain.astype("int64"), plain.T]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("extreme", [LARGEST, SMALLEST])
@pytest.mark.parametrize("shape", SHAPES)
def test_values(shape: tuple[int, ...], extreme: Extreme, dtype: str) -> None:
    assert any(np.prod(s) >= MANY for s in SHAPES)
    for x in contents(shape, dtype):
        for axis in range(-1, x.ndim):
            for keep in (False, True):
                expected = extreme.choose.reduce(x, axis, None, None, keep)
                result = reduce_axis(extreme, x, axis, keep)
                assert result.dtype == expected.dtype
                np.testing.assert_array_equal(result, expected)
                numbers = ~np.isnan(expected)
                np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))
