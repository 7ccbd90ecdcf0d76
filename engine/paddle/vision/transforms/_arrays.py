"""Changes of arrays ``[height, width, channels]``; those that interpolate or mix colours are OpenCV's, as in Paddle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError

from .._packages import opencv
from . import _matrices

FILTERS = {"nearest": "NEAREST", "bilinear": "LINEAR", "area": "AREA", "bicubic": "CUBIC", "lanczos": "LANCZOS4"}


def _filter(cv: Any, interpolation: str) -> Any:
    if interpolation not in FILTERS:
        raise UsageError(f"interpolation of arrays must be one of {', '.join(FILTERS)}, but got {interpolation!r}")
    return getattr(cv, f"INTER_{FILTERS[interpolation]}")


def _shaped(result: Any, img: Any) -> Any:
    """*result* with the channel that OpenCV drops where there is only one."""
    return result[:, :, np.newaxis] if img.ndim == 3 and img.shape[2] == 1 and result.ndim == 2 else result


def size(img: Any) -> tuple[int, int]:
    """Height and width."""
    return img.shape[0], img.shape[1]


def array(img: Any) -> Any:
    """The pixels, ``[height, width, channels]``."""
    return img if img.ndim == 3 else img[:, :, None]


def resize(img: Any, height: int, width: int, interpolation: str) -> Any:
    cv = opencv("resize of an array")
    return _shaped(cv.resize(img, dsize=(width, height), interpolation=_filter(cv, interpolation)), img)


def pad(img: Any, left: int, top: int, right: int, bottom: int, fill: Any, padding_mode: str) -> Any:
    widths = ((top, bottom), (left, right), (0, 0))[: img.ndim]
    if padding_mode != "constant":
        return np.pad(img, widths, padding_mode)  # type: ignore[call-overload]
    # One number is for the first channel, as in Paddle.
    each = [*fill] if isinstance(fill, (list, tuple)) else [fill]
    out = np.pad(img, widths)
    for channel, value in enumerate(each[: 1 if img.ndim == 2 else img.shape[2]]):
        plane = img if img.ndim == 2 else img[:, :, channel]
        out[(..., channel) if img.ndim == 3 else ...] = np.pad(plane, widths[:2], constant_values=value)
    return out


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    return img[top : top + height, left : left + width]


def flip(img: Any, horizontal: bool) -> Any:
    return np.ascontiguousarray(img[:, ::-1] if horizontal else img[::-1])


def brightness(img: Any, factor: float) -> Any:
    return _looked_up(img.astype("uint8"), np.arange(256) * factor, "brightness")


def contrast(img: Any, factor: float) -> Any:
    # 74 stands for the mean, as in Paddle.
    return _looked_up(img, (np.arange(256) - 74) * factor + 74, "contrast")


def _looked_up(img: Any, table: Any, what: str) -> Any:
    if img.dtype != np.uint8:
        raise UsageError(f"{what} of an array must be of type uint8, but got {img.dtype}", hint="give a tensor instead")
    return table.clip(0, 255).astype("uint8")[img]


def saturation(img: Any, factor: float) -> Any:
    cv = opencv("adjust_saturation of an array")
    share = np.random.uniform(max(0, 1 - factor), 1 + factor)  # drawn around 1, as in Paddle
    numbers = img.astype(np.float32)
    mixed = numbers * share + cv.cvtColor(numbers, cv.COLOR_BGR2GRAY)[:, :, np.newaxis] * (1 - share)
    return (mixed.clip(0, 255) if img.dtype == np.uint8 else mixed).astype(img.dtype)


def hue(img: Any, factor: float) -> Any:
    cv = opencv("adjust_hue of an array")
    pixels = img.astype(np.uint8)
    hues, saturations, values = cv.split(cv.cvtColor(pixels, cv.COLOR_BGR2HSV_FULL))
    turned = hues + np.array(int(factor * 255) % 256, np.uint8)  # around the circle
    return cv.cvtColor(cv.merge([turned, saturations, values]), cv.COLOR_HSV2BGR_FULL).astype(img.dtype)


def _warped(img: Any, onward: Any, size: tuple[int, int], interpolation: str, fill: Any, where: str) -> Any:
    """*img* as *onward* takes its pixels, which is affine with two rows, and projects with three."""
    cv = opencv(f"{where} of an array")
    warp = cv.warpAffine if len(onward) == 2 else cv.warpPerspective
    return _shaped(warp(img, onward, dsize=size, flags=_filter(cv, interpolation), borderValue=fill), img)


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
    # Around the first pixel, sheared before it is moved: so does Paddle with arrays.
    turn = math.radians(angle)
    cos, sin = scale * math.cos(turn), scale * math.sin(turn)
    down, across = (math.tan(math.radians(s)) for s in shear)
    turned = np.array([[1.0, across], [down, 1.0]]) @ np.array([[cos, sin], [-sin, cos]])
    fills = tuple(fill) if isinstance(fill, (list, tuple)) else (fill,) * 3
    onward = np.column_stack([turned, translate])
    return _warped(img, onward, (img.shape[1], img.shape[0]), interpolation, fills, "affine")


def rotate(img: Any, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> Any:
    height, width = size(img)
    middle = (width / 2, height / 2) if center is None else tuple(center)
    back = _matrices.affine(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    onward = np.linalg.inv([back[:3], back[3:], [0.0, 0.0, 1.0]])[:2]
    if expand:
        wide, high = _matrices.turned_size(angle, width, height)
        onward[:, 2] += (wide / 2 - middle[0], high / 2 - middle[1])
        width, height = wide, high
    return _warped(img, onward, (width, height), interpolation, fill, "rotate")


def perspective(img: Any, start: Any, end: Any, interpolation: str, fill: Any) -> Any:
    onward = np.linalg.inv(np.array([*_matrices.perspective(start, end), 1.0]).reshape(3, 3))
    return _warped(img, onward, (img.shape[1], img.shape[0]), interpolation, fill, "perspective")


def grayscale(img: Any, channels: int) -> Any:
    cv = opencv("to_grayscale of an array")
    grey = cv.cvtColor(img, cv.COLOR_RGB2GRAY)[:, :, np.newaxis]
    return grey if channels == 1 else np.broadcast_to(grey, (*grey.shape[:2], 3))


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool) -> Any:
    out = img if inplace else img.copy()
    out[i : i + h, j : j + w, ...] = v
    return out
