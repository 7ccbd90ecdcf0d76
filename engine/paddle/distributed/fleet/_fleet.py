"""``paddle.distributed.fleet`` for one process: models and optimizers stay as they are."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from gradtool.engine.core import state
from gradtool.engine.core.errors import UnsupportedError

from .._parallel import OneProcessWarning, get_rank, get_world_size, init_parallel_env
from ._strategy import DistributedStrategy
from ._topology import CommunicateTopology, HybridCommunicateGroup

T = TypeVar("T")


class Role:
    """Purpose of a process."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class PaddleCloudRoleMaker:
    """Role of this process by the environment: a worker, the only one.

    Args:
        is_collective: whether workers exchange gradients, and no servers keep parameters.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective = is_collective


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Role of this process by the caller; it is a worker, the only one, whatever the arguments are.

    Args:
        is_collective: whether workers exchange gradients.
        init_gloo, kwargs: about the exchange; not used.
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective, **kwargs)


class UtilBase:
    """Exchange between workers, of which there is one."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """*input* itself."""
        return input

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait for all workers: there are no others."""

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """Everyone's *input*: of one worker."""
        return [input]

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The files that this worker reads: all."""
        return [*files]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print *message* where this worker is *rank_id*."""
        if rank_id == get_rank():
            print(message)


class Fleet:
    """Training on several machines, of which there is one.

    >>> from gradtool import paddle
    >>> from gradtool.paddle.distributed import fleet
    >>> fleet.worker_num(), fleet.is_first_worker()
    (1, True)
    """

    def __init__(self) -> None:
        self._strategy: DistributedStrategy | None = None
        self.util = UtilBase()

    def init(
        self,
        role_maker: Any = None,
        is_collective: bool = False,
        strategy: DistributedStrategy | None = None,
        log_level: int | str = "INFO",
    ) -> Fleet:
        """Connect the processes: where there is one, nothing happens, and a warning says so.

        Raises:
            UnsupportedError: the environment or *strategy* asks for several (a ValueError).
        """
        if strategy is not None:
            strategy.check()
        self._strategy = strategy
        set_log_level(log_level)
        init_parallel_env()
        return self

    def distributed_model(self, model: T) -> T:
        """*model* as it is: there is one process."""
        return model

    def distributed_optimizer(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
        """*optimizer* as it is; of static programs with ``strategy.recompute`` one that recomputes.

        Raises:
            UnsupportedError: *strategy* asks for several processes or for another optimizer (a ValueError).
        """
        strategy = strategy or self._strategy
        if strategy is None:
            return optimizer
        strategy.check()
        if changed := strategy.changed_computations():
            raise UnsupportedError(
                f"fleet.distributed_optimizer: strategy.{changed[0]} makes another optimizer, which gradtool "
                "does not have.",
                hint=f"set strategy.{changed[0]} to False: gradients are the same",
            )
        settings = vars(strategy)
        if settings["amp"]:
            warnings.warn(
                "strategy.amp is kept and not applied: what fleet trains is computed in the types that it has.",
                OneProcessWarning,
                stacklevel=3,
            )
        if settings["recompute"] and state.in_static_mode():
            from gradtool.paddle.optimizer._recompute import RecomputeOptimizer

            recomputing = RecomputeOptimizer(optimizer)
            recomputing._set_checkpoints(settings["recompute_configs"]["checkpoints"])
            return recomputing
        return optimizer

    def distributed_scaler(self, scaler: T) -> T:
        """*scaler* as it is: there is one process."""
        return scaler

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """The groups that this process is in: each holds it alone."""
        return HybridCommunicateGroup(CommunicateTopology())

    def worker_index(self) -> int:
        """The number of this process."""
        return get_rank()

    rank = worker_index

    def worker_num(self) -> int:
        """Return the number of processes."""
        return get_world_size()

    nranks = world_size = worker_num

    def node_num(self) -> int:
        """Return the number of machines: 1."""
        return 1

    def local_rank(self) -> int:
        """The number of this process on its machine: 0."""
        return 0

    rank_in_node = local_rank

    def is_first_worker(self) -> bool:
        """Return whether this process is the first one."""
        return get_rank() == 0

    def is_worker(self) -> bool:
        """True: it trains."""
        return True

    def is_server(self) -> bool:
        """False: it keeps no parameters for others."""
        return False

    is_coordinator = is_server

    def worker_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The addresses of all workers."""
        return "127.0.0.1:6170" if to_string else ["127.0.0.1:6170"]

    def server_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The addresses of all servers: none."""
        return "" if to_string else []

    def server_num(self) -> int:
        """0."""
        return 0

    server_index = server_num

    def local_device_ids(self) -> list[int]:
        """The devices of this machine: none."""
        return []

    world_device_ids = local_device_ids

    def barrier_worker(self) -> None:
        """Wait for all workers: there are no others."""

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """*input* itself."""
        return input

    def init_worker(self, scopes: Any = None) -> None:
        """Connect with servers: there are none."""

    def stop_worker(self) -> None:
        """Part from servers: there are none."""

    def init_server(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Keep parameters for others.

        Raises:
            UnsupportedError: always (a ValueError).
        """
        raise _server()

    def run_server(self) -> NoReturn:
        """Keep parameters for others.

        Raises:
            UnsupportedError: always (a ValueError).
        """
        raise _server()

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> NoReturn:
        """Optimizers have this method.

        Raises:
            UnsupportedError: always: fleet keeps no optimizer (a ValueError).
        """
        raise UnsupportedError(
            "fleet.minimize: gradtool's fleet keeps no optimizer.",
            hint="call minimize of what fleet.distributed_optimizer(optimizer) returns",
        )

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Write the persistable variables of a program to a folder; see ``paddle.static.save_vars``."""
        from gradtool.paddle import static

        static.save_vars(executor, dirname, main_program, predicate=static.is_persistable)

    def save_inference_model(
        self,
        executor: Any,
        dirname: str,
        feeded_var_names: Iterable[str],
        target_vars: Iterable[Any],
        main_program: Any = None,
        export_for_deployment: bool = True,
        mode: int = 0,
    ) -> None:
        """Write the part of a program that computes *target_vars*; see ``paddle.static.save_inference_model``."""
        from gradtool.paddle import static

        program = main_program or static.default_main_program()
        feeds = [program.global_block().var(name) for name in feeded_var_names]
        static.save_inference_model(f"{dirname}/model", feeds, [*target_vars], executor, program=program)


def _server() -> UnsupportedError:
    return UnsupportedError(
        "fleet: servers that keep parameters are not in gradtool, which computes in one process.",
        hint="fleet.init(is_collective=True) trains without them",
    )


_LOG = logging.getLogger("gradtool.fleet")


def set_log_level(level: int | str) -> None:
    """Have messages of less than *level* (a number or a name of :mod:`logging`) left out."""
    _LOG.setLevel(level.upper() if isinstance(level, str) else level)


def get_log_level_code() -> int:
    """The number of that level."""
    return _LOG.level


def get_log_level_name() -> str:
    """The name of that level."""
    return logging.getLevelName(_LOG.level)


fleet = Fleet()
"""The one that the functions of the package are methods of."""

util = fleet.util
METHODS = tuple(name for name in vars(Fleet) if not name.startswith("_"))


def __getattr__(name: str) -> Any:
    if name in METHODS:
        return getattr(fleet, name)
    raise AttributeError(name)
