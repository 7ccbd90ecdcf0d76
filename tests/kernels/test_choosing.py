"""Choosing by bits, and the few largest of many: what ``where`` and sorting give, to the bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.numpy import ordering
from gradtool.engine.ops import choosing
from gradtool.engine.ops.library import special
from gradtool.engine.ops.registry import get_by_type
from tests.ops.calls import NUMPY, call

RNG = np.random.default_rng(0)
STRANGE = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, 3.0])
SHAPE = (40, 30)


def bits(a: Any) -> bytes:
    return np.ascontiguousarray(a).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choices_are_those_of_where(dtype: str) -> None:
    assert math.prod(SHAPE) > choosing.MANY
    x, y = (RNG.choice(STRANGE, SHAPE).astype(dtype) for _ in range(2))
    sides = [x, y, np.asfortranarray(y), x[::-1, ::-1], x[0, 0], np.asarray(y[0, 3]), 0, 0.0, -0.0, 2.5, x[:1], -1]
    for a, b in itertools.permutations(sides, 2):
        if not any(isinstance(v, (np.ndarray, np.generic)) for v in (a, b)):
            continue
        for condition in (RNG.random(SHAPE) < 0.5, RNG.random((30, 40)).T < 0.5, np.ones(SHAPE, bool)):
            chosen, expected = choosing.choose(np, condition, a, b), np.where(condition, a, b)
            assert (chosen.dtype, chosen.shape, bits(chosen)) == (expected.dtype, expected.shape, bits(expected))
            assert not np.may_share_memory(chosen, x)
    with np.errstate(over="ignore"):
        assert np.isinf(choosing.choose(np, np.ones(SHAPE, bool), 1e300, np.zeros(SHAPE, "float32"))).all()
    wide = choosing.choose(np, np.ones(SHAPE, bool), x, np.zeros(SHAPE, "int64"))
    assert wide.dtype == np.where(True, x, np.zeros(SHAPE, "int64")).dtype


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [-1, 0])
def test_the_few_best_are_those_of_sorting(axis: int, largest: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    op = get_by_type("top_k_v2")
    for dtype in ("float32", "float64"):
        plain = RNG.integers(-4, 4, (70, 66)).astype(dtype)  # many are equal
        rows = [plain, np.full_like(plain, -np.inf)]
        rows += [np.where(plain == 3, np.nan, plain), np.where(plain < 2, np.inf, plain)]
        for x in (*rows, np.asfortranarray(plain), plain[::-1]):
            attrs = {**op.defaults, "k": 4, "axis": axis, "largest": largest}
            with np.errstate(all="ignore"):
                expected = op.run(NUMPY, [x, None], attrs)
            for mine, other in zip(call(op, [x, None], attrs), expected, strict=True):
                np.testing.assert_array_equal(mine, other)
                assert mine.dtype == other.dtype
    monkeypatch.setattr(ordering, "definition", lambda *args: None)  # nothing else computes where there is no oddity
    assert ordering._top({**op.defaults, "k": 4, "axis": axis, "largest": largest}, [])(plain, None)[0].size


def test_erf_in_single_precision() -> None:
    x = np.concatenate([np.linspace(-5, 5, 20001), np.geomspace(1e-44, 1, 999), STRANGE]).astype("float32")
    expected = np.array([math.erf(v) for v in x.tolist()])
    result = special.erf(np, x)
    np.testing.assert_allclose(result, expected, rtol=3 * float(np.finfo("float32").eps), atol=1e-45)
    assert np.abs(result[~np.isnan(result)]).max() == 1.0
    np.testing.assert_array_equal(np.signbit(result[x == 0]), np.signbit(x[x == 0]))
