"""The error function in single precision against the C library's: what special.py states of its error."""

from __future__ import annotations

import math

import numpy as np

from gradtool.engine.ops.library import special


def test_single_precision() -> None:
    grown = np.exp(np.linspace(-80, 2, 3001))
    x = np.concatenate([np.linspace(-6, 6, 6001), grown, -grown]).astype("float32")
    expected = np.array([math.erf(float(v)) for v in x])
    result = special.erf(np, x)
    assert result.dtype == np.float32
    assert np.abs(result - expected).max() < 1.7e-7
    assert (np.abs(result - expected) / np.spacing(np.abs(expected).astype("float32"))).max() < 4
    np.testing.assert_array_equal(special.erf(np, np.array([np.inf, -np.inf, 9, -0.0], "float32")), [1, -1, 1, 0])
    assert np.isnan(special.erf(np, np.array([np.nan], "float32"))).all()
