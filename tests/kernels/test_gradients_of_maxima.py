"""The gradient of max pooling on NumPy, which lays images out as rows: that of the definition, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numpy import planes
from gradtool.engine.ops.library.pool import maximum, put_largest
from gradtool.engine.ops.library.window import Window

FORMS = [
    Window((2, 2), (2, 2), (0, 0), False, False, False),
    Window((3, 2), (2, 1), (1, 0), False, False, False),
    Window((3, 3), (2, 2), (1, 1), False, False, True),
    Window((3, 3), (1, 1), (1, 0, 0, 1), False, False, False),
    Window((2, 3), (2, 3), (0, 0), False, False, False, padding_algorithm="SAME"),
    Window((4, 3), (1, 1), (0, 0), False, True, False),
    Window((2, 2), (3, 3), (0, 0), False, False, False),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", [1, 100, 1 << 16])
@pytest.mark.parametrize("window", FORMS)
@pytest.mark.parametrize("strange", [None, np.nan, np.inf, -np.inf])
def test_what_arrives_goes_to_the_first_of_equal_maxima(
    window: Window, block: int, strange: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planes, "BLOCK", block)
    numpy = backend("numpy")
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        image = rng.integers(0, 4, (3, 2, 8, 7)).astype(dtype)
        if strange is not None:
            image[:, 1, 2:6, 3:6] = strange
        largest = maximum(numpy, image, window)
        arrived = rng.standard_normal(largest.shape).astype(dtype)
        arrived[0, 0, 0, 0] = np.inf
        found = numpy.bind(put_largest, {"window": window})(arrived, image, largest)
        expected = put_largest.kernel(numpy, arrived, image, largest, window=window)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
