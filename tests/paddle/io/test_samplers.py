"""Orders of samples, as Paddle 3.3.1 gives them after ``np.random.seed(3)``."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.io import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

pytestmark = pytest.mark.usefixtures("dynamic")

TEN = range(10)
SHARES = np.array([0.1, 0.2, 0.7])


@pytest.mark.parametrize(
    ("sampler", "order"),
    [
        (SequenceSampler(range(3)), [0, 1, 2]),
        (RandomSampler(TEN), [5, 4, 1, 2, 9, 6, 7, 0, 3, 8]),
        (RandomSampler(TEN, num_samples=4), [5, 4, 1, 2]),
        (RandomSampler(TEN, replacement=True), [8, 9, 3, 8, 8, 0, 5, 3, 9, 9]),
        (RandomSampler(TEN, replacement=True, num_samples=4), [8, 9, 3, 8]),
        (WeightedRandomSampler(SHARES, 5), [2, 2, 1, 2, 2]),
        (WeightedRandomSampler(SHARES * 5, 5), [2, 2, 1, 2, 2]),
        (WeightedRandomSampler(SHARES, 3, replacement=False), [2, 1, 0]),
    ],
)
def test_orders(sampler: Sampler, order: list[int]) -> None:
    np.random.seed(3)
    drawn = list(sampler)
    assert drawn == order
    assert all(type(i) is int for i in drawn)
    assert len(sampler) == len(order)  # type: ignore[arg-type]


def test_a_random_sampler_reads_a_generator() -> None:
    assert list(RandomSampler(TEN, generator=iter([3, 1, 2]))) == [3, 1, 2]
    assert list(RandomSampler(TEN, generator=iter(range(20)))) == list(TEN)


def test_a_subset_is_drawn_with_randperm() -> None:
    paddle.seed(1)
    drawn = list(SubsetRandomSampler([5, 6, 7, 8]))
    paddle.seed(1)
    assert drawn == [5 + i for i in paddle.randperm(4).tolist()]


def test_what_samplers_refuse() -> None:
    with pytest.raises(ValueError, match="got num_samples: 40 > data_source: 10"):
        RandomSampler(TEN, num_samples=40)
    with pytest.raises(ValueError, match="positive integer"):
        RandomSampler(TEN, num_samples=0)
    with pytest.raises(TypeError, match="expect boolean value for replacement"):
        RandomSampler(TEN, replacement=1)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="should not less than num_samples"):
        WeightedRandomSampler([0.5, 0.0, 0.5], 3, replacement=False)
    with pytest.raises(AssertionError, match="should be positive value"):
        WeightedRandomSampler([0.1, -0.2], 1)
    with pytest.raises(AssertionError, match="should have positive values"):
        WeightedRandomSampler([0.0], 1)
    with pytest.raises(AssertionError, match="a vector"):
        WeightedRandomSampler([[0.1]], 1)
    with pytest.raises(ValueError, match="replacement should be a boolean"):
        WeightedRandomSampler([0.1], 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="greater than 0"):
        SubsetRandomSampler([])
    with pytest.raises(NotImplementedError, match="'__iter__'"):
        iter(Sampler())


def test_batches() -> None:
    assert list(BatchSampler(range(7), batch_size=3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(BatchSampler(range(7), batch_size=3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert [len(BatchSampler(range(7), batch_size=3, drop_last=d)) for d in (False, True)] == [3, 2]
    assert list(BatchSampler(sampler=[4, 2, 1], batch_size=2)) == [[4, 2], [1]]
    np.random.seed(3)
    assert list(BatchSampler(range(7), shuffle=True, batch_size=3)) == [[4, 6, 5], [3, 1, 0], [2]]


def test_what_batch_samplers_refuse() -> None:
    order = SequenceSampler(TEN)
    with pytest.raises(AssertionError, match="either dataset or sampler"):
        BatchSampler()
    with pytest.raises(AssertionError, match="not set both"):
        BatchSampler(TEN, sampler=order)
    with pytest.raises(AssertionError, match="shuffle should be False"):
        BatchSampler(sampler=order, shuffle=True)
    with pytest.raises(AssertionError, match=r"either paddle\.io\.Sampler or Iterable, but got <class 'int'>"):
        BatchSampler(sampler=5)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="positive integer, but got 0"):
        BatchSampler(TEN, batch_size=0)
    with pytest.raises(AssertionError, match="drop_last should be a boolean value, but got <class 'str'>"):
        BatchSampler(TEN, drop_last="a")  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="rank should be a non-negative"):
        DistributedBatchSampler(TEN, 2, rank=-1)


def test_batches_of_several_processes() -> None:
    def parts(total: int, size: int, **settings: bool) -> list[list[list[int]]]:
        return [list(DistributedBatchSampler(range(total), size, 2, rank, **settings)) for rank in (0, 1)]

    assert parts(7, 2) == [[[0, 1], [4, 5]], [[2, 3], [6, 0]]]
    assert parts(9, 4) == [[[0, 1, 2, 3], [8]], [[4, 5, 6, 7], [0]]]
    assert parts(9, 4, drop_last=True) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]
    assert parts(11, 2, shuffle=True)[0] == [[6, 0], [2, 8], [9, 3]]
    assert list(DistributedBatchSampler(range(7), 2)) == [[0, 1], [2, 3], [4, 5], [6]], "one process"
    assert len(DistributedBatchSampler(range(7), 2, 2, 1)) == 2


def test_epochs_have_orders_of_their_own() -> None:
    sampler = DistributedBatchSampler(range(7), 2, shuffle=True)
    assert list(sampler) == [[6, 2], [1, 3], [0, 5], [4]]
    assert list(sampler) == [[6, 2], [1, 0], [4, 3], [5]]
    sampler.set_epoch(5)
    assert list(sampler) == [[6, 2], [4, 1], [0, 5], [3]]
