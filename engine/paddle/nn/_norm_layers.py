"""Normalisation within each example as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.paddle._images import layout

from . import functional as F
from . import initializer
from ._second_names_of_parts import also_by
from .layer import Layer


class UnevenSwitch(UsageError, AssertionError):
    """Only one of weight and bias was switched off (Paddle raises AssertionError)."""


class GroupNorm(Layer):
    """Standardise every group of channels of every example, with a scale and shift for each channel.

    Args:
        weight_attr, bias_attr: False starts with ones and zeros, and never trains them.
    """

    @also_by(eps="epsilon")
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        layout(data_format, "GroupNorm")
        if num_groups < 1 or num_channels % num_groups:
            raise UsageError(
                f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups ({num_groups})."
            )
        one = initializer.Constant(1.0)
        self.weight: Any = self.create_parameter(
            [num_channels], None if weight_attr is False else weight_attr, default_initializer=one
        )
        self.bias: Any = self.create_parameter([num_channels], None if bias_attr is False else bias_attr, is_bias=True)
        pairs: list[tuple[Any, Any]] = [(self.weight, weight_attr), (self.bias, bias_attr)]
        for parameter, attr in pairs:
            if attr is False:
                parameter.trainable, parameter.stop_gradient = False, True
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._data_format, self._weight_attr, self._bias_attr = data_format, weight_attr, bias_attr
        self._device: Any = None

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNormBase(Layer):
    """Standardise every channel of every example, with a scale and shift for each channel."""

    ranks: ClassVar[tuple[int, ...]]
    layout: ClassVar[str]

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        if (weight_attr is False) != (bias_attr is False):
            raise UnevenSwitch("weight_attr and bias_attr must be set to False at the same time in InstanceNorm")
        one = initializer.Constant(1.0)
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=one)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._data_format = self.layout if data_format is None else data_format
        self._weight_attr, self._bias_attr = weight_attr, bias_attr

    def _check_input_dim(self, input: Any) -> None:
        """Refuse what is not of the layer's rank; subclasses may take other ranks."""
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{n}D" for n in self.ranks)
            raise UsageError(f"{type(self).__name__} expected {wanted} input (got {input.ndim}D input)")

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        return F.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNormBase):
    """As :class:`InstanceNorm2D`, for ``[batch, channels]`` and ``[batch, channels, length]``."""

    ranks, layout = (2, 3), "NCL"


class InstanceNorm2D(_InstanceNormBase):
    """Standardise every channel of every image, with a scale and shift for each channel."""

    ranks, layout = (4,), "NCHW"


class InstanceNorm3D(_InstanceNormBase):
    """As :class:`InstanceNorm2D`, for ``[batch, channels, depth, height, width]``."""

    ranks, layout = (5,), "NCDHW"
