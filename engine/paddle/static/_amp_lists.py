"""Lists of the operators that Paddle computes in narrow types where an accelerator has them, by its lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import bfloat16, float16
from gradtool.engine.core.spec import dtype as convert

WHITE = (
    "conv2d einsum fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max flash_attn "
    "fused_attention fused_feedforward fused_gemm_epilogue fused_rotary_position_embedding matmul matmul_v2 "
    "max_pool2d_with_index mul"
)
WHITE_FLOAT16 = "fused_bn_add_activation resnet_unit"
BLACK = (
    "acos asin atanh bicubic_interp_v2 bilinear_interp_v2 c_softmax_with_cross_entropy "
    "c_softmax_with_multi_label_cross_entropy cosh cross_entropy cross_entropy2 cumprod cumsum dist erfinv exp expm1 "
    "frobenius_norm group_norm hsigmoid_loss huber_loss layer_norm linear_interp_v2 log log10 log2 log_loss "
    "log_softmax lookup_table lookup_table_v2 margin_cross_entropy mean nearest_interp_v2 nll_loss pnorm pow "
    "reciprocal reduce_mean reduce_prod reduce_sum renorm rsqrt scatter sigmoid_cross_entropy_with_logits sinh "
    "softmax softmax_with_cross_entropy softmin softplus square tan tanh_shrink trilinear_interp_v2 "
    "triplet_margin_loss"
)
GRAY = (
    "all_reduce batch_norm c_concat c_identity cast concat dropout elementwise_add elementwise_div "
    "elementwise_floordiv elementwise_max elementwise_min elementwise_mod elementwise_mul elementwise_pow "
    "elementwise_sub fill_constant flatten2 fused_attention fused_bn_add_activation fused_feedforward "
    "fused_multi_transformer gather gaussian_random get_tensor_from_selected_rows layer_norm leaky_relu pool2d pool3d "
    "rank relu relu6 reshape2 scale sigmoid sign slice soft_relu split stack tanh top_k transpose2 uniform_random "
    "uniform_random_batch_size_like unstack"
)


class AutoMixedPrecisionLists:
    """Operators by type: computed in the narrow type (white), in float32 (black), or as what they read (gray).

    Args:
        custom_white_list, custom_black_list: types that go to these lists, whatever Paddle has them in.
        custom_black_varnames: names of variables whose readers are computed in float32.
        dtype: the narrow type, ``'float16'`` or ``'bfloat16'``.

    Raises:
        UsageError: a type in both lists, or another dtype (a ValueError).
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: Any = "float16",
    ) -> None:
        self.amp_dtype = narrow(dtype)
        white, black = set(custom_white_list or ()), set(custom_black_list or ())
        for name in sorted(white & black):
            raise UsageError(f"The given custom_white_list overlaps custom_black_list with < {name} >!")
        usual = f"{WHITE} {WHITE_FLOAT16}" if self.amp_dtype == "float16" else WHITE
        self.white_list = ({*usual.split()} - black) | white
        self.black_list = ({*BLACK.split()} - white) | black
        self.gray_list = {*GRAY.split()} - white - black
        self.black_varnames = custom_black_varnames


def narrow(dtype: Any) -> str:
    """The name of a narrow type; raises :class:`UsageError` for any other."""
    if (isinstance(dtype, str) and dtype not in ("float16", "bfloat16")) or convert(dtype) not in (float16, bfloat16):
        raise UsageError("If enable AMP, dtype should be 'float16' or 'bfloat16'.")
    return convert(dtype).name
