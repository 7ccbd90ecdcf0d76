"""``fluid.nets``: layers that version 1 put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle import _lazy
from gradtool.paddle.nn import functional

from . import layers

__all__ = ["glu", "img_conv_group", "scaled_dot_product_attention", "simple_img_conv_pool"]


def simple_img_conv_pool(
    input: Any,
    num_filters: int,
    filter_size: Any,
    pool_size: Any,
    pool_stride: Any,
    pool_padding: Any = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    use_cudnn: bool = True,
) -> Any:
    """A convolution of *input* ``[batch, channels, height, width]``, and a pooling of it."""
    out = layers.conv2d(
        input,
        num_filters,
        filter_size,
        stride=conv_stride,
        padding=conv_padding,
        dilation=conv_dilation,
        groups=conv_groups,
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
    )
    return layers.pool2d(out, pool_size, pool_type, pool_stride, pool_padding, global_pooling)


def img_conv_group(
    input: Any,
    conv_num_filter: Sequence[int],
    pool_size: Any,
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: str | None = None,
    param_attr: Any = None,
    conv_with_batchnorm: Any = False,
    conv_batchnorm_drop_rate: Any = 0.0,
    pool_stride: Any = 1,
    pool_type: str = "max",
    use_cudnn: bool = True,
) -> Any:
    """Convolutions one after the other, each with a batch norm and a dropout where asked, and a pooling at the end.

    Args:
        conv_num_filter: the filters of each; other arguments are one for all, or a list of one for each.

    Raises:
        UsageError: a list of another length (a ValueError).
    """

    def each(value: Any, what: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            return [value] * len(conv_num_filter)
        if len(value) != len(conv_num_filter):
            raise UsageError(
                f"fluid.nets.img_conv_group: {what} has {len(value)} entries for {len(conv_num_filter)} convolutions."
            )
        return list(value)

    paddings, sizes = each(conv_padding, "conv_padding"), each(conv_filter_size, "conv_filter_size")
    attrs, norms = each(param_attr, "param_attr"), each(conv_with_batchnorm, "conv_with_batchnorm")
    rates = each(conv_batchnorm_drop_rate, "conv_batchnorm_drop_rate")
    out = input
    for filters, padding, size, attr, norm, rate in zip(
        conv_num_filter, paddings, sizes, attrs, norms, rates, strict=True
    ):
        out = layers.conv2d(out, filters, size, padding=padding, param_attr=attr, act=None if norm else conv_act)
        if norm:
            out = layers.batch_norm(out, act=conv_act)
            out = layers.dropout(out, dropout_prob=rate) if abs(rate) > 1e-5 else out
    return layers.pool2d(out, pool_size, pool_type, pool_stride)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of *input* along *dim*, times the sigmoid of the second."""
    return functional.glu(input, dim)


def scaled_dot_product_attention(
    queries: Any, keys: Any, values: Any, num_heads: int = 1, dropout_rate: float = 0.0
) -> Any:
    """Attention of *queries* ``[batch, length, size]`` to *keys* and *values*, in *num_heads* parts of the size.

    Raises:
        UsageError: a size that the heads cannot share, or sizes that do not fit (a ValueError).
    """
    size = int(keys.shape[-1])
    if int(queries.shape[-1]) != size:
        raise UsageError("The hidden size of queries and keys should be the same.")
    if size % num_heads or int(values.shape[-1]) % num_heads:
        raise UsageError(f"The hidden size of keys ({size}) must be divisible by the number of attention heads.")

    def heads(x: Any) -> Any:
        if num_heads == 1:
            return x
        parts = paddle.reshape(x, [0, 0, num_heads, int(x.shape[-1]) // num_heads])
        return paddle.transpose(parts, [0, 2, 1, 3])

    if num_heads > 1:  # as in version 1, which projected them only then
        queries, keys, values = (layers.fc(x, int(x.shape[-1]), num_flatten_dims=2) for x in (queries, keys, values))
    q, k, v = heads(queries), heads(keys), heads(values)
    weights = functional.softmax(paddle.matmul(paddle.scale(q, (size // num_heads) ** -0.5), k, transpose_y=True))
    if dropout_rate:
        weights = layers.dropout(weights, dropout_prob=dropout_rate, is_test=False)
    out = paddle.matmul(weights, v)
    if num_heads == 1:
        return out
    return paddle.reshape(paddle.transpose(out, [0, 2, 1, 3]), [0, 0, int(values.shape[-1])])


__getattr__ = _lazy.refuse(__name__, globals())
