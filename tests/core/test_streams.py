"""Streams of random numbers: functions of seed, counter and shape, and the distributions that they promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from gradtool.engine.core.streams import CHUNK, Draws, Position, Stream, _quantile

MANY = 3 * CHUNK + 5

DRAWS: dict[str, Callable[[Draws, int], Any]] = {
    "words": lambda s, n: s.words(n),
    "random": lambda s, n: s.random((n,)),
    "kept": lambda s, n: s.draw_mask((n,), 0.3),
    "integers": lambda s, n: s.integers(-3, 9, (n,)),
    "permutation": lambda s, n: s.permutation(n),
    "standard_normal": lambda s, n: s.standard_normal((n,)),
    "truncated_normal": lambda s, n: s.truncated_normal(-1.0, 2.0, (n,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_depends_on_seed_and_counter_alone(name: str) -> None:
    stream = Stream(5)
    DRAWS[name](stream, 7)
    position = stream.position
    drawn = DRAWS[name](stream, 100)
    assert np.array_equal(drawn, DRAWS[name](Stream(*position), 100))
    after = stream.position
    stream.position = position
    assert np.array_equal(drawn, DRAWS[name](stream, 100))
    assert stream.position == after
    assert not np.array_equal(drawn, DRAWS[name](stream, 100))
    assert not np.array_equal(drawn, DRAWS[name](Stream(6, position.counter), 100))


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("count", [0, 1, 5, CHUNK + 1])
def test_shapes_alone_say_how_many_blocks_are_taken(name: str, count: int) -> None:
    ends = []
    for seed in (1, 2):
        stream = Stream(seed)
        assert len(DRAWS[name](stream, count)) == count
        ends.append(stream.position.counter)
    assert ends[0] == ends[1] <= math.ceil(count / 4)
    assert bool(count) == bool(ends[0])


def test_words_are_those_of_philox() -> None:
    """The first of the authors' known answers whose key a seed can be: all zeros, as the block before the first."""
    stream = Stream(0, 2**256 - 1)
    assert [hex(w) for w in stream.words(4)] == [
        "0x16554d9eca36314c",
        "0xdb20fe9d672d0fdc",
        "0xd7e772cee186176b",
        "0x7e68b68aec7ba23b",
    ]


def test_fast_and_general_uniform_numbers_are_the_same() -> None:
    assert np.array_equal(Stream(3).random((50,)), Draws.random(Stream(3), (50,)))
    assert np.array_equal(Stream(3).random((50,)), (Stream(3).words(50) >> np.uint64(11)) * 2.0**-53)


def test_seeds_of_any_size() -> None:
    assert np.array_equal(Stream(-1).words(3), Stream(2**64 - 1).words(3))
    assert Stream(-1).position == Position(-1, 0)


@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-math.inf, math.inf), (0.0, 0.5), (3.0, 4.0), (-30.0, -20.0)])
def test_truncated_normal_numbers_stay_inside_and_follow_the_distribution(low: float, high: float) -> None:
    drawn = np.sort(Stream(7).truncated_normal(low, high, (MANY,)))
    assert low <= drawn[0] <= drawn[-1] <= high
    sign = -1 if low > 0 else 1  # the lower tail has the digits
    below = np.array([math.erfc(-x / math.sqrt(2)) for x in np.sort(sign * drawn)])
    first, last = sorted(math.erfc(-sign * b / math.sqrt(2)) for b in (low, high))
    assert abs((below - first) / (last - first) - np.arange(MANY) / MANY).max() < 2 / math.sqrt(MANY)


def test_quantiles_are_those_of_the_normal_distribution() -> None:
    p = np.concatenate([np.linspace(0, 1, 200)[1:-1], 10.0 ** -np.arange(1, 300, 7)])
    expected = np.array([NormalDist().inv_cdf(q) for q in p])
    np.testing.assert_allclose(_quantile(np, p, 0.0, 1.0), expected, rtol=1e-14, atol=1e-15)


def test_normal_numbers_follow_the_distribution() -> None:
    drawn = np.sort(Stream(9).normal(3.0, 2.0, (MANY,)))
    below = np.array([NormalDist(3.0, 2.0).cdf(x) for x in drawn])
    assert abs(below - np.arange(MANY) / MANY).max() < 2 / math.sqrt(MANY)
    pairs = Stream(9).standard_normal((2, MANY // 2))  # the coordinates of points
    assert abs(np.corrcoef(pairs)[0, 1]) < 0.03


def test_what_is_dropped_is_dropped_with_its_probability() -> None:
    assert abs(Stream(1).draw_mask((MANY,), 0.3).mean() - 0.7) < 0.02
    assert Stream(1).draw_mask((9, 9), 0.0).all()
    assert not Stream(1).draw_mask((9, 9), 1.0).any()
    assert Stream(1).draw_mask((), 0.5).shape == ()


def test_whole_numbers_of_every_range() -> None:
    assert set(Stream(2).integers(-1, 2, (100,)).tolist()) == {-1, 0, 1}
    wide = Stream(2).integers(-(2**63), 2**63 - 1, (100,))
    assert wide.dtype == np.int64
    assert wide.min() < -(2**61) < 2**61 < wide.max()
    with pytest.raises(ValueError, match="no whole number lies from 3 up to but without 3"):
        Stream(2).integers(3, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 64, 1000])
def test_permutations(n: int) -> None:
    assert sorted(Stream(4).permutation(n).tolist()) == list(range(n))


def test_every_order_comes() -> None:
    stream = Stream(8)
    assert len({tuple(stream.permutation(3).tolist()) for _ in range(100)}) == 6


def test_numbers_that_are_drawn_until_something_holds_take_one_block() -> None:
    stream = Stream(5)
    drawn = stream.host().standard_gamma(np.full(100, 0.3))
    assert stream.position == Position(5, 1)
    assert np.array_equal(drawn, Stream(5).host().standard_gamma(np.full(100, 0.3)))
    assert not np.array_equal(drawn, stream.host().standard_gamma(np.full(100, 0.3)))


@pytest.mark.parametrize("count", [7, 2 * CHUNK + 6, 2 * CHUNK + 8])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numbers_are_rounded_as_they_are_drawn(count: int, dtype: str) -> None:
    draws: list[Callable[..., Any]] = [
        lambda s, **kind: s.uniform(-1.0, 3.0, count, **kind),
        lambda s, **kind: s.normal(0.5, 2.0, count, **kind),
        lambda s, **kind: s.truncated_normal(-2.0, 2.0, count, 0.5, 2.0, **kind),
        lambda s, **kind: s.truncated_normal(0.5, 2.0, count, 0.5, -2.0, **kind),
    ]
    for draw in draws:
        wide, narrow, general = Stream(4, 9), Stream(4, 9), General(4, 9)
        expected = draw(wide)
        assert np.array_equal(expected.astype(dtype), draw(narrow, dtype=dtype))
        assert np.array_equal(expected, draw(general))
        assert wide.position == narrow.position == general.position


class General(Stream):
    """A stream that draws as any backend does, from all words at once."""

    _draw_units, _draw_pairs = Draws._draw_units, Draws._draw_pairs
