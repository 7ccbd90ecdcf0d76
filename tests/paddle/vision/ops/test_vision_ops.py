"""``paddle.vision.ops``: layers, files, and what is refused; values are held in ``tests/layer_values``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.vision import ops


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()


def boxes() -> tuple[Any, Any]:
    return paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")


@pytest.mark.parametrize("layer", [ops.RoIAlign(2), ops.RoIPool(2), ops.PSRoIPool(2)])
def test_layers_of_regions_give_what_their_functions_give(layer: Any) -> None:
    x = paddle.arange(64.0).reshape([1, 4, 4, 4])
    function = {"RoIAlign": ops.roi_align, "RoIPool": ops.roi_pool, "PSRoIPool": ops.psroi_pool}
    expected = function[type(layer).__name__](x, *boxes(), 2)
    np.testing.assert_array_equal(layer(x, *boxes()).numpy(), expected.numpy())


def test_a_deformable_convolution_without_offsets_is_a_convolution() -> None:
    layer = ops.DeformConv2D(2, 3, [2, 3], padding=1)
    x = paddle.randn([1, 2, 4, 5])
    offset, mask = paddle.zeros([1, 12, 5, 5]), paddle.ones([1, 6, 5, 5])
    expected = paddle.nn.functional.conv2d(x, layer.weight, layer.bias, padding=1)
    for out in (layer(x, offset), layer(x, offset, mask)):
        np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    layer(x, offset).sum().backward()
    assert layer.weight.grad is not None


def test_a_file_is_read_as_bytes(tmp_path: Path) -> None:
    Path(tmp_path, "a").write_bytes(b"\x00\xff\x07")
    told = ops.read_file(str(tmp_path / "a"))
    assert (told.dtype, told.tolist()) == (paddle.uint8, [0, 255, 7])


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: ops.roi_align(paddle.ones([4, 4]), *boxes(), 2), ValueError, "must hold images"),
    (lambda: ops.psroi_pool(paddle.ones([1, 3, 4, 4]), *boxes(), 2), ValueError, "which are not 0 for each"),
    (lambda: ops.nms(boxes()[0], 0.1, paddle.ones([1]), paddle.zeros([1], "int64")), AssertionError, "categories"),
    (lambda: ops.DeformConv2D(3, 2, 1, groups=2), ValueError, "divisible"),
    (lambda: ops.DeformConv2D(3, 2, 1, weight_attr=False), AssertionError, "weight_attr"),
    (lambda: ops.roi_pool(paddle.ones([2, 1, 4, 4]), *boxes(), 2), ValueError, "a number for each of 2 images"),
    (lambda: ops.distribute_fpn_proposals(boxes()[0], 4, 2, 3, 5), AssertionError, "max_level"),
]


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_fit_is_refused(call: tuple[Callable[[], Any], type[Exception], str]) -> None:
    refused, kind, words = call
    with pytest.raises(kind, match=words):
        refused()
