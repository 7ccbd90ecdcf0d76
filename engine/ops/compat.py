"""Names that cannot be derived from a rule: Paddle's exceptions, one line each (as in Paddle 3.1)."""

from __future__ import annotations

from typing import Final

from ..core.vocabulary import Titled

GRAD_TYPES: Final = {
    "cross_entropy2": "cross_entropy_grad2",
    "elementwise_mod": "remainder_grad",
    "elementwise_mul_grad_grad": "elementwise_mul_triple_grad",
    "tanh_grad_grad": "tanh_triple_grad",
    "sigmoid_grad_grad": "sigmoid_triple_grad",
}
"""Operator type -> type of its gradient operator, where that is not the type with ``_grad``."""

_BINARY: Final = {"X@GRAD@GRAD": "DDX", "Y@GRAD@GRAD": "DDY", "Out@GRAD": "DOut", "Out@GRAD@GRAD": "DDOut"}
_UNARY_NEW: Final = {"X@GRAD@GRAD": "grad_x@GRAD", "Out@GRAD@GRAD": "grad_out@GRAD", "Out@GRAD": "grad_out"}

SLOTS: Final[dict[str, dict[str, str]]] = {
    "elementwise_mul_grad": _BINARY,
    "relu_grad": _UNARY_NEW,
}
"""Gradient operator -> the slot names that its own gradient operator uses, by derived name."""

REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "anchor_generator": ("anchor_sizes", "aspect_ratios", "variances"),
    "arg_max": ("axis",),
    "arg_min": ("axis",),
    "assign_value": ("shape", "dtype"),
    "cast": ("in_dtype", "out_dtype"),
    "channel_shuffle": ("groups",),
    "class_center_sample": ("num_classes", "num_samples"),
    "clip": ("min", "max"),
    "clip_by_norm": ("max_norm",),
    "conditional_block": ("sub_block",),
    "cumprod": ("dim",),
    "distribute_fpn_proposals": ("min_level", "max_level", "refer_level", "refer_scale"),
    "einsum": ("equation",),
    "eye": ("num_rows",),
    "fft_c2c": ("axes", "normalization", "forward"),
    "fft_c2r": ("axes", "normalization", "forward"),
    "fft_r2c": ("axes", "normalization", "forward", "onesided"),
    "fill_constant_batch_size_like": ("shape",),
    "flatten_contiguous_range": ("start_axis", "stop_axis"),
    "flip": ("axis",),
    "fold": ("output_sizes", "kernel_sizes", "strides", "paddings", "dilations"),
    "fractional_max_pool2d": ("output_size",),
    "fractional_max_pool3d": ("output_size",),
    "frame": ("frame_length", "hop_length"),
    "generate_proposals_v2": ("pre_nms_topN", "post_nms_topN", "nms_thresh", "min_size", "eta"),
    "huber_loss": ("delta",),
    "lamb": ("weight_decay",),
    "lars_momentum": ("mu",),
    "linspace": ("dtype",),
    "log_loss": ("epsilon",),
    "logspace": ("dtype",),
    "lp_pool2d": ("kernel_size",),
    "lu_solve": ("trans",),
    "matrix_nms": ("score_threshold", "nms_top_k", "keep_top_k"),
    "matrix_power": ("n",),
    "max_pool2d_with_index": ("ksize",),
    "max_pool3d_with_index": ("ksize",),
    "maxout": ("groups",),
    "merged_momentum": ("mu",),
    "momentum": ("mu",),
    "multiclass_nms3": ("score_threshold", "nms_top_k", "keep_top_k"),
    "nce": ("num_total_classes",),
    "norm": ("axis",),
    "overlap_add": ("hop_length",),
    "pad": ("paddings",),
    "pad3d": ("paddings",),
    "polygamma": ("n",),
    "pool2d": ("ksize",),
    "pool3d": ("ksize",),
    "print": ("first_n", "message", "summarize"),
    "prior_box": ("min_sizes",),
    "put_along_axis": ("Axis",),
    "pylayer": ("blocks",),
    "randint": ("low", "high"),
    "randperm": ("n",),
    "renorm": ("p", "axis", "max_norm"),
    "reverse": ("axis",),
    "rms_norm": ("epsilon", "begin_norm_axis", "quant_scale", "quant_round_type", "quant_max_bound", "quant_min_bound"),
    "sequence_mask": ("out_dtype",),
    "set_value": ("axes",),
    "shard_index": ("index_num", "nshards", "shard_id"),
    "slice": ("axes",),
    "stft": ("n_fft", "hop_length", "normalized", "onesided"),
    "strided_slice": ("axes",),
    "take_along_axis": ("Axis",),
    "temporal_shift": ("seg_num",),
    "transpose": ("axis",),
    "transpose2": ("axis",),
    "truncated_gaussian_random": ("shape",),
    "unfold": ("kernel_sizes", "strides", "paddings", "dilations"),
    "uniform_random_batch_size_like": ("shape",),
    "unpool": ("ksize", "unpooling_type"),
    "unpool3d": ("ksize",),
    "update_loss_scaling": ("incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_ratio", "decr_ratio"),
    "while": ("sub_block",),
}
"""Operator type -> attributes without a default in Paddle: whoever appends such an operator to a block states them.

The defaults that their definitions have are for rules.
"""

KEPT: Final[dict[str, tuple[str, ...]]] = {
    "einsum": ("InnerCache", "XShape"),
    "hierarchical_sigmoid": ("W_Out",),
    "warpctc": ("WarpCTCGrad",),
    "warprnnt": ("warprnntgrad",),
}
"""Operator type -> slots of outputs that Paddle's kernels fill for their gradient operators, and ours leave empty."""

_HINTS = (
    "ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE Scale_in Scale_in_eltwise Scale_out Scale_weights Scale_x "
    "Scale_y entry entry_config epmap exhaustive_search force_fp32_output fuse_activation fuse_alpha "
    "fuse_beta fuse_relu fuse_relu_before_depthwise_conv fuse_residual_connection fuse_with_relu "
    "grad_inplace height_sections is_test mkldnn_data_type name padding_weights slot table_class "
    "table_names trainer_id use_addto use_cudnn use_mkldnn use_quantizer workspace_size_MB "
)
HINTS: Final = frozenset(_HINTS.split())
"""Attributes of Paddle's operators that only say how it computes, wherever they are stated."""


CONTINUES: Final[dict[str, tuple[str, str]]] = {"write_to_array": ("Before", "Out")}
"""Operator type -> the input slot in which it finds what the variable in that output slot held before, if anything.

Paddle writes into that variable and lists no such input, so programs do not show it either.
"""


def grad_type(op_type: str) -> str:
    """The type of the gradient operator of *op_type*."""
    type_ = GRAD_TYPES.get(op_type, op_type + "_grad")
    return Titled(type_, f"{op_type}_grad") if isinstance(op_type, Titled) else type_


def slots(op_type: str) -> dict[str, str]:
    """Derived slot name -> Paddle's, for the gradient operator of *op_type*."""
    return SLOTS.get(op_type, {})
