"""``paddle.distributed.fleet`` for one process: models and optimizers stay as they are."""

from __future__ import annotations

from typing import Any, TypeVar

from .._parallel import get_rank, get_world_size, init_parallel_env

T = TypeVar("T")


class DistributedStrategy:
    """Settings of training on several machines: kept as they are set, and used for nothing."""


def init(
    role_maker: Any = None,
    is_collective: bool = False,
    strategy: DistributedStrategy | None = None,
    log_level: int | str = "INFO",
) -> None:
    """Connect the processes: where there is one, nothing happens, and a warning says so.

    Raises:
        UnsupportedError: the environment says that there are several (a ValueError).
    """
    init_parallel_env()


def distributed_model(model: T) -> T:
    """*model* as it is: there is one process."""
    return model


def distributed_optimizer(optimizer: T, strategy: DistributedStrategy | None = None) -> T:
    """*optimizer* as it is: there is one process."""
    return optimizer


def worker_index() -> int:
    """The number of this process."""
    return get_rank()


def worker_num() -> int:
    """How many processes there are."""
    return get_world_size()


def is_first_worker() -> bool:
    """Whether this process is the first one."""
    return get_rank() == 0
