"""Layers of ``fluid.dygraph`` that today's have other arguments for: sizes by other names, an activation at the end."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.layer import Layer

from ._dispatch import apply
from ._images import numbers


class Activated(Layer):
    """A layer of today, and an activation after it.

    Args:
        act: the activation's operator; none when None.
    """

    def __init__(self, act: str | None) -> None:
        super().__init__()
        self._act = act

    def _ended(self, out: Any) -> Any:
        return out if self._act is None else apply(self._act, out)


class Linear(Activated):
    """``act(x · weight + bias)`` over the last dimension."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self.weight: Any = self.create_parameter([input_dim, output_dim], param_attr, dtype)
        self.bias = self.create_parameter([output_dim], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        return self._ended(F.linear(input, self.weight, self.bias))


class Conv2D(Activated):
    """Convolution over images ``[batch, channels, height, width]``, then *act*."""

    def __init__(
        self,
        num_channels: int,
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
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self._settings = (stride, padding, dilation, groups or 1)
        shape = [num_filters, num_channels // (groups or 1), *numbers(filter_size, 2, "filter_size")]
        fan_in = float(shape[1] * shape[2] * shape[3])
        usual = nn.initializer.Normal(0.0, (2.0 / fan_in) ** 0.5)
        self.weight: Any = self.create_parameter(shape, param_attr, dtype, default_initializer=usual)
        self.bias = self.create_parameter([num_filters], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        return self._ended(F.conv2d(input, self.weight, self.bias, *self._settings))


class Pool2D(Layer):
    """The largest value or the mean of each window; arguments as of ``fluid.layers.pool2d``."""

    def __init__(
        self,
        pool_size: Any = -1,
        pool_type: str = "max",
        pool_stride: Any = 1,
        pool_padding: Any = 0,
        global_pooling: bool = False,
        use_cudnn: bool = True,
        ceil_mode: bool = False,
        exclusive: bool = True,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        self._settings = (pool_size, pool_type, pool_stride, pool_padding, global_pooling, use_cudnn, ceil_mode, None)
        self._more = (exclusive, data_format)

    def forward(self, input: Any) -> Any:
        from gradtool.paddle.fluid.layers import pool2d

        return pool2d(input, *self._settings, *self._more)


class Embedding(Layer):
    """Rows of a table of *size* ``[rows, columns]``."""

    def __init__(
        self,
        size: Any,
        is_sparse: bool = False,
        is_distributed: bool = False,
        padding_idx: int | None = None,
        param_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._padding_idx = padding_idx
        self.weight: Any = self.create_parameter(list(size), param_attr, dtype)

    def forward(self, input: Any) -> Any:
        return F.embedding(input, self.weight, self._padding_idx)


class Dropout(Layer):
    """Zeros at random places while training; arguments as of ``fluid.layers.dropout``."""

    def __init__(
        self,
        p: float = 0.5,
        seed: int | None = None,
        dropout_implementation: str = "downgrade_in_infer",
        is_test: bool = False,
    ) -> None:
        super().__init__()
        self._p, self._seed, self._implementation, self._is_test = p, seed, dropout_implementation, is_test

    def forward(self, input: Any) -> Any:
        from gradtool.paddle.fluid.layers import dropout

        testing = self._is_test or not self.training
        return dropout(input, self._p, testing, self._seed, None, self._implementation)


class Conv2DTranspose(Activated):
    """The transpose of a convolution of images ``[batch, channels, height, width]``, then *act*."""

    def __init__(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: Any,
        output_size: Any = None,
        padding: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        groups: int | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        use_cudnn: bool = True,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self._settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups or 1}
        self._output_size = output_size
        shape = [num_channels, num_filters // (groups or 1), *numbers(filter_size, 2, "filter_size")]
        self.weight: Any = self.create_parameter(shape, param_attr, dtype)
        self.bias = self.create_parameter([num_filters], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        out = F.conv2d_transpose(input, self.weight, self.bias, output_size=self._output_size, **self._settings)
        return self._ended(out)


class Conv3D(Activated):
    """Convolution over volumes ``[batch, channels, depth, height, width]``, then *act*."""

    def __init__(
        self,
        num_channels: int,
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
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self._settings = (stride, padding, dilation, groups or 1)
        window = numbers(filter_size, 3, "filter_size")
        shape = [num_filters, num_channels // (groups or 1), *window]
        fan_in = window[0] * window[1] * window[2] * num_channels
        usual = nn.initializer.Normal(0.0, (2.0 / fan_in) ** 0.5)
        self.weight: Any = self.create_parameter(shape, param_attr, dtype, default_initializer=usual)
        self.bias = self.create_parameter([num_filters], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        return self._ended(F.conv3d(input, self.weight, self.bias, *self._settings))


class GroupNorm(Activated):
    """Each group of channels of a sample, normed; then *act*."""

    def __init__(
        self,
        channels: int,
        groups: int,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        data_layout: str = "NCHW",
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self._groups, self._epsilon, self._layout = groups, epsilon, data_layout
        ones = nn.initializer.Constant(1.0)
        self.weight: Any = self.create_parameter([channels], param_attr, dtype, default_initializer=ones)
        self.bias = self.create_parameter([channels], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        out = F.group_norm(input, self._groups, self._epsilon, self.weight, self.bias, self._layout)
        return self._ended(out)


class InstanceNorm(Layer):
    """Each channel of each sample, normed; without a scale and a shift where both attributes are False."""

    def __init__(
        self,
        num_channels: int,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        self._epsilon = epsilon
        ones = nn.initializer.Constant(1.0)
        self.scale: Any = self.create_parameter([num_channels], param_attr, dtype, default_initializer=ones)
        self.bias = self.create_parameter([num_channels], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any) -> Any:
        return F.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)


class BilinearTensorProduct(Activated):
    """``x · weight[i] · y`` for each output *i*, plus a bias, then *act*."""

    def __init__(
        self,
        input1_dim: int,
        input2_dim: int,
        output_dim: int,
        name: str | None = None,
        act: str | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(act)
        self.weight: Any = self.create_parameter([output_dim, input1_dim, input2_dim], param_attr, dtype)
        self.bias = self.create_parameter([1, output_dim], bias_attr, dtype, is_bias=True)

    def forward(self, x: Any, y: Any) -> Any:
        return self._ended(F.bilinear(x, y, self.weight, self.bias))


class PRelu(Layer):
    """``x`` where it is positive, otherwise ``weight * x``: one weight for *mode* all, or one per channel.

    Raises:
        UsageError: another mode, or no *channel* where each has its own (a ValueError).
    """

    def __init__(
        self,
        mode: str,
        channel: int | None = None,
        input_shape: Any = None,
        param_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if mode not in ("all", "channel"):
            raise UsageError(
                f"fluid.dygraph.PRelu: mode must be 'all' or 'channel', but received {mode!r}.",
                hint="'element', a weight for each element, is not implemented in gradtool"
                if mode == "element"
                else None,
            )
        if mode == "channel" and not isinstance(channel, int):
            raise UsageError("fluid.dygraph.PRelu: channel argument is required when mode is 'channel'.")
        count = channel if mode == "channel" else 1
        self.weight: Any = self.create_parameter(
            [count], param_attr, dtype, default_initializer=nn.initializer.Constant(1.0)
        )

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)
