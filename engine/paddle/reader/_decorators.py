"""Readers: functions without arguments that give an iterator over samples. What is made of them are readers, too.

Where Paddle reads ahead with threads or processes, samples are read here when they are asked for: what comes, and in
which order, is the same in each run.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.engine.core.errors import UsageError

Reader = Callable[[], Iterator[Any]]

_END = object()


class ComposeNotAligned(UsageError):
    """Readers side by side that give different numbers of samples (a ValueError)."""


def cache(reader: Reader) -> Reader:
    """The samples of *reader*, which is read once, now."""
    samples = tuple(reader())
    return lambda: iter(samples)


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """Apply *func* to one sample of each reader."""
    return lambda: map(func, *(reader() for reader in readers))


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """The samples of *reader*, *buf_size* at a time in random order (``random.seed`` decides which)."""

    def shuffled() -> Iterator[Any]:
        samples = iter(reader())
        while buffer := list(itertools.islice(samples, buf_size)):
            random.shuffle(buffer)
            yield from buffer

    return shuffled


def chain(*readers: Reader) -> Reader:
    """One reader after the other."""
    return lambda: itertools.chain.from_iterable(reader() for reader in readers)


def compose(*readers: Reader, **kwargs: Any) -> Reader:
    """Readers side by side: a tuple of all fields of one sample of each.

    Args:
        check_alignment: whether all must give as many samples; True by default.

    Raises:
        ComposeNotAligned: they do not (a ValueError), when the first of them ends.
        UsageError: another argument (a ValueError).
    """
    aligned = kwargs.pop("check_alignment", True)
    if kwargs:
        raise UsageError(f"paddle.reader.compose takes check_alignment, but got {', '.join(sorted(kwargs))}.")

    def composed() -> Iterator[Any]:
        sources = [reader() for reader in readers]
        rows = itertools.zip_longest(*sources, fillvalue=_END) if aligned else zip(*sources, strict=False)
        for row in rows:
            if any(part is _END for part in row):
                raise ComposeNotAligned("outputs of readers are not aligned.")
            yield tuple(itertools.chain.from_iterable(p if isinstance(p, tuple) else (p,) for p in row))

    return composed


def buffered(reader: Reader, size: int) -> Reader:
    """*reader*; nothing is read ahead."""
    return lambda: iter(reader())


def firstn(reader: Reader, n: int) -> Reader:
    """The first *n* samples."""
    return lambda: itertools.islice(reader(), n)


def xmap_readers(
    mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False
) -> Reader:
    """Apply *mapper* to each sample, in their order."""
    return lambda: map(mapper, reader())


def multiprocess_reader(readers: Sequence[Reader], use_pipe: bool = True, queue_size: int = 1000) -> Reader:
    """The samples of all readers, in turn.

    Raises:
        UsageError: there is none, or one gives None (a ValueError).
    """
    if not readers:
        raise UsageError("`readers` must be a non-empty list.")

    def read() -> Iterator[Any]:
        left = [iter(reader()) for reader in readers]
        while left:
            for source in list(left):
                sample = next(source, _END)
                if sample is _END:
                    left.remove(source)
                elif sample is None:
                    raise UsageError("sample has None")
                else:
                    yield sample

    return read
