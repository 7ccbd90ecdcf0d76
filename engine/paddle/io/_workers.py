"""Workers of a loader: readers with a data set and random numbers of their own, which take turns in this process.

So it is where gradtool runs the script. Elsewhere they are processes (``_processes.py``), as Paddle's are. What they
read, the numbers that they draw, and in which order it comes, is the same; but here an error is raised where it
happened, the debugger sees what a data set computes, and nothing is run twice.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np


class WorkerInfo:
    """Facts that a worker can read about itself.

    Attributes:
        id: its number, from 0.
        num_workers: how many there are.
        dataset: the copy of the data set that it reads.
        seed: what its random numbers started with.
    """

    def __init__(self, id: int, num_workers: int, dataset: Any, seed: int) -> None:
        self.id = id
        self.num_workers = num_workers
        self.dataset = dataset
        self.seed = seed


current: ContextVar[WorkerInfo | None] = ContextVar("gradtool_worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """The worker that is reading, or None outside of workers."""
    return current.get()


class Worker:
    """One of the readers.

    Attributes:
        info: what it may ask about itself.
    """

    def __init__(self, info: WorkerInfo, start: Callable[[int], Any] | None) -> None:
        self.info = info
        self._draws: Any = np.random.RandomState(info.seed % 2**32).get_state()
        self._python_draws: Any = random.Random(info.seed).getstate()
        if start is not None:
            with self.turn():
                start(info.id)

    @contextmanager
    def turn(self) -> Iterator[Any]:
        """Read inside, with its own random numbers; gives its copy of the data set."""
        outside, python_outside = np.random.get_state(), random.getstate()
        np.random.set_state(self._draws)
        random.setstate(self._python_draws)
        before = current.get()
        current.set(self.info)
        try:
            yield self.info.dataset
        finally:
            current.set(before)
            self._draws, self._python_draws = np.random.get_state(), random.getstate()
            np.random.set_state(outside)
            random.setstate(python_outside)


def infos(dataset: Any, count: int) -> list[WorkerInfo]:
    """Return the facts for *count* workers; their random numbers follow from those of this process."""
    seed = int(np.random.randint(0, np.iinfo(np.int64).max))
    return [WorkerInfo(i, count, copy.copy(dataset), seed + i) for i in range(count)]


def workers(dataset: Any, count: int, start: Callable[[int], Any] | None) -> list[Worker]:
    """*count* workers.

    Args:
        start: called with the number of each in its first turn.
    """
    return [Worker(info, start) for info in infos(dataset, count)]
