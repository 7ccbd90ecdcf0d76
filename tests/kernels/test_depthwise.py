"""Depthwise convolutions on NumPy, which lay images out as rows: what the definitions compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.numpy import planes
from gradtool.engine.ops.library.convolve import Geometry, product, spread, weigh

FORMS = {
    "same": ((5, 6), (3, 3), (1, 1), (1, 1), (1, 1)),
    "no padding": ((5, 6), (2, 3), (1, 1), (0, 0), (1, 1)),
    "strided": ((7, 9), (3, 3), (2, 3), (1, 1), (1, 1)),
    "strided, dilated": ((9, 8), (3, 2), (2, 1), (2, 1), (2, 3)),
    "padded on one side": ((6, 5), (3, 3), (2, 2), (0, 1, 2, 0), (1, 1)),
    "steps over the filter": ((9, 9), (2, 2), (3, 4), (0, 0), (1, 1)),
    "one place": ((3, 3), (3, 3), (1, 1), (0, 0), (1, 1)),
}


def operands(form: str, dtype: str = "float32") -> tuple[Any, Any, Any, Geometry]:
    image, window, strides, paddings, dilations = FORMS[form]
    rng = np.random.default_rng(0)
    geometry = Geometry(strides, paddings, dilations, 4, "EXPLICIT", "NCHW")
    pads = geometry.settled("conv", window, image, None)[0]
    result = tuple(
        (n + sum(p) - (k - 1) * d - 1) // s + 1
        for n, p, k, d, s in zip(image, pads, window, dilations, strides, strict=True)
    )
    shapes = (3, 4, *image), (4, 1, *window), (3, 4, *result)
    x, w, y = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, w, y, geometry


def ours(own: Any) -> Any:
    function = backend("numpy").primitive(own)
    assert function is not own
    return function


@pytest.mark.parametrize("block", [1, 100, 1 << 16])
@pytest.mark.parametrize("form", FORMS)
def test_products_are_those_of_the_definitions(form: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planes, "BLOCK", block)
    for dtype in ("float32", "float64"):
        x, w, y, geometry = operands(form, dtype)
        sizes = y.shape[2:], x.shape[2:]
        np.testing.assert_array_equal(
            ours(product)(np, x, w, sizes[0], geometry), product(np, x, w, sizes[0], geometry)
        )
        np.testing.assert_array_equal(ours(spread)(np, w, y, sizes[1], geometry), spread(np, w, y, sizes[1], geometry))
        found, expected = (f(np, x, y, w.shape, geometry) for f in (ours(weigh), weigh))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        assert found.dtype == expected.dtype == dtype


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(0, 0, 0, 0), (1, 2, 3, 5), (2, 3, 4, 0)])
def test_what_is_no_number_goes_where_the_definitions_have_it(value: float, place: tuple[int, ...]) -> None:
    x, w, y, geometry = operands("same")
    for spoilt, at in ((x, place), (y, place), (w, (place[1], 0, 1, 2))):
        before = spoilt[at]
        spoilt[at] = value
        with np.errstate(invalid="ignore"):
            for own, args in ((product, (x, w, y.shape[2:])), (spread, (w, y, x.shape[2:])), (weigh, (x, y, w.shape))):
                found, expected = ours(own)(np, *args, geometry), own(np, *args, geometry)
                np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
        spoilt[at] = before
