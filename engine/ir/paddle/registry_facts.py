"""Facts of Paddle's registry of operators that programs omit: types of attributes, and slots of second order."""

from __future__ import annotations

from typing import Final

from ...core.names import EMPTY
from ...ops import registry
from ...ops.opdef import OpDef
from ..operator import Operator
from .operator_versions import Slots

OURS: Final = frozenset(
    {"array_parted", "array_popped", "array_without", "block_grad", "gcd", "isin", "lcm", "matrix_exp", "median"}
    | {"orthogonal_random", "pinv"}
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


_LIKE_GRAD = (
    "abs_grad celu_grad clip_grad conv2d_grad conv3d_grad cos_grad depthwise_conv2d_grad leaky_relu_grad log_grad "
    "matmul_v2_grad pool2d_grad pow_grad sigmoid_grad sin_grad softplus_grad square_grad tanh_grad"
)
_LIKE_DD = "matmul_grad elementwise_add_grad elementwise_sub_grad reshape2_grad"
_DOUBLE = ("abs_grad", "clip_grad", "cos_grad", "pool2d_grad", "pow_grad", "sin_grad", "softplus_grad")
"""Gradient operators whose own gradient operator is called ``cos_double_grad``, and not ``cos_grad_grad``."""
_AS_THEY_ARE = frozenset({"elementwise_mul_grad", "relu_grad"})
_LEFT_OUT: Final = {
    "abs_grad": {"Out@GRAD"},
    "clip_grad": {"Out@GRAD"},
    "elementwise_add_grad": {"X"},
    "elementwise_sub_grad": {"X"},
    "pool2d_grad": {"X", "Out", "Out@GRAD"},
    "reshape2_grad": {"XShape"},
}
"""Gradient operator -> inputs of ours that the gradient operator of Paddle's does not list: it does without them."""
_WITHOUT: Final = {
    "abs_grad": {"X@GRAD"},
    "clip_grad": {"Min", "Max"},
    "pow_grad": {"FactorTensor", "FactorTensor@GRAD"},
}
"""Gradient operator -> slots of ours for which Paddle's has no place: with one of them it is none of Paddle's."""


def is_second_order(op: OpDef) -> bool:
    """Return whether *op* differentiates a gradient operator."""
    return op.forward is not None and op.forward.forward is not None


def second_order_type(op: Operator) -> str | None:
    """Return Paddle's name of *op*, which differentiates a gradient operator; None where theirs is another one."""
    of = op.op.forward.type if op.op.forward is not None else ""
    if of in _AS_THEY_ARE or of in _LIKE_DD.split():
        return op.type
    if of not in _LIKE_GRAD.split():
        return None
    if any(_has_slot(op, name) for name in _WITHOUT.get(of, ())):
        return None
    if of == "pool2d_grad" and op.attrs["pooling_type"] != "avg":  # Paddle's takes the largest of the gradients
        return None
    return f"{of.removesuffix('_grad')}_double_grad" if of in _DOUBLE else op.type


def _has_slot(op: Operator, name: str) -> bool:
    """Return whether the slot *name* holds a variable."""
    held = op.input(name) if name in op.op.input_index else op.output(name)
    return any(n != EMPTY for n in held)


def slot(op: OpDef, name: str, is_input: bool) -> str | None:
    """Return Paddle's name of a slot of *op*; None for one that it does not list."""
    if not is_second_order(op) or op.forward is None or op.forward.forward is None or op.forward.type in _AS_THEY_ARE:
        return name
    left_out = _LEFT_OUT.get(op.forward.type, set()) if is_input else set()
    if name in left_out or name in _WITHOUT.get(op.forward.type, ()):
        return None
    results = {s.name for s in op.forward.forward.outputs}
    plain = name.replace("@GRAD", "")
    order = name.count("@GRAD")
    if op.forward.type in _LIKE_DD.split():
        called = "Out" if plain in results else plain
        if order == 2:
            return f"DD{called}"
        return f"D{called}" if order == 1 else name
    called = "out" if plain in results else plain.lower()
    if order == 2:
        return f"grad_{called}@GRAD"
    return f"grad_{called}" if order == 1 and is_input and plain in results else name


def own_slots(type_: str, inputs: Slots, outputs: Slots) -> tuple[str, Slots, Slots]:
    """Type and slots, as gradtool calls them, of an operator of second order in a file: the inverse of the above."""
    base = type_.removesuffix("_grad").removesuffix("_grad").removesuffix("_double")
    of = f"{base}_grad"
    theirs = f"{base}_double_grad" if of in _DOUBLE else f"{base}_grad_grad"
    if type_ != theirs or of not in (*_LIKE_GRAD.split(), *_LIKE_DD.split()):
        return type_, inputs, outputs
    op = registry.get_by_type(f"{base}_grad_grad")
    ins = {slot(op, s.name, True): s.name for s in op.inputs}
    outs = {slot(op, s.name, False): s.name for s in op.outputs}
    renamed = [{own.get(n, n): held for n, held in listed.items()} for own, listed in ((ins, inputs), (outs, outputs))]
    return op.type, renamed[0], renamed[1]
