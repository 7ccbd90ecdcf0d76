"""Public names of Paddle that gradtool is not going to have, and why: read when one of them is asked for."""

from __future__ import annotations

DEVICES = "it is about devices, and gradtool computes on the CPU"
DISTRIBUTED = "it is about training on several machines or devices, and gradtool computes in one process"
SPARSE = "it is about sparse tensors, and gradtool's tensors are dense"
KERNELS = "it is a kernel for graphics cards, and gradtool computes on the CPU"
NARROW = "gradtool has no elements of that type"
INTERNAL = "it is a part of Paddle's own construction"
OTHERS = "it lets programs of other packages run with Paddle, and gradtool is for those of Paddle"
SERVERS = "it is about parameter servers"

ABSENT: tuple[tuple[str, str, str], ...] = (
    ("gradtool", "Event Stream XPUPinnedPlace get_device_module", DEVICES),
    ("gradtool", "float8_e4m3fn float8_e5m2 pstring raw uint16 uint32 uint64", NARROW),
    (
        "gradtool",
        (
            "FLAGS_trace_api IrGuard MmapStorage check_shape disable_signal_handler ir_guard monkey_patch_dtype "
            "monkey_patch_generated_methods_for_tensor monkey_patch_generated_methods_for_value "
            "monkey_patch_math_tensor monkey_patch_program monkey_patch_value monkey_patch_variable new_init "
            "original_init use_compat_guard"
        ),
        INTERNAL,
    ),
    (
        "gradtool.Tensor",
        "coalesce cols crows dense_dim indices is_coalesced nnz sparse_dim to_sparse_coo to_sparse_csr values",
        SPARSE,
    ),
    ("gradtool.Tensor", "num_shard placements process_mesh reconstruct_from_", DISTRIBUTED),
    (
        "gradtool.Tensor",
        "get_map_tensor get_selected_rows get_tensor set_string_list set_tensor set_vocab",
        INTERNAL,
    ),
    ("gradtool.Tensor", "block create_parameter create_tensor", INTERNAL),
    ("gradtool.Tensor", "top_p_sampling", KERNELS),
    ("gradtool", "disable_compat enable_compat", OTHERS),
    ("gradtool.nn.functional", "sparse_attention", SPARSE),
    (
        "gradtool.nn.functional",
        (
            "flash_attention_v3_varlen flash_attn_varlen_qkvpacked flashmask_attention moe_permute moe_unpermute "
            "sdp_kernel"
        ),
        KERNELS,
    ),
    ("gradtool.linalg", "fp8_fp8_half_gemm_fused", KERNELS),
    ("gradtool.nn.Layer", "xpu", DEVICES),
    ("gradtool.nn.Layer", "full sharded_state_dict", DISTRIBUTED),
    ("gradtool.static", "IpuCompiledProgram IpuStrategy ipu_shard_guard set_ipu_shard xpu_places", DEVICES),
    ("gradtool.static", "MetaTensor register_op", INTERNAL),
    ("gradtool.static", "ctr_metric_bundle", SERVERS),
    ("gradtool.static.nn", "continuous_value_model sparse_embedding", SERVERS),
    (
        "gradtool.optimizer.Optimizer",
        (
            "append_regularization_ops fused_buffer_version fused_states_accumulators_meta fused_states_buffer "
            "fused_states_buffer_ipc_meta fused_states_master_weights_meta get_opti_var_name_list need_refuse "
            "reset_need_refuse set_merged_model_params use_fusion_storage"
        ),
        INTERNAL,
    ),
)
"""Package or class, names separated by blanks, and the reason, which messages give."""


def reasons() -> dict[tuple[str, str], str]:
    """The reason of every name, by package and name."""
    table: dict[tuple[str, str], str] = {}
    for package, names, why in ABSENT:
        table |= dict.fromkeys([(package, name) for name in names.split()], why)
    return table
