"""Convolutional layers of ``paddle.static.nn``."""

from __future__ import annotations

from typing import Any

from gradtool import _parameters
from gradtool._arguments import tensor
from gradtool._dispatch import apply
from gradtool._images import FLOATS, channel_last, numbers, windows
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.nn import initializer


class MissingParameter(UsageError, AssertionError):
    """A parameter that a layer cannot do without was switched off (Paddle raises AssertionError)."""


def required(attr: Any, what: str, where: str) -> None:
    """Raise :class:`MissingParameter` when the parameter is switched off."""
    if attr is False:
        raise MissingParameter(f"{what} should not be False in {where}.")


def activated(x: Variable, act: str | None, layer: str) -> Variable:
    """*x* through the activation called *act*, as part of *layer*."""
    return x if act is None else apply(act, x, name=layer)


def finished(x: Variable, bias_attr: Any, filters: int, last: bool, act: str | None, layer: str) -> Variable:
    """*x* with a bias for each channel, through the activation."""
    b = _parameters.make(layer, bias_attr, [filters], x.dtype, is_bias=True)
    if b is not None:
        x = apply("elementwise_add", x, b, attrs={"axis": 3 if last else 1}, name=layer)
    return activated(x, act, layer)


def _channels(x: Variable, last: bool, where: str) -> int:
    if x.ndim != 4:
        raise UsageError(f"{where}: Input size should be 4, but received {x.ndim}: {list(x.shape)}")
    channels = x.shape[3 if last else 1]
    if channels == UNKNOWN:
        raise UsageError(f"{where}: The channel dimension of the input ({list(x.shape)}) should be defined.")
    return channels


def _check_groups(groups: int | None, where: str) -> int:
    if groups is not None and groups <= 0:
        raise UsageError(f"{where}: the groups of input must be greater than 0, but received {groups}.")
    return groups or 1


def conv2d(
    input: Variable,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """Convolution with filters of its own: ``act(conv(input, w) + b)``.

    Args:
        input: ``[batch, channels, height, width]``, or ``[batch, height, width, channels]`` with data_format NHWC.
        filter_size, stride, dilation: one number, or one for each spatial dimension.
        padding: ``'SAME'``, ``'VALID'``, one number, one for each spatial dimension, two for each, or a pair for each
            dimension of *input*.
        groups: into how many groups channels and filters are divided.
        use_cudnn: without influence, but for the operator's type where each channel has filters of its own.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    state.require_static("conv2d")
    tensor(input, "input", "conv2d", FLOATS)
    last = channel_last(data_format, "conv2d")
    channels = _channels(input, last, "conv2d")
    required(param_attr, "param_attr", "conv2d")
    count = _check_groups(groups, "conv2d")
    if channels % count:
        raise UsageError(
            f"conv2d: the channel of input must be divisible by groups, but the channels are {channels} and the "
            f"groups {count}."
        )
    type_ = "depthwise_conv2d" if channels == groups and num_filters % channels == 0 and not use_cudnn else "conv2d"
    layer = name if name is not None else default.default_main_program().names(type_)
    window = numbers(filter_size, 2, "filter_size")
    pads, algorithm = windows(padding, last)
    attrs = {
        "strides": numbers(stride, 2, "stride"),
        "paddings": pads,
        "dilations": numbers(dilation, 2, "dilation"),
        "groups": count,
        "padding_algorithm": algorithm,
        "data_format": data_format,
    }
    size = window[0] * window[1] * channels
    if size <= 0:
        raise UsageError(f"conv2d: a filter needs at least one element, but filter_size is {list(window)}.")
    w = _parameters.make(
        layer,
        param_attr,
        [num_filters, channels // count, *window],
        input.dtype,
        default_init=initializer.Normal(0.0, (2.0 / size) ** 0.5),
    )
    out = apply(type_, input, w, attrs=attrs, name=layer)
    return finished(out, bias_attr, num_filters, last, act, layer)


def conv2d_transpose(
    input: Variable,
    num_filters: int,
    output_size: Any = None,
    filter_size: Any = None,
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """Transposed convolution with filters of its own.

    Args:
        output_size: height and width of the result; reckoned from filter_size when None.
        filter_size: reckoned from output_size when None.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    state.require_static("conv2d_transpose")
    tensor(input, "input", "conv2d_transpose", FLOATS)
    required(param_attr, "param_attr", "conv2d_transpose")
    last = channel_last(data_format, "conv2d_transpose")
    channels = _channels(input, last, "conv2d_transpose")
    if num_filters == 0:
        raise UsageError("conv2d_transpose: num of filters should not be 0.")
    count = _check_groups(groups, "conv2d_transpose")
    each = channels == groups == num_filters and not use_cudnn
    type_ = "depthwise_conv2d_transpose" if each else "conv2d_transpose"
    layer = name if name is not None else default.default_main_program().names(type_)
    pads, algorithm = windows(padding, last)
    strides, dilations = numbers(stride, 2, "stride"), numbers(dilation, 2, "dilation")
    wanted = () if output_size is None else numbers(output_size, 2, "output_size")
    if filter_size is not None:
        window = numbers(filter_size, 2, "filter_size")
    elif not wanted:
        raise UsageError("conv2d_transpose: output_size must be set when filter_size is None")
    else:
        window = _fitting_window(input, wanted, pads, strides, dilations, last)
    attrs = {
        "strides": strides,
        "paddings": pads,
        "dilations": dilations,
        "groups": count,
        "padding_algorithm": algorithm,
        "data_format": data_format,
        "output_size": wanted,
    }
    w = _parameters.make(layer, param_attr, [channels, num_filters // count, *window], input.dtype)
    out = apply(type_, input, w, None, attrs=attrs, name=layer)
    return finished(out, bias_attr, num_filters, last, act, layer)


def _fitting_window(
    x: Variable,
    wanted: tuple[int, ...],
    pads: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    last: bool,
) -> tuple[int, ...]:
    """The filter size with which *x* becomes as large as *wanted*."""
    image = x.shape[1:3] if last else x.shape[2:4]
    if UNKNOWN in image:
        raise UsageError(
            f"conv2d_transpose: filter_size must be given, since the size of the input {list(x.shape)} is not known."
        )
    sums = [2 * p for p in pads] if len(pads) == 2 else [pads[0] + pads[1], pads[2] + pads[3]]
    return tuple(
        (size - (n - 1) * s + p - 1) // d + 1
        for size, n, s, p, d in zip(wanted, image, strides, sums, dilations, strict=True)
    )
