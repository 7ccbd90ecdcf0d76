"""Groups of processes, each of which holds this one alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.errors import UnsupportedError, UsageError

from ._parallel import get_rank


class Group:
    """Processes that exchange values: here this one.

    Args:
        rank_in_group: the number of this process among them.
        id: of the group.
        ranks: the numbers of all.
    """

    def __init__(
        self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None
    ) -> None:
        self.rank, self.id, self.ranks, self.process_group = rank_in_group, id, list(ranks), pg
        self.name = name

    @property
    def nranks(self) -> int:
        """Number of its processes."""
        return len(self.ranks)

    world_size = nranks

    @property
    def backend(self) -> str:
        """Library that its processes exchange values with."""
        return "GLOO"

    def is_member(self) -> bool:
        """Return whether this process is in it."""
        return self.rank >= 0

    def get_group_rank(self, rank: int) -> int:
        """The number within the group of the process *rank*, -1 where it is not in it."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The number among all processes of the one that is *rank* here.

        Raises:
            UsageError: there is none (a ValueError).
        """
        if not 0 <= rank < self.nranks:
            raise UsageError(f"A group of {self.nranks} has no process {rank}.")
        return self.ranks[rank]

    def __repr__(self) -> str:
        numbers = ", ".join(map(str, self.ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {numbers}; name: {self.name}"


GROUPS: dict[int, Group] = {0: Group(0, 0, [0], name="_default_pg")}
"""The group of all processes is 0."""


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: Any = None,
    nccl_comm_init_option: int = 0,
    nccl_config: Any = None,
) -> Group:
    """A group of this process.

    Args:
        ranks: numbers of processes: ``[0]``, or None for all.
        backend, timeout, nccl_comm_init_option, nccl_config: about the exchange; not used.

    Raises:
        UnsupportedError: other processes shall be in it (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.distributed.new_group([0]).nranks
    1
    """
    members = [get_rank()] if ranks is None else [*ranks]
    if members != [get_rank()]:
        raise UnsupportedError(
            f"paddle.distributed.new_group: a group of the processes {members} is asked for, and gradtool computes "
            "in one.",
            hint="ask for a group only where paddle.distributed.get_world_size() is more than 1",
        )
    number = max(max(GROUPS) + 1, 10)  # Paddle keeps the numbers below 10 for itself
    GROUPS[number] = Group(0, number, members, name=f"_default_pg{number}")
    return GROUPS[number]


def _get_global_group() -> Group:
    """The group of all processes; models import it by this name."""
    return GROUPS[0]


def get_group(id: int = 0) -> Group | None:
    """The group of that number, None where there is none."""
    return GROUPS.get(id)


def destroy_process_group(group: Group | None = None) -> None:
    """Forget a group; without one, all that were made."""
    for number in [n for n in GROUPS if n and (group is None or n == group.id)]:
        del GROUPS[number]


def shutdown_process_group(group: Group | None = None) -> None:
    """Close connections: there are none."""


def restart_process_group(group: Group | None = None) -> None:
    """Open connections again: there are none."""


def get_backend(group: Group | None = None) -> str:
    """Return the library that processes exchange values with."""
    return (group or GROUPS[0]).backend
