"""Borders and resizing as layers; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtool.engine.core.value import AnyTensor

from . import functional as F
from ._second_names_of_parts import also_by, second_name
from .layer import Layer


class _Pad(Layer):
    """A border of inner dimensions; a single number goes on every side."""

    sides: ClassVar[int]
    default_format: ClassVar[str]
    _pad, _value = second_name("padding"), second_name("value")

    @property
    def _n_dim(self) -> int:
        return self.sides // 2

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        whole = isinstance(padding, (list, tuple, AnyTensor))
        self.padding = padding if whole else [padding] * self.sides
        self._mode, self.value, self._name = mode, value, name
        self._data_format = self.default_format if data_format is None else data_format

    @also_by(input="x")
    def forward(self, x: Any) -> Any:
        return F.pad(x, self.padding, self._mode, self.value, self._data_format, name=self._name)

    def extra_repr(self) -> str:
        named = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}{named}"


class Pad1D(_Pad):
    """A border of sequences: ``[left, right]``; modes as in ``functional.pad``."""

    sides, default_format = 2, "NCL"


class Pad2D(_Pad):
    """A border of images: ``[left, right, top, bottom]``; modes as in ``functional.pad``."""

    sides, default_format = 4, "NCHW"


class Pad3D(_Pad):
    """A border of volumes: ``[left, right, top, bottom, front, back]``; modes as in ``functional.pad``."""

    sides, default_format = 6, "NCDHW"


class _ZeroPad(_Pad):
    """A border of zeros."""

    def __init__(self, padding: Any, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, data_format=data_format, name=name)

    def extra_repr(self) -> str:
        named = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, data_format={self._data_format}{named}"


class ZeroPad1D(_ZeroPad):
    """A border of zeros: ``[left, right]``."""

    sides, default_format = 2, "NCL"


class ZeroPad2D(_ZeroPad):
    """A border of zeros: ``[left, right, top, bottom]``."""

    sides, default_format = 4, "NCHW"


class ZeroPad3D(_ZeroPad):
    """A border of zeros: ``[left, right, top, bottom, front, back]``."""

    sides, default_format = 6, "NCDHW"


class _ModePad(_Pad):
    """A border made in one way."""

    mode: ClassVar[str]

    def __init__(self, padding: Any, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, self.mode, data_format=data_format, name=name)


class _ConstantPad(_Pad):
    """A border of one value."""

    def __init__(self, padding: Any, value: float, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, "constant", value, data_format, name)


_FORMS = (
    ("NCL", "[left, right]"),
    ("NCHW", "[left, right, top, bottom]"),
    ("NCDHW", "[left, right, top, bottom, front, back]"),
)


def _pads(name: str, base: type[_Pad], what: str, **members: Any) -> list[Any]:
    """Layers for one to three inner dimensions, whose border is *what*."""
    layers = []
    for rank, (layout, sides) in enumerate(_FORMS, 1):
        text = f"A border of {what}: ``{sides}``."
        body = {**members, "sides": 2 * rank, "default_format": layout, "__doc__": text, "__module__": __name__}
        layers.append(type(f"{name}{rank}D", (base,), body))
    return layers


ConstantPad1D, ConstantPad2D, ConstantPad3D = _pads("ConstantPad", _ConstantPad, "one value")
CircularPad1D, CircularPad2D, CircularPad3D = _pads("CircularPad", _ModePad, "the other end", mode="circular")
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = _pads(
    "ReflectionPad", _ModePad, "what lies inside, mirrored", mode="reflect"
)
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = _pads(
    "ReplicationPad", _ModePad, "the outermost elements", mode="replicate"
)


class Upsample(Layer):
    """The inner dimensions resized; arguments as ``functional.interpolate``."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode, self.data_format = align_corners, align_mode, data_format
        self.recompute_scale_factor, self.name = recompute_scale_factor, name

    def forward(self, x: Any) -> Any:
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            recompute_scale_factor=self.recompute_scale_factor,
            name=self.name,
        )

    def extra_repr(self) -> str:
        always = ("mode", "align_corners", "align_mode", "data_format")
        set_ones = (n for n in ("size", "scale_factor") if getattr(self, n) is not None)
        shown = {n: getattr(self, n) for n in (*set_ones, *always, *(("name",) if self.name else ()))}
        return ", ".join(f"{k}={v}" for k, v in shown.items())


class _Upsampling(Layer):
    """Images resized by one method."""

    settings: ClassVar[dict[str, Any]]

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.data_format, self.name = size, scale_factor, data_format, name

    @also_by(input="x")
    def forward(self, x: Any) -> Any:
        return F.interpolate(
            x, self.size, self.scale_factor, data_format=self.data_format, name=self.name, **self.settings
        )

    def extra_repr(self) -> str:
        what = "scale_factor" if self.scale_factor is not None else "size"
        text = f"{what}={getattr(self, what)}, data_format={self.data_format}"
        return text + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(_Upsampling):
    """Images resized; each element is the nearest one."""

    settings: ClassVar[dict[str, Any]] = {"mode": "nearest"}


class UpsamplingBilinear2D(_Upsampling):
    """Images resized linearly; the corners stay where they are."""

    settings: ClassVar[dict[str, Any]] = {"mode": "bilinear", "align_corners": True}
