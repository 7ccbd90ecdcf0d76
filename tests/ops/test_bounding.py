"""Bounds that are numbers: the bits of NumPy's functions, whichever way is faster."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.ops.bounding import KEPT, MANY, clamp, maximum, minimum

BOUNDS = [(0.0, 6.0), (-1.0, 0.0), (-0.5, 0.5), (-0.0, 0.0), (1.0, -1.0), (np.nan, 1.0), (0, 6), (-np.inf, 1e300)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
@pytest.mark.parametrize("size", [3, 2 * MANY, KEPT + 5])
def test_bits(size: int, dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal(size) * 3).astype(dtype)
    if x.dtype.kind == "f":
        x[:3] = [-0.0, np.nan, np.inf]
    for low, high in BOUNDS:
        if x.dtype.kind != "f" and not (type(low) is int and type(high) is int):
            continue
        with np.errstate(over="ignore"):
            expected = np.maximum(x, low), np.minimum(x, high), np.minimum(np.maximum(x, low), high)
            results = maximum(np, x, low), minimum(np, x, high), clamp(np, x, low, high)
        for result, same in zip(results, expected, strict=True):
            assert result.dtype == same.dtype
            assert result.tobytes() == same.tobytes()
    turned = x[: size // 2 * 2].reshape(2, -1).T
    np.testing.assert_array_equal(clamp(np, turned, 0, 6), np.minimum(np.maximum(turned, 0), 6))
