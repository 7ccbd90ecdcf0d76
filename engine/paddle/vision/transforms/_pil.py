"""Changes of PIL's images; whoever calls these has one, so that Pillow is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError

from .._packages import pillow
from . import _matrices

FILTERS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")


def _filter(interpolation: str) -> Any:
    if interpolation not in FILTERS:
        raise UsageError(f"interpolation must be one of {', '.join(FILTERS)}, but got {interpolation!r}")
    return getattr(pillow().Resampling, interpolation.upper())


def size(img: Any) -> tuple[int, int]:
    """Height and width."""
    return img.size[1], img.size[0]


def array(img: Any) -> Any:
    """The pixels, ``[height, width, channels]``."""
    kinds = {"I": np.int32, "I;16": np.int16, "F": np.float32}
    pixels = np.array(img, kinds.get(img.mode, np.uint8), copy=True)
    if img.mode == "1":
        pixels = 255 * pixels
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


def resize(img: Any, height: int, width: int, interpolation: str) -> Any:
    return img.resize((width, height), _filter(interpolation))


def pad(img: Any, left: int, top: int, right: int, bottom: int, fill: Any, padding_mode: str) -> Any:
    if padding_mode == "constant":
        if img.mode == "P":
            palette = img.getpalette()
            img = pillow("ImageOps").expand(img, border=(left, top, right, bottom), fill=fill)
            img.putpalette(palette)
            return img
        return pillow("ImageOps").expand(img, border=(left, top, right, bottom), fill=fill)
    pixels = np.asarray(img)
    widths = ((top, bottom), (left, right), (0, 0))[: pixels.ndim]
    padded = pillow().fromarray(np.pad(pixels, widths, padding_mode))  # type: ignore[call-overload]
    if img.mode == "P":
        padded = padded.convert("P")
        padded.putpalette(img.getpalette())
    return padded


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    return img.crop((left, top, left + width, top + height))


def flip(img: Any, horizontal: bool) -> Any:
    ways = pillow().Transpose
    return img.transpose(ways.FLIP_LEFT_RIGHT if horizontal else ways.FLIP_TOP_BOTTOM)


def brightness(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Brightness(img).enhance(factor)


def contrast(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Contrast(img).enhance(factor)


def saturation(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Color(img).enhance(factor)


def hue(img: Any, factor: float) -> Any:
    if img.mode in ("L", "1", "I", "F"):
        return img
    hues, saturations, values = img.convert("HSV").split()
    turned = np.array(hues, dtype=np.uint8) + np.array(int(factor * 255) % 256, np.uint8)  # around the circle
    return pillow().merge("HSV", (pillow().fromarray(turned), saturations, values)).convert(img.mode)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: str,
    fill: Any,
    center: Any,
) -> Any:
    middle = (img.size[0] * 0.5, img.size[1] * 0.5) if center is None else center
    matrix = _matrices.affine(middle, angle, translate, scale, shear)
    # What shows beside the image is black whatever *fill* says, as in Paddle; of projections, too.
    return img.transform(img.size, pillow().Transform.AFFINE, matrix, _filter(interpolation))


def rotate(img: Any, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> Any:
    bands = len(img.getbands())
    if bands > 1 and isinstance(fill, (int, float)):
        fill = (fill,) * bands
    return img.rotate(angle, _filter(interpolation), expand, center, fillcolor=fill)


def perspective(img: Any, start: Any, end: Any, interpolation: str, fill: Any) -> Any:
    matrix = _matrices.perspective(start, end)
    return img.transform(img.size, pillow().Transform.PERSPECTIVE, matrix, _filter(interpolation))


def grayscale(img: Any, channels: int) -> Any:
    grey = img.convert("L")
    if channels == 1:
        return grey
    return pillow().merge("RGB", (grey, grey, grey))


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool) -> Any:
    pixels = np.array(img)
    pixels[i : i + h, j : j + w, ...] = v
    return pillow().fromarray(pixels)
