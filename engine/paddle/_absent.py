"""Public names of Paddle that gradtool is not going to have, and why: read when one of them is asked for."""

from __future__ import annotations

from functools import cache

from gradtool.engine.core import near_names

from . import _lazy
from ._inside import said_of

DEVICES = "it is about devices, and gradtool computes on the CPU"
DISTRIBUTED = "it is about training on several machines or devices, and gradtool computes in one process"
KERNELS = "it is a kernel for graphics cards, and gradtool computes on the CPU"
NARROW = "gradtool has no elements of that type"
INTERNAL = "it is a part of Paddle's own construction"
PATCHES = "it changes classes while Paddle is imported, and gradtool's have their methods from the start; leave it out"
OTHERS = "it lets programs of other packages run with Paddle, and gradtool is for those of Paddle"
SERVERS = "it is about parameter servers"
EXPORTS = "it writes models for other programs; gradtool graph and gradtool graph --dump write graphs"
SEQUENCES = "it is about sequences in one tensor without padding (LoD), and gradtool's tensors know no sequences"

ABSENT: tuple[tuple[str, str, str], ...] = (
    ("gradtool.paddle", "Event Stream XPUPinnedPlace get_device_module", DEVICES),
    ("gradtool.paddle", "float8_e4m3fn float8_e5m2 pstring raw uint16 uint32 uint64", NARROW),
    (
        "gradtool.paddle",
        (
            "monkey_patch_dtype monkey_patch_generated_methods_for_tensor monkey_patch_generated_methods_for_value "
            "monkey_patch_math_tensor monkey_patch_program monkey_patch_value monkey_patch_variable new_init "
            "original_init"
        ),
        PATCHES,
    ),
    ("gradtool.paddle", "IrGuard MmapStorage check_shape disable_signal_handler ir_guard use_compat_guard", INTERNAL),
    ("gradtool.paddle.Tensor", "num_shard placements process_mesh reconstruct_from_", DISTRIBUTED),
    (
        "gradtool.paddle.Tensor",
        "get_map_tensor get_selected_rows get_tensor set_string_list set_tensor set_vocab",
        INTERNAL,
    ),
    ("gradtool.paddle.Tensor", "block create_parameter create_tensor", INTERNAL),
    ("gradtool.paddle.Tensor", "top_p_sampling", KERNELS),
    ("gradtool.paddle", "disable_compat enable_compat", OTHERS),
    (
        "gradtool.paddle.nn.functional",
        (
            "flash_attention_v3_varlen flash_attn_varlen_qkvpacked flashmask_attention moe_permute moe_unpermute "
            "sdp_kernel"
        ),
        KERNELS,
    ),
    ("gradtool.paddle.linalg", "fp8_fp8_half_gemm_fused", KERNELS),
    ("gradtool.paddle.nn.Layer", "xpu", DEVICES),
    ("gradtool.paddle.nn.Layer", "full sharded_state_dict", DISTRIBUTED),
    (
        "gradtool.paddle.device",
        (
            "Device Event Stream StreamContext amp current_stream "
            "empty_cache extract_device_id get_device_capability get_device_module get_device_name "
            "get_device_properties get_stream_from_external ipc_collect max_memory_allocated max_memory_reserved "
            "memory_allocated memory_reserved nvtx reset_max_memory_allocated reset_max_memory_reserved "
            "reset_peak_memory_stats set_stream stream stream_guard synchronize"
        ),
        DEVICES,
    ),
    ("gradtool.paddle.onnx", "export", EXPORTS),
    ("gradtool.paddle.incubate", "DistributedFusedLamb", DISTRIBUTED),
    ("gradtool.paddle.incubate.optimizer", "DistributedFusedLamb PipelineOptimizer", DISTRIBUTED),
    ("gradtool.paddle.incubate", "cc", "it compiles functions; call the function as it is"),
    ("gradtool.paddle.incubate", "inference", "it makes a function run faster; call the function as it is"),
    (
        "gradtool.paddle.incubate.nn.functional",
        (
            "fp8_gemm_blockwise fp8_quant_blockwise fused_act_dequant fused_stack_transpose_quant "
            "fused_transpose_split_quant fused_transpose_wlch_split_quant fused_weighted_swiglu_act_quant "
            "moe_gate_dispatch_and_quant"
        ),
        NARROW,
    ),
    (
        "gradtool.paddle.incubate.nn.functional",
        (
            "blha_get_max_len block_multihead_attention block_multihead_attention_xpu "
            "build_src_rank_and_local_expert_id cal_aux_loss cross_entropy_with_softmax_bwd_w_downcast "
            "cudnn_flash_attention embedding_grad_add_to_ expand_modality_expert_id fused_partial_rope int_bincount "
            "moe_combine_no_weight moe_gate_dispatch_partial_nosoftmaxtopk moe_gate_dispatch_permute"
        ),
        KERNELS,
    ),
    ("gradtool.paddle.static", "IpuCompiledProgram IpuStrategy ipu_shard_guard set_ipu_shard xpu_places", DEVICES),
    ("gradtool.paddle.static", "MetaTensor register_op", INTERNAL),
    ("gradtool.paddle.static", "ctr_metric_bundle", SERVERS),
    ("gradtool.paddle.static.nn", "continuous_value_model sparse_embedding", SERVERS),
    (
        "gradtool.paddle.static.nn",
        "sequence_conv sequence_expand sequence_first_step sequence_last_step sequence_pool sequence_softmax",
        SEQUENCES,
    ),
    (
        "gradtool.paddle.optimizer.Optimizer",
        (
            "append_regularization_ops fused_buffer_version fused_states_accumulators_meta fused_states_buffer "
            "fused_states_buffer_ipc_meta fused_states_master_weights_meta get_opti_var_name_list need_refuse "
            "reset_need_refuse set_merged_model_params use_fusion_storage"
        ),
        INTERNAL,
    ),
    (
        "gradtool.paddle.distributed",
        "BoxPSDataset CountFilterEntry InMemoryDataset ProbabilityEntry QueueDataset ShowClickEntry",
        SERVERS,
    ),
    (
        "gradtool.paddle.distributed",
        (
            "ColWiseParallel ContextParallel ConvParallel DistAttr DistModel LocalLayer PrepareContextParallel "
            "PrepareLayerInput PrepareLayerOutput RowWiseParallel SequenceParallelBegin SequenceParallelDisable "
            "SequenceParallelEnable SequenceParallelEnd ShardedStateDict ShardedWeight SplitPoint Strategy "
            "build_sharded_state_dict create_nccl_config enable_auto_dp gloo_barrier gloo_init_parallel_env "
            "gloo_release in_auto_parallel_align_mode load_merged_state_dict parallelize shard_weight split "
            "to_distributed to_static"
        ),
        DISTRIBUTED,
    ),
    ("gradtool.paddle.distributed", "monkey_patch_value_in_dist", PATCHES),
    (
        "gradtool.paddle.distributed.fleet",
        (
            "BoxPSDataset DatasetBase FileInstantDataset InMemoryDataset MultiSlotDataGenerator "
            "MultiSlotStringDataGenerator QueueDataset check_save_pre_patch_done get_fl_client init_coordinator "
            "load_inference_model load_model load_one_table make_fl_strategy print_table_stat save_cache_model "
            "save_cache_table save_dense_params save_one_table set_date shrink"
        ),
        SERVERS,
    ),
    ("gradtool.paddle.distributed.fleet", "check_memory_usage collective_perf", DEVICES),
    ("gradtool.paddle.distributed.fleet.utils", "DistributedInfer", SERVERS),
    ("gradtool.paddle.distributed.fleet.utils", "HDFSClient LocalFS", "it is about files of clusters"),
)
"""Package or class, names separated by blanks, and the reason, which messages give."""


