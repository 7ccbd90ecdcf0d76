"""Transforms of images: what Paddle makes of them with the same seeds, and what is refused."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.vision import transforms
from gradtool.paddle.vision.transforms import functional

from . import compare_transforms, record_transforms


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()


@pytest.mark.parametrize("call", record_transforms.CALLS)
def test_images_become_what_paddle_makes_of_them(call: str) -> None:
    assert [*compare_transforms.differences(call, with_opencv=False)] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda i: functional.resize(i, 6),
        lambda i: functional.adjust_saturation(i, 0.5),
        lambda i: functional.adjust_hue(i, 0.1),
        lambda i: functional.affine(i, 5, (0, 0), 1.0, 0),
        lambda i: functional.rotate(i, 5),
        lambda i: functional.perspective(i, [[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 0], [1, 0], [1, 1], [0, 1]]),
        lambda i: functional.to_grayscale(i),
    ],
)
def test_arrays_say_that_they_need_opencv(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match="of an array needs OpenCV, as in Paddle"):
        change(record_transforms.PIXELS)


def test_opencv_is_given_what_paddle_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    class OpenCV:
        INTER_LINEAR, INTER_NEAREST = 1, 0

        @staticmethod
        def resize(img: Any, dsize: Any, interpolation: int) -> Any:
            calls.append((dsize, interpolation))
            return np.zeros((dsize[1], dsize[0]), img.dtype)

        @staticmethod
        def warpAffine(img: Any, matrix: Any, **options: Any) -> Any:
            calls.append((np.round(matrix, 5).tolist(), options))
            return img

    monkeypatch.setitem(sys.modules, "cv2", OpenCV)
    grey = record_transforms.PIXELS[:, :, :1]
    assert functional.resize(grey, 6).shape == (6, 8, 1)
    functional.affine(grey, 20, (1, 2), 0.9, (10, 7), fill=9)
    functional.rotate(grey, 30, expand=True)
    sheared = [[0.80793, 0.41166, 1.0], [-0.15869, 0.9, 2.0]]
    turned = [[0.86603, 0.5, 0.0718], [-0.5, 0.86603, 8.80385]]
    assert calls == [
        ((8, 6), 1),
        (sheared, {"dsize": (16, 12), "flags": 0, "borderValue": (9, 9, 9)}),
        (turned, {"dsize": (20, 20), "flags": 0, "borderValue": 0}),
    ]


def test_gradients_pass_transforms_of_tensors() -> None:
    x = paddle.to_tensor(record_transforms.NUMBERS.transpose(2, 0, 1).copy(), stop_gradient=False)
    out = functional.resize(functional.adjust_brightness(functional.rotate(x, 15, "bilinear"), 0.9), 6)
    out.sum().backward()
    assert x.grad is not None
    assert float(abs(x.grad).sum()) > 0


def test_inputs_are_changed_by_their_keys_and_by_one_draw() -> None:
    class Both(transforms.RandomHorizontalFlip):
        def _apply_mask(self, mask: Any) -> Any:
            return self._apply_image(mask)

    flip = Both(0.5, keys=("image", "mask", None))
    ramp = np.arange(6, dtype="uint8").reshape(2, 3)
    flipped = 0
    for seed in range(8):
        random.seed(seed)
        image, mask, label, more = flip((ramp, ramp + 1, "label", 7))
        np.testing.assert_array_equal(mask, image + 1)
        assert (label, more) == ("label", 7)
        flipped += int(image[0, 0] != 0)
    assert 0 < flipped < 8


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: functional.hflip("image"), TypeError, "img should be PIL Image or Tensor Image or ndarray"),
        (lambda: functional.to_tensor(np.zeros([2, 2, 2, 2])), TypeError, "an array of 4 dimensions"),
        (lambda: functional.to_tensor(np.zeros([2, 2]), "NCHW"), ValueError, "data_format should be CHW or HWC"),
        (lambda: functional.resize(np.zeros([2, 2]), "6"), TypeError, "inappropriate size arg"),
        (lambda: functional.pad(np.zeros([2, 2]), (1, 2, 3)), ValueError, "not a 3 element tuple"),
        (lambda: functional.pad(np.zeros([2, 2]), 1, padding_mode="wrap"), ValueError, "Padding mode should be"),
        (lambda: functional.adjust_hue(np.zeros([2, 2, 3]), 0.7), ValueError, "not in [-0.5, 0.5]"),
        (lambda: functional.to_grayscale(np.zeros([2, 2, 3]), 2), ValueError, "should be either 1 or 3"),
        (lambda: functional.affine(np.zeros([2, 2, 3]), 1, (1, 2), 0, 0), ValueError, "scale should be positive"),
        (lambda: functional.affine(np.zeros([2, 2, 3]), 1, 3, 1, 0), TypeError, "translate should be a sequence"),
        (lambda: functional.adjust_contrast(np.zeros([2, 2, 3]), 0.5), ValueError, "must be of type uint8"),
        (lambda: transforms.BaseTransform(keys="image"), ValueError, "keys should be a sequence"),
        (lambda: transforms.BaseTransform(keys=("sound",)), NotImplementedError, "sound is unsupported"),
        (lambda: transforms.BaseTransform()(np.zeros([2, 2])), NotImplementedError, "has no _apply_image"),
        (lambda: transforms.RandomCrop(9)(np.zeros([2, 2, 3])), ValueError, "2 × 2 has no part of 9 × 9"),
        (lambda: transforms.BrightnessTransform(-1), ValueError, "must be non negative"),
        (lambda: transforms.HueTransform(0.9), ValueError, "hue values should be between"),
        (lambda: transforms.RandomRotation(-3), ValueError, "degrees is a single number, it must be positive"),
        (lambda: transforms.RandomErasing(prob=2), AssertionError, "should be in range [0, 1]"),
        (lambda: transforms.RandomErasing(value="any"), AssertionError, "value must be 'random'"),
        (lambda: transforms.RandomPerspective(prob=2), AssertionError, "prob should be between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert text in str(raised.value)


def test_random_values_stand_where_something_is_erased() -> None:
    random.seed(1)
    x = paddle.zeros([3, 8, 8])
    erased = transforms.RandomErasing(1.0, value="random")(x)
    assert 0 < int((erased != 0).sum()) < 3 * 64
    assert float(abs(x).sum()) == 0
    assert "RandomErasing" in repr(transforms.Compose([transforms.RandomErasing()]))
