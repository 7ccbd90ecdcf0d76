"""Gradients of normalizations, some images at a time, which stay in the processor's cache from pass to pass.

That of batch norm is that of the definition with the factors of a channel multiplied first and the statistics that
forward has saved: it differs from it in the last places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .general import rule_of

BLOCK = 1 << 17
"""Elements that are worked on at a time."""

_add: Any = np.add.reduce


def register() -> None:
    """Offer the kernels."""
    override("batch_norm_grad", "numpy")(_batch_norm_grad)
    override("group_norm_grad", "numpy")(_group_norm_grad)


def _takes(*arrays: Any) -> bool:
    """Whether these are numbers of one type in single or double precision, and there are some."""
    first = arrays[0]
    return bool(first.dtype.char in "fd" and first.size and all(a.dtype == first.dtype for a in arrays[1:]))


def _blocks(x: Any) -> Iterator[slice]:
    """Slices of the first dimension of *x*."""
    step = max(1, BLOCK // max(1, x.size // x.shape[0]))
    for start in range(0, x.shape[0], step):
        yield slice(start, min(start + step, x.shape[0]))


def _workspace(x: Any) -> Any:
    """An array for a block of *x*."""
    return np.empty((next(_blocks(x)).stop, *x.shape[1:]), x.dtype)


# -- over the batch ---------------------------------------------------------------------------------------------------


def _batch_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """With the statistics that forward has saved; not where it has used running ones."""
    general = rule_of("batch_norm", attrs)
    if general is None or attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"]):
        return general
    whole = general
    first = attrs["data_layout"] == "NCHW"
    by_x, by_scale, by_bias = (mask[0] for mask in attrs["wanted"])

    def gradients(x: Any, scale: Any, bias: Any, *others: Any) -> Any:
        *_, mean, inverse, _, dy = others
        if mean is None or inverse is None or x.size == mean.size or not _takes(x, dy, mean, inverse):
            return whole(x, scale, bias, *others)
        # images as [image, channel, element], and rows of channels as they are
        channels = mean.size
        shape, along = ((x.shape[0], channels, -1), (0, 2)) if first or x.ndim == 2 else ((-1, channels, 1), (0, 2))
        images, dys = x.reshape(shape), dy.reshape(shape)
        centre, inverse = mean.reshape(channels, 1), inverse.reshape(channels, 1)
        normal, work = np.empty(images.shape, x.dtype), _workspace(images)
        total, weighted = np.zeros((2, channels, 1), x.dtype)
        for block in _blocks(images):
            y, part = normal[block], work[: block.stop - block.start]
            np.subtract(images[block], centre, out=y)
            y *= inverse
            weighted += _add(np.multiply(y, dys[block], out=part), along, None, None, False).reshape(channels, 1)
            total += _add(dys[block], along, None, None, False).reshape(channels, 1)
        dx = None
        if by_x:
            count = x.size // channels
            slope, shift = weighted / -count, total / count
            factor = inverse if scale is None else inverse * scale.reshape(channels, 1)
            for block in _blocks(images):
                y = normal[block]
                y *= slope
                y += dys[block]
                y -= shift
                y *= factor
            dx = normal.reshape(x.shape)
        dscale = weighted.reshape(scale.shape) if by_scale and scale is not None else None
        return dx, dscale, total.reshape(bias.shape) if by_bias and bias is not None else None

    return gradients


# -- over groups of channels ------------------------------------------------------------------------------------------


def _group_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """Where channels come first."""
    general = rule_of("group_norm", attrs)
    if general is None or attrs["data_layout"] != "NCHW":
        return general
    whole = general
    groups, epsilon = attrs["groups"], attrs["epsilon"]
    by_x, by_scale, by_bias = (mask[0] for mask in attrs["wanted"])

    def gradients(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, y: Any, dy: Any) -> Any:
        # what is traced to be compiled follows the rule; of one channel NumPy adds up all images in one row
        if type(x) is not np.ndarray or not _takes(x, dy) or x.shape[1] == 1:
            return whole(x, scale, bias, mean, variance, y, dy)
        batch, channels = x.shape[:2]
        dx = np.empty(x.shape, x.dtype)
        dscale, dbias = np.zeros((2, channels), x.dtype)
        normal = np.empty((groups, x.size // (batch * groups)), x.dtype)
        work = np.empty_like(normal)
        factor = None if scale is None else scale.reshape(channels, 1)
        # as the rule has it: the share of an element, reckoned from the sizes of the whole
        share = np.asarray(batch * groups, x.dtype) / np.asarray(x.size, x.dtype)
        for image in range(batch):
            dys = dy[image].reshape(channels, -1)
            own = dx[image].reshape(normal.shape)
            _group_gradients(x[image].reshape(normal.shape), dys, factor, epsilon, share, normal, work, own, dscale)
            dbias += _add(dys, 1, None, None, False)
        return (
            dx if by_x else None,
            dscale.reshape(scale.shape) if by_scale and scale is not None else None,
            dbias.reshape(bias.shape) if by_bias and bias is not None else None,
        )

    return gradients


def _group_gradients(
    rows: Any, dys: Any, scale: Any, epsilon: float, share: Any, y: Any, work: Any, out: Any, dscale: Any
) -> None:
    """Of one image: the gradient by its groups, *rows*, in *out*, and that by the factors of channels, added up.

    Args:
        y, work: where to compute.
    """
    np.subtract(rows, _add(rows, 1, None, None, True) * share, out=y)
    spread = _add(np.multiply(y, y, out=work), 1, None, None, True)
    inverse = np.power(spread * share + epsilon, -0.5)
    y *= inverse
    weighted = dys.reshape(rows.shape)
    if scale is not None:
        channels = dys.shape
        dscale += _add(np.multiply(dys, y.reshape(channels), out=work.reshape(channels)), 1, None, None, False)
        weighted = np.multiply(dys, scale, out=out.reshape(channels)).reshape(rows.shape)
    along = _add(np.multiply(weighted, y, out=work), 1, None, None, True) * share
    np.subtract(weighted, _add(weighted, 1, None, None, True) * share, out=out)
    y *= along
    out -= y
    out *= inverse
