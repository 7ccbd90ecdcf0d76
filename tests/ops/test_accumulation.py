"""Running sums and products: NumPy's own to the bit, whichever way is quicker."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.ops.accumulation import accumulate


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize("shape", [(9, 300), (5, 7, 64), (4, 3), (1, 600), (0, 300), (300,)])
def test_bits(shape: tuple[int, ...], dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)
    for name in ("cumsum", "cumprod"):
        for axis in range(-1, x.ndim):
            for each in (x, np.flip(x, axis)):
                with np.errstate(all="ignore"):
                    expected = getattr(np, name)(each, axis=axis)
                    result = accumulate(np, name, each, axis, x.dtype)
                assert result.dtype == expected.dtype
                assert result.tobytes() == expected.tobytes()
