"""Convolutions of images and of volumes."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.paddle._arguments import tensor
from gradtool.paddle._convolving import geometry
from gradtool.paddle._dispatch import apply, layer_name
from gradtool.paddle._images import FLOATS, channel_last, numbers
from gradtool.paddle._remembered import remembered


@remembered
def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Convolution of images.

    Args:
        x: ``[batch, channels, height, width]``, or ``[batch, height, width, channels]`` with data_format NHWC.
        weight: ``[filters, channels / groups, height, width]`` in both formats.
        bias: ``[filters]``, or None.
        stride, dilation: one number, or one for each spatial dimension.
        padding: ``'SAME'``, ``'VALID'``, one number, one for each spatial dimension, two for each, or a pair for each
            dimension of *x*.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> w = paddle.static.create_parameter([4, 3, 3, 3], "float32")
    >>> paddle.nn.functional.conv2d(paddle.static.data("images", [None, 3, 8, 8]), w, padding=1).shape
    (-1, 4, 8, 8)
    """
    return _convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, name)


@remembered
def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Convolution of volumes; the arguments are those of :func:`conv2d`.

    Args:
        x: ``[batch, channels, depth, height, width]``, or with the channels last with data_format NDHWC.
        weight: ``[filters, channels / groups, depth, height, width]`` in both formats.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    return _convolved("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, name)


def _convolved(
    where: str,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
    name: str | None,
) -> Any:
    rank = 3 if where == "conv3d" else 2
    last = channel_last(data_format, where, rank)
    _check_image(where, x, weight, rank)
    channels, filters = x.shape[-1 if last else 1], weight.shape[0]
    check_groups(where, channels, filters, groups)
    attrs = _geometry(stride, padding, dilation, groups, data_format, rank)
    each = rank == 2 and channels == groups != 1 and filters % channels == 0
    type_ = f"depthwise_{where}" if each else where
    layer = layer_name(name, type_)
    return biased(apply(type_, x, weight, attrs=attrs, name=layer), bias, last, layer)


def _geometry(stride: Any, padding: Any, dilation: Any, groups: int, data_format: str, rank: int) -> dict[str, Any]:
    """The attributes that say how the windows of a convolution, or of its transpose, lie."""
    lie = geometry(stride, padding, dilation, groups, rank, channel_last=data_format.endswith("C"))
    return {**lie, "data_format": data_format}


@remembered
def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Transposed convolution of images: what a convolution's gradient by its input computes.

    Args:
        weight: ``[channels, filters / groups, height, width]``.
        output_padding: rows and columns added at the end of the result, which a stride leaves open.
        output_size: the result's height and width instead; excludes output_padding.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    return _transposed(
        "conv2d_transpose",
        x,
        weight,
        bias,
        _geometry(stride, padding, dilation, groups, data_format, 2),
        output_padding,
        output_size,
        name,
    )


@remembered
def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Transposed convolution of volumes; the arguments are those of :func:`conv2d_transpose`, in another order.

    Args:
        weight: ``[channels, filters / groups, depth, height, width]``.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    return _transposed(
        "conv3d_transpose",
        x,
        weight,
        bias,
        _geometry(stride, padding, dilation, groups, data_format, 3),
        output_padding,
        output_size,
        name,
    )


def _transposed(
    where: str,
    x: Any,
    weight: Any,
    bias: Any,
    geometry: dict[str, Any],
    output_padding: Any,
    output_size: Any,
    name: str | None,
) -> Any:
    rank, groups = len(geometry["strides"]), geometry["groups"]
    last = channel_last(geometry["data_format"], where, rank)
    _check_image(where, x, weight, rank)
    channels = x.shape[-1 if last else 1]
    check_groups(where, channels, weight.shape[0], groups)
    if output_size is not None and output_padding != 0:
        raise UsageError(f"{where}: output_padding option is mutually exclusive with output_size")
    attrs = {
        **geometry,
        "data_format": "NHWC" if last else "NCHW",  # for volumes too, as in Paddle
        "output_padding": () if output_padding == 0 else numbers(output_padding, rank, "output_padding"),
        "output_size": () if output_size is None else numbers(output_size, rank, "output_size"),
    }
    each = rank == 2 and channels == groups != 1 and weight.shape[1] == 1
    type_ = f"depthwise_{where}" if each else where
    layer = layer_name(name, type_)
    return biased(apply(type_, x, weight, None, attrs=attrs, name=layer), bias, last, layer)


def biased(out: Any, bias: Any, last: bool, layer: str) -> Any:
    """*out* with a bias for each channel, which is first given the rank of *out*."""
    if bias is None:
        return out
    if not last and bias.ndim < out.ndim:
        shape = (1, *bias.shape, *(1,) * (out.ndim - 1 - bias.ndim))
        bias, _ = apply("reshape2", bias, None, [], attrs={"shape": shape})
    return apply("elementwise_add", out, bias, name=layer)


def _check_image(where: str, x: Any, weight: Any, rank: int) -> None:
    for what, v in (("x", x), ("weight", weight)):
        tensor(v, what, where, FLOATS)
    for what, v in (("x", x), ("weight", weight)):
        if v.ndim != rank + 2:
            raise UsageError(
                f"Input {what} should be {rank + 2}D tensor, but received {what} with the shape of {list(v.shape)}"
            )


def check_groups(where: str, channels: int, filters: int, groups: int) -> None:
    """Raise :class:`UsageError` unless channels and filters can be divided into *groups*."""
    if groups < 1:
        raise UsageError(f"{where}: groups must be at least 1, but received {groups}.")
    for what, size in (("channels", channels), ("filters", filters)):
        if size != UNKNOWN and size % groups:
            raise UsageError(f"{where}: the number of {what} ({size}) must be divisible by groups ({groups}).")
