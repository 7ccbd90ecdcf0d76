"""The largest of windows by oneDNN, and its gradient: NumPy's to the bit, whatever the windows and the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels import choice
from gradtool.engine.kernels.onednn import poolings
from gradtool.engine.kernels.onednn.loading import ONEDNN
from gradtool.engine.ops.library.window import Window
from gradtool.engine.ops.registry import get_by_type

ODD = (np.nan, np.inf, -np.inf, 0.0, 0.0, 0.0, 0.0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images of every size are oneDNN's."""
    monkeypatch.setattr(poolings, "LEAST", 1)


def random_case(seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Attributes of a pooling, and an image with many equal numbers."""
    rng = np.random.default_rng(seed)
    ksize = tuple(map(int, rng.integers(1, 4, 2)))
    strides = ksize if seed % 2 else tuple(map(int, rng.integers(1, 4, 2)))
    pads = tuple(min(int(p), k - 1) for p, k in zip(rng.integers(0, 2, 2), ksize, strict=True))
    attrs = {"pooling_type": "max", "ksize": ksize, "strides": strides, "paddings": pads, "exclusive": True}
    attrs |= {"global_pooling": seed % 8 == 0, "adaptive": seed % 9 == 0, "ceil_mode": bool(rng.integers(2))}
    attrs |= {"padding_algorithm": str(rng.choice(["EXPLICIT", "SAME", "VALID"])), "data_format": "NCHW"}
    x = rng.integers(-3, 3, (*rng.integers(1, 4, 2), *rng.integers(4, 10, 2))).astype("float32")
    x.reshape(-1)[rng.integers(x.size)] += ODD[seed % len(ODD)]
    return attrs, np.full_like(x, -np.inf) if seed % 31 == 0 else x


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(120))
def test_both_ways_are_numpys_to_the_bit(seed: int) -> None:
    attrs, x = random_case(seed)
    rng = np.random.default_rng(seed)
    onednn, numpy = choice.backend("onednn").eager, choice.reference()
    assert onednn is not None
    pool, put = get_by_type("pool2d"), get_by_type("put_largest")
    largest = numpy.bind(pool, attrs)(x)
    np.testing.assert_array_equal(onednn.bind(pool, attrs)(x), largest)
    y = rng.standard_normal(largest.shape).astype("float32")
    back = {"window": Window.of(attrs)}
    np.testing.assert_array_equal(onednn.bind(put, back)(y, x, largest), numpy.bind(put, back)(y, x, largest))


def test_most_of_these_are_computed_by_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[poolings.Largest] = []
    compiled = ONEDNN.compiled
    monkeypatch.setattr(ONEDNN, "compiled", lambda case, arrays: asked.append(case) or compiled(case, arrays))
    for seed in range(1, 20, 2):
        attrs, x = random_case(seed)
        onednn = choice.backend("onednn").eager
        assert onednn is not None
        onednn.bind(get_by_type("pool2d"), attrs)(np.abs(np.nan_to_num(x)))
    assert len(asked) >= 8
    assert all(compiled(case, (np.zeros(case.image, "float32"),)) is not None for case in asked)
