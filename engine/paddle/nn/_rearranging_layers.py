"""Layers that move elements around; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool import paddle

from . import functional as F
from ._layers import named
from ._second_names_of_parts import also_by, second_name
from .layer import Layer


class _Shuffle(Layer):
    """A rearrangement by one number, the attribute *number*."""

    number: ClassVar[str]
    function: ClassVar[str]

    def _set_up(self, value: int, data_format: str, name: str | None) -> None:
        setattr(self, f"_{self.number}", value)
        self._data_format, self._name = data_format, name

    def forward(self, x: Any) -> Any:
        value = getattr(self, f"_{self.number}")
        return getattr(F, self.function)(x, value, self._data_format, self._name)

    def extra_repr(self) -> str:
        text = f"{self.number}={getattr(self, f'_{self.number}')}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + named(self._name)


class PixelShuffle(_Shuffle):
    """Images *upscale_factor* times as large, with that factor squared times fewer channels."""

    number, function = "upscale_factor", "pixel_shuffle"

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._set_up(upscale_factor, data_format, name)


class PixelUnshuffle(_Shuffle):
    """The reverse of :class:`PixelShuffle`."""

    number, function = "downscale_factor", "pixel_unshuffle"

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._set_up(downscale_factor, data_format, name)


class ChannelShuffle(_Shuffle):
    """Channels rearranged so that those of different groups take turns."""

    number, function = "groups", "channel_shuffle"

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._set_up(groups, data_format, name)


class Unfold(Layer):
    """Every window of images as a column; arguments as ``functional.unfold``, in another order."""

    def __init__(
        self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1, name: str | None = None
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_sizes, dilations, paddings, strides
        self.name = name

    def forward(self, input: Any) -> Any:
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name)

    def extra_repr(self) -> str:
        text = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}"
        return f"{text}, stride={self.strides}" + named(self.name)


class Fold(Unfold):
    """Columns added up where their windows stand in images; arguments as ``functional.fold``, in another order."""

    @also_by(
        output_size="output_sizes",
        kernel_size="kernel_sizes",
        dilation="dilations",
        padding="paddings",
        stride="strides",
    )
    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_sizes, dilations, paddings, strides, name)
        self.output_sizes = output_sizes

    output_size, kernel_size = second_name("output_sizes"), second_name("kernel_sizes")
    dilation, padding, stride = second_name("dilations"), second_name("paddings"), second_name("strides")

    def forward(self, input: Any) -> Any:
        sizes = self.output_sizes, self.kernel_sizes
        return F.fold(input, *sizes, self.strides, self.paddings, self.dilations, self.name)


class Unflatten(Layer):
    """One dimension divided into several, of the sizes *shape*; one of them may be -1."""

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape, self.name = axis, shape, name

    def forward(self, input: Any) -> Any:
        return paddle.unflatten(input, self.axis, self.shape, self.name)

    def extra_repr(self) -> str:
        return f"axis={self.axis}, shape={self.shape}" + named(self.name)