PARTS: dict[str, tuple[str, str]] = {
    "paddle.dataset": ("data sets of the old kind", "read the data yourself and give them by paddle.io.Dataset"),
    "paddle.quantization": ("quantised models", "query the model before it is quantised"),
    "paddle.nn.quant": ("quantised models", "query the model before it is quantised"),
    "paddle.onnx": ("exporting models", "gradtool graph and gradtool graph --dump write graphs; leave the export out"),
    "paddle.inference": ("running exported models", "run the model itself"),
    "paddle.tensorrt": ("running exported models", "run the model itself"),
    "paddle.cost_model": ("costs of programs", "run gradtool stats --time MODEL"),
    "paddle.pir": ("another form of programs", "gradtool's programs are those of paddle.static"),
    "paddle.decomposition": ("another form of programs", "gradtool's programs are those of paddle.static"),
    "paddle.base.dataset": ("data sets of the old kind", "read the data yourself and give them by paddle.io.Dataset"),
    "paddle.utils.cpp_extension": (
        "operators written in C++",
        "write the operator as a subclass of paddle.autograd.PyLayer",
    ),
    "paddle.incubate.autotune": ("speed on graphics cards", "leave it out"),
    "paddle.distributed.auto_parallel": ("training on several devices", "run the script for one process"),
    "paddle.distributed.rpc": ("training on several machines", "run the script for one process"),
}
"""Parts of Paddle that are not here as a whole: what each is for, and what to do instead."""

