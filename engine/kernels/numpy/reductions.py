"""Sums, means and what is made of them, without the functions that NumPy wraps around a ufunc's reduction.

The arithmetic is that of the definitions, in the same order; :func:`numpy.sum`, :func:`numpy.mean` and
:func:`numpy.max` come to the same reductions, after several times what a small one costs. Where an operator takes
several passes over its data, the later ones write where the earlier ones wrote: into arrays that a ufunc has made.
Such an array is not given to another operator's kernel, whose result may be a view of it, nor is what one returns
written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.library.internal import broadcast_axes
from ..backend import Kernel, Override, override
from .extremes import LARGEST, SMALLEST, Extreme, reduce_axis
from .general import definition, rule_of

SMALL = 1 << 10
"""Elements up to which a copy costs less than a broadcast view."""

ARRAYS = np.ndarray, np.generic
"""And nothing that stands for one and cannot be written into another."""

_add: Any = np.add.reduce
_max: Any = np.maximum.reduce


def register() -> None:
    """Offer the kernels."""
    override("reduce_sum", "numpy")(_sum)
    override("reduce_mean", "numpy")(_mean)
    override("reduce_mean_grad", "numpy")(_mean_grad)
    for op_type, extreme in EXTREMES.items():
        override(op_type, "numpy")(_extreme(op_type, extreme))
    override("restore", "numpy")(_restore)
    override("sum_to", "numpy")(_sum_to)


def _axes(attrs: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The dimensions as NumPy takes them, None for all.

    Raises:
        ValueError: they may name one dimension twice, which NumPy refuses.
    """
    dim = attrs["dim"]
    if attrs["reduce_all"] or not dim:
        return None
    if len(dim) > 1 and (min(dim) < 0 or len(set(dim)) < len(dim)):
        raise ValueError
    return tuple(dim)


def _sum(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    try:
        axes = _axes(attrs)
    except ValueError:
        return None
    keep, general = attrs["keep_dim"], definition("reduce_sum", attrs)
    if attrs["out_dtype"] != -1:
        return None

    def total(x: Any) -> Any:
        # A scalar has no dimensions, whatever the attribute names; whole numbers are added up in a wider type.
        return _add(x, axes, None, None, keep) if x.dtype.kind == "f" and x.ndim else general(x)

    return total


EXTREMES = {"reduce_max": LARGEST, "reduce_amax": LARGEST, "reduce_min": SMALLEST, "reduce_amin": SMALLEST}
"""Reductions to an extreme element along one dimension."""


def _extreme(op_type: str, extreme: Extreme) -> Override:
    def offer(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
        try:
            axes = _axes(attrs)
        except ValueError:
            return None
        if axes is None or len(axes) > 1:
            return None
        (axis,), keep, general = axes, attrs["keep_dim"], definition(op_type, attrs)

        def element(x: Any, *axis_tensors: Any) -> Any:
            return (
                reduce_axis(extreme, x, axis, keep) if type(x) is np.ndarray and x.ndim else general(x, *axis_tensors)
            )

        return element

    return offer


def _mean(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    try:
        axes = _axes(attrs)
    except ValueError:
        return None
    keep, general = attrs["keep_dim"], definition("reduce_mean", attrs)

    def mean(x: Any) -> Any:
        if x.dtype.char not in "fd" or not x.size:
            return general(x)
        total = _add(x, axes if x.ndim else None, None, None, keep)
        count = x.size // total.size
        if type(total) is np.ndarray or total.shape:  # or what stands for an array
            return np.true_divide(total, np.intp(count), out=total, casting="unsafe")
        return x.dtype.type(float(total) / count)

    return mean


def _mean_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    restore = _restore(attrs, specs)
    if restore is None:
        return rule_of("reduce_mean", attrs)
    spread = restore

    def gradient(x: Any, dout: Any) -> Any:
        share = np.divide(np.asarray(dout.size, dout.dtype), np.asarray(x.size, x.dtype))
        return spread(dout * share, x)

    return gradient


def _sum_to(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    axis, general = attrs["axis"], definition("sum_to", attrs)

    def total(x: Any, like: Any) -> Any:
        if x.shape == like.shape:
            return x
        if x.ndim < like.ndim or x.dtype.kind != "f":
            return general(x, like)
        summed = broadcast_axes(x.shape, like.shape, axis)[1]
        return (_add(x, summed, None, None, False) if summed else x).reshape(like.shape)

    return total


def _restore(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    try:
        axes = _axes(attrs)
    except ValueError:
        return None
    general = definition("restore", attrs)

    def restore(x: Any, like: Any) -> Any:
        if like.size > SMALL or not like.ndim or not isinstance(x, ARRAYS):
            return general(x, like)
        out = np.empty(like.shape, x.dtype)
        if axes is None or x.size == 1:
            out[...] = x.reshape(())
            return out
        shape = list(like.shape)
        for a in axes:
            shape[a] = 1
        out[...] = x.reshape(shape)
        return out

    return restore
