"""The same file with other seeds, where somebody asked whether a batch can be learned at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..request.request import Request
from ..script import effects, seeds

SEEDS = (1, 2)
"""What is added to the seeds of a file, run after run."""


@contextmanager
def shift_seeds(by: int, request: Request) -> Iterator[Request]:
    """The request with other seeds, which also the seeds are that the file sets itself."""
    with seeds.shift_seeds(by), effects.run_because("other seeds show whether one batch can be learned at all"):
        yield request.change(seed=request.run.seed + by)
