"""Convolutional layers of ``paddle.static.nn``, over two or three spatial dimensions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _parameters
from gradtool.paddle._arguments import tensor
from gradtool.paddle._convolving import filter_shape, filter_spread, geometry
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, channel_last, numbers

from ._finishing import finished, required


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
    layer = _Layer(
        "conv2d", input, num_filters, stride, padding, dilation, groups, param_attr, bias_attr, act, name, data_format
    )
    return layer.convolved(filter_size, use_cudnn)


def conv3d(
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
    data_format: str = "NCDHW",
) -> Variable:
    """Convolution of volumes with filters of its own: ``act(conv(input, w) + b)``; see :func:`conv2d`.

    Args:
        input: ``[batch, channels, depth, height, width]``, or with channels last for data_format NDHWC.
        use_cudnn: without influence.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    layer = _Layer(
        "conv3d", input, num_filters, stride, padding, dilation, groups, param_attr, bias_attr, act, name, data_format
    )
    return layer.convolved(filter_size, True)


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
    layer = _Layer(
        "conv2d_transpose",
        input,
        num_filters,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )
    return layer.spread(filter_size, output_size, use_cudnn)


def conv3d_transpose(
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
    data_format: str = "NCDHW",
) -> Variable:
    """Transposed convolution of volumes with filters of its own; see :func:`conv2d_transpose`.

    Args:
        output_size: depth, height and width of the result; reckoned from filter_size when None.
        filter_size: reckoned from output_size when None.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    layer = _Layer(
        "conv3d_transpose",
        input,
        num_filters,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )
    return layer.spread(filter_size, output_size, True)


class _Layer:
    """The arguments that convolutions and their transposes share, and what is done with them."""

    def __init__(
        self,
        where: str,
        input: Any,
        filters: int,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int | None,
        param_attr: Any,
        bias_attr: Any,
        act: str | None,
        name: str | None,
        data_format: str,
    ) -> None:
        self.where, self.input, self.filters = where, input, filters
        self.rank = 3 if "3d" in where else 2
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.param_attr, self.bias_attr = param_attr, bias_attr
        self.act, self.name, self.data_format = act, name, data_format

    def convolved(self, filter_size: Any, use_cudnn: bool) -> Variable:
        """The convolution."""
        where, x = self.where, self.input
        last, channels, count = self._checked()
        if channels % count:
            raise UsageError(
                f"{where}: the channel of input must be divisible by groups, but the channels are {channels} and the "
                f"groups {count}."
            )
        separable = channels == self.groups and self.filters % channels == 0 and not use_cudnn
        type_ = f"depthwise_{where}" if separable else where
        layer = self._layer(type_)
        window = numbers(filter_size, self.rank, "filter_size")
        if math.prod(window) * channels <= 0:
            raise UsageError(f"{where}: a filter needs at least one element, but filter_size is {list(window)}.")
        attrs = {**self._attrs(last, count), "data_format": self.data_format}
        w = _parameters.make(
            layer,
            self.param_attr,
            filter_shape(self.filters, channels, count, window),
            x.dtype,
            default_init=filter_spread(channels, window),
        )
        out = apply(type_, x, w, attrs=attrs, name=layer)
        return finished(out, self.bias_attr, self.filters, last, self.act, layer)

    def spread(self, filter_size: Any, output_size: Any, use_cudnn: bool) -> Variable:
        """The transposed convolution."""
        where, x = self.where, self.input
        last, channels, count = self._checked()
        if self.filters == 0:
            raise UsageError(f"{where}: num of filters should not be 0.")
        separable = channels == self.groups == self.filters and not use_cudnn
        type_ = f"depthwise_{where}" if separable else where
        layer = self._layer(type_)
        attrs = self._attrs(last, count)
        wanted = () if output_size is None else numbers(output_size, self.rank, "output_size")
        if filter_size is not None:
            window = numbers(filter_size, self.rank, "filter_size")
        elif not wanted:
            raise UsageError(f"{where}: output_size must be set when filter_size is None")
        else:
            window = self._fitting_window(wanted, attrs, last)
        # Paddle writes the format of volumes with four letters here.
        attrs |= {"data_format": self.data_format.replace("D", ""), "output_size": wanted}
        w = _parameters.make(layer, self.param_attr, [channels, self.filters // count, *window], x.dtype)
        out = apply(type_, x, w, None, attrs=attrs, name=layer)
        return finished(out, self.bias_attr, self.filters, last, self.act, layer)

    def _checked(self) -> tuple[bool, int, int]:
        """Return whether channels come last, the number of channels, and the number of groups."""
        where, x = self.where, self.input
        state.require_static(where)
        tensor(x, "input", where, FLOATS)
        last = channel_last(self.data_format, where, self.rank)
        if x.ndim != self.rank + 2:
            raise UsageError(f"{where}: Input size should be {self.rank + 2}, but received {x.ndim}: {list(x.shape)}")
        channels = x.shape[-1 if last else 1]
        if channels == UNKNOWN:
            raise UsageError(f"{where}: The channel dimension of the input ({list(x.shape)}) should be defined.")
        required(self.param_attr, "param_attr", where)
        if self.groups is not None and self.groups <= 0:
            raise UsageError(f"{where}: the groups of input must be greater than 0, but received {self.groups}.")
        return last, channels, self.groups or 1

    def _layer(self, type_: str) -> str:
        return self.name if self.name is not None else default.default_main_program().names(type_)

    def _attrs(self, last: bool, count: int) -> dict[str, Any]:
        return geometry(self.stride, self.padding, self.dilation, count, self.rank, channel_last=last)

    def _fitting_window(self, wanted: tuple[int, ...], attrs: dict[str, Any], last: bool) -> tuple[int, ...]:
        """The filter size with which the input becomes as large as *wanted*."""
        shape, rank, pads = self.input.shape, self.rank, attrs["paddings"]
        image = shape[1:-1] if last else shape[2:]
        if UNKNOWN in image:
            raise UsageError(
                f"{self.where}: filter_size must be given, since the size of the input {list(shape)} is not known."
            )
        sums = [2 * p for p in pads] if len(pads) == rank else [a + b for a, b in pairwise(pads)][::2]
        return tuple(
            (size - (n - 1) * s + p - 1) // d + 1
            for size, n, s, p, d in zip(wanted, image, attrs["strides"], sums, attrs["dilations"], strict=True)
        )
