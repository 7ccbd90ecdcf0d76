"""``fluid.dygraph.parallel``: what a process knows of a training of one process."""

from __future__ import annotations

from typing import Any

from gradtool.paddle.distributed import ParallelEnv

Env = ParallelEnv


class ParallelStrategy:
    """Number of processes, and of this one among them."""

    def __init__(self) -> None:
        self.nranks = 1
        self.local_rank = 0
        self.trainer_endpoints: list[str] = []
        self.current_endpoint = ""


def prepare_context(strategy: Any = None) -> Any:
    """The strategy, a new one when None: with one process nothing is to be prepared."""
    return ParallelStrategy() if strategy is None else strategy
