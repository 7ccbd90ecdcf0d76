"""``paddle.io.Dataset`` and the data sets that are made of others."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.engine.eager.tensor import Tensor

from ._errors import DataError, NotWritten, StreamError
from ._samplers import shuffled


class Dataset:
    """Samples by number: a subclass defines ``__getitem__`` and ``__len__``."""

    def __getitem__(self, idx: Any) -> Any:
        raise NotWritten(f"'__getitem__' not implement in class {type(self).__name__}")

    def __len__(self) -> int:
        raise NotWritten(f"'__len__' not implement in class {type(self).__name__}")


class IterableDataset(Dataset):
    """Samples one after the other: a subclass defines ``__iter__``."""

    def __iter__(self) -> Iterator[Any]:
        raise NotWritten(f"'__iter__' not implement in class {type(self).__name__}")

    def __getitem__(self, idx: Any) -> Any:
        raise StreamError(f"'__getitem__' should not be called for IterableDataset{type(self).__name__}")

    def __len__(self) -> int:
        raise StreamError(f"'__len__' should not be called for IterableDataset{type(self).__name__}")


class TensorDataset(Dataset):
    """Rows of tensors that have the same first dimension; sample ``i`` is the tuple of rows ``i``."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):
            raise DataError("tensors not have same shape of the 1st dimension")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class ComposeDataset(Dataset):
    """Data sets side by side: sample ``i`` is a tuple of all fields of their samples ``i``."""

    def __init__(self, datasets: list[Dataset]) -> None:
        self.datasets = _nonempty(datasets, "input datasets should not be empty")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise DataError("paddle.io.IterableDataset not supported")
        if any(len(d) != len(self.datasets[0]) for d in self.datasets):
            raise DataError("lengths of datasets should be same")

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: Any) -> tuple[Any, ...]:
        samples = (dataset[idx] for dataset in self.datasets)
        fields = (tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in samples)
        return tuple(itertools.chain.from_iterable(fields))


class ChainDataset(IterableDataset):
    """Streams one after the other."""

    def __init__(self, datasets: list[IterableDataset]) -> None:
        self.datasets = _nonempty(datasets, "input datasets should not be empty")
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise DataError("ChainDataset only support paddle.io.IterableDataset")

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Data sets one after the other, read by number.

    Attributes:
        datasets: they.
        cumulative_sizes: where each of them ends.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _nonempty(datasets, "datasets should not be an empty iterable")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise DataError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """Return the number of samples of the first, the first two, … of *sequence* have."""
        return list(itertools.accumulate(len(part) for part in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise UsageError("absolute value of index should not exceed dataset length")
            idx += len(self)
        part = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][idx - start]


class Subset(Dataset):
    """The samples of *dataset* whose numbers are in *indices*."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Parts of *dataset* that share no sample, drawn at random.

    Args:
        lengths: how many samples each part has; fractions where they add up to 1, what remains then goes to the first
            parts, one each.
        generator: None, for the stream that ``paddle.seed`` starts.

    Raises:
        UsageError: they do not add up to the number of samples (a ValueError).
    """
    if generator is not None:
        raise UnsupportedError("random_split draws from the stream of paddle.seed, and takes no generator.")
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _shares(total, lengths)
    if sum(lengths) != total:
        raise UsageError("Sum of input lengths does not equal the length of the input dataset!")
    numbers = shuffled(total)
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, numbers[end - int(n) : end]) for n, end in zip(lengths, ends, strict=True)]


def _shares(total: int, fractions: Sequence[float]) -> list[int]:
    """Whole numbers that add up to *total*: fractions of it, rounded down, and one more for the first of them."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise UsageError(f"Fraction at index {i} is not between 0 and 1")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    return counts


def _nonempty(datasets: Iterable[Any], message: str) -> list[Any]:
    parts = list(datasets)
    if not parts:
        raise DataError(message)
    return parts
