"""Images that are resized one after the other on NumPy: what they are all at once, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.ops.library import resize
from tests.ops.calls import NUMPY

X = np.random.default_rng(0).standard_normal((5, 2, 6, 4)).astype("float32")


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
def test_blocks_of_images(method: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attrs = {**resize.RESIZE, "interp_method": method, "data_layout": layout, "out_h": 9, "out_w": 3}
    forms = []
    for block in (X.size, 100, 1):
        monkeypatch.setattr(resize, "BLOCK", block)
        y = resize.resize.kernel(NUMPY, X, None, (), None, **attrs)
        forms.append((y, resize.unresize.kernel(NUMPY, y, X, None, (), None, **attrs)))
    for y, x in forms[1:]:
        np.testing.assert_array_equal(y, forms[0][0])
        np.testing.assert_array_equal(x, forms[0][1])
        assert (y.dtype, x.dtype, x.shape) == (X.dtype, X.dtype, X.shape)
