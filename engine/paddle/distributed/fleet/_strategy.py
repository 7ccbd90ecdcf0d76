"""``paddle.distributed.fleet.DistributedStrategy``: settings of training on several machines."""

from __future__ import annotations

import copy
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError


class UnknownSetting(UsageError, AssertionError):
    """A group of settings has no such key (where Paddle raises AssertionError)."""


_ON = "a_sync split_data fuse_all_reduce_ops sync_nccl_allreduce without_graph_optimization"
_OFF = (
    "adam_d2sum adaptive_localsgd amp asp auto auto_search cudnn_batchnorm_spatial_persistent cudnn_exhaustive_search "
    "dgc elastic find_unused_parameters fp16_allreduce fuse_grad_merge gradient_merge heter_ccl_mode is_fl_ps_mode "
    "is_with_coordinator lamb lars localsgd pipeline qat recompute semi_auto sharding sync_batch_norm tensor_parallel "
    "use_hierarchical_allreduce"
)
_WAYS = "mp pp sharding dp sep dp_sep pp_tp ep moe_sharding default_comm_group cp cp_sharding dp_cp cp_mp"

SWITCHES: dict[str, Any] = {
    **dict.fromkeys(_ON.split(), True),
    **dict.fromkeys(_OFF.split(), False),
    "build_strategy": None,
    "execution_strategy": None,
    "conv_workspace_size_limit": 512,
    "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_num": 8,
    "hierarchical_allreduce_inter_nranks": 1,
    "hybrid_parallel_order": ["dp", "pp", "sharding", "sep", "cp", "mp"],
    "last_comm_group_size_MB": 1.0,
    "nccl_comm_num": 1,
    "sync_param_name": ["embedding", "layer_norm", ".b_"],
}
"""Settings and what they are at first, as in Paddle 3.3.1."""

GROUPS: dict[str, dict[str, Any]] = {
    "a_sync_configs": {"k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16, "launch_barrier": True},
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "amp_configs": {
        "init_loss_scaling": 32768.0,
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True,
        "custom_white_list": [],
        "custom_black_list": [],
        "custom_black_varnames": [],
        "use_pure_fp16": False,
        "use_fp16_guard": True,
        "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "hybrid_configs": {
        "dp_degree": -1,
        "mp_degree": 1,
        "pp_degree": 1,
        "sharding_degree": 1,
        "sep_degree": 1,
        "ep_degree": 1,
        "cp_degree": 1,
        "moe_sharding_degree": 1,
        "cp_sharding_degree": 1,
        "enable_optimizer_timer": False,
        "split_norm_comm": False,
        **{f"{way}_configs": {} for way in _WAYS.split()},
    },
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars_configs": {
        "lars_coeff": 0.001,
        "lars_weight_decay": 0.0005,
        "epsilon": 0.0,
        "exclude_from_weight_decay": [],
    },
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "pipeline_configs": {
        "micro_batch_size": 1,
        "accumulate_steps": 1,
        "schedule_mode": "1F1B",
        "p2p_cache_shape": True,
        "enable_partial_send_recv": True,
    },
    "qat_configs": {
        "channel_wise_abs_max": True,
        "weight_bits": 8,
        "activation_bits": 8,
        "not_quant_pattern": [],
        "algo": "",
    },
    "recompute_configs": {
        "checkpoints": [],
        "enable_offload": False,
        "checkpoint_shape": [],
        "enable_tuning": False,
        "refined_ops_patterns": [],
    },
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB",
        "segment_broadcast_MB": 32.0,
        "segment_anchors": [],
        "sharding_degree": 8,
        "mp_degree": 1,
        "dp_degree": 1,
        "pp_degree": 1,
        "hybrid_dp": False,
        "gradient_merge_acc_step": 1,
        "optimize_offload": False,
        "pp_allreduce_in_optimize": False,
        "optimize_cast": False,
        "stage": 1,
        "enable_tuning": False,
        "use_calc_stream": False,
    },
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
}
"""Groups of settings, likewise."""

OTHER_COMPUTATIONS = ("asp", "dgc", "gradient_merge", "lamb", "lars", "localsgd", "adaptive_localsgd", "qat")
"""Switches that would have another optimizer or other gradients, in one process too."""


class DistributedStrategy:
    """Settings of training on several machines.

    Those about exchange between processes are kept as they are set and change nothing in one process; ``recompute``
    makes static programs compute again; the others that would change values are refused where an optimizer takes them.

    >>> from gradtool import paddle
    >>> strategy = paddle.distributed.fleet.DistributedStrategy()
    >>> strategy.hybrid_configs = {"dp_degree": 1}
    >>> strategy.hybrid_configs["mp_degree"]
    1
    """

    def __init__(self) -> None:
        for name, value in (*SWITCHES.items(), *GROUPS.items()):
            object.__setattr__(self, name, copy.deepcopy(value))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in GROUPS:
            value = {**getattr(self, name), **_keys(name, value)}
        elif name not in SWITCHES:
            raise ArgumentTypeError(f"{name} is not a attribute of DistributedStrategy")
        object.__setattr__(self, name, value)

    def degrees(self) -> dict[str, int]:
        """Return the number of processes for each way of dividing work, where it is more than one."""
        configs: dict[str, Any] = vars(self)["hybrid_configs"]
        return {key: n for key, n in configs.items() if key.endswith("_degree") and isinstance(n, int) and n > 1}

    def check(self) -> None:
        """Raise where several processes are asked for.

        Raises:
            UnsupportedError: they are (a ValueError).
        """
        for key, degree in self.degrees().items():
            raise UnsupportedError(
                f"fleet: hybrid_configs has {key}={degree}, and gradtool computes in one process.",
                hint=f"set {key} to 1: the values are the same",
            )

    def changed_computations(self) -> list[str]:
        """The switches that are on and would have another optimizer or other gradients."""
        return [name for name in OTHER_COMPUTATIONS if getattr(self, name)]


def _keys(group: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"{group} must be a dict, but received {type(value).__name__}.")
    for key in value:
        if key not in GROUPS[group]:
            raise UnknownSetting(f"key:{key} not in {group}")
    return value
