"""``paddle.io.Sampler`` and the orders that there are.

What is random is drawn with ``numpy.random``, as in Paddle; of a subset, with ``paddle.randperm``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.paddle._random import randperm

from ._errors import DataError, NotWritten


class Sampler:
    """Numbers of samples in some order: a subclass defines ``__iter__``."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotWritten(f"'__iter__' not implement in class {type(self).__name__}")


class SequenceSampler(Sampler):
    """First to last."""

    def __init__(self, data_source: Sized) -> None:
        super().__init__(data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """At random.

    Args:
        replacement: a sample may come more than once.
        num_samples: how many to draw; as many as there are when None.
        generator: an iterator that gives the numbers instead; it is read until it ends, or enough are drawn.

    Raises:
        ArgumentTypeError: *replacement* is neither True nor False (a TypeError).
        UsageError: *num_samples* is not positive, or more than there are (a ValueError).
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        super().__init__(data_source)
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise ArgumentTypeError(f"expect boolean value for replacement, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise UsageError(f"num_samples should be a positive integer, but got num_samples={self.num_samples}")
        if not replacement and self.num_samples > len(data_source):
            raise UsageError(
                "num_samples should be smaller than or equal to length of data_source when replacement is False, but "
                f"got num_samples: {self.num_samples} > data_source: {len(data_source)}"
            )

    @property
    def num_samples(self) -> int:
        """Number of samples that are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return itertools.islice(self.generator, self.num_samples)
        total = len(self.data_source)
        if self.replacement:
            return iter(np.random.choice(np.arange(total), self.num_samples, replace=True).tolist())
        return iter(np.random.permutation(total)[: self.num_samples].tolist())

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """At random, samples with larger weights more often.

    Args:
        weights: of the samples; they need not add up to 1.
        num_samples: how many to draw.
        replacement: a sample may come more than once.

    Raises:
        DataError: weights that are negative or all zero, or fewer positive ones than samples to draw without
            replacement (an AssertionError).
        UsageError: *num_samples* is not positive, or *replacement* neither True nor False (a ValueError).
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise UsageError("num_samples should be a positive integer")
        if not isinstance(replacement, bool):
            raise UsageError("replacement should be a boolean value")
        self.weights = np.asarray(weights, "float64")
        self.num_samples = num_samples
        self.replacement = replacement
        if self.weights.ndim != 1:
            raise DataError(f"weights should be a vector, but its shape is {list(self.weights.shape)}")
        if (self.weights < 0).any():
            raise DataError("weights should be positive value")
        if not self.weights.sum() > 0:
            raise DataError("weights should have positive values")
        if not replacement and (self.weights > 0).sum() < num_samples:
            raise DataError("weights positive value number should not less than num_samples when replacement=False")

    def __iter__(self) -> Iterator[int]:
        shares = self.weights / self.weights.sum()
        return iter(np.random.choice(len(shares), self.num_samples, self.replacement, shares).tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The numbers in *indices*, at random.

    Raises:
        UsageError: there are none (a ValueError).
    """

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if not len(indices):
            raise UsageError("The length of `indices` in SubsetRandomSampler should be greater than 0.")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in shuffled(len(self.indices)))

    def __len__(self) -> int:
        return len(self.indices)


def shuffled(total: int) -> list[int]:
    """The numbers below *total* in random order, in either mode."""
    static = state.in_static_mode()
    state.disable_static()
    try:
        return [int(i) for i in randperm(total).numpy()]
    finally:
        if static:
            state.enable_static()
