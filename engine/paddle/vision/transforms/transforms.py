"""Changes of images as objects; what is drawn comes from Python's ``random`` and NumPy's generator, as in Paddle."""

from __future__ import annotations

import math
import numbers as numeric
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError

from . import _kinds
from . import functional as F
from ._refusals import MissingApply, WrongValue

__all__ = [
    "BaseTransform",
    "BrightnessTransform",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ContrastTransform",
    "Grayscale",
    "HueTransform",
    "Normalize",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "SaturationTransform",
    "ToTensor",
    "Transpose",
]


class Compose:
    """Transforms one after the other.

    Args:
        transforms: what is called with what the one before it gave.
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        inside = "".join(f"\n    {t}" for t in self.transforms)
        return f"{type(self).__name__}({inside}\n)"


class BaseTransform:
    """Base of transforms: which of several inputs is changed how.

    Args:
        keys: what the inputs are, in turn: ``image``, or anything of which a subclass has a method ``_apply_…``, or
            None for what passes unchanged. One image if None. Inputs after those pass, too.

    Subclasses say what happens to an image in ``_apply_image``, and what is drawn once for all inputs in
    ``_get_params``, whose result is ``self.params``.
    """

    def __init__(self, keys: Sequence[str | None] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence) or isinstance(keys, str):
            raise UsageError(f"keys should be a sequence, but got keys={keys}")
        for key in keys:
            if key is not None and not hasattr(self, f"_apply_{key}"):
                raise MissingApply(f"{key} is unsupported data structure")
        self.keys = keys
        self.params: Any = None

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def __call__(self, inputs: Any) -> Any:
        several = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(several)
        changed = []
        for i, data in enumerate(several):
            key = self.keys[i] if i < len(self.keys) else None
            changed.append(data if key is None else getattr(self, f"_apply_{key}")(data))
        return changed[0] if len(changed) == 1 else tuple(changed)

    def _apply_image(self, image: Any) -> Any:
        raise MissingApply(f"{type(self).__name__} has no _apply_image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise MissingApply(f"{type(self).__name__} has no _apply_boxes")

    def _apply_mask(self, mask: Any) -> Any:
        raise MissingApply(f"{type(self).__name__} has no _apply_mask")


class ToTensor(BaseTransform):
    """:func:`to_tensor` of each image."""

    def __init__(self, data_format: str = "CHW", keys: Any = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img: Any) -> Any:
        return F.to_tensor(img, self.data_format)


class Resize(BaseTransform):
    """:func:`resize` of each image."""

    def __init__(self, size: Any, interpolation: str = "bilinear", keys: Any = None) -> None:
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """:func:`center_crop` of each image; *size* is one number or two."""

    def __init__(self, size: Any, keys: Any = None) -> None:
        super().__init__(keys)
        self.size = (int(size), int(size)) if isinstance(size, numeric.Number) else size  # type: ignore[call-overload]

    def _apply_image(self, img: Any) -> Any:
        return F.center_crop(img, self.size)


class RandomResizedCrop(BaseTransform):
    """A part of the image, drawn by its area and its shape, in one size.

    Args:
        size: height and width of the result; one number for both.
        scale: the least and the largest share of the area.
        ratio: the least and the largest width for each height, evenly drawn by its logarithm.
    """

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else size
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _get_param(self, image: Any, attempts: int = 10) -> tuple[int, int, int, int]:
        """Top, left, height and width."""
        height, width = F.size_of(image)
        for _ in range(attempts):
            area = np.random.uniform(self.scale[0], self.scale[1]) * height * width
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < wide <= width and 0 < high <= height:
                top = random.randint(0, height - high)
                return top, random.randint(0, width - wide), high, wide
        # The middle, in the shape that is nearest.
        wide, high = width, height
        if width / height < min(self.ratio):
            high = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            wide = round(height * max(self.ratio))
        return (height - high) // 2, (width - wide) // 2, high, wide

    def _apply_image(self, img: Any) -> Any:
        cropped = F.crop(img, *self._get_param(img))
        return F.resize(cropped, self.size, self.interpolation)


class _Flip(BaseTransform):
    """Base of transforms that exchange something with a probability."""

    def __init__(self, prob: float = 0.5, keys: Any = None) -> None:
        super().__init__(keys)
        self.prob = prob

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return random.random() < self.prob


class RandomHorizontalFlip(_Flip):
    """:func:`hflip`, with probability *prob*."""

    def _apply_image(self, img: Any) -> Any:
        return F.hflip(img) if self.params else img


class RandomVerticalFlip(_Flip):
    """:func:`vflip`, with probability *prob*."""

    def _apply_image(self, img: Any) -> Any:
        return F.vflip(img) if self.params else img


class Normalize(BaseTransform):
    """:func:`normalize` of each image; one number stands for three channels."""

    def __init__(
        self, mean: Any = 0.0, std: Any = 1.0, data_format: str = "CHW", to_rgb: bool = False, keys: Any = None
    ) -> None:
        super().__init__(keys)
        self.mean, self.std = ([v] * 3 if isinstance(v, numeric.Number) else v for v in (mean, std))
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, img: Any) -> Any:
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The image as an array, its dimensions in another order: channels first if nothing else is said."""

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Any = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img: Any) -> Any:
        if _kinds.kind(img, "Transpose") == _kinds.TENSOR:
            return img.transpose(self.order)
        pixels = np.asarray(img)
        return (pixels if pixels.ndim == 3 else pixels[..., np.newaxis]).transpose(self.order)


