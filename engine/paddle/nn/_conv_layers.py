"""Convolutions as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.paddle._convolving import filter_shape, filter_spread
from gradtool.paddle._images import numbers, sequence_windows, windows
from gradtool.paddle._on_cpu import stays_on_cpu

from . import functional as F
from ._layers import needed
from ._second_names_of_parts import also_by
from .layer import Layer


class Windowed(Layer):
    """Base of the layers that read windows, with the filters of those that convolve."""

    rank: ClassVar[int]

    def _set_sizes(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, dilation: Any, groups: int
    ) -> None:
        if groups < 1 or in_channels % groups:
            kind = type(self).__name__
            raise UsageError(f"{kind}: in_channels ({in_channels}) must be divisible by groups ({groups}).")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        # What subclasses of users read, and set before calls: lists, under Paddle's names.
        self._kernel_size = [*numbers(kernel_size, self.rank, "kernel_size")]
        self._stride = [*numbers(stride, self.rank, "stride")]
        self._dilation = [*numbers(dilation, self.rank, "dilation")]

    def _make_filters(self, weight_attr: Any, bias_attr: Any) -> None:
        """The weight of a convolution, and its bias."""
        shape = filter_shape(self._out_channels, self._in_channels, self._groups, self._kernel_size)
        spread = filter_spread(self._in_channels, self._kernel_size)
        self.weight = self.create_parameter(shape, weight_attr, self._dtype, default_initializer=spread)
        self.bias = self.create_parameter([self._out_channels], bias_attr, self._dtype, is_bias=True)


class _ConvNd(Windowed):
    """Base of convolutions of every rank, and of their transposes."""

    layouts: ClassVar[tuple[str, str]]

    def _set_up(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        data_format: str,
    ) -> None:
        kind = type(self).__name__
        if data_format not in self.layouts:
            raise UsageError(f"data_format of {kind} must be one of {', '.join(self.layouts)}, but got {data_format!r}")
        self._set_sizes(in_channels, out_channels, kernel_size, stride, dilation, groups)
        self._padding, self._padding_mode, self.output_padding = padding, "zeros", 0
        self._data_format = data_format
        self._channel_last = data_format.endswith("C")
        self._channel_dim = len(data_format) - 1 if self._channel_last else 1
        each = self.rank == 2 and in_channels == groups != 1 and out_channels % in_channels == 0
        self._op_type = f"{'depthwise_' if each else ''}conv{self.rank}d"
        self._use_cudnn, self._device = False, None
        if self.rank > 1:
            self._updated_padding, self._padding_algorithm = self._windows(padding)

    def _windows(self, padding: Any) -> tuple[list[int], str]:
        """*padding* as numbers, and what Paddle calls its algorithm."""
        if self.rank == 1:
            pads, algorithm = sequence_windows(padding, self._channel_last)
        else:
            pads, algorithm = windows(padding, self._channel_last, self.rank)
        return [*pads], algorithm

    def extra_repr(self) -> str:
        one = [1] * self.rank
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={list(self._kernel_size)}"]
        if self._stride != one:
            parts.append(f"stride={list(self._stride)}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._padding_mode != "zeros":
            parts.append(f"padding_mode={self._padding_mode}")
        if self.output_padding != 0:
            parts.append(f"output_padding={self.output_padding}")
        if self._dilation != one:
            parts.append(f"dilation={list(self._dilation)}")
        if self._groups != 1:
            parts.append(f"groups={self._groups}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class _Forward(_ConvNd):
    """A convolution; subclasses say of which rank."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        *,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype() if dtype is None else dtype)
        needed(weight_attr, "weight_attr", "Conv")
        stays_on_cpu(device, type(self).__name__)
        kind = type(self).__name__
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise UsageError(
                f"padding_mode of {kind} must be 'zeros', 'reflect', 'replicate' or 'circular', "
                f"but got {padding_mode!r}"
            )
        layout = self.layouts[0] if data_format is None else data_format
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, layout)
        self._padding_mode, self._param_attr, self._bias_attr = padding_mode, weight_attr, bias_attr if bias else False
        if padding_mode != "zeros":
            self._set_border(padding)
        self._make_filters(weight_attr, self._bias_attr)

    def _set_border(self, padding: Any) -> None:
        """The border that ``functional.pad`` makes, which begins with the last dimension; nothing is left to pad."""
        pads, algorithm = self._windows(padding)
        if algorithm == "SAME":
            kind = type(self).__name__
            raise UsageError(f"{kind}: padding 'SAME' goes with padding_mode 'zeros' only, not {self._padding_mode!r}")
        both = pads if len(pads) == 2 * self.rank else [n for pad in pads for n in (pad, pad)]
        self._reversed_padding_repeated_twice = [n for i in reversed(range(self.rank)) for n in both[2 * i : 2 * i + 2]]
        self._updated_padding, self._padding_algorithm = [0] * self.rank, "EXPLICIT"

    def _left_to_pad(self) -> Any:
        """Return the padding that the convolution itself applies: for sequences ``_padding``, else
        ``_updated_padding``, as in Paddle.
        """
        if self.rank == 1:
            return self._padding if self._padding_mode == "zeros" else 0
        return self._updated_padding if self._padding_algorithm == "EXPLICIT" else self._padding_algorithm

    @also_by(input="x")
    def forward(self, x: Any) -> Any:
        if self._padding_mode != "zeros":
            border = self._reversed_padding_repeated_twice
            x = F.pad(x, border, mode=self._padding_mode, data_format=self._data_format)
        padding = self._left_to_pad()
        return getattr(F, f"conv{self.rank}d")(
            x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format
        )


