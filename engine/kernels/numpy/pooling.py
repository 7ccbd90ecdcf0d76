"""The gradient of maxima in windows, on images that are laid out as rows (:mod:`.planes`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.library.window import Window, line_of
from ..backend import Kernel, override
from .general import definition
from .planes import Planes

_BITS = {np.dtype("float32"): np.int32, np.dtype("float64"): np.int64}


def register() -> None:
    """Offer the kernel."""
    override("put_largest", "numpy")(_put_largest)


def _planes(window: Window, image: Sequence[int]) -> Planes | None:
    """Return the layout of images; None where windows are not of one size and distance, or skip elements between
    them.
    """
    lines = [line_of("pool2d", i, window, image) for i in range(2)]
    if any(not 0 < line.step <= line.reach or line.void for line in lines):
        return None
    ends = [max(line.first + (len(line.starts) - 1) * line.step + line.reach, line.size) for line in lines]
    return Planes(
        image,
        [end - line.first for end, line in zip(ends, lines, strict=True)],
        [-line.first for line in lines],
        [len(line.starts) for line in lines],
        [line.reach for line in lines],
        [line.step for line in lines],
        [1, 1],
    )


def _put_largest(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = definition("put_largest", attrs)
    window = attrs["window"]
    if window is None or len(window.ksize) != 2 or window.data_format.endswith("C"):
        return None

    def put(x: Any, image: Any, largest: Any) -> Any:
        bits = _BITS.get(x.dtype)
        planes = _planes(window, image.shape[2:]) if image.size and x.size and image.ndim == 4 else None
        if planes is None or bits is None or image.dtype != x.dtype or np.isnan(largest).any():
            return general(x, image, largest)
        out = np.empty(image.shape, x.dtype)
        for block in planes.blocks(*image.shape[:2]):
            # nothing equals NaN: so what lies between the rows of a result is the maximum of no window
            best, arrived = planes.space(largest[block], np.nan), planes.space(x[block]).view(bits)
            found = planes.cut(image[block], np.nan)
            rows = planes.empty(out[block].shape[:2], x.dtype)
            left = np.ones(best.shape, bool)
            for _, row, at in planes.taps:
                part = slice(at, at + planes.length)
                hit = found[row][..., part] == best
                hit &= left
                left ^= hit
                chosen = np.negative(hit.view(np.int8)).astype(bits)
                chosen &= arrived
                rows[row][..., part] += chosen.view(x.dtype)
            planes.join(rows, out[block])
        return out

    return put
