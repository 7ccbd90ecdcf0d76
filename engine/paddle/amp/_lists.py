"""Lists of the operators that compute in narrow numbers, and which in float32, as Paddle 3.3.1 has it for graphics
cards.
"""

from __future__ import annotations

WHITE = frozenset(
    [
        "conv2d",
        "einsum",
        "flash_attn",
        "fused_gemm_epilogue",
        "fused_rotary_position_embedding",
        "linear_v2",
        "matmul",
        "matmul_v2",
        "max_pool2d_with_index",
        "mul",
    ]
)
"""What computes in narrow numbers."""

WHITE_FLOAT16 = WHITE | frozenset(
    [
        "fake_quantize_dequantize_abs_max",
        "fake_quantize_dequantize_moving_average_abs_max",
        "fused_attention",
        "fused_feedforward",
    ]
)
"""More of it, for float16."""

BLACK_O2 = frozenset(
    [
        "bicubic_interp_v2",
        "bilinear_interp_v2",
        "linear_interp_v2",
        "lookup_table",
        "lookup_table_v2",
        "nearest_interp_v2",
        "scatter",
        "trilinear_interp_v2",
    ]
)
"""What computes in float32 at level O2."""

BLACK = BLACK_O2 | frozenset(
    [
        "acos",
        "asin",
        "atanh",
        "c_softmax_with_cross_entropy",
        "c_softmax_with_multi_label_cross_entropy",
        "cosh",
        "cross_entropy",
        "cross_entropy2",
        "cumprod",
        "cumsum",
        "dist",
        "erfinv",
        "exp",
        "expm1",
        "frobenius_norm",
        "group_norm",
        "hsigmoid_loss",
        "huber_loss",
        "layer_norm",
        "log",
        "log10",
        "log2",
        "log_loss",
        "log_softmax",
        "margin_cross_entropy",
        "mean",
        "nll_loss",
        "pnorm",
        "pow",
        "reciprocal",
        "reduce_mean",
        "reduce_prod",
        "reduce_sum",
        "renorm",
        "rsqrt",
        "sigmoid_cross_entropy_with_logits",
        "sinh",
        "softmax",
        "softmax_with_cross_entropy",
        "softmin",
        "softplus",
        "square",
        "tan",
        "tanh_shrink",
        "triplet_margin_loss",
    ]
)
"""What computes in float32 at level O1."""


def white_list() -> dict[str, dict[str, set[str]]]:
    """The operators that compute in narrow numbers, by type and level."""
    return {
        "float16": {level: set(WHITE_FLOAT16) for level in ("OD", "O1", "O2")},
        "bfloat16": {level: set(WHITE) for level in ("OD", "O1", "O2")},
    }


def black_list() -> dict[str, dict[str, set[str]]]:
    """The operators that compute in float32, by type and level."""
    return {kind: {"OD": set(), "O1": set(BLACK), "O2": set(BLACK_O2)} for kind in ("float16", "bfloat16")}
