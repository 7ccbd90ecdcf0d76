"""Dropout as layers; ``paddle.nn.functional`` computes it."""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from gradtool.engine.core import source, watch
from gradtool.engine.core.source import Location

from . import functional as F
from ._layers import named
from .layer import Layer

_MADE_AT: WeakKeyDictionary[Layer, Location] = WeakKeyDictionary()
"""Of layers that drop everything, where they were made; no attribute, since a place cannot be pickled."""


def _note_place(layer: Layer, p: Any) -> None:
    """Keep the user's line that makes a layer which drops everything."""
    if isinstance(p, (int, float)) and p == 1:
        _MADE_AT[layer] = source.here()


def _with_place(out: Any, layer: Layer) -> Any:
    """Return *out*, after whoever watches heard which line made it zero."""
    if watch.noting and layer.training and layer in _MADE_AT:
        watch.note(watch.Chosen(out, _MADE_AT[layer]))
    return out


class Dropout(Layer):
    """Set each element to zero with probability *p* in training.

    Args:
        inplace: write to the input, in dynamic mode.
    """

    def __init__(
        self,
        p: float = 0.5,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
        *,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(axis, bool):  # the second argument is *inplace* since Paddle 3.3, and was *axis* before
            axis, inplace = None, axis
        self.p, self.axis, self.mode, self.inplace, self.name = p, axis, mode, inplace, name
        _note_place(self, p)

    def forward(self, input: Any) -> Any:
        out = F.dropout(input, self.p, self.axis, self.training, self.mode, self.name, inplace=self.inplace)
        return _with_place(out, self)

    def extra_repr(self) -> str:
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}" + named(self.name)


class _ChannelDropout(Layer):
    """Dropout of whole channels."""

    function: ClassVar[str]
    default_format: ClassVar[str]

    def __init__(self, p: float = 0.5, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format or self.default_format, name
        _note_place(self, p)

    def forward(self, input: Any) -> Any:
        out = getattr(F, self.function)(input, self.p, self.training, self.data_format, self.name)
        return _with_place(out, self)

    def extra_repr(self) -> str:
        return f"p={self.p}, data_format={self.data_format}" + named(self.name)


class Dropout2D(_ChannelDropout):
    """Set each channel of each image to zero with probability *p* in training."""

    function, default_format = "dropout2d", "NCHW"


class Dropout3D(_ChannelDropout):
    """Set each channel of each volume to zero with probability *p* in training."""

    function, default_format = "dropout3d", "NCDHW"


class AlphaDropout(Layer):
    """Dropout for ``selu``, in training: mean and variance stay as they are."""

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training, self.name)

    def extra_repr(self) -> str:
        return f"p={self.p}" + named(self.name)


class FeatureAlphaDropout(Layer):
    """Alpha dropout of whole channels, in training."""

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training, self.name)

    def extra_repr(self) -> str:
        return f"p={self.p}" + named(self.name)
