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
from ..backend import Kernel, override
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
    override("restore", "numpy")(_restore)
    override("sum_to", "numpy")(_sum_to)
    override("softmax", "numpy")(_softmax)
    override("softmax_grad", "numpy")(_softmax_grad)
    override("softmax_with_cross_entropy", "numpy")(_cross_entropy)
    override("softmax_with_cross_entropy_grad", "numpy")(_cross_entropy_grad)


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


# -- softmax ----------------------------------------------------------------------------------------------------------


def _softmax(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    axis, general = attrs["axis"], definition("softmax", attrs)

    def softmax(x: Any) -> Any:
        if not x.ndim or not x.size or x.dtype.kind != "f":
            return general(x)
        grown = x - _max(x, axis, None, None, True)
        np.exp(grown, out=grown)
        grown /= _add(grown, axis, None, None, True)
        return grown

    return softmax


def _softmax_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    axis, general = attrs["axis"], rule_of("softmax", attrs)
    if general is None:
        return None
    whole = general

    def gradient(out: Any, dout: Any) -> Any:
        if not out.ndim or out.dtype.kind != "f":
            return whole(out, dout)
        part = dout * out
        np.subtract(dout, _add(part, axis, None, None, True), out=part)
        part *= out
        return part

    return gradient


# -- cross entropy ----------------------------------------------------------------------------------------------------


def _picks_classes(attrs: Mapping[str, Any]) -> bool:
    """Whether labels are classes along the last dimension, and none that could be a class is to be ignored."""
    return bool(attrs["axis"] == -1 and attrs["use_softmax"] and not attrs["soft_label"] and attrs["ignore_index"] < 0)


def _classes(scores: Any, label: Any) -> Any:
    """The labels laid flat, one for each row of *scores*; None where they are not, or some is no class."""
    if scores.dtype.kind != "f" or scores.ndim != label.ndim or label.dtype.kind != "i" or not scores.size:
        return None
    flat = label.reshape(-1)
    if flat.size * scores.shape[-1] != scores.size:
        return None
    if not isinstance(label, ARRAYS):
        return flat  # what stands for one: who computes with it sees to its values
    # As numbers without a sign, negative ones are the largest.
    return flat if _max(flat.astype(np.uint64), None) < scores.shape[-1] else None


def _cross_entropy(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    if not _picks_classes(attrs):
        return None
    general = definition("softmax_with_cross_entropy", attrs)

    def loss(logits: Any, label: Any) -> Any:
        classes = _classes(logits, label)
        if classes is None:
            return general(logits, label)
        logs = logits - _max(logits, -1, None, None, True)
        softmax = np.exp(logs)
        logs -= np.log(_add(softmax, -1, None, None, True))
        np.exp(logs, out=softmax)
        picked = logs.reshape((classes.size, -1))[np.arange(classes.size), classes]
        return softmax, np.negative(picked, out=picked).reshape(label.shape)

    return loss


def _cross_entropy_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = rule_of("softmax_with_cross_entropy", attrs)
    if general is None or not _picks_classes(attrs):
        return general
    whole = general

    def gradient(label: Any, softmax: Any, dloss: Any, dsoftmax: Any) -> Any:
        classes = _classes(softmax, label) if dsoftmax is None else None
        if classes is None:
            return whole(label, softmax, dloss, dsoftmax)
        difference = softmax.reshape((classes.size, -1)).copy()
        difference[np.arange(classes.size), classes] -= 1
        difference *= dloss.reshape((-1, 1))
        return difference.reshape(softmax.shape)

    return gradient
