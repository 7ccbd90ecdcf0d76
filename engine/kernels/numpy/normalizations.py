"""Normalizations of images, some of them at a time, which stay in the processor's cache from pass to pass.

A channel of an image is a row of elements here. Sums of a row are products of two rows (``vecdot``), which take a third
of what adding up takes, and those of a row are the same whichever rows are worked on with it. What is the same for a
channel or a group is multiplied first. So these differ from the definitions in the last places. The gradient of batch
norm takes the statistics that forward has saved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .blocks import blocks, long_rows, many
from .general import definition, rule_of

SHORT = 8
"""Elements of a channel up to which there are more rows than it pays to go through."""

_add: Any = np.add.reduce
_products: Any = np.vecdot


def register() -> None:
    """Offer the kernels."""
    override("batch_norm", "numpy")(_batch_norm)
    override("batch_norm_grad", "numpy")(_batch_norm_grad)
    override("group_norm", "numpy")(_group_norm)
    override("group_norm_grad", "numpy")(_group_norm_grad)
    override("instance_norm", "numpy")(_instance_norm)
    override("instance_norm_grad", "numpy")(_instance_norm_grad)


def _takes(*arrays: Any) -> bool:
    """Return whether these are numbers of one type in single or double precision, and there are some."""
    first = arrays[0]
    return bool(first.dtype.char in "fd" and first.size and all(a is None or a.dtype == first.dtype for a in arrays))


def _rows_of_channels(x: Any) -> bool:
    """Return whether *x*, whose channels come first, has rows that are worth being gone through."""
    return bool(x.ndim > 2 and math.prod(x.shape[2:]) > SHORT)


def _column(vector: Any) -> Any:
    """A number for each channel, beside rows."""
    return None if vector is None else vector.reshape((-1, 1))


# -- over the batch ---------------------------------------------------------------------------------------------------


def _uses_running(attrs: Mapping[str, Any]) -> bool:
    return bool(attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"]))


def _batch_norm(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """With the statistics of the batch, where channels come first."""
    if _uses_running(attrs) or attrs["data_layout"] != "NCHW":
        return None
    general = definition("batch_norm", attrs)
    epsilon, momentum = attrs["epsilon"], attrs["momentum"]

    def standardise(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, momentum_tensor: Any) -> Any:
        if momentum_tensor is not None or not _takes(x, scale, bias, mean, variance) or not _rows_of_channels(x):
            return general(x, scale, bias, mean, variance, momentum_tensor)
        batch, channels = x.shape[:2]
        images = x.reshape((batch, channels, -1))
        ones, count = np.ones(images.shape[2], x.dtype), x.size // channels
        centre = _add(_products(images, ones), 0) / count
        if not many(images):  # or what stands for images
            y = images - _column(centre)
            spread, inverse, factor = _spread(_products(y, y), count, epsilon, scale)
            y = _scale(y, factor, bias)
        else:
            y, squares = np.empty(images.shape, x.dtype), np.empty((batch, channels), x.dtype)
            with long_rows(images.shape[2]):
                for block in blocks(images):
                    part = np.subtract(images[block], _column(centre), out=y[block])
                    squares[block] = _products(part, part)
                spread, inverse, factor = _spread(squares, count, epsilon, scale)
                for block in blocks(images):
                    _scale(y[block], factor, bias)
        return (
            centre.reshape(mean.shape),
            inverse.reshape(mean.shape),
            np.zeros(0, x.dtype),
            y.reshape(x.shape),
            mean * momentum + centre.reshape(mean.shape) * (1 - momentum),
            variance * momentum + spread.reshape(mean.shape) * (1 - momentum),
        )

    return standardise


def _spread(squares: Any, count: int, epsilon: float, scale: Any) -> tuple[Any, Any, Any]:
    """Of the sums of squares of images: variance, inverse of the deviation, and that with the factors of channels."""
    spread = _add(squares, 0) / count
    inverse = (spread + epsilon) ** -0.5
    return spread, inverse, inverse if scale is None else inverse * scale.reshape(-1)


def _scale(y: Any, factor: Any, bias: Any) -> Any:
    """Images times factors of channels, and their shifts."""
    y *= _column(factor)
    if bias is not None:
        y += _column(bias)
    return y


def _batch_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """With the statistics that forward has saved; not where it has used running ones."""
    general = rule_of("batch_norm", attrs)
    if general is None or _uses_running(attrs):
        return general
    whole = general
    first = attrs["data_layout"] == "NCHW"
    by_x, by_scale, by_bias = (mask[0] for mask in attrs["wanted"])

    def gradients(x: Any, scale: Any, bias: Any, *others: Any) -> Any:
        *_, mean, inverse, _, dy = others
        if mean is None or inverse is None or x.size == mean.size or not _takes(x, dy, mean, inverse, scale):
            return whole(x, scale, bias, *others)
        compute = _image_gradients if first and _rows_of_channels(x) else _row_gradients
        channels = mean.size
        # images as [image, channel, element], and rows of channels as they are
        images, dys = (a.reshape((a.shape[0], channels, -1) if first else (-1, channels, 1)) for a in (x, dy))
        centre, inverse, factor = (_column(v) for v in (mean, inverse, scale))
        factor = inverse if factor is None else inverse * factor
        dx, weighted, total = compute(images, dys, centre, inverse, factor, by_x)
        return (
            None if dx is None else dx.reshape(x.shape),
            weighted.reshape(scale.shape) if by_scale and scale is not None else None,
            total.reshape(bias.shape) if by_bias and bias is not None else None,
        )

    return gradients


def _image_gradients(images: Any, dys: Any, centre: Any, inverse: Any, factor: Any, by_x: bool) -> tuple[Any, Any, Any]:
    """The gradients by images, and by factors and shifts of channels."""
    batch, channels, size = images.shape
    ones, count = np.ones(size, images.dtype), batch * size
    if not many(images):  # or what stands for images
        normal = images - centre
        weighted, total = _column(_add(_products(dys, normal), 0)) * inverse, _column(_add(_products(dys, ones), 0))
        along, shift = weighted * inverse * factor / count, total * factor / count
        return _less(dys * factor, normal, along, shift) if by_x else None, weighted, total
    normal = np.empty_like(images)
    weights, totals = np.empty((2, batch, channels), images.dtype)
    with long_rows(images.shape[2]):
        for block in blocks(images):
            part = np.subtract(images[block], centre, out=normal[block])
            weights[block], totals[block] = _products(dys[block], part), _products(dys[block], ones)
        weighted, total = _column(_add(weights, 0)) * inverse, _column(_add(totals, 0))
        if not by_x:
            return None, weighted, total
        along, shift = weighted * inverse * factor / count, total * factor / count
        work = np.empty_like(normal[next(blocks(images))])
        for block in blocks(images):
            arrived = np.multiply(dys[block], factor, out=work[: block.stop - block.start])
            normal[block] = _less(arrived, normal[block], along, shift)
    return normal, weighted, total


def _less(arrived: Any, normal: Any, along: Any, shift: Any) -> Any:
    """Return *arrived*, written over, less its share along the images *normal*, written as well, and its mean."""
    normal *= along
    arrived -= normal
    arrived -= shift
    return arrived


def _row_gradients(rows: Any, dys: Any, centre: Any, inverse: Any, factor: Any, by_x: bool) -> tuple[Any, Any, Any]:
    """The same of rows of channels, ``[row, channel, 1]``, or of channels with few elements."""
    channels = centre.size
    normal, work = np.empty(rows.shape, rows.dtype), np.empty_like(rows[next(blocks(rows))])
    total, weighted = np.zeros((2, channels, 1), rows.dtype)
    for block in blocks(rows):
        y, part = normal[block], work[: block.stop - block.start]
        np.subtract(rows[block], centre, out=y)
        y *= inverse
        weighted += _add(np.multiply(y, dys[block], out=part), (0, 2), None, None, False).reshape(channels, 1)
        total += _add(dys[block], (0, 2), None, None, False).reshape(channels, 1)
    if not by_x:
        return None, weighted, total
    count = rows.size // channels
    slope, shift = weighted / -count, total / count
    for block in blocks(rows):
        y = normal[block]
        y *= slope
        y += dys[block]
        y -= shift
        y *= factor
    return normal, weighted, total


# -- over groups of channels ------------------------------------------------------------------------------------------


def _standardise(x: Any, groups: int, scale: Any, bias: Any, epsilon: float) -> tuple[Any, Any, Any, Any]:
    """Mean, variance and inverse of the standard deviation of each group of each image, and the result."""
    batch, channels = x.shape[:2]
    rows = x.reshape((batch, groups, -1))
    y = np.empty(rows.shape, x.dtype)
    mean, variance, inverse = np.empty((3, batch, groups, 1), x.dtype)
    ones, count = np.ones(rows.shape[2], x.dtype), rows.shape[2]
    with long_rows(rows.shape[2]):
        for block in blocks(rows):
            mean[block] = _products(rows[block], ones)[..., None] / count
            part = np.subtract(rows[block], mean[block], out=y[block])
            variance[block] = _products(part, part)[..., None] / count
            inverse[block] = (variance[block] + epsilon) ** -0.5
            if scale is None:
                part *= inverse[block]
            part = part.reshape((len(part), channels, -1))
            if scale is not None:
                part *= np.repeat(inverse[block], channels // groups, 1) * _column(scale)
            if bias is not None:
                part += _column(bias)
    return mean, variance, inverse, y.reshape(x.shape)


def _group_gradients(x: Any, groups: int, scale: Any, dy: Any, epsilon: float, by_x: bool) -> tuple[Any, Any, Any]:
    """The gradients by images, and by factors and shifts of channels."""
    batch, channels = x.shape[:2]
    rows, dys = x.reshape((batch, groups, -1)), dy.reshape((batch, channels, -1))
    of_group, members = np.ones(rows.shape[2], x.dtype), channels // groups
    of_channel, count = of_group[: dys.shape[2]], rows.shape[2]
    dx = np.empty(dys.shape, x.dtype) if by_x else None
    weights, totals = np.empty((2, batch, channels), x.dtype)
    factor = np.ones(channels, x.dtype) if scale is None else scale.reshape(-1)
    work = np.empty_like(rows[next(blocks(rows))])
    with long_rows(rows.shape[2]):
        for block in blocks(rows):
            mean = _products(rows[block], of_group)[..., None] / count
            normal = np.subtract(rows[block], mean, out=work[: block.stop - block.start])
            inverse = np.power(_products(normal, normal) / count + epsilon, -0.5)
            dyb, each = dys[block], np.repeat(inverse, members, 1)
            weighted = _products(dyb, normal.reshape(dyb.shape)) * each
            weights[block], totals[block] = weighted, _products(dyb, of_channel)
            if dx is None:
                continue
            # what arrives, less its mean and its share along the normalised rows
            along, total = (_add((v * factor).reshape((*inverse.shape, members)), 2) for v in (weighted, totals[block]))
            part = np.multiply(dyb, (each * factor)[..., None], out=dx[block]).reshape(normal.shape)
            normal *= (along * inverse * inverse / count)[..., None]
            part -= normal
            part -= (total * inverse / count)[..., None]
    return dx, _add(weights, 0), _add(totals, 0)


def _gradients_of_groups(x: Any, groups: int, scale: Any, bias: Any, dy: Any, epsilon: float, wanted: Any) -> Any:
    by_x, by_scale, by_bias = (mask[0] for mask in wanted)
    dx, weights, totals = _group_gradients(x, groups, scale, dy, epsilon, by_x)
    return (
        None if dx is None else dx.reshape(x.shape),
        weights.reshape(scale.shape) if by_scale and scale is not None else None,
        totals.reshape(bias.shape) if by_bias and bias is not None else None,
    )


def _group_norm(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """Normalise groups where channels come first."""
    if attrs["data_layout"] != "NCHW":
        return None
    general = definition("group_norm", attrs)
    groups, epsilon = attrs["groups"], attrs["epsilon"]

    def standardise(x: Any, scale: Any, bias: Any) -> Any:
        if not _takes(x, scale, bias) or not _rows_of_channels(x):
            return general(x, scale, bias)
        mean, variance, _, y = _standardise(x, groups, scale, bias, epsilon)
        return mean.reshape(mean.shape[:2]), variance.reshape(mean.shape[:2]), y

    return standardise


def _group_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """Pull through a group norm where channels come first."""
    general = rule_of("group_norm", attrs)
    if general is None or attrs["data_layout"] != "NCHW":
        return general
    whole = general
    groups, epsilon, wanted = attrs["groups"], attrs["epsilon"], attrs["wanted"]

    def gradients(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, y: Any, dy: Any) -> Any:
        if not _takes(x, scale, dy) or not _rows_of_channels(x):
            return whole(x, scale, bias, mean, variance, y, dy)
        return _gradients_of_groups(x, groups, scale, bias, dy, epsilon, wanted)

    return gradients


# -- over every channel of every image --------------------------------------------------------------------------------


def _instance_norm(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general, epsilon = definition("instance_norm", attrs), attrs["epsilon"]

    def standardise(x: Any, scale: Any, bias: Any) -> Any:
        if not _takes(x, scale, bias) or not _rows_of_channels(x):
            return general(x, scale, bias)
        mean, _, inverse, y = _standardise(x, x.shape[1], scale, bias, epsilon)
        return mean.reshape(-1), inverse.reshape(-1), y

    return standardise


def _instance_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = rule_of("instance_norm", attrs)
    if general is None:
        return None
    whole = general
    epsilon, wanted = attrs["epsilon"], attrs["wanted"]

    def gradients(x: Any, scale: Any, bias: Any, mean: Any, inverse: Any, dy: Any) -> Any:
        if not _takes(x, scale, dy) or not _rows_of_channels(x):
            return whole(x, scale, bias, mean, inverse, dy)
        return _gradients_of_groups(x, x.shape[1], scale, bias, dy, epsilon, wanted)

    return gradients
