"""What Paddle's registry of operators says and programs do not: types of attributes, and slots of second order."""

from __future__ import annotations

from typing import Final

from ...ops.opdef import OpDef

OURS: Final = frozenset(
    {"array_without", "block_grad", "gcd", "isin", "lcm", "matrix_exp", "median", "orthogonal_random", "pinv"}
)
"""Operators of gradtool that Paddle's programs do not have."""

UNKNOWN: Final = frozenset({("mean", "rank")})
"""Operator and attribute of gradtool that Paddle has not: what it says, the shapes of variables say as well."""

_LONG = (
    "arg_min.axis adam.min_row_size_to_use_multithread lookup_table.padding_idx as_strided.offset assert.summarize "
    "average_accumulates.max_average_window average_accumulates.min_average_window lookup_table_v2.padding_idx "
    "arg_max.axis histogram.bins nll_loss.ignore_index adamw.min_row_size_to_use_multithread fft_c2r.last_dim_size "
    "fill_diagonal_tensor.offset eye.num_rows eye.num_columns"
)
_LONGS = (
    "reduce_amin.dim gaussian_random.shape roll.shifts roll.axis fft_c2c.axes reduce_any.dim empty.shape "
    "as_strided.dims as_strided.stride fill_constant.shape fft_r2c.axes set_value.axes set_value.starts set_value.ends "
    "set_value.steps set_value.decrease_axes set_value.none_axes set_value.shape variance.axis randint.shape "
    "uniform_random.shape graph_send_recv.out_size reduce_amax.dim fft_c2r.axes lp_pool2d.kernel_size reduce_all.dim "
    "graph_send_ue_recv.out_size"
)
_FLOATS = (
    "linear_interp_v2.scale bicubic_interp_v2.scale nearest_interp_v2.scale bilinear_interp_v2.scale "
    "trilinear_interp_v2.scale box_coder.variance merged_momentum.regularization_coeff anchor_generator.anchor_sizes "
    "anchor_generator.aspect_ratios anchor_generator.variances prior_box.min_sizes prior_box.max_sizes "
    "prior_box.aspect_ratios prior_box.variances"
)
_OTHERS = {
    "BLOCKS": "pylayer.blocks",
    "STRINGS": "merged_momentum.regularization_method py_func.backward_skip_vars",
    "SCALARS": "set_value.values assign_value.values",
}
TYPES: Final[dict[tuple[str, str], str]] = {
    (words.partition(".")[0], words.partition(".")[2]): kind
    for kind, listed in {"LONG": _LONG, "LONGS": _LONGS, "FLOATS": _FLOATS, **_OTHERS}.items()
    for words in listed.split()
}
"""Operator and attribute -> the type of the attribute, where its value does not say it."""


def slot(op: OpDef, name: str) -> str:
    """What Paddle calls a slot of *op*."""
    return name
