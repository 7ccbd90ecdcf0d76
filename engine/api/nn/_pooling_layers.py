"""Pooling as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar

from . import functional as F
from ._table import REQUIRED, table_layer
from .layer import Layer


class _Pool(Layer):
    """A pooling with the settings that maxima and means share."""

    def __init__(self, kernel_size: Any, stride: Any, padding: Any, **settings: Any) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self._settings = settings

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class MaxPool2D(_Pool):
    """Maximum of every window of an image."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding,
            return_mask=return_mask,
            ceil_mode=ceil_mode,
            data_format=data_format,
            name=name,
        )

    def forward(self, x: Any) -> Any:
        return F.max_pool2d(x, self.ksize, self.stride, self.padding, **self._settings)


class AvgPool2D(_Pool):
    """Mean of every window of an image."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding,
            ceil_mode=ceil_mode,
            exclusive=exclusive,
            divisor_override=divisor_override,
            data_format=data_format,
            name=name,
        )

    def forward(self, x: Any) -> Any:
        return F.avg_pool2d(x, self.ksize, self.stride, self.padding, **self._settings)


class MaxPool1D(_Pool):
    """Maximum of every window of a sequence."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask=return_mask, ceil_mode=ceil_mode, name=name)

    def forward(self, x: Any) -> Any:
        return F.max_pool1d(x, self.ksize, self.stride, self.padding, **self._settings)


class AvgPool1D(_Pool):
    """Mean of every window of a sequence."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, exclusive=exclusive, ceil_mode=ceil_mode, name=name)

    def forward(self, x: Any) -> Any:
        return F.avg_pool1d(x, self.ksize, self.stride, self.padding, **self._settings)


class AdaptiveAvgPool1D(Layer):
    """Means of the *output_size* windows that divide a sequence."""

    def __init__(self, output_size: Any, name: str | None = None) -> None:
        super().__init__()
        self._output_size, self._name = output_size, name

    def forward(self, x: Any) -> Any:
        return F.adaptive_avg_pool1d(x, self._output_size, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class _AdaptiveMax(Layer):
    """Maxima of the windows that divide the spatial dimensions."""

    function: ClassVar[str]

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._output_size, self._return_mask, self._name = output_size, return_mask, name

    def forward(self, x: Any) -> Any:
        return getattr(F, self.function)(x, self._output_size, self._return_mask, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool1D(_AdaptiveMax):
    """Maxima of the *output_size* windows that divide a sequence."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2D(_AdaptiveMax):
    """Maxima of the windows that divide an image into ``output_size`` parts."""

    function = "adaptive_max_pool2d"


class AdaptiveAvgPool2D(Layer):
    """Means of the windows that divide an image into ``output_size`` parts."""

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._output_size, self._data_format, self._name = output_size, data_format, name

    def forward(self, x: Any) -> Any:
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class MaxPool3D(_Pool):
    """Maximum of every window of a volume."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding,
            return_mask=return_mask,
            ceil_mode=ceil_mode,
            data_format=data_format,
            name=name,
        )

    def forward(self, x: Any) -> Any:
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, **self._settings)


class AvgPool3D(_Pool):
    """Mean of every window of a volume."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding,
            ceil_mode=ceil_mode,
            exclusive=exclusive,
            divisor_override=divisor_override,
            data_format=data_format,
            name=name,
        )

    def forward(self, x: Any) -> Any:
        return F.avg_pool3d(x, self.ksize, self.stride, self.padding, **self._settings)


class AdaptiveMaxPool3D(_AdaptiveMax):
    """Maxima of the windows that divide a volume into ``output_size`` parts."""

    function = "adaptive_max_pool3d"


class AdaptiveAvgPool3D(Layer):
    """Means of the windows that divide a volume into ``output_size`` parts."""

    def __init__(self, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self._output_size, self._data_format, self._name = output_size, data_format, name

    def forward(self, x: Any) -> Any:
        return F.adaptive_avg_pool3d(x, self._output_size, self._data_format, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class _UnPool(Layer):
    """Zeros with what a maximum pooling left in its places."""

    function: ClassVar[str]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str | None = None,
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.data_format, self.output_size, self.name = data_format, output_size, name

    def forward(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        settings = {} if self.data_format is None else {"data_format": self.data_format}
        return getattr(F, self.function)(
            x,
            indices,
            self.ksize,
            self.stride,
            self.padding,
            output_size=output_size or self.output_size,
            name=self.name,
            **settings,
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class MaxUnPool1D(_UnPool):
    """As :class:`MaxUnPool2D`, for sequences."""

    function = "max_unpool1d"


class MaxUnPool2D(_UnPool):
    """Images of zeros with the elements of the input where the maxima stood.

    Called with what ``MaxPool2D(…, return_mask=True)`` of the same window gave: the maxima, their places, and an
    ``output_size`` where the layer's own is not meant.
    """

    function = "max_unpool2d"


class MaxUnPool3D(_UnPool):
    """As :class:`MaxUnPool2D`, for volumes."""

    function = "max_unpool3d"


_WINDOW: dict[str, Any] = {"norm_type": REQUIRED, "kernel_size": REQUIRED, "stride": None, "padding": 0}
_SHOWN = ("norm_type", "kernel_size", "stride", "padding")

LPPool1D = table_layer(__name__, "LPPool1D", "lp_pool1d", shows=_SHOWN, **_WINDOW, ceil_mode=False, data_format="NCL")
LPPool2D = table_layer(__name__, "LPPool2D", "lp_pool2d", shows=_SHOWN, **_WINDOW, ceil_mode=False, data_format="NCHW")

_FRACTION: dict[str, Any] = {"output_size": REQUIRED, "kernel_size": None, "random_u": None, "return_mask": False}
_SIZES = ("output_size", "return_mask")

FractionalMaxPool2D = table_layer(__name__, "FractionalMaxPool2D", "fractional_max_pool2d", shows=_SIZES, **_FRACTION)
FractionalMaxPool3D = table_layer(__name__, "FractionalMaxPool3D", "fractional_max_pool3d", shows=_SIZES, **_FRACTION)
