"""Readers, and what is made of them."""

from __future__ import annotations

import random

import pytest

from gradtool import paddle
from gradtool.paddle import reader


def three() -> object:
    return iter([1, 2, 3])


def two() -> object:
    return iter([(4, 5), (6, 7)])


def test_readers_of_readers() -> None:
    assert list(reader.map_readers(lambda a, b: a + b, three, three)()) == [2, 4, 6]
    assert list(reader.chain(three, two)()) == [1, 2, 3, (4, 5), (6, 7)]
    assert list(reader.firstn(three, 2)()) == [1, 2]
    assert list(reader.buffered(three, 5)()) == [1, 2, 3]
    assert list(reader.xmap_readers(lambda v: -v, three, 4, 10)()) == [-1, -2, -3]
    assert list(reader.multiprocess_reader([three, two])()) == [1, (4, 5), 2, (6, 7), 3]
    assert list(reader.compose(three, two, check_alignment=False)()) == [(1, 4, 5), (2, 6, 7)]
    assert list(paddle.batch(reader.cache(three), 2)()) == [[1, 2], [3]]
    random.seed(1)
    assert sorted(reader.shuffle(three, 2)()) == [1, 2, 3]


def test_what_readers_refuse() -> None:
    with pytest.raises(ValueError, match="not aligned"):
        list(reader.compose(three, two)())
    with pytest.raises(ValueError, match="check_alignment"):
        reader.compose(three, other=1)
    with pytest.raises(ValueError, match="non-empty"):
        reader.multiprocess_reader([])
