"""Pooling as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar

from . import functional as F
from ._second_names_of_parts import also_by
from ._table import REQUIRED, table_layer
from .layer import Layer

_SHOWN = ("kernel_size", "stride", "padding")
_WINDOW: dict[str, Any] = {"kernel_size": REQUIRED, "stride": None, "padding": 0}


def _pool(name: str, function: str, doc: str, **settings: Any) -> Any:
    """A pooling of windows; those of more than one dimension have their size as ``ksize``."""
    renamed = {"divisor_override": "divisor"} | ({} if name.endswith("1D") else {"kernel_size": "ksize"})
    kept = {setting: other for setting, other in renamed.items() if setting in {**_WINDOW, **settings}}
    return table_layer(__name__, name, function, shows=_SHOWN, renamed=kept, doc=doc, **_WINDOW, **settings)


_MAX: dict[str, Any] = {"return_mask": False, "ceil_mode": False}
_AVG: dict[str, Any] = {"ceil_mode": False, "exclusive": True, "divisor_override": None}

MaxPool1D = _pool("MaxPool1D", "max_pool1d", "Maximum of every window of a sequence", **_MAX)
MaxPool2D = _pool("MaxPool2D", "max_pool2d", "Maximum of every window of an image", **_MAX, data_format="NCHW")
MaxPool3D = _pool("MaxPool3D", "max_pool3d", "Maximum of every window of a volume", **_MAX, data_format="NCDHW")
AvgPool1D = _pool("AvgPool1D", "avg_pool1d", "Mean of every window of a sequence", exclusive=True, ceil_mode=False)
AvgPool2D = _pool("AvgPool2D", "avg_pool2d", "Mean of every window of an image", **_AVG, data_format="NCHW")
AvgPool3D = _pool("AvgPool3D", "avg_pool3d", "Mean of every window of a volume", **_AVG, data_format="NCDHW")


def _adaptive(name: str, function: str, doc: str, **settings: Any) -> Any:
    """A pooling of as many windows as the result has elements."""
    hidden = not name.endswith("1D")
    first = "_" if hidden else ""
    second = {"return_indices": f"{first}return_mask"} if "return_mask" in settings else {}
    if hidden and not second:
        second = {"output_size": "_output_size"}
    shown = ("output_size", *(n for n in settings if n == "return_mask"))
    return table_layer(
        __name__, name, function, shows=shown, prefix=first, second=second, doc=doc, output_size=REQUIRED, **settings
    )


_PARTS = "of the windows that divide"

AdaptiveAvgPool1D = _adaptive("AdaptiveAvgPool1D", "adaptive_avg_pool1d", f"Means {_PARTS} a sequence")
AdaptiveAvgPool2D = _adaptive(
    "AdaptiveAvgPool2D", "adaptive_avg_pool2d", f"Means {_PARTS} an image", data_format="NCHW"
)
AdaptiveAvgPool3D = _adaptive(
    "AdaptiveAvgPool3D", "adaptive_avg_pool3d", f"Means {_PARTS} a volume", data_format="NCDHW"
)
AdaptiveMaxPool1D = _adaptive(
    "AdaptiveMaxPool1D", "adaptive_max_pool1d", f"Maxima {_PARTS} a sequence", return_mask=False
)
AdaptiveMaxPool2D = _adaptive(
    "AdaptiveMaxPool2D", "adaptive_max_pool2d", f"Maxima {_PARTS} an image", return_mask=False
)
AdaptiveMaxPool3D = _adaptive(
    "AdaptiveMaxPool3D", "adaptive_max_pool3d", f"Maxima {_PARTS} a volume", return_mask=False
)


class _UnPool(Layer):
    """Zeros with what a maximum pooling left in its places."""

    function: ClassVar[str]
    layout: ClassVar[str]

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
        self.data_format = self.layout if data_format is None else data_format
        self.output_size, self.name = output_size, name

    @also_by(input="x")
    def forward(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        return getattr(F, self.function)(
            x,
            indices,
            self.ksize,
            self.stride,
            self.padding,
            output_size=output_size or self.output_size,
            name=self.name,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class MaxUnPool1D(_UnPool):
    """As :class:`MaxUnPool2D`, for sequences."""

    function, layout = "max_unpool1d", "NCL"


class MaxUnPool2D(_UnPool):
    """Images of zeros with the elements of the input where the maxima stood.

    Called with what ``MaxPool2D(…, return_mask=True)`` of the same window gave: the maxima, their places, and an
    ``output_size`` where the layer's own is not meant.
    """

    function, layout = "max_unpool2d", "NCHW"


class MaxUnPool3D(_UnPool):
    """As :class:`MaxUnPool2D`, for volumes."""

    function, layout = "max_unpool3d", "NCDHW"


_POWER: dict[str, Any] = {"norm_type": REQUIRED, **_WINDOW, "ceil_mode": False}
_POWER_SHOWN = ("norm_type", *_SHOWN)

LPPool1D = table_layer(__name__, "LPPool1D", "lp_pool1d", shows=_POWER_SHOWN, **_POWER, data_format="NCL")
LPPool2D = table_layer(
    __name__,
    "LPPool2D",
    "lp_pool2d",
    shows=_POWER_SHOWN,
    renamed={"kernel_size": "ksize"},
    **_POWER,
    data_format="NCHW",
)

_FRACTION: dict[str, Any] = {"output_size": REQUIRED, "kernel_size": None, "random_u": None, "return_mask": False}
_SIZES = ("output_size", "return_mask")

FractionalMaxPool2D = table_layer(
    __name__, "FractionalMaxPool2D", "fractional_max_pool2d", shows=_SIZES, prefix="_", **_FRACTION
)
FractionalMaxPool3D = table_layer(
    __name__, "FractionalMaxPool3D", "fractional_max_pool3d", shows=_SIZES, prefix="_", **_FRACTION
)