class Conv1D(_Forward):
    """Convolution of sequences; weight is ``[out_channels, in_channels / groups, length]``.

    Args:
        kernel_size, stride, dilation: one number.
        padding: in the forms that ``functional.conv1d`` takes.
        padding_mode: ``zeros``, ``reflect``, ``replicate`` or ``circular``.
    """

    rank, layouts = 1, ("NCL", "NLC")


class Conv2D(_Forward):
    """Convolution of images; weight is ``[out_channels, in_channels / groups, height, width]``.

    Args:
        kernel_size, stride, dilation: one number, or one for each spatial dimension.
        padding: in the forms that ``functional.conv2d`` takes.
        padding_mode: ``zeros``, ``reflect``, ``replicate`` or ``circular``.
    """

    rank, layouts = 2, ("NCHW", "NHWC")


class Conv3D(_Forward):
    """Convolution of volumes; weight is ``[out_channels, in_channels / groups, depth, height, width]``.

    The arguments are those of :class:`Conv2D`.
    """

    rank, layouts = 3, ("NCDHW", "NDHWC")


class _Transposed(_ConvNd):
    """A transposed convolution; subclasses say of which rank."""

    def _make(self, output_padding: Any, weight_attr: Any, bias_attr: Any) -> None:
        needed(weight_attr, "weight_attr", "Conv")
        self.output_padding, self._param_attr, self._bias_attr = output_padding, weight_attr, bias_attr
        shape = [self._in_channels, self._out_channels // self._groups, *self._kernel_size]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        return getattr(F, f"conv{self.rank}d_transpose")(
            x,
            self.weight,
            self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=self.output_padding if output_size is None else 0,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv1DTranspose(_Transposed):
    """Transposed convolution of sequences; weight is ``[in_channels, out_channels / groups, length]``.

    Calls take an ``output_size`` as well, which excludes *output_padding*.
    """

    rank, layouts = 1, ("NCL", "NLC")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format)
        self._make(output_padding, weight_attr, bias_attr)


class Conv2DTranspose(_Transposed):
    """Transposed convolution of images; weight is ``[in_channels, out_channels / groups, height, width]``.

    Calls take an ``output_size`` as well, which excludes *output_padding*.
    """

    rank, layouts = 2, ("NCHW", "NHWC")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format)
        self._make(output_padding, weight_attr, bias_attr)


class Conv3DTranspose(_Transposed):
    """Transposed convolution of volumes; weight is ``[in_channels, out_channels / groups, depth, height, width]``.

    Calls take an ``output_size`` as well, which excludes *output_padding*.
    """

    rank, layouts = 3, ("NCDHW", "NDHWC")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, data_format)
        self._make(output_padding, weight_attr, bias_attr)
