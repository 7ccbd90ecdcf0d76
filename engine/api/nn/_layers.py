"""Layers with and without parameters; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gradtool
from gradtool._images import LAYOUTS, numbers, windows
from gradtool.engine import state
from gradtool.engine.errors import UsageError

from . import functional as F
from . import initializer
from .layer import Layer


class MissingWeight(UsageError, AssertionError):
    """The weight of a layer that cannot do without was switched off (Paddle raises AssertionError)."""


def needed(attr: Any, what: str, where: str) -> None:
    """Raise :class:`MissingWeight` when the parameter is switched off."""
    if attr is False:
        raise MissingWeight(f"{what} should not be False in {where}.")


class Linear(Layer):
    """``x · weight + bias`` over the last dimension; weight is ``[in_features, out_features]``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        needed(weight_attr, "weight_attr", "Linear")
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias, self.name)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        return f"in_features={rows}, out_features={columns}, dtype={self._dtype.name}" + _named(self.name)


class Conv2D(Layer):
    """Convolution of images; weight is ``[out_channels, in_channels / groups, height, width]``.

    Args:
        kernel_size, stride, dilation: one number, or one for each spatial dimension.
        padding: in the forms that ``functional.conv2d`` takes.
        padding_mode: ``zeros``, ``reflect``, ``replicate`` or ``circular``.
    """

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
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        needed(weight_attr, "weight_attr", "Conv")
        if data_format not in LAYOUTS:
            raise UsageError(f"data_format of Conv2D must be one of {', '.join(LAYOUTS)}, but got {data_format!r}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise UsageError(
                "padding_mode of Conv2D must be 'zeros', 'reflect', 'replicate' or 'circular', "
                f"but got {padding_mode!r}"
            )
        if groups < 1 or in_channels % groups:
            raise UsageError(f"Conv2D: in_channels ({in_channels}) must be divisible by groups ({groups}).")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = numbers(kernel_size, 2, "kernel_size")
        self._stride, self._dilation = numbers(stride, 2, "stride"), numbers(dilation, 2, "dilation")
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        pads, algorithm = windows(padding, data_format == "NHWC")
        if padding_mode != "zeros" and algorithm == "SAME":
            raise UsageError(f"Conv2D: padding 'SAME' goes with padding_mode 'zeros' only, not {padding_mode!r}")
        self._pads = pads if len(pads) == 4 else (pads[0], pads[0], pads[1], pads[1])
        fan_in = math.prod(self._kernel_size) * in_channels
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *self._kernel_size],
            weight_attr,
            default_initializer=initializer.Normal(0.0, math.sqrt(2.0 / fan_in)) if fan_in else None,
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        padding = self._padding
        if self._padding_mode != "zeros":
            top, bottom, left, right = self._pads
            x = F.pad(x, [left, right, top, bottom], mode=self._padding_mode, data_format=self._data_format)
            padding = 0
        return F.conv2d(
            x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format
        )

    def extra_repr(self) -> str:
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={list(self._kernel_size)}"]
        if self._stride != (1, 1):
            parts.append(f"stride={list(self._stride)}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._padding_mode != "zeros":
            parts.append(f"padding_mode={self._padding_mode}")
        if self._dilation != (1, 1):
            parts.append(f"dilation={list(self._dilation)}")
        if self._groups != 1:
            parts.append(f"groups={self._groups}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class _BatchNorm(Layer):
    """Standardise every channel over the batch, in testing with moving statistics.

    Args:
        use_global_stats: whether to use the moving statistics; those of the batch in training when None.
    """

    ranks: ClassVar[tuple[int, ...]]
    layouts: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        data_format = self.layouts[0] if data_format is None else data_format
        if data_format not in self.layouts:
            raise UsageError(
                f"expected {' or '.join(self.layouts)} for data_format input of {type(self).__name__}, "
                f"but got {data_format!r}"
            )
        ones, zeros = initializer.Constant(1.0), initializer.Constant(0.0)
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=ones)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        for attribute, start in (("_mean", zeros), ("_variance", ones)):
            moving = gradtool.ParamAttr(initializer=start, trainable=False, do_model_average=True)
            setattr(self, attribute, self.create_parameter([num_features], moving))
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats, self._name = data_format, use_global_stats, name

    def forward(self, input: Any) -> Any:
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{n}D" for n in self.ranks)
            raise UsageError(
                f"{type(self).__name__} expected {wanted} input (got {input.ndim}D input, {list(input.shape)})"
            )
        return F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + _named(self._name)


class BatchNorm1D(_BatchNorm):
    """As :class:`BatchNorm2D`, for ``[batch, channels]`` and ``[batch, channels, length]``."""

    ranks = (2, 3)
    layouts = ("NCL", "NLC")


class BatchNorm2D(_BatchNorm):
    """Standardise every channel of images over the batch, in testing with moving statistics.

    Args:
        use_global_stats: whether to use the moving statistics; those of the batch in training when None.
    """

    ranks = (4,)
    layouts = ("NCHW", "NHWC")


class BatchNorm3D(_BatchNorm):
    """As :class:`BatchNorm2D`, for ``[batch, channels, depth, height, width]``."""

    ranks = (5,)
    layouts = ("NCDHW", "NDHWC")


class LayerNorm(Layer):
    """Standardise over the last dimensions, with a scale and shift.

    Args:
        normalized_shape: the sizes of those dimensions; a number for the last one alone.
    """

    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
        if not isinstance(sizes, (list, tuple)) or not all(isinstance(n, int) for n in sizes):
            raise UsageError("normalized_shape of LayerNorm should be int, list of ints or tuple of ints.")
        self._normalized_shape, self._epsilon = list(sizes), epsilon
        size = [math.prod(sizes)]
        self.weight = self.create_parameter(size, weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class Embedding(Layer):
    """The rows of a table at given ids; weight is ``[num_embeddings, embedding_dim]``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        sparse: bool = False,
        weight_attr: Any = None,
        scale_grad_by_freq: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        for what, size in (("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim)):
            if size <= 0:
                raise UsageError(f"{what} of Embedding must be greater than 0, but is {size}.")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise UsageError(f"padding_idx must be within [-{num_embeddings}, {num_embeddings}), but is {padding_idx}.")
        needed(weight_attr, "weight_attr", "Embedding")
        self._settings: dict[str, Any] = {
            "padding_idx": padding_idx,
            "max_norm": max_norm,
            "norm_type": norm_type,
            "sparse": sparse,
            "scale_grad_by_freq": scale_grad_by_freq,
            "name": name,
        }
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr)

    def forward(self, x: Any) -> Any:
        return F.embedding(x, self.weight, **self._settings)

    def extra_repr(self) -> str:
        s = self._settings
        padding = "" if s["padding_idx"] is None else f", padding_idx={s['padding_idx']}"
        rows, columns = self.weight.shape
        flags = f", sparse={s['sparse']}, scale_grad_by_freq={s['scale_grad_by_freq']}"
        return f"{rows}, {columns}{padding}{flags}" + _named(s["name"])


class Dropout(Layer):
    """Set each element to zero with probability *p* in training."""

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        self.p, self.axis, self.mode, self.name = p, axis, mode, name

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.axis, self.training, self.mode, self.name)

    def extra_repr(self) -> str:
        return f"p={self.p}, axis={self.axis}, mode={self.mode}" + _named(self.name)


class Flatten(Layer):
    """Make one dimension of those from *start_axis* to *stop_axis*."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        return gradtool.flatten(input, self.start_axis, self.stop_axis)


def _named(name: str | None) -> str:
    return f", name={name}" if name else ""


# -- activations ------------------------------------------------------------------------------------------------------


class _Activation(Layer):
    """An activation without settings; ``function`` names what computes it."""

    function = ""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(F, self.function)(x, name=self._name)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class ReLU(_Activation):
    """The positive part of each element."""

    function = "relu"


class Tanh(_Activation):
    """Hyperbolic tangent of each element."""

    function = "tanh"


class Sigmoid(_Activation):
    """``1 / (1 + exp(-x))`` of each element."""

    function = "sigmoid"


class GELU(Layer):
    """Each element times the probability that a standard normal variable is below it."""

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate, self._name = approximate, name

    def forward(self, x: Any) -> Any:
        return F.gelu(x, self._approximate, self._name)

    def extra_repr(self) -> str:
        return f"approximate={self._approximate}" + _named(self._name)


class Softmax(Layer):
    """Exponentials divided by their sum along *axis*."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def forward(self, x: Any) -> Any:
        return F.softmax(x, self._axis, name=self._name)

    def extra_repr(self) -> str:
        return f"axis={self._axis}" + _named(self._name)
