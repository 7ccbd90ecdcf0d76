"""Pooling as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar

from . import functional as F
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
