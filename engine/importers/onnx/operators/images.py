"""Images in another size or place.

An axis is resized by a matrix, which follows from the sizes when the file is read: so every mode of the standard is one
mechanism, and its gradient that of a product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking, Malformed
from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row

Array = np.ndarray[Any, Any]


class Axis:
    """Resizing of one axis.

    Attributes:
        size, wanted: its sizes before and after.
        scale: how much longer it gets.
        begin, end: which part of it is looked at, from 0 to 1.
    """

    def __init__(self, size: int, wanted: int, scale: float, begin: float = 0.0, end: float = 1.0) -> None:
        self.size, self.wanted, self.scale, self.begin, self.end = size, wanted, scale, begin, end

    def places(self, how: str) -> Array:
        """Return the place on the old axis of each element of the new one."""
        x = np.arange(self.wanted, dtype="float64")
        last, length = self.size - 1, self.scale * self.size  # sizes that no scale was cut to
        if how == "asymmetric":
            return x / self.scale
        if how == "align_corners":
            return x * (last / (length - 1)) if length != 1 else x * 0
        if how == "tf_crop_and_resize":
            if length == 1:
                return x + 0.5 * (self.begin + self.end) * last
            return self.begin * last + x * (self.end - self.begin) * last / (length - 1)
        middle = (x + 0.5) / self.scale - 0.5
        if how == "half_pixel_symmetric":
            return self.size / 2 * (1 - self.wanted / (self.scale * self.size)) + middle
        if how == "pytorch_half_pixel":
            return middle if length > 1 else x * 0
        if how == "half_pixel":
            return middle
        raise Malformed(f"it places elements as {how!r}")


_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _linear(x: Array) -> Array:
    return np.asarray(np.clip(1 - np.abs(x), 0, 1))


def _cubic(a: float) -> Any:
    def weights(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return weights


def _matrix(axis: Axis, places: Array, weights: Any, reach: int, smooth: bool, inside: bool, normal: bool) -> Array:
    """Return the share of each old element in each new one.

    Args:
        weights: of an element at a distance.
        reach: how far they reach.
        smooth: they reach over more elements where the axis gets shorter.
        inside: elements outside have no weight; else the edge stands for them.
    """
    squeeze = min(axis.scale, 1.0) if smooth else 1.0
    wide = math.ceil(reach / squeeze)
    base = np.floor(places)
    near = base[:, None] + np.arange(1 - wide, wide + 1)[None, :]
    shares = weights((near - places[:, None]) * squeeze)
    if inside:
        shares = np.where((near < 0) | (near >= axis.size), 0.0, shares)
    if inside or normal or smooth:
        shares = shares / shares.sum(1, keepdims=True)
    matrix = np.zeros((axis.wanted, axis.size))
    old = np.clip(near, 0, axis.size - 1).astype(int)
    np.add.at(matrix, (np.arange(axis.wanted)[:, None], old), shares)
    return matrix


def _multiply_axis(x: Any, axis: int, matrix: Array) -> Any:
    """*x* with an axis multiplied by a matrix."""
    rank = len(x.shape)
    held = paddle.assign(matrix.astype(kind_of(x)))
    if axis == rank - 1:
        return paddle.matmul(x, held, transpose_y=True)
    if axis == rank - 2:
        return paddle.matmul(held, x)
    order = [i for i in range(rank) if i != axis] + [axis]
    back = [order.index(i) for i in range(rank)]
    return paddle.transpose(paddle.matmul(paddle.transpose(x, order), held, transpose_y=True), back)


class Resizing:
    """Attributes of a node that resizes."""

    def __init__(self, n: OnnxNode, old: bool) -> None:
        self.mode = n.text("mode", "nearest")
        self.how = "asymmetric" if old else n.text("coordinate_transformation_mode", "half_pixel")
        self.rounds = "floor" if old else n.text("nearest_mode", "round_prefer_floor")
        self.smooth = bool(n.whole("antialias", 0))
        self.inside = bool(n.whole("exclude_outside", 0))
        self.cubic = n.real("cubic_coeff_a", -0.75)
        self.outside = n.real("extrapolation_value", 0.0)
        if self.rounds not in _ROUNDED or self.mode not in ("nearest", "linear", "bilinear", "cubic"):
            raise Malformed(f"it resizes by {self.mode!r} and {self.rounds!r}")

    def resize(self, x: Any, at: int, axis: Axis) -> Any:
        """*x* with the axis *at* in its new size."""
        if axis.wanted == axis.size and axis.scale == 1 and self.how != "tf_crop_and_resize":
            return x
        places = axis.places(self.how)
        beyond = (places < 0) | (places > axis.size - 1) if self.how == "tf_crop_and_resize" else np.zeros(1, bool)
        if self.mode == "nearest":
            old = np.clip(_ROUNDED[self.rounds](np.round(places, 6)), 0, axis.size - 1).astype("int64")
            y = paddle.index_select(x, paddle.assign(old), axis=at)
        elif self.mode == "cubic":
            y = _multiply_axis(x, at, _matrix(axis, places, _cubic(self.cubic), 2, self.smooth, self.inside, False))
        else:
            y = _multiply_axis(x, at, _matrix(axis, places, _linear, 1, self.smooth, self.inside, False))
        if not beyond.any():
            return y
        shape = [-1 if i == at else 1 for i in range(len(x.shape))]
        mask = paddle.assign(beyond.astype(kind_of(x)).reshape(shape))
        return y * (1 - mask) + mask * self.outside


@row("Resize", since=11)
def _resize(n: OnnxNode) -> Any:
    x = n[0]
    rank = len(x.shape)
    axes = [a % rank for a in n.wholes("axes", list(range(rank)))]
    part = np.asarray([0.0] * len(axes) + [1.0] * len(axes))
    if n.has(1) and n.text("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        part = n.constant(1, "a part")
    told, by_sizes = None, n.has(3)
    if n.has(2):
        told = n.constant(2, "scales").reshape(-1)
        by_sizes = by_sizes and not told.size
    if by_sizes:
        return _resize_to(n, x, axes, part)
    if told is None or len(told) != len(axes):
        raise Malformed("scales, or sizes, are missing")
    resizing = Resizing(n, False)
    for i, (at, scale) in enumerate(zip(axes, (float(s) for s in told), strict=True)):
        x = _scale(resizing, x, at, scale, float(part[i]), float(part[i + len(axes)]))
    return paddle.assign(x) if x is n[0] else x


def _scale(resizing: Resizing, x: Any, at: int, scale: float, begin: float = 0.0, end: float = 1.0) -> Any:
    size = x.shape[at]
    if scale == 1 and resizing.how != "tf_crop_and_resize":
        return x
    if size < 0:
        raise Lacking("an axis that is resized, of a size that is not known")
    if not 0 < scale * size < 1 << 24:
        raise Malformed(f"it scales {size} by {scale}")
    wanted = math.floor(size * scale * (end - begin) if resizing.how == "tf_crop_and_resize" else size * scale)
    return resizing.resize(x, at, Axis(size, wanted, scale, begin, end))


def _resize_to(n: OnnxNode, x: Any, axes: list[int], part: Array) -> Any:
    wanted = n.sizes(3)
    if wanted is None or len(wanted) != len(axes):
        raise Lacking("sizes that are computed")
    policy = n.text("keep_aspect_ratio_policy", "stretch")
    resizing = Resizing(n, False)
    moved = [a for a, w in zip(axes, wanted, strict=True) if w is not None and x.shape[a] >= 0]
    scales = {a: w / x.shape[a] for a, w in zip(axes, wanted, strict=True) if a in moved and w is not None}
    if policy != "stretch" and scales:
        one = min(scales.values()) if policy == "not_larger" else max(scales.values())
        scales = dict.fromkeys(scales, one)
    for i, (at, size) in enumerate(zip(axes, wanted, strict=True)):
        if at not in scales:
            if size is None and x.shape[at] < 0 and at < 2:
                continue  # samples and channels of any number stay as they are
            raise Lacking("an axis that is resized, of a size that is not known")
        scale = scales[at]
        assert size is not None
        if not 0 < size < 1 << 24:
            raise Malformed(f"it asks for a size of {size}")
        new = size if policy == "stretch" else math.floor(scale * x.shape[at] + 0.5)
        axis = Axis(x.shape[at], new, scale, float(part[i]), float(part[i + len(axes)]))
        x = resizing.resize(x, at, axis)
    return paddle.assign(x) if x is n[0] else x


@row("Upsample")
@row("Resize", since=10)
def _upsample(n: OnnxNode) -> Any:
    x = n[0]
    scales = n.reals("scales") if n.holds("scales") else n.constant(1, "scales").reshape(-1).tolist()
    resizing = Resizing(n, True)
    for at, scale in enumerate(scales):
        x = _scale(resizing, x, at, float(scale))
    return paddle.assign(x) if x is n[0] else x


@row("RoiAlign")
def _regions(n: OnnxNode) -> Any:
    """The mean of samples in parts of regions."""
    from gradtool.paddle.vision.ops import roi_align

    x, of = n[0], n.constant(2, "places in a batch").reshape(-1)
    if n.text("mode", "avg") != "avg" or x.shape[0] < 0 or (np.diff(of) < 0).any():
        raise Lacking("the largest of samples, or regions in another order than their images")
    counts = np.bincount(of, minlength=x.shape[0]).astype("int32")
    usual = "half_pixel" if n.opset >= 16 else "output_half_pixel"
    return roi_align(
        x,
        n[1],
        paddle.assign(counts),
        [n.whole("output_height", 1), n.whole("output_width", 1)],
        spatial_scale=n.real("spatial_scale", 1.0),
        sampling_ratio=n.whole("sampling_ratio", 0) or -1,
        aligned=n.text("coordinate_transformation_mode", usual) == "half_pixel",
    )