def _span(value: Any, name: str, center: float = 1.0, bound: tuple[float, float] = (0.0, math.inf)) -> Any:
    """The least and the largest of what is drawn, or None for nothing."""
    if isinstance(value, numeric.Number):
        if value < 0:  # type: ignore[operator]
            raise UsageError(f"If {name} is a single number, it must be non negative.")
        span = [max(center - value, bound[0]), center + value]  # type: ignore[operator]
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        span = list(value)
    else:
        raise ArgumentTypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not bound[0] <= span[0] <= span[1] <= bound[1]:
        raise UsageError(f"{name} values should be between {bound}")
    return None if span[0] == span[1] == center else span


class BrightnessTransform(BaseTransform):
    """:func:`adjust_brightness` by what is drawn from ``1 - value`` to ``1 + value``."""

    def __init__(self, value: float, keys: Any = None) -> None:
        super().__init__(keys)
        self.value = _span(value, "brightness")

    def _apply_image(self, img: Any) -> Any:
        return img if self.value is None else F.adjust_brightness(img, random.uniform(*self.value))


class ContrastTransform(BaseTransform):
    """:func:`adjust_contrast` by what is drawn from ``1 - value`` to ``1 + value``."""

    def __init__(self, value: float, keys: Any = None) -> None:
        super().__init__(keys)
        self.value = _span(value, "contrast")

    def _apply_image(self, img: Any) -> Any:
        return img if self.value is None else F.adjust_contrast(img, random.uniform(*self.value))


class SaturationTransform(BaseTransform):
    """:func:`adjust_saturation` by what is drawn from ``1 - value`` to ``1 + value``."""

    def __init__(self, value: float, keys: Any = None) -> None:
        super().__init__(keys)
        self.value = _span(value, "saturation")

    def _apply_image(self, img: Any) -> Any:
        return img if self.value is None else F.adjust_saturation(img, random.uniform(*self.value))


class HueTransform(BaseTransform):
    """:func:`adjust_hue` by what is drawn from ``-value`` to ``value``."""

    def __init__(self, value: float, keys: Any = None) -> None:
        super().__init__(keys)
        self.value = _span(value, "hue", center=0.0, bound=(-0.5, 0.5))

    def _apply_image(self, img: Any) -> Any:
        return img if self.value is None else F.adjust_hue(img, random.uniform(*self.value))


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue, drawn, in an order that is drawn, too."""

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0, keys: Any = None
    ) -> None:
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _get_param(self) -> Compose:
        transforms: list[BaseTransform] = [
            BrightnessTransform(self.brightness, self.keys),
            ContrastTransform(self.contrast, self.keys),
            SaturationTransform(self.saturation, self.keys),
            HueTransform(self.hue, self.keys),
        ]
        random.shuffle(transforms)
        return Compose(transforms)

    def _apply_image(self, img: Any) -> Any:
        return self._get_param()(img)


class RandomCrop(BaseTransform):
    """A part of that size, from anywhere.

    Args:
        size: height and width; one number for both.
        padding, fill, padding_mode: a border first, see :func:`pad`; None for none.
        pad_if_needed: a border where the image is too small.

    Raises:
        UsageError: the image is too small (a ValueError).
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.size = (int(size), int(size)) if isinstance(size, numeric.Number) else size  # type: ignore[call-overload]
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    def _get_param(self, img: Any, output_size: Any) -> tuple[int, int, int, int]:
        """Top, left, height and width."""
        height, width = F.size_of(img)
        high, wide = output_size
        if width == wide and height == high:
            return 0, 0, height, width
        if width < wide or height < high:
            raise UsageError(
                f"RandomCrop: an image of {height} × {width} has no part of {high} × {wide}",
                hint="pad_if_needed=True adds a border",
            )
        top = random.randint(0, height - high)
        return top, random.randint(0, width - wide), high, wide

    def _apply_image(self, img: Any) -> Any:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        height, width = F.size_of(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, (self.size[1] - width, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, (0, self.size[0] - height), self.fill, self.padding_mode)
        return F.crop(img, *self._get_param(img, self.size))


class Pad(BaseTransform):
    """:func:`pad` of each image."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant", keys: Any = None) -> None:
        super().__init__(keys)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)


def _degrees(value: Any, name: str) -> tuple[float, float]:
    if isinstance(value, numeric.Number):
        if value < 0:  # type: ignore[operator]
            raise UsageError(f"If {name} is a single number, it must be positive.")
        return -value, value  # type: ignore[operator, return-value]
    if len(value) != 2:
        raise UsageError(f"If {name} is a sequence, it must be of len 2.")
    return value[0], value[1]


class RandomRotation(BaseTransform):
    """:func:`rotate` by what is drawn from *degrees*: two numbers, or one for both sides."""

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _degrees(degrees, "degrees")
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _get_param(self, degrees: Any) -> float:
        return random.uniform(degrees[0], degrees[1])

    def _apply_image(self, img: Any) -> Any:
        return F.rotate(img, self._get_param(self.degrees), self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """:func:`affine` by what is drawn.

    Args:
        degrees, shear: two numbers, or one for both sides; *shear* four for columns and rows.
        translate: the largest shares of width and height.
        scale: the least and the largest; None for none, as the others.

    Raises:
        UsageError: numbers that do not fit (a ValueError).
    """

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Any = None,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = tuple(map(float, _degrees(degrees, "degrees")))
        if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
            raise UsageError("translation values should be between 0 and 1")
        if scale is not None and not all(s > 0 for s in scale):
            raise UsageError("scale values should be positive")
        if shear is not None:
            shear = _degrees(shear, "shear") if isinstance(shear, numeric.Number) else shear
            if len(shear) not in (2, 4):
                raise UsageError("shear should be a sequence of length 2 or 4.")
            shear = tuple(map(float, shear))
        self.translate, self.scale, self.shear = translate, scale, shear
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _get_param(self, img_size: Any) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Angle, translation, scale and shears; *img_size* is width and height."""
        angle = random.uniform(*self.degrees)
        across, down = 0, 0
        if self.translate is not None:
            most = [share * n for share, n in zip(self.translate, img_size, strict=True)]
            across, down = int(random.uniform(-most[0], most[0])), int(random.uniform(-most[1], most[1]))
        scale = 1.0 if self.scale is None else random.uniform(*self.scale)
        along, over = 0.0, 0.0
        if self.shear is not None:
            along = random.uniform(self.shear[0], self.shear[1])
            over = random.uniform(self.shear[2], self.shear[3]) if len(self.shear) == 4 else 0.0
        return angle, (across, down), scale, (along, over)

    def _apply_image(self, img: Any) -> Any:
        height, width = F.size_of(img)
        drawn = self._get_param((width, height))
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=self.fill, center=self.center)


class RandomPerspective(BaseTransform):
    """A projection with probability *prob*: each corner moves inwards, as far as *distortion_scale* lets it."""

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        if not 0 <= prob <= 1:
            raise WrongValue(f"prob should be between 0 and 1, but got {prob}")
        if not 0 <= distortion_scale <= 1:
            raise WrongValue(f"distortion_scale should be between 0 and 1, but got {distortion_scale}")
        self.prob, self.distortion_scale = prob, distortion_scale
        self.interpolation, self.fill = interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[Any, Any]:
        """The corners, and where they go; clockwise from the top left."""
        across, down = (int(distortion_scale * (n // 2)) + 1 for n in (width, height))
        # Where the corners of each side lie, from and to.
        left, right = (0, across), (width - across, width)
        top, bottom = (0, down), (height - down, height)
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        end = [[int(random.uniform(*x)), int(random.uniform(*y))] for x, y in corners]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], end

    def _apply_image(self, img: Any) -> Any:
        if random.random() >= self.prob:
            return img
        height, width = F.size_of(img)
        start, end = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, start, end, self.interpolation, self.fill)


class Grayscale(BaseTransform):
    """:func:`to_grayscale` of each image."""

    def __init__(self, num_output_channels: int = 1, keys: Any = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img: Any) -> Any:
        return F.to_grayscale(img, self.num_output_channels)


class RandomErasing(BaseTransform):
    """:func:`erase` of a part, with probability *prob*.

    Args:
        scale: the least and the largest share of the area.
        ratio: the least and the largest height for each width, evenly drawn by its logarithm.
        value: what stands there: a number, one for each channel, or ``"random"`` for normally distributed ones.

    Raises:
        WrongValue: arguments that do not fit (an AssertionError).
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        for name, pair in (("scale", scale), ("ratio", ratio)):
            if not isinstance(pair, (tuple, list)):
                raise WrongValue(f"{name} should be a tuple or list")
        if not (0 <= scale[0] <= scale[1] <= 1):
            raise WrongValue(f"scale should be of kind (min, max) and in range [0, 1], but got {scale}")
        if not 0 <= ratio[0] <= ratio[1]:
            raise WrongValue(f"ratio should be of kind (min, max), but got {ratio}")
        if not 0 <= prob <= 1:
            raise WrongValue(f"The probability should be in range [0, 1], but got {prob}")
        if isinstance(value, str) and value != "random":
            raise WrongValue("value must be 'random' when type is str")
        self.prob, self.scale, self.ratio, self.value, self.inplace = prob, scale, ratio, value, inplace

    def _get_param(self, img: Any, attempts: int = 10) -> tuple[int, int, int, int, Any]:
        """Top, left, height, width, and what stands there."""
        height, width = F.size_of(img)
        of_tensor = _kinds.kind(img, "RandomErasing") == _kinds.TENSOR
        channels = img.shape[-3] if of_tensor else (1 if np.asarray(img).ndim == 2 else np.asarray(img).shape[-1])
        low, high = np.log(np.array(self.ratio))
        for _ in range(attempts):
            area = np.random.uniform(self.scale[0], self.scale[1]) * height * width
            ratio = np.exp(np.random.uniform(low, high))
            tall, wide = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
            if tall >= height or wide >= width:
                continue
            value = self._values([channels, tall, wide] if of_tensor else [tall, wide, channels], of_tensor)
            top = np.random.randint(0, height - tall + 1)
            return top, np.random.randint(0, width - wide + 1), tall, wide, value
        return 0, 0, height, width, img

    def _values(self, shape: list[int], of_tensor: bool) -> Any:
        if self.value == "random":
            return paddle.normal(shape=shape) if of_tensor else np.random.normal(size=shape)
        each = self.value if isinstance(self.value, (list, tuple)) else [self.value]
        if of_tensor:
            return paddle.to_tensor(np.array(each, "float32")).reshape([-1, 1, 1])
        return each

    def _apply_image(self, img: Any) -> Any:
        if random.random() >= self.prob:
            return img
        top, left, tall, wide, value = self._get_param(img)
        return img if value is img else F.erase(img, top, left, tall, wide, value, self.inplace)
