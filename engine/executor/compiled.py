"""Programs with the settings that Paddle's compiler takes: here they run as the programs that they are."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from ..core.errors import ArgumentTypeError, UsageError, did_you_mean
from ..ir.program import Program


class NoSetting(UsageError, AttributeError):
    """A setting that there is not (Paddle raises AttributeError)."""


class _Settings:
    """Settings by name, each of one type; none of them changes a result."""

    DEFAULTS: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        for name, value in self.DEFAULTS.items():
            object.__setattr__(self, name, type(value)(value) if isinstance(value, (list, set)) else value)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self).__name__
        if name not in self.DEFAULTS:
            raise NoSetting(f"'{kind}' object has no attribute '{name}'", hint=did_you_mean(name, self.DEFAULTS))
        default = self.DEFAULTS[name]
        if default is not None and not isinstance(value, type(default)):
            raise ArgumentTypeError(
                f"{kind}.{name} must be {type(default).__name__}, but received {type(value).__name__} ({value!r})."
            )
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        changed = [f"{n}={getattr(self, n)!r}" for n, v in self.DEFAULTS.items() if getattr(self, n) != v]
        return f"{type(self).__name__}({', '.join(changed)})"


class _ReduceStrategy(enum.Enum):
    """Ways to put gradients of several devices together."""

    AllReduce = 0
    Reduce = 1
    _NoReduce = 2


_OFF = (
    "allow_cuda_graph_capture",
    "async_mode",
    "build_cinn_pass",
    "cache_runtime_context",
    "enable_addto",
    "enable_auto_fusion",
    "fuse_adamw",
    "fuse_all_optimizer_ops",
    "fuse_bn_act_ops",
    "fuse_broadcast_ops",
    "fuse_dot_product_attention",
    "fuse_elewise_add_act_ops",
    "fuse_gemm_epilogue",
    "fuse_relu_depthwise_conv",
    "fuse_resunit",
    "fused_attention",
    "fused_feedforward",
    "sequential_run",
    "sync_batch_norm",
    "use_hierarchical_allreduce",
)
_ON = ("enable_backward_optimizer_op_deps", "enable_inplace", "fuse_all_reduce_ops", "fuse_bn_add_act_ops")


class BuildStrategy(_Settings):
    """Freedoms of Paddle's compiler with a program; a program means the same with all of them or none.

    gradtool's own passes do what pays, so these settings are kept and read by nobody.

    Raises:
        NoSetting: a setting that there is not (an AttributeError and a ValueError).
        ArgumentTypeError: a value of another type (a TypeError).

    >>> strategy = BuildStrategy()
    >>> strategy.fuse_bn_act_ops = True
    >>> strategy
    BuildStrategy(fuse_bn_act_ops=True)
    """

    ReduceStrategy = _ReduceStrategy
    DEFAULTS: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(_OFF, False),
        **dict.fromkeys(_ON, True),
        "bkcl_comm_num": 1,
        "nccl_comm_num": 1,
        "num_trainers": 1,
        "trainer_id": 0,
        "hierarchical_allreduce_inter_nranks": 0,
        "debug_graphviz_path": "",
        "memory_optimize": None,
        "mkldnn_enabled_op_types": set[str](),
        "trainers_endpoints": list[str](),
        "reduce_strategy": _ReduceStrategy.AllReduce,
    }


class ExecutionStrategy(_Settings):
    """Settings of compiled programs in Paddle before 2.5: threads, and times of cleaning up. Kept, and read by
    nobody.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        "num_threads": 0,
        "allow_op_delay": False,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "use_thread_barrier": False,
    }


class CompiledProgram:
    """A program together with settings for Paddle's compiler; ``Executor.run`` takes it for the program.

    Args:
        program_or_graph: the program.
        build_strategy: kept as ``_build_strategy``.

    Raises:
        ArgumentTypeError: what is given is no program (a TypeError).
    """

    def __init__(self, program_or_graph: Program, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise ArgumentTypeError(
                "The type of program_to_graph parameter is wrong, expected Graph or Program, but received "
                f"{type(program_or_graph)}"
            )
        if not isinstance(build_strategy, (BuildStrategy, type(None))):
            raise ArgumentTypeError(
                f"build_strategy must be a BuildStrategy, but received {type(build_strategy).__name__}."
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy

    def with_data_parallel(
        self,
        loss_name: str | None = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: CompiledProgram | None = None,
        places: Any = None,
    ) -> CompiledProgram:
        """Itself: what Paddle of before 2.5 spread over devices is computed in one place.

        Raises:
            UsageError: more than one place (a ValueError).
        """
        if isinstance(places, (list, tuple)) and len(places) > 1:
            raise UsageError(
                f"with_data_parallel: {len(places)} places are asked for, and gradtool computes in one.",
                hint="leave places out: one place computes the gradients of the whole batch",
            )
        self._build_strategy = build_strategy or self._build_strategy
        return self
