"""Whole powers: what they are in higher precision, to two units in the last place."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.ops.powers import raise_to_power


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("factor", [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5, 8.0])
def test_powers(factor: float, dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal(500) * 4
    x = np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e20]]).astype(dtype)
    with np.errstate(all="ignore"):
        power = raise_to_power(np, x, factor)
        expected = np.power(x.astype(np.longdouble), factor).astype(dtype)
    assert power.dtype == dtype
    np.testing.assert_array_equal(np.isnan(power), np.isnan(expected))
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(power[numbers]), np.signbit(expected[numbers]))
    np.testing.assert_array_max_ulp(power[numbers], expected[numbers], 2)
