"""Changes of tensors ``[…, channels, height, width]``, which keep the way of gradients where Paddle's do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.paddle.nn import functional as F

from . import _matrices

PADS = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}
GREY = (0.2989, 0.5870, 0.1140)
"""What each colour adds to how light a pixel is."""


def size(img: Any) -> tuple[int, int]:
    """Height and width."""
    return int(img.shape[-2]), int(img.shape[-1])


def _largest(img: Any) -> float:
    return 1.0 if img.dtype.name.startswith(("float", "bfloat")) else 255.0


def _as_batch(img: Any) -> Any:
    return img if img.ndim == 4 else img.unsqueeze(0)


def resize(img: Any, height: int, width: int, interpolation: str) -> Any:
    batch = _as_batch(img)
    numbers = batch if _largest(img) == 1.0 else batch.astype("float32")
    out = F.interpolate(numbers, (height, width), mode=interpolation.lower()).astype(img.dtype)
    return out if img.ndim == 4 else out.squeeze(0)


def pad(img: Any, left: int, top: int, right: int, bottom: int, fill: Any, padding_mode: str) -> Any:
    if padding_mode not in PADS:
        raise UsageError(f"padding_mode of a tensor must be one of {', '.join(PADS)}, but got {padding_mode!r}")
    out = F.pad(_as_batch(img), [left, right, top, bottom], mode=PADS[padding_mode], value=float(fill))
    return out if img.ndim == 4 else out.squeeze(0)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    return img[..., top : top + height, left : left + width]


def flip(img: Any, horizontal: bool) -> Any:
    return paddle.flip(img, axis=[-1 if horizontal else -2])


def _mixed(img: Any, other: Any, share: float) -> Any:
    """*img* and *other* by *share* of the first, within what pixels may be."""
    return paddle.clip(paddle.lerp(other, img, float(share)), 0, _largest(img)).astype(img.dtype)


def brightness(img: Any, factor: float) -> Any:
    return _mixed(img, paddle.zeros_like(img), factor)


def contrast(img: Any, factor: float) -> Any:
    mean = paddle.mean(_grey(img), axis=[-1, -2, -3], keepdim=True)
    return _mixed(img, mean, factor)


def saturation(img: Any, factor: float) -> Any:
    return _mixed(img, _grey(img), factor)


def _grey(img: Any) -> Any:
    if img.shape[-3] == 1:
        return img
    red, green, blue = (img[..., i : i + 1, :, :] for i in range(3))
    return red * GREY[0] + green * GREY[1] + blue * GREY[2]


def hue(img: Any, factor: float) -> Any:
    if img.shape[-3] == 1:
        return img
    scale = _largest(img)
    hues, saturations, values = _hsv(img.astype("float32") / paddle.to_tensor(scale) if scale > 1 else img)
    turned = paddle.remainder(hues + factor, paddle.to_tensor(1.0, dtype=hues.dtype))
    out = _rgb(turned, saturations, values)
    return (out * scale).astype(img.dtype) if scale > 1 else out


def _hsv(img: Any) -> tuple[Any, Any, Any]:
    """Hue, saturation and value, each from 0 to 1 (A. R. Smith 1978)."""
    red, green, blue = (img[..., i, :, :] for i in range(3))
    most = paddle.maximum(paddle.maximum(red, green), blue)
    least = paddle.minimum(paddle.minimum(red, green), blue)
    spread = most - least
    grey = spread == 0
    ones = paddle.ones_like(most)
    saturation = spread / paddle.where(grey, ones, most)
    divisor = paddle.where(grey, ones, spread)
    far_red, far_green, far_blue = ((most - colour) / divisor for colour in (red, green, blue))
    zeros = paddle.zeros_like(most)
    by_red = paddle.where(most == red, far_blue - far_green, zeros)
    by_green = paddle.where((most == green) & (most != red), far_red - far_blue + 2.0, zeros)
    by_blue = paddle.where((most != green) & (most != red), far_green - far_red + 4.0, zeros)
    hue = paddle.remainder((by_red + by_green + by_blue) / 6.0 + 1.0, paddle.to_tensor(1.0, dtype=img.dtype))
    return hue, saturation, most


def _rgb(hue: Any, saturation: Any, value: Any) -> Any:
    sixth = paddle.floor(hue * 6.0)
    rest = hue * 6.0 - sixth
    low = paddle.clip(value * (1.0 - saturation), 0.0, 1.0)
    falling = paddle.clip(value * (1.0 - saturation * rest), 0.0, 1.0)
    rising = paddle.clip(value * (1.0 - saturation * (1.0 - rest)), 0.0, 1.0)
    which = paddle.remainder(sixth.astype("int32"), paddle.to_tensor(6, dtype="int32"))
    colours = (
        (value, falling, low, low, rising, value),
        (rising, value, value, falling, low, low),
        (low, low, rising, value, value, falling),
    )
    return paddle.stack([_chosen(which, of) for of in colours], axis=-3)


def _chosen(which: Any, of: Sequence[Any]) -> Any:
    out = of[0]
    for i, value in enumerate(of[1:], start=1):
        out = paddle.where(which == i, value, out)
    return out


def _read(img: Any, x: Any, y: Any, interpolation: str, fill: Any) -> Any:
    """*img* read at the pixels *x*, *y*, counted from the middle of the first; what lies beside it is *fill*."""
    if interpolation not in ("nearest", "bilinear"):
        raise UsageError(f"interpolation of a tensor must be nearest or bilinear here, but got {interpolation!r}")
    height, width = size(img)
    places = np.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], axis=-1)[None]
    batch = _as_batch(img)
    grid = paddle.to_tensor(np.repeat(places, batch.shape[0], axis=0).astype("float32")).astype(img.dtype)
    options = {"mode": interpolation, "padding_mode": "zeros", "align_corners": False}
    out = F.grid_sample(batch, grid, **options)
    fills = fill if isinstance(fill, (list, tuple)) else [fill]
    there = F.grid_sample(paddle.ones_like(batch[:, :1]), grid, **options)
    beside = paddle.to_tensor(np.array(fills, "float32")).astype(img.dtype).reshape([1, -1, 1, 1])
    if interpolation == "nearest":
        out = paddle.where(there < 0.5, beside.expand_as(out), out)
    else:  # at the border what is read is weighted once more, as in Paddle
        out = out * there + (1.0 - there) * beside
    return out if img.ndim == 4 else out.squeeze(0)


def _pixels(width: int, height: int) -> tuple[Any, Any]:
    return np.meshgrid(np.arange(width, dtype="float64"), np.arange(height, dtype="float64"))


def _moved(img: Any, matrix: Sequence[float], width: int, height: int, interpolation: str, fill: Any) -> Any:
    """*img* read where *matrix* says, which counts from the middle of the image."""
    a, b, c, d, e, f = matrix
    x, y = _pixels(width, height)
    x, y = x + 0.5 - width / 2, y + 0.5 - height / 2
    high, wide = size(img)
    return _read(img, a * x + b * y + c + wide / 2 - 0.5, d * x + e * y + f + high / 2 - 0.5, interpolation, fill)


def _between(center: Any, middle: tuple[float, float]) -> tuple[float, float]:
    """Return the distance of *center* from *middle*; None is the middle itself."""
    return (0.0, 0.0) if center is None else (center[0] - middle[0], center[1] - middle[1])


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
    height, width = size(img)
    # Paddle measures from half of the height and of the width, in this order.
    matrix = _matrices.affine(_between(center, (height * 0.5, width * 0.5)), angle, translate, scale, shear)
    return _moved(img, matrix, width, height, interpolation, fill)


def rotate(img: Any, angle: float, interpolation: str, expand: bool, center: Any, fill: Any) -> Any:
    height, width = size(img)
    middle = _between(center, (width * 0.5, height * 0.5))
    matrix = _matrices.affine(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    wide, high = _matrices.turned_size(angle, width, height) if expand else (width, height)
    return _moved(img, matrix, wide, high, interpolation, fill)


def perspective(img: Any, start: Any, end: Any, interpolation: str, fill: Any) -> Any:
    height, width = size(img)
    a, b, c, d, e, f, g, h = _matrices.perspective(start, end)
    x, y = ((n + 0.5).astype("float32") for n in _pixels(width, height))
    share = g * x + h * y + 1
    return _read(img, (a * x + b * y + c) / share - 0.5, (d * x + e * y + f) / share - 0.5, interpolation, fill)


def grayscale(img: Any, channels: int) -> Any:
    grey = img * sum(GREY) if img.shape[-3] == 1 else _grey(img)
    return grey if channels == 1 else paddle.concat([grey] * channels, axis=-3)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool) -> Any:
    out = img if inplace else img.clone()
    out[..., i : i + h, j : j + w] = v
    return out
