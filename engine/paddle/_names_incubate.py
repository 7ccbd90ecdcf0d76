"""The table of public names of ``paddle.incubate``."""

from __future__ import annotations

from ._lazy import provide

provide(
    "gradtool.paddle.incubate",
    "gradtool.paddle.geometric._segments",
    "segment_max segment_mean segment_min segment_sum",
)
provide(
    "gradtool.paddle.incubate",
    "gradtool.paddle.incubate._graphs",
    "graph_khop_sampler graph_reindex graph_sample_neighbors graph_send_recv",
)

NN, F = "gradtool.paddle.incubate.nn", "gradtool.paddle.incubate.nn.functional"

provide(
    NN,
    f"{NN}._layers",
    "FusedBiasDropoutResidualLayerNorm FusedDropout FusedDropoutAdd FusedFeedForward FusedLinear "
    "FusedMultiHeadAttention FusedMultiTransformer FusedTransformerEncoderLayer",
)
provide(F, f"{F}._products", "batched_gemm fused_linear fused_linear_activation fused_matmul_bias")
provide(
    F,
    f"{F}._normed",
    "fast_ln fast_rms_norm fused_bias_act fused_bias_dropout_residual_layer_norm fused_dropout_add fused_layer_norm "
    "fused_rms_norm fused_rms_norm_ext fused_swiglu_weighted_bwd",
)
provide(F, f"{F}._rotary", "fused_rotary_position_embedding")
provide(F, f"{F}._experts", "moe_combine moe_gate_dispatch")
provide(
    F,
    f"{F}._attention",
    "fused_dot_product_attention fused_feedforward fused_gate_attention fused_multi_head_attention "
    "masked_multihead_attention variable_length_memory_efficient_attention",
)
provide(F, f"{F}._layers_of_decoders", "fused_multi_transformer")
provide(F, "gradtool.paddle.nn.functional", "swiglu")

OPTIMIZER = "gradtool.paddle.incubate.optimizer"

for _package in ("gradtool.paddle.incubate", OPTIMIZER):
    provide(_package, f"{OPTIMIZER}._look_ahead", "LookAhead")
    provide(_package, f"{OPTIMIZER}._model_average", "ModelAverage")
provide(OPTIMIZER, "gradtool.paddle.optimizer", "LBFGS")
provide(
    "gradtool.paddle.incubate.layers.nn", "gradtool.paddle.incubate._rows", "partial_concat partial_sum shuffle_batch"
)
provide("gradtool.paddle.incubate", "gradtool.paddle._layer_helper", "LayerHelper")
provide("gradtool.paddle.incubate", "gradtool.paddle.incubate._functions", "identity_loss softmax_mask_fuse")
provide("gradtool.paddle.incubate", "gradtool.paddle.incubate._functions", "softmax_mask_fuse_upper_triangle")
provide(
    "gradtool.paddle.incubate",
    "gradtool.paddle.incubate._streams",
    "get_rng_state register_rng_state_as_index set_rng_state",
)
provide(OPTIMIZER, f"{OPTIMIZER}._gradient_merge", "GradientMergeOptimizer")
provide(OPTIMIZER, f"{OPTIMIZER}._lars", "LarsMomentumOptimizer")
