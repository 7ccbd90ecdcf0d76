"""``paddle.batch``: a reader of samples as a reader of lists of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradtool.engine.core.errors import UsageError


def batch(
    reader: Callable[[], Iterator[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """A function that gives the samples of *reader*, which is one too, in lists.

    Args:
        batch_size: how many samples a list has.
        drop_last: leave the last list out where it is shorter.

    Raises:
        UsageError: *batch_size* is not positive (a ValueError).
    """
    if int(batch_size) <= 0:
        raise UsageError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")

    def batches() -> Iterator[list[Any]]:
        samples: list[Any] = []
        for sample in reader():
            samples.append(sample)
            if len(samples) == batch_size:
                yield samples
                samples = []
        if samples and not drop_last:
            yield samples

    return batches
