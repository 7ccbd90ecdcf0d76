"""The three products of convolutions by XLA's own, which knows windows, strides, dilations and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

from ...ops.library import convolve
from ..backend import primitive


@primitive(convolve.product, "jax")
def product(xp: Any, x: Any, w: Any, result: Sequence[int], geometry: Any) -> Any:
    """The convolution of *x* with *w*, of the spatial size *result*."""
    shape = (x.shape[0], w.shape[0], *result)
    if 0 in shape or 0 in x.shape:
        return xp.zeros(shape, x.dtype)
    windows = convolve.Windows(xp, w.shape[2:], x.shape[2:], result, geometry)
    reached = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in _sizes(windows)]
    # What no window reaches is cut off, by a negative padding.
    pads = [(a, end - a - size) for a, end, size in zip(windows.before, reached, windows.image, strict=True)]
    return lax.conv_general_dilated(
        x, w, windows.strides, pads, rhs_dilation=windows.dilations, feature_group_count=x.shape[1] // w.shape[1]
    )


def _sizes(windows: Any) -> Any:
    return zip(windows.result, windows.strides, windows.kernel, windows.dilations, strict=True)


@primitive(convolve.spread, "jax")
def spread(xp: Any, w: Any, y: Any, image: Sequence[int], geometry: Any) -> Any:
    """The derivative by the image, of the spatial size *image*."""
    like = jax.ShapeDtypeStruct((y.shape[0], w.shape[1] * geometry.groups, *image), y.dtype)
    return _transpose(xp, lambda x: product(xp, x, w, y.shape[2:], geometry), like, y)


@primitive(convolve.weigh, "jax")
def weigh(xp: Any, x: Any, y: Any, shape: Sequence[int], geometry: Any) -> Any:
    """The derivative by the filter, of that *shape*."""
    like = jax.ShapeDtypeStruct(tuple(shape), x.dtype)
    return _transpose(xp, lambda w: product(xp, x, w, y.shape[2:], geometry), like, y)


def _transpose(xp: Any, linear: Any, like: Any, y: Any) -> Any:
    """Apply the transpose of a linear function to *y*, in the spec *like*."""
    if 0 in (*like.shape, *y.shape):
        return xp.zeros(like.shape, like.dtype)
    (out,) = jax.linear_transpose(linear, like)(y)
    return out
