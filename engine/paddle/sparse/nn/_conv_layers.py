"""Convolutions and pooling of sparse tensors as layers; ``functional`` computes them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.paddle._images import numbers
from gradtool.paddle.nn import initializer
from gradtool.paddle.nn.layer import Layer

from . import functional as F


class Unsupported(UsageError, AssertionError):
    """A setting that convolutions of sparse tensors do not have (Paddle raises AssertionError)."""


class _Conv(Layer):
    """A convolution of sparse tensors; subclasses say of which rank, and whether places stay."""

    rank: ClassVar[int]
    layout: ClassVar[str]
    stays: ClassVar[bool] = False

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
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        kind = type(self).__name__
        if weight_attr is False:
            raise Unsupported(f"weight_attr of {kind} should not be False.")
        if groups != 1:
            raise Unsupported(f"{kind}: Currently, only support groups=1, but received {groups}.")
        if padding_mode != "zeros":
            raise Unsupported(f"{kind}: Currently, only support padding_mode='zeros', but received {padding_mode!r}.")
        if data_format not in (None, self.layout):
            raise UsageError(f"data_format of {kind} must be '{self.layout}', but got {data_format!r}")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = [*numbers(kernel_size, self.rank, "kernel_size")]
        self._stride = [*numbers(stride, self.rank, "stride")]
        self._dilation = [*numbers(dilation, self.rank, "dilation")]
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, self.layout
        fan_in = math.prod(self._kernel_size) * in_channels
        self.weight = self.create_parameter(
            [*self._kernel_size, in_channels, out_channels],
            weight_attr,
            default_initializer=initializer.Normal(0.0, math.sqrt(2.0 / fan_in)) if fan_in else None,
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        function = getattr(F, f"{'subm_' if self.stays else ''}conv{self.rank}d")
        settings = self._stride, self._padding, self._dilation, self._groups, self._data_format
        return function(x, self.weight, self.bias, *settings)

    def extra_repr(self) -> str:
        one = [1] * self.rank
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        if self._stride != one:
            parts.append(f"stride={self._stride}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._dilation != one:
            parts.append(f"dilation={self._dilation}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class Conv2D(_Conv):
    """A convolution of sparse ``[batch, height, width, channels]``; :func:`functional.conv2d` says what it takes.

    Its ``weight`` is ``[height, width, in_channels, out_channels]``.
    """

    rank, layout = 2, "NHWC"


class Conv3D(_Conv):
    """A convolution of sparse ``[batch, depth, height, width, channels]``, stored wherever a window reads something.

    Its ``weight`` is ``[depth, height, width, in_channels, out_channels]``.

    >>> from gradtool import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0], [0], [1], [1]], [[1.0, 2.0]], [1, 1, 3, 3, 2])
    >>> paddle.sparse.nn.Conv3D(2, 4, [1, 3, 3])(x).shape
    [1, 1, 1, 1, 4]
    """

    rank, layout = 3, "NDHWC"


class _SubmConv(_Conv):
    """A submanifold convolution: the result is stored where the operand is.

    Args:
        key: accepted for compatibility: tables of places are not kept.
        backend: None or "igemm", which compute the same here.
    """

    stays = True

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
        key: str | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        backend: str | None = None,
    ) -> None:
        settings = stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format
        super().__init__(in_channels, out_channels, kernel_size, *settings)
        if backend not in (None, "igemm"):
            raise UsageError(
                f"The value of 'backend' in {type(self).__name__} should be None or 'igemm', but got {backend!r}."
            )
        self._key, self._backend = key, backend


class SubmConv2D(_SubmConv):
    """As :class:`SubmConv3D`, of ``[batch, height, width, channels]``."""

    rank, layout = 2, "NHWC"


class SubmConv3D(_SubmConv):
    """A convolution around each stored place of ``[batch, depth, height, width, channels]``, stored at these alone.

    >>> from gradtool import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0], [0], [1], [1]], [[1.0, 2.0]], [1, 1, 3, 3, 2])
    >>> paddle.sparse.nn.SubmConv3D(2, 4, 3)(x).indices().tolist()
    [[0], [0], [1], [1]]
    """

    rank, layout = 3, "NDHWC"


class MaxPool3D(Layer):
    """The largest stored element of each window; :func:`functional.max_pool3d` says what it takes.

    Args:
        return_mask: accepted and not used (as in Paddle).
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode, self.data_format, self.name = return_mask, ceil_mode, data_format, name

    def forward(self, x: Any) -> Any:
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"
