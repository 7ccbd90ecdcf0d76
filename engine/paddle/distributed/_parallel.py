"""``paddle.distributed`` for one process: who it is, and layers that would be kept equal among several."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool.engine.core import device_requests
from gradtool.engine.core.errors import UnsupportedError
from gradtool.paddle.nn.layer import Layer


class OneProcessWarning(UserWarning):
    """Something for several processes was asked for, and there is one."""


def get_rank(group: Any = None) -> int:
    """The number of this process: ``PADDLE_TRAINER_ID``, or 0."""
    device_requests.asked.by_rank = True
    return int(os.environ.get("PADDLE_TRAINER_ID", "0"))


def get_world_size(group: Any = None) -> int:
    """Return the number of processes: ``PADDLE_TRAINERS_NUM``, or 1."""
    return int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))


def is_initialized() -> bool:
    """False: processes are not connected."""
    return False


def is_available() -> bool:
    """True, as in a Paddle that is built with it."""
    return True


def init_parallel_env(nccl_config: Any = None) -> None:
    """Connect the processes: where there is one, nothing happens, and a warning says so.

    Raises:
        UnsupportedError: the environment says that there are several (a ValueError).
    """
    if get_world_size() > 1:
        raise UnsupportedError(
            f"init_parallel_env: the environment speaks of {get_world_size()} processes, and gradtool computes in one.",
            hint="start the script with python, not with paddle.distributed.launch",
        )
    warnings.warn(
        "Currently not a parallel execution environment, `paddle.distributed.init_parallel_env` will not do anything.",
        OneProcessWarning,
        stacklevel=2,
    )


class ParallelEnv:
    """Facts about this process from the environment."""

    @property
    def rank(self) -> int:
        """Its number."""
        return get_rank()

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return get_world_size()

    local_rank = rank
    nranks = world_size

    @property
    def current_endpoint(self) -> str:
        """The address of this process: ``PADDLE_CURRENT_ENDPOINT``, or nothing."""
        return os.environ.get("PADDLE_CURRENT_ENDPOINT", "")

    @property
    def trainer_endpoints(self) -> list[str]:
        """The addresses of all."""
        return [address for address in os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if address]


class ReduceOp:
    """Ways in which values of several processes become one."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class DataParallel(Layer):
    """A layer whose parameters would be kept equal among processes; in one process it computes as the layer does.

    Its state is that of the layer, under the layer's names; its parameters have ``_layers.`` before their names.

    Args:
        layers: the layer.
        strategy, comm_buffer_size, last_comm_buffer_size, group: about the exchange between processes.
        find_unused_parameters: kept.
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.grad_need_sync = True
        self.group = group
        if device_requests.asked.noting:
            device_requests.asked.exchanged.update(p.name for p in layers.parameters() if not p.stop_gradient)
        warnings.warn(
            "The program will return to single-card operation. Please check 1, whether you use spawn or fleetrun to "
            "start the program. 2, Whether it is a multi-card program. 3, Is the current environment multi-card.",
            OneProcessWarning,
            stacklevel=2,
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients would not be exchanged inside."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def scale_loss(self, loss: Any) -> Any:
        """*loss* itself."""
        return loss

    def apply_collective_grads(self) -> None:
        """There is nobody to exchange gradients with."""

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """The state of the layer."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Have the layer take over *state_dict*."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict
