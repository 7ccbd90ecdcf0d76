"""Changes of images: PIL's images by Pillow, arrays by NumPy and OpenCV, tensors by operators."""

from __future__ import annotations

import importlib
import numbers as numeric
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from . import _kinds

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "affine",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "perspective",
    "resize",
    "rotate",
    "to_grayscale",
    "to_tensor",
    "vflip",
]

FILES = {_kinds.PIL: "_pil", _kinds.ARRAY: "_arrays", _kinds.TENSOR: "_tensors"}


def _by(img: Any, where: str) -> Any:
    """The module that changes images of that kind."""
    return importlib.import_module(f"gradtool.paddle.vision.transforms.{FILES[_kinds.kind(img, where)]}")


def size_of(img: Any) -> tuple[int, int]:
    """Height and width of an image of any kind.

    Raises:
        ArgumentTypeError: no image (a TypeError).
    """
    height, width = _by(img, "the size of an image").size(img)
    return height, width


def to_tensor(pic: Any, data_format: str = "CHW") -> Any:
    """An image of PIL or an array as a tensor; whole numbers from 0 to 255 become float32 from 0 to 1.

    Args:
        pic: ``[height, width, channels]`` or ``[height, width]``; a tensor ``[channels, height,
            width]`` keeps its numbers.
        data_format: ``CHW`` or ``HWC``, of the result.

    >>> import numpy as np
    >>> from gradtool import paddle
    >>> paddle.disable_static()
    >>> paddle.vision.transforms.to_tensor(np.full([2, 1, 3], 255, "uint8")).numpy().tolist()
    [[[1.0], [1.0]], [[1.0], [1.0]], [[1.0], [1.0]]]

    Raises:
        UsageError: another format (a ValueError).
        ArgumentTypeError: no image (a TypeError).
    """
    if data_format not in ("CHW", "HWC"):
        raise UsageError(f"data_format should be CHW or HWC. Got {data_format}")
    if _kinds.kind(pic, "to_tensor") == _kinds.TENSOR:
        return pic.transpose([1, 2, 0]) if data_format == "HWC" else pic
    pixels = _by(pic, "to_tensor").array(pic)
    if data_format == "CHW":
        pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype == np.uint8:
        return paddle.to_tensor(pixels.astype("float32") / np.float32(255))
    return paddle.to_tensor(np.ascontiguousarray(pixels))


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """*img* with other numbers of rows and columns.

    Args:
        size: height and width, or one number for the shorter side; the other follows.
        interpolation: of PIL's images ``nearest``, ``bilinear``, ``bicubic``, ``box``, ``lanczos``, ``hamming``; of
            arrays ``nearest``, ``bilinear``, ``area``, ``bicubic``, ``lanczos``; of tensors those of
            ``paddle.nn.functional.interpolate``.

    Raises:
        ArgumentTypeError: no image, or no size (a TypeError).
    """
    if not (isinstance(size, int) or (isinstance(size, (list, tuple)) and len(size) == 2)):
        raise ArgumentTypeError(f"Got inappropriate size arg: {size}")
    by = _by(img, "resize")
    height, width = by.size(img)
    if not isinstance(size, int):
        return by.resize(img, int(size[0]), int(size[1]), interpolation)
    if size == min(height, width):
        return img
    if width < height:
        return by.resize(img, int(size * height / width), size, interpolation)
    return by.resize(img, size, int(size * width / height), interpolation)


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """*img* with a border.

    Args:
        padding: one number, left and right with top and bottom, or left, top, right, bottom.
        fill: of the border with ``constant``, a number, or of PIL's images one for each band.
        padding_mode: ``constant``, ``edge`` for the last pixels, ``reflect`` without, ``symmetric`` with them.

    Raises:
        ArgumentTypeError: no image, or no padding (a TypeError).
        UsageError: another mode (a ValueError).
    """
    if not isinstance(padding, (numeric.Number, list, tuple)):
        raise ArgumentTypeError("Got inappropriate padding arg")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise UsageError("Padding mode should be either constant, edge, reflect or symmetric")
    widths: Any = [padding] * 4 if isinstance(padding, numeric.Number) else list(padding)
    if len(widths) == 2:
        widths = widths * 2
    if len(widths) != 4:
        raise UsageError(f"Padding must be an int or a 2, or 4 element tuple, not a {len(widths)} element tuple")
    return _by(img, "pad").pad(img, *widths, fill, padding_mode)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The rows from *top* and the columns from *left* of *img*, so many of them."""
    return _by(img, "crop").crop(img, top, left, height, width)


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of *img*, of that height and width; one number for both."""
    sizes: Any = (output_size, output_size) if isinstance(output_size, numeric.Number) else output_size
    high, wide = sizes
    by = _by(img, "center_crop")
    height, width = by.size(img)
    return by.crop(img, round((height - high) / 2.0), round((width - wide) / 2.0), int(high), int(wide))


