"""Layers of ``fluid.dygraph`` that today's have other arguments for: sizes by other names, an activation at the end."""

from __future__ import annotations

from typing import Any

from gradtool import nn
from gradtool.nn import functional as F
from gradtool.nn.layer import Layer

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
        from gradtool.fluid.layers import pool2d

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
        from gradtool.fluid.layers import dropout

        testing = self._is_test or not self.training
        return dropout(input, self._p, testing, self._seed, None, self._implementation)
