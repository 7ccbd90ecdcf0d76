"""Boxes of elements, stacks and parts, for attributes that are known beforehand.

The definitions work out for each call what an index or a place means for the array that came. Where that does not
depend on the array it is done once here; everything else, and every error, is left to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .general import definition, rule_of

INT64 = np.dtype(np.int64)
LAST = 2**31 - 1
"""An end that stands for that of the dimension."""


def register() -> None:
    """Offer the kernels."""
    override("slice", "numpy")(_slice)
    override("slice_grad", "numpy")(_slice_grad)
    override("transpose2_grad", "numpy")(_transpose_grad)
    override("split", "numpy")(_split)
    override("stack", "numpy")(_stack)
    override("concat_grad", "numpy")(_concat_grad)
    override("lookup_table_v2", "numpy")(_look_up)


def _index(attrs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The box of a slice as an index; None where it depends on the number or the sizes of dimensions."""
    axes, starts, ends, dropped = (attrs[n] for n in ("axes", "starts", "ends", "decrease_axis"))
    if not len(axes) == len(starts) == len(ends) or any(a < 0 for a in (*axes, *dropped)):
        return None
    index: list[Any] = [slice(None)] * (max(axes, default=-1) + 1)
    for axis, start, end in zip(axes, starts, ends, strict=True):
        index[axis] = slice(start, end)
        if axis in dropped:
            if end != start + 1 and (start, end) != (-1, LAST):
                return None
            index[axis] = start
    return (*index, ...) if set(dropped) <= set(axes) else None


def _slice(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    index, general = _index(attrs), definition("slice", attrs)
    if index is None:
        return None

    def box(x: Any, *numbers: Any) -> Any:
        if numbers == _NONE:
            try:
                return x[index]
            except IndexError:
                pass  # the definition has the error to raise
        return general(x, *numbers)

    return box


_NONE = (None, None, (), ())


def _slice_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    index, general = _index(attrs), rule_of("slice", attrs)
    if index is None or general is None:
        return general
    whole = general

    def place(x: Any, *rest: Any) -> Any:
        *numbers, dout = rest
        if tuple(numbers) != _NONE:
            return whole(x, *rest)
        out = np.zeros(x.shape, dout.dtype)
        out[index] = dout
        return out

    return place


def _transpose_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    axis = attrs["axis"]
    axes = [a % len(axis) for a in axis]
    inverse = tuple(axes.index(i) for i in range(len(axes)))
    return lambda xshape, dout: dout.transpose(inverse)


def _split(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = definition("split", attrs)
    axis, count = attrs["axis"], attrs["num"]
    if axis < 0 or attrs["sections"] or count < 1:
        return None
    before = (slice(None),) * axis

    def parts(x: Any, axis_tensor: Any, sections: Any) -> Any:
        if axis_tensor is not None or sections or x.ndim <= axis or x.shape[axis] % count:
            return general(x, axis_tensor, sections)
        width = x.shape[axis] // count
        return [x[(*before, slice(at, at + width))] for at in range(0, width * count, width or 1)] or general(
            x, axis_tensor, sections
        )

    return parts


def _concat_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel:
    axis, wanted = attrs["axis"], attrs["wanted"]

    def parts(xs: Any, axis_tensor: Any, dout: Any) -> Any:
        at = axis if axis_tensor is None else int(axis_tensor.reshape(()))
        before = (slice(None),) * (at % dout.ndim)
        needed = repeat(True) if wanted is None else wanted[0]
        gradients, end = [], 0
        for x, need in zip(xs, needed, strict=False):
            begin, end = end, end + x.shape[at]
            gradients.append(dout[(*before, slice(begin, end))] if need else None)
        return gradients

    return parts


def _stack(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    axis, general = attrs["axis"], definition("stack", attrs)
    index = (*(slice(None),) * axis, None, ...) if axis >= 0 else (..., None, *(slice(None),) * (-axis - 1))

    def stack(xs: Any) -> Any:
        shape = xs[0].shape
        if len(shape) < (axis if axis >= 0 else -axis - 1):
            return general(xs)
        for x in xs:
            if x.shape != shape:
                return general(xs)
        return np.concatenate([x[index] for x in xs], axis)

    return stack


def _look_up(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    if attrs["padding_idx"] != -1:
        return None
    general = definition("lookup_table_v2", attrs)

    def rows(ids: Any, w: Any) -> Any:
        # As numbers without a sign, negative ones are the largest.
        if ids.dtype is INT64 and ids.size and np.maximum.reduce(ids.view(np.uint64), None) < w.shape[0]:
            return (
                w.take(ids, 0) if w.flags.c_contiguous else w[ids]
            )  # several times quicker, but of tables as they lie
        return general(ids, w)

    return rows
