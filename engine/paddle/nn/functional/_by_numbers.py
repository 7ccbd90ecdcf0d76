"""The convolution that layers of users call with all that a layer of Paddle knows."""

from __future__ import annotations

from typing import Any

from gradtool.paddle.nn import functional as F


def _conv_nd(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    padding_algorithm: str | None = None,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    channel_dim: int = 1,
    op_type: str = "conv2d",
    use_cudnn: bool = True,
    name: str | None = None,
) -> Any:
    """The convolution of the rank that *op_type* names, with the arguments that layers keep as attributes.

    Args:
        padding_algorithm: ``SAME`` and ``VALID`` go before the numbers in *padding*.
        channel_dim, use_cudnn: *data_format* says where the channels are, and there is no cuDNN.
    """
    border = padding_algorithm if padding_algorithm in ("SAME", "VALID") else padding
    rank = op_type[-2]
    return getattr(F, f"conv{rank}d")(x, weight, bias, stride, border, dilation, groups, data_format, name=name)
