"""The largest of windows, and its gradient, by oneDNN: of float32, in two dimensions, to NumPy's bits.

oneDNN passes over a NaN and over minus infinity where the largest of a window is sought, so images with these are left
to the reference. Where windows overlap it adds up in another order than NumPy, so their gradient is, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...ops.library.window import Window, line_of
from ...ops.registry import get_by_type
from ..backend import Kernel, override
from ..choice import reference
from .loading import ONEDNN
from .products import finite

LEAST = 1 << 16
"""How many elements an image has that is worth compiling something for."""


class Largest(NamedTuple):
    """The largest elements of windows on an image of certain sizes.

    Attributes:
        image: its sizes, with batch and channels first.
        result: those of the result.
        window, strides: sizes and distances of windows.
        before, after: what is added at the beginning and at the end of each dimension.
        back: whether a result is brought back to where they stand.
    """

    image: tuple[int, ...]
    result: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    back: bool = False


def register() -> None:
    """Offer both kernels."""
    override("pool2d", "onednn")(_pool2d)
    override("put_largest", "onednn")(_put_largest)


def _pool2d(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    window = Window.of(attrs)
    if attrs["pooling_type"] != "max" or window.data_format != "NCHW":
        return None
    general = reference().bind(get_by_type("pool2d"), attrs)

    def pool(x: Any) -> Any:
        if _takes(x) and not np.isnan(x.max()):
            case = _case(window, x.shape)
            part = None if case is None else ONEDNN.compiled(case, (x,))
            out = None if part is None else part(x)
            if out is not None and out.min() > np.finfo(np.float32).min:
                return out
        return general(x)

    return pool


def _put_largest(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    window = attrs["window"]
    if window is None or window.data_format != "NCHW":
        return None
    general = reference().bind(get_by_type("put_largest"), attrs)

    def put(x: Any, image: Any, largest: Any) -> Any:
        if _takes(image) and x.dtype == np.float32 and finite(largest):
            case = _case(window, image.shape)
            if case is not None and case.result == x.shape == largest.shape and case.window == case.strides:
                x = np.ascontiguousarray(x)
                part = ONEDNN.compiled(case._replace(back=True), (image, x))
                if part is not None:
                    return part(image, x)
        return general(x, image, largest)

    return put


def _takes(image: Any) -> bool:
    """Return whether *image* is large enough, and lies row by row."""
    return bool(
        type(image) is np.ndarray
        and image.dtype == np.float32
        and image.ndim == 4
        and image.size >= LEAST
        and image.flags.c_contiguous
    )


@lru_cache(512)
def _case(window: Window, image: tuple[int, ...]) -> Largest | None:
    """The windows on an image of these sizes; None where sizes or distances differ, or one holds nothing."""
    lines = [line_of("pool2d", i, window, image[2:]) for i in range(2)]
    if any(line.void or not (line.step or len(line.starts) == 1) for line in lines):
        return None
    steps = [line.step or line.reach for line in lines]
    ends = [line.first + (len(line.starts) - 1) * step + line.reach for line, step in zip(lines, steps, strict=True)]
    if any(line.first > 0 for line in lines):
        return None
    return Largest(
        image,
        (*image[:2], *(len(line.starts) for line in lines)),
        tuple(line.reach for line in lines),
        tuple(steps),
        tuple(-line.first for line in lines),
        tuple(max(end - line.size, 0) for end, line in zip(ends, lines, strict=True)),
    )
