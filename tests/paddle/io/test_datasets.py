"""Data sets and parts of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
)

pytestmark = pytest.mark.usefixtures("dynamic")


class Squares(Dataset):
    def __init__(self, count: int = 10) -> None:
        self.count = count

    def __getitem__(self, idx: int) -> tuple[int, int]:
        return idx, idx * idx

    def __len__(self) -> int:
        return self.count


class Stream(IterableDataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


def test_methods_that_a_subclass_lacks_are_named() -> None:
    with pytest.raises(NotImplementedError, match="'__getitem__' not implement in class Dataset"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="'__len__' not implement"):
        len(Dataset())
    with pytest.raises(NotImplementedError, match="'__iter__' not implement"):
        iter(IterableDataset())
    with pytest.raises(RuntimeError, match="'__getitem__' should not be called for IterableDatasetStream"):
        Stream(3)[0]
    with pytest.raises(RuntimeError, match="'__len__' should not be called"):
        len(Stream(3))


def test_a_tensor_dataset_gives_rows() -> None:
    rows = TensorDataset([paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([5, 6])])
    assert len(rows) == 2
    assert [t.tolist() for t in rows[1]] == [[3.0, 4.0], 6]
    with pytest.raises(AssertionError, match="1st dimension"):
        TensorDataset([paddle.ones([3, 2]), paddle.ones([4])])


def test_composed_data_sets_stand_side_by_side() -> None:
    assert ComposeDataset([Squares(4), Squares(4)])[2] == (2, 4, 2, 4)
    assert len(ComposeDataset([Squares(4)])) == 4
    with pytest.raises(AssertionError, match="lengths of datasets should be same"):
        ComposeDataset([Squares(4), Squares(5)])
    with pytest.raises(AssertionError, match="IterableDataset not supported"):
        ComposeDataset([Stream(4)])
    with pytest.raises(AssertionError, match="empty"):
        ComposeDataset([])


def test_chained_streams_follow_each_other() -> None:
    assert list(iter(ChainDataset([Stream(2), Stream(3)]))) == [0, 1, 0, 1, 2]
    with pytest.raises(AssertionError, match="only support"):
        ChainDataset([Squares()])  # type: ignore[list-item]


def test_concatenated_data_sets_are_read_by_number() -> None:
    whole = ConcatDataset([Squares(2), Squares(0), Squares(3)])
    assert len(whole) == 5
    assert whole.cumulative_sizes == [2, 2, 5]
    assert [whole[i] for i in range(-5, 5)] == 2 * [(0, 0), (1, 1), (0, 0), (1, 1), (2, 4)]
    with pytest.raises(ValueError, match="absolute value of index"):
        whole[-6]
    with pytest.raises(IndexError):
        whole[5]
    with pytest.raises(AssertionError, match="empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Stream(1)])


def test_a_subset_has_numbers_of_its_own() -> None:
    part = Subset(Squares(), [7, 3])
    assert [part[0], part[1], len(part)] == [(7, 49), (3, 9), 2]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([3, 7], [3, 7]), ([0, 10], [0, 10]), ([0.33, 0.33, 0.34], [4, 3, 3]), ([0.5, 0.5], [5, 5])],
)
def test_random_split_draws_parts_that_share_nothing(lengths: list[float], sizes: list[int]) -> None:
    paddle.seed(1)
    parts = paddle.io.random_split(Squares(), lengths)
    assert [len(p) for p in parts] == sizes
    paddle.seed(1)
    drawn = [int(i) for p in parts for i in p.indices]
    assert drawn == paddle.randperm(10).tolist(), "the order of paddle.randperm, as in Paddle"


def test_random_split_refuses_what_does_not_add_up() -> None:
    for lengths in ([3, 4], [0.5, 0.6]):
        with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
            paddle.io.random_split(Squares(), lengths)
    with pytest.raises(ValueError, match="takes no generator"):
        paddle.io.random_split(Squares(), [10], generator=np.random.default_rng())


def test_random_split_in_static_mode() -> None:
    paddle.enable_static()
    assert sorted(i for p in paddle.io.random_split(Squares(), [4, 6]) for i in p.indices) == list(range(10))
    assert not paddle.in_dynamic_mode()
