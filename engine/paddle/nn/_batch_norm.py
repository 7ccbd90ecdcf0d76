"""Batch normalisation as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool import paddle
from gradtool.engine.core import device_requests, state
from gradtool.engine.core.errors import UsageError
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, LAYOUTS

from . import functional as F
from . import initializer
from ._layers import named
from .layer import Layer


class _BatchNormBase(Layer):
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
        self._check_data_format(data_format)
        ones, zeros = initializer.Constant(1.0), initializer.Constant(0.0)
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=ones)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        for attribute, start in (("_mean", zeros), ("_variance", ones)):
            moving = paddle.ParamAttr(initializer=start, trainable=False, do_model_average=True)
            setattr(self, attribute, self.create_parameter([num_features], moving))
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._in_place = self._fuse_with_relu = False
        self._data_format, self._use_global_stats, self._name = data_format, use_global_stats, name

    def _check_data_format(self, input: str) -> None:
        """Refuse a layout that is not of the layer's rank; subclasses may take others."""
        if input not in self.layouts:
            raise UsageError(
                f"expected {' or '.join(self.layouts)} for data_format input of {type(self).__name__}, "
                f"but got {input!r}"
            )

    def _check_input_dim(self, input: Any) -> None:
        """Refuse what is not of the layer's rank; subclasses may take other ranks."""
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{n}D" for n in self.ranks)
            raise UsageError(
                f"{type(self).__name__} expected {wanted} input (got {input.ndim}D input, {list(input.shape)})"
            )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
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
        return text + named(self._name)


class BatchNorm1D(_BatchNormBase):
    """As :class:`BatchNorm2D`, for ``[batch, channels]`` and ``[batch, channels, length]``."""

    ranks = (2, 3)
    layouts = ("NCL", "NLC")


class BatchNorm2D(_BatchNormBase):
    """Standardise every channel of images over the batch, in testing with moving statistics.

    Args:
        use_global_stats: whether to use the moving statistics; those of the batch in training when None.
    """

    ranks = (4,)
    layouts = ("NCHW", "NHWC")


class BatchNorm3D(_BatchNormBase):
    """As :class:`BatchNorm2D`, for ``[batch, channels, depth, height, width]``."""

    ranks = (5,)
    layouts = ("NCDHW", "NDHWC")


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation over all processes; here there is one, and it does what :class:`BatchNorm2D` does."""

    ranks = (2, 3, 4, 5)
    layouts = ("NCHW", *(name for name in LAYOUTS if name != "NCHW"))

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    def forward(self, x: Any) -> Any:
        if device_requests.asked.noting and self.weight is not None:
            device_requests.asked.synchronised.add(self.weight.name)
        return super().forward(x)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """*layer* with every batch normalisation in it replaced by one of this class, of the same parameters."""
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            norm = cls(layer._num_features, layer._momentum, layer._epsilon, False, False, layer._data_format)
            norm.weight, norm.bias = layer.weight, layer.bias
            norm._mean, norm._variance = layer._mean, layer._variance
            norm._use_global_stats = layer._use_global_stats
            return norm
        for name, part in layer.named_children():
            changed = cls.convert_sync_batchnorm(part)
            if changed is not part:
                layer.add_sublayer(name, changed)
        return layer


class BatchNorm(Layer):
    """The older form of batch normalisation, for any rank and with an activation.

    Args:
        act: the activation that follows, by the name of its operator.
        is_test: whether to use the moving statistics, in static mode; dynamic mode follows ``eval()`` instead.
        trainable_statistics: use the statistics of the batch after ``eval()`` too.
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(dtype=dtype)
        if bias_attr is False:
            raise SwitchedOff("bias_attr should not be False in batch_norm.")
        ones, zeros = initializer.Constant(1.0), initializer.Constant(0.0)
        self.weight: Any = self.create_parameter([num_channels], param_attr, dtype, default_initializer=ones)
        self.bias: Any = self.create_parameter([num_channels], bias_attr, dtype, is_bias=True)
        for attribute, name, start in (
            ("_mean", moving_mean_name, zeros),
            ("_variance", moving_variance_name, ones),
        ):
            attr = paddle.ParamAttr(name, start, trainable=False, do_model_average=do_model_average_for_mean_and_var)
            setattr(self, attribute, self.create_parameter([num_channels], attr, dtype))
        self._act, self._is_test, self._momentum, self._epsilon = act, is_test, momentum, epsilon
        self._data_layout, self._use_global_stats = data_layout, use_global_stats
        self._trainable_statistics = trainable_statistics
        self._param_attr, self._bias_attr = param_attr, bias_attr
        self._in_place, self._fuse_with_relu = in_place, False

    @staticmethod
    def _is_built_alone() -> bool:
        """Return whether the user builds a program: one that is traced has the mode of the layer."""
        return bool(state.in_static_mode()) and state.tracing.get() is None

    def forward(self, input: Any) -> Any:
        tensor(input, "input", "BatchNorm", FLOATS)
        attrs = {
            "momentum": self._momentum,
            "epsilon": self._epsilon,
            "data_layout": self._data_layout,
            "is_test": self._is_test if self._is_built_alone() else not self.training,
            "use_global_stats": self._use_global_stats,
            "trainable_statistics": self._trainable_statistics,
        }
        moving = self._mean, self._variance
        outputs = {"ReserveSpace": True, "MeanOut": moving[0], "VarianceOut": moving[1]}
        layer = self.full_name()
        *saved, y, _, _ = apply(
            "batch_norm", input, self.weight, self.bias, *moving, None, attrs=attrs, name=layer, outputs=outputs
        )
        for v in saved:
            v.stop_gradient = True
        return y if self._act is None else apply(self._act, y, name=layer)


class SwitchedOff(UsageError, AssertionError):
    """A parameter that a layer cannot do without was switched off (Paddle raises AssertionError)."""
