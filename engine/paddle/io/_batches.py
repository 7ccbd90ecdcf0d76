"""``paddle.io.BatchSampler``: which samples make up each batch."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np

from ._datasets import IterableDataset
from ._errors import DataError, check_count, check_flag
from ._samplers import RandomSampler, Sampler, SequenceSampler


class BatchSampler(Sampler):
    """Lists of sample numbers.

    Args:
        dataset: whose samples; then *sampler* is None.
        sampler: the order instead, any iterable of numbers.
        shuffle: of a data set: at random instead of first to last.
        batch_size: how many in each batch.
        drop_last: leave a last batch out that has fewer.

    Raises:
        DataError: neither or both of *dataset* and *sampler*, or an argument that does not fit (an AssertionError).
    """

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        self.sampler: Any = _order(dataset, sampler, shuffle)
        check_count(batch_size, "batch_size")
        check_flag(drop_last, "drop_last")
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return cut(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        total = len(self.sampler)
        return total // self.batch_size if self.drop_last else math.ceil(total / self.batch_size)


def _order(dataset: Any, sampler: Any, shuffle: Any) -> Any:
    """The sampler that the arguments of a batch sampler ask for."""
    if dataset is None and sampler is None:
        raise DataError("either dataset or sampler should be set")
    if sampler is None:
        if isinstance(dataset, IterableDataset):
            raise DataError("dataset should not be a paddle.io.IterableDataset")
        check_flag(shuffle, "shuffle")
        return RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
    if dataset is not None:
        raise DataError("should not set both dataset and sampler")
    if not isinstance(sampler, (Sampler, Iterable)):
        raise DataError(f"sampler should be either paddle.io.Sampler or Iterable, but got {type(sampler)}")
    if shuffle:
        raise DataError("shuffle should be False when sampler is set")
    return sampler


def cut(numbers: Iterable[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Lists of *size* of them; what remains is a shorter list, or is dropped."""
    batch: list[Any] = []
    for number in numbers:
        batch.append(number)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes; gradtool computes in one, and takes the numbers as they are said.

    All processes get as many samples: the first ones come again at the end where they do not divide evenly.

    Args:
        num_replicas: how many processes there are; as many as ``PADDLE_TRAINERS_NUM`` says (1 by default) when None.
        rank: which of them this is; as ``PADDLE_TRAINER_ID`` says (0 by default) when None.
        shuffle: at random, in another order in each epoch, the same in all processes.

    Raises:
        DataError: an argument does not fit (an AssertionError).
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        check_count(batch_size, "batch_size")
        check_flag(shuffle, "shuffle")
        check_flag(drop_last, "drop_last")
        if num_replicas is not None:
            check_count(num_replicas, "num_replicas")
        if rank is not None and (not isinstance(rank, int) or rank < 0):
            raise DataError("rank should be a non-negative integer")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.nranks = num_replicas if num_replicas is not None else int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
        self.local_rank = rank if rank is not None else int(os.environ.get("PADDLE_TRAINER_ID", "0"))
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        numbers = np.arange(len(self.dataset))
        numbers = np.concatenate([numbers, numbers[: self.total_size - len(numbers)]])
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(numbers)
            self.epoch += 1
        return cut(self._own(numbers).tolist(), self.batch_size, self.drop_last)

    def _own(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Those of this process: batches go round, and what is less than a batch for each is divided evenly."""
        if self.nranks == 1:
            return numbers
        whole = self.total_size - self.total_size % (self.batch_size * self.nranks)
        batches = numbers[:whole].reshape(-1, self.nranks, self.batch_size)[:, self.local_rank]
        rest = numbers[whole:].reshape(self.nranks, -1)[self.local_rank]
        return np.concatenate([batches.ravel(), rest])

    def __len__(self) -> int:
        total = self.num_samples
        return total // self.batch_size if self.drop_last else math.ceil(total / self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Shuffle as in that epoch next time."""
        self.epoch = epoch
