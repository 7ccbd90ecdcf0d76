"""Why types of Paddle's registry are not going to come, by family."""

from __future__ import annotations

from functools import cache

DISTRIBUTED = "it is about training on several machines or devices, and gradtool computes in one process"
DEVICES = "it is about devices, and gradtool computes on the CPU"
FUSED = "several operators in one kernel, for graphics cards or for programs that do not train"
QUANTIZED = "it is about numbers of fewer bits, which gradtool has not"
SPARSE = "it is about sparse tensors, and gradtool's tensors are dense"
PACKED = "it takes sequences packed without padding (LoD), and gradtool's tensors have none"
SERVERS = "it is about parameter servers and what they train"
INTERNAL = "it is a part of Paddle's own construction"
BROKEN = "Paddle 3.1.1 itself refuses to run it on the CPU"
GRAPHS = "it draws neighbours in graphs, which nothing is differentiated through"

FAMILIES: tuple[tuple[str, str], ...] = (
    (
        DISTRIBUTED,
        (
            "all_gather all_reduce all_to_all assign_pos barrier broadcast build_src_rank_and_local_expert_id c_* "
            "cal_aux_loss coalesce_tensor comm_init_all dgc* dist_concat distributed_fused_lamb_init "
            "expand_modality_expert_id fetch_barrier global_gather global_scatter limit_by_capacity moe_* "
            "mp_allreduce_sum number_count p_recv* p_send* partial_allgather partial_recv partial_send "
            "prune_gate_by_capacity random_routing recv_v2 reduce reduce_scatter send_v2"
        ),
    ),
    (DEVICES, "*_xpu memcpy* npu_identity share_buffer transfer_layout"),
    (
        FUSED,
        (
            "add_group_norm_silu attention_lstm blha_get_max_len block_multihead_attention calc_reduced_attn_scores "
            "conv2d_transpose_bias cudnn_lstm decode_jpeg flash_attn* flashmask_attention fused_* fusion_* "
            "gemm_epilogue "
            "masked_multihead_attention memory_efficient_attention multihead_matmul multi_gru qkv_unpack_mha resnet_* "
            "self_dp_attention skip_layernorm squeeze_excitation_block top_p_sampling "
            "variable_length_memory_efficient_attention yolo_box_head yolo_box_post correlation max_pool2d_v2"
        ),
    ),
    (
        QUANTIZED,
        (
            "apply_per_channel_scale dequantize* fake_* fp8_* llm_int8_linear lookup_table_dequant "
            "moving_average_abs_max_scale quant_linear quantize* requantize weight_*"
        ),
    ),
    (SPARSE, "sparse_*"),
    (
        PACKED,
        (
            "beam_search beam_search_decode box_clip chunk_eval collect_fpn_proposals crf_decoding generate_proposals "
            "gru "
            "im2sequence lod_reset lstm match_matrix_tensor multiclass_nms row_conv sequence_*"
        ),
    ),
    (
        SERVERS,
        (
            "batch_fc cvm dpsgd embedding_with_scaled_gradient faster_tokenizer hash nce pyramid_hash rank_attention "
            "shuffle_batch tdm_*"
        ),
    ),
    (
        INTERNAL,
        (
            "accuracy_check ap_* check_numerics conditional_block_infer create_* data depend feed fetch fetch_v2 "
            "full_int_array index_elementwise_* index_select_strided int_bincount load load_combine nop "
            "openvino_engine "
            "read restrict_nonzero run_program save save_combine set shadow_output view_*"
        ),
    ),
    (BROKEN, "fill margin_cross_entropy"),
    (GRAPHS, "graph_khop_sampler graph_reindex graph_sample_neighbors weighted_sample_neighbors"),
)
"""A reason, and the types that it holds for; ``*`` stands for any letters."""


@cache
def _tables() -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Whole names with their reasons, and the ends of those with a star: before it, behind it, the reason."""
    whole, starred = {}, []
    for why, types in FAMILIES:
        for type_ in types.split():
            before, star, behind = type_.partition("*")
            if star:
                starred.append((before, behind, why))
            else:
                whole[type_] = why
    return whole, starred


def reason(type_: str) -> str | None:
    """Why there is no such operator; None where it is to come."""
    whole, starred = _tables()
    if type_ in whole:
        return whole[type_]
    return next((why for before, behind, why in starred if type_.startswith(before) and type_.endswith(behind)), None)