NAMELESS: dict[str, tuple[str, str]] = {
    "paddle.incubate.asp": ("pruned weights for graphics cards", "leave it out"),
    "paddle.incubate.checkpoint": ("going on after a crash of a cluster", "save and load the state yourself"),
    "paddle.incubate.passes": ("changes of programs for speed", "leave it out"),
    "paddle.incubate.xpu": ("kernels for other processors", "use the layers of paddle.nn that they fuse"),
    "paddle.incubate.cc": ("compiled functions", "call the function as it is"),
    "paddle.static.quantization": ("quantised models", "query the model before it is quantised"),
    "paddle._C_ops": ("kernels by their names", "call the public function of the same name"),
    "paddle._legacy_C_ops": ("kernels by their names", "call the public function of the same name"),
    "paddle.fluid.contrib.slim": ("quantised models", "query the model before it is quantised"),
    "paddle.fluid.contrib.sparsity": ("pruned weights for graphics cards", "leave it out"),
    "paddle.fluid.transpiler": ("training on several machines", "run the script for one process"),
    "paddle.fluid.distributed": ("training on several machines", "run the script for one process"),
    "paddle.fluid.incubate.fleet.parameter_server": (
        "training on several machines",
        "run the script for one process",
    ),
}
"""Modules that can be imported, as scripts do without using them, and that have no names: the same of each."""

AREAS: dict[str, str] = {
    "paddle": INTERNAL,
    "paddle.base.compiler": DEVICES,
    "paddle.base.data_feed_desc": SERVERS,
    "paddle.base.dataset": SERVERS,
    "paddle.compat": OTHERS,
    "paddle.cuda": DEVICES,
    "paddle.dataset": "it is a data set of the old kind; give your data by paddle.io.Dataset",
    "paddle.device": DEVICES,
    "paddle.distributed": DISTRIBUTED,
    "paddle.incubate.distributed": DISTRIBUTED,
    "paddle.incubate.jit": "it makes a function run faster; call the function as it is",
    "paddle.incubate.nn": KERNELS,
    "paddle.incubate.operators": KERNELS,
    "paddle.library": OTHERS,
    "paddle.nn.attention": KERNELS,
    "paddle.nn.functional": KERNELS,
    "paddle.profiler": "it reads and writes recordings of Paddle's own profiler; gradtool stats --time MODEL measures",
    "paddle.static.nn.sequence_lod": SEQUENCES,
    "paddle.utils.cpp_extension": "it is for operators written in C++; write a paddle.autograd.PyLayer",
}
"""Modules, and why names of them and of those below them are not here where no row above says so."""

WHOLE = frozenset((DEVICES, DISTRIBUTED, OTHERS, SERVERS))
"""Reasons that hold for everything in an area, parts of Paddle's construction among them."""

NEAR = 0.75
"""How alike, from 0 to 1, a name has to be that a message proposes."""


def explained(package: str, name: str, why: str | None, names: list[str]) -> tuple[str | None, str | None]:
    """Why *package* lacks *name*, and what to do: the part of Paddle that it is of, or names that are really near.

    Args:
        why: a reason that is known already.
        names: what the package has.
    """
    public = f"{package}.{name}".replace("gradtool.paddle", "paddle", 1)
    for part, (purpose, advice) in (*PARTS.items(), *NAMELESS.items()):
        if public == part or public.startswith(part + "."):
            which = "it" if public == part else part
            return f"{which} is a part of Paddle that gradtool does not have ({purpose})", advice
    why = why or reasons().get((package, name)) or _of_area(package, name)
    near = sorted((n for n in names if _likeness(name, n) >= NEAR), key=lambda n: -_likeness(name, n))[:3]
    return why, f"did you mean {', '.join(map(repr, near))}?" if near else None


def _of_area(package: str, name: str) -> str | None:
    """Return why a name that Paddle has is not here, by where it is from; None for a name that Paddle does not have.

    What is in no ``__all__`` is a part of Paddle's own construction, unless all of its area is not here. A table says
    what parts are for.
    """
    from . import _recorded

    places = _recorded.places(package, name)
    known = reasons()
    for place in places:
        ours = place.module.replace("paddle", "gradtool.paddle", 1), place.name
        if why := known.get(ours) or _lazy.REASONS.get(ours):
            return why
    if not places or not places[-1].module.startswith("paddle"):
        return f"{places[-1].module} is not installed" if places else None
    for place in places:
        parts = place.module.split(".")
        why = next(why for n in range(len(parts), 0, -1) if (why := AREAS.get(".".join(parts[:n]))))
        if why in WHOLE or not place.name or place.name in _recorded.of(place.module).public:
            return why
    return next((why for p in reversed(places) if (why := said_of(p.module))), INTERNAL)


def _likeness(asked: str, name: str) -> float:
    """Return how alike two names are, from 0 to 1; one that goes on where the other ends counts as near from 4 letters
    on.
    """
    if len(asked) >= 4 and name.lower().startswith(asked.lower()):
        return NEAR
    return near_names.likeness(asked, name)


@cache
def reasons() -> dict[tuple[str, str], str]:
    """The reason of every name, by package and name."""
    table: dict[tuple[str, str], str] = {}
    for package, names, why in ABSENT:
        table |= dict.fromkeys([(package, name) for name in names.split()], why)
    return table
