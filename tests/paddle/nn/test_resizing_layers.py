"""Borders and resizing as layers: values, names, texts, both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn

IMAGE = np.arange(2 * 3 * 3 * 4, dtype="float32").reshape(2, 3, 3, 4)
VOLUME = IMAGE[:, :, None]


pytestmark = pytest.mark.usefixtures("fresh_names")


def bordered(x: np.ndarray, *pairs: tuple[int, int], **how: Any) -> np.ndarray:
    return np.pad(x, ((0, 0), (0, 0), *pairs), **how)


# Names as Paddle 3.1.1 gives them.
CASES = [
    (lambda: nn.Pad1D([1, 2]), IMAGE[:, :, 0], bordered(IMAGE[:, :, 0], (1, 2)), "squeeze_0.tmp_0"),
    (lambda: nn.Pad2D([1, 2, 0, 1]), IMAGE, bordered(IMAGE, (0, 1), (1, 2)), "squeeze_0.tmp_0"),
    (lambda: nn.Pad2D(1, "reflect"), IMAGE, bordered(IMAGE, (1, 1), (1, 1), mode="reflect"), "squeeze_0.tmp_0"),
    (lambda: nn.Pad3D(1, value=2.5), VOLUME, bordered(VOLUME, *[(1, 1)] * 3, constant_values=2.5), "pad3d_0.tmp_0"),
    (lambda: nn.ZeroPad2D([1, 2, 0, 1]), IMAGE, bordered(IMAGE, (0, 1), (1, 2)), "squeeze_0.tmp_0"),
    (lambda: nn.Upsample(scale_factor=2), IMAGE, IMAGE.repeat(2, 2).repeat(2, 3), "nearest_interp_v2_0.tmp_0"),
    (lambda: nn.Upsample(size=[6, 4]), IMAGE, IMAGE.repeat(2, 2), "nearest_interp_v2_0.tmp_0"),
]


@pytest.mark.parametrize(("make", "x", "expected", "name"), CASES)
def test_values_and_names_in_both_modes(make: Any, x: np.ndarray, expected: np.ndarray, name: str) -> None:
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        out = make()(paddle.static.data("x", list(x.shape)))
    assert out.name == name
    (value,) = paddle.static.Executor().run(main, feed={"x": x}, fetch_list=[out])
    np.testing.assert_array_equal(value, expected)
    paddle.disable_static()
    np.testing.assert_array_equal(make()(paddle.to_tensor(x)).numpy(), expected)


def test_texts() -> None:
    assert repr(nn.Pad2D(1)) == "Pad2D(padding=[1, 1, 1, 1], mode=constant, value=0.0, data_format=NCHW)"
    assert repr(nn.ZeroPad2D(1)) == "ZeroPad2D(padding=[1, 1, 1, 1], data_format=NCHW)"
    rest = "mode=nearest, align_corners=False, align_mode=0, data_format=None"
    assert repr(nn.Upsample(scale_factor=2)) == f"Upsample(scale_factor=2, {rest})"
    assert repr(nn.Upsample(size=[2, 3])) == f"Upsample(size=[2, 3], {rest})"
