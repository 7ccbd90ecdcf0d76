"""Topology of processes: in one process, each neighbour is this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._groups import GROUPS, Group


class CommunicateTopology:
    """Processes in an array whose axes are ways of dividing work.

    Args:
        hybrid_group_names: the ways.
        dims: how many processes each has.
    """

    def __init__(
        self,
        hybrid_group_names: Sequence[str] = ("data", "pipe", "sharding", "sep", "context", "model"),
        dims: Sequence[int] = (1, 1, 1, 1, 1, 1),
    ) -> None:
        self._sizes = dict(zip(hybrid_group_names, dims, strict=True))

    def get_hybrid_group_names(self) -> list[str]:
        """The ways of dividing work."""
        return [*self._sizes]

    def get_dim(self, axis_name: str) -> int:
        """Return the number of processes along a way."""
        return self._sizes[axis_name]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """Return the number of processes."""
        total = 1
        for size in self._sizes.values():
            total *= size
        return total

    def get_rank(self, **places: int) -> int:
        """The number of the process at these places: 0."""
        return 0

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The processes at a place of a way."""
        return [0]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The groups along a way."""
        return [[0]]


class HybridCommunicateGroup:
    """The groups that this process is in, one for each way of dividing work: each holds it alone.

    ``get_model_parallel_world_size()`` and its like are 1, ranks are 0.
    """

    def __init__(self, topology: CommunicateTopology, hybrid_configs: Any = None) -> None:
        self._topology = topology
        self.nranks = 1
        self.global_rank = 0

    def topology(self) -> CommunicateTopology:
        """The array of processes."""
        return self._topology

    def get_parallel_mode(self) -> int:
        """``ParallelMode.DATA_PARALLEL``."""
        return 0

    def get_global_rank(self) -> int:
        """0."""
        return 0

    def get_stage_id(self) -> int:
        """0: of a pipeline of one stage."""
        return 0

    def get_rank_from_stage(self, stage_id: int, **places: int) -> int:
        """0."""
        return 0

    def get_p2p_groups(self) -> None:
        """None: there is no other stage."""

    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        """The group of all processes."""
        return GROUPS[0]

    def is_first_stage(self) -> bool:
        """True: of a pipeline of one stage."""
        return True

    is_last_stage = is_first_stage


def _zero(self: HybridCommunicateGroup) -> int:
    """0."""
    return 0


def _one(self: HybridCommunicateGroup) -> int:
    """1."""
    return 1


def _everyone(self: HybridCommunicateGroup) -> Group:
    """The group of all processes."""
    return GROUPS[0]


for _way in (
    "data_parallel",
    "model_parallel",
    "sharding_parallel",
    "sep_parallel",
    "pipe_parallel",
    "context_parallel",
):
    setattr(HybridCommunicateGroup, f"get_{_way}_rank", _zero)
    setattr(HybridCommunicateGroup, f"get_{_way}_world_size", _one)
    setattr(HybridCommunicateGroup, f"get_{_way}_group", _everyone)
    setattr(HybridCommunicateGroup, f"get_{_way}_group_src_rank", _zero)
for _group in ("dp_sep_parallel", "pp_mp_parallel"):
    setattr(HybridCommunicateGroup, f"get_{_group}_group", _everyone)