def hflip(img: Any) -> Any:
    """*img* with left and right exchanged."""
    return _by(img, "hflip").flip(img, True)


def vflip(img: Any) -> Any:
    """*img* with top and bottom exchanged."""
    return _by(img, "vflip").flip(img, False)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """*img* so many times as light."""
    return _by(img, "adjust_brightness").brightness(img, brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """*img* with so many times the contrast: 0 for grey, 1 for what it is."""
    return _by(img, "adjust_contrast").contrast(img, contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """*img* with so many times the colour: 0 for black and white, 1 for what it is.

    Of an array the factor is drawn by NumPy, as far from 1 as *saturation_factor* is from 0 at most, as in Paddle.
    """
    return _by(img, "adjust_saturation").saturation(img, saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """*img* with its colours turned by that share of the circle, from -0.5 to 0.5.

    Raises:
        UsageError: a share beyond (a ValueError).
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise UsageError(f"hue_factor:{hue_factor} is not in [-0.5, 0.5].")
    return _by(img, "adjust_hue").hue(img, hue_factor)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Any = None,
) -> Any:
    """*img* turned, scaled and sheared around *center*, and moved; its size stays.

    Args:
        angle: in degrees, clockwise.
        translate: by how many columns and rows.
        shear: in degrees, one number for the columns, or two for columns and rows.
        center: column and row; the middle of *img* if None. Arrays are always turned around the first pixel, as in
            Paddle.
        fill: what shows where there is no image; of PIL's images that is black, as in Paddle.

    Raises:
        ArgumentTypeError: arguments of other types (a TypeError).
        UsageError: no two numbers, or a *scale* that is not above 0 (a ValueError).
    """
    if not isinstance(angle, (int, float)):
        raise ArgumentTypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise ArgumentTypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise UsageError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise UsageError("Argument scale should be positive")
    if not isinstance(shear, (int, float, list, tuple)):
        raise ArgumentTypeError("Shear should be either a single value or a sequence of two values")
    shears: Any = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear)
    if len(shears) == 1:
        shears = shears * 2
    if len(shears) != 2:
        raise UsageError(f"Shear should be a sequence containing two values. Got {shear}")
    return _by(img, "affine").affine(img, angle, list(translate), scale, shears, interpolation, fill, center)


def rotate(
    img: Any, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0
) -> Any:
    """*img* turned by *angle* degrees, counter-clockwise.

    Args:
        expand: make room for all of it; for turns around the middle.
        center: column and row; the middle of *img* if None.
        fill: what shows where there is no image.
    """
    return _by(img, "rotate").rotate(img, angle, interpolation, expand, center, fill)


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    """*img* as it looks when its corners *startpoints* are at *endpoints*; each ``[column, row]``, clockwise."""
    return _by(img, "perspective").perspective(img, startpoints, endpoints, interpolation, fill)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """*img* in black and white, with one channel or three.

    Raises:
        UsageError: another number of channels (a ValueError).
    """
    if num_output_channels not in (1, 3):
        raise UsageError("num_output_channels should be either 1 or 3")
    return _by(img, "to_grayscale").grayscale(img, num_output_channels)


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """``(img - mean) / std`` of each channel; of arrays and PIL's images an array of type float32.

    Args:
        mean, std: a number for each channel.
        data_format: ``CHW`` or ``HWC``, of *img*.
        to_rgb: reverse the last dimension of an array first.
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    if _kinds.kind(img, "normalize") == _kinds.TENSOR:
        means, stds = (paddle.to_tensor(v, dtype=img.dtype).reshape(shape) for v in (mean, std))
        return (img - means) / stds
    pixels = np.array(img).astype("float32")
    if to_rgb:
        pixels = pixels[..., ::-1]
    means, stds = (np.float32(np.array(v).reshape(shape)) for v in (mean, std))
    return (pixels - means) / stds


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """*img* with *v* in the rows from *i* and the columns from *j*, so many of them.

    Args:
        v: what fits there: ``[channels, h, w]`` for tensors, ``[h, w, channels]`` for the others.
        inplace: change *img* itself; PIL's images stay.
    """
    return _by(img, "erase").erase(img, i, j, h, w, v, inplace)
