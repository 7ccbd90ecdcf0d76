"""The same elements in another shape or order.

``XShape`` outputs carry the input's shape behind a leading 0 and no data: gradients read the shape from them, so the
input itself need not be kept.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import axes_in, axis_in, product
from ..opdef import Like, Trait, op
from ..samples import exactly
from .shape_tensors import length, whole, wholes


def _xshape(k, x):
    return _nothing(x.shape, x.dtype)


@lru_cache(1 << 10)
def _nothing(shape, dtype):
    """No elements, behind *shape*; the same one for all, as there is nothing in it that could be written.

    It is NumPy's on every backend: what one makes while it compiles belongs to that one program.
    """
    return np.empty((0, *shape), dtype)


def _xshape_spec(x):
    return x.replace_shape((0, *x.shape))


# -- reshape ----------------------------------------------------------------------------------------------------------


@op(
    "reshape",
    "X Shape? ShapeTensor* -> Out XShape",
    type="reshape2",
    attrs={"shape": (), "mkldnn_data_type": "float32", "use_quantizer": False},
    trait=Trait.MOVES | Trait.VIEW,
    sized="Shape ShapeTensor",
)
def reshape(k, x, shape_tensor, shape_tensor_list, *, shape):
    """The elements in another shape; 0 in *shape* keeps that dimension, one -1 takes what is left."""
    if shape_tensor is not None:
        shape = whole(shape_tensor)
    elif shape_tensor_list:
        shape = wholes(shape_tensor_list)
    if 0 in shape:
        shape = _target(x.shape, shape)
    try:
        return x.reshape(shape), _xshape(k, x)
    except ValueError:
        _target(x.shape, shape)  # has the error to raise
        raise


def _fits(total, rest, free):
    """Return whether *total* elements go into a shape of *rest* elements, times any number where a dimension is
    *free*.
    """
    if not free:
        return total == rest
    return total % rest == 0 if rest else total == 0


def _target(old, shape):
    """*shape* for a tensor of shape *old*, with 0 and -1 filled in as far as they are known.

    Raises:
        ShapeError: the numbers of elements differ.
    """
    dims = list(shape)
    if 0 in old and 0 in shape and UNKNOWN not in shape:
        return tuple(shape)  # without elements a 0 stands for itself
    zeros = [i for i, d in enumerate(shape) if d == 0]
    for i in zeros:
        if i >= len(old):
            raise ShapeError(f"reshape2: 0 at place {i} of shape {list(shape)} has no dimension of X {list(old)}")
        dims[i] = old[i]
    free = [i for i, d in enumerate(shape) if d == UNKNOWN]
    if len(free) > 1:
        raise ShapeError(f"reshape2: only one dimension of shape {list(shape)} can be -1")
    before = [d for i, d in enumerate(old) if i not in zeros]  # a dimension kept by 0 cancels, known or not
    after = [d for i, d in enumerate(dims) if i not in free and i not in zeros]
    total, rest = product(before), product(after)
    if total == UNKNOWN or rest == UNKNOWN:
        return tuple(dims)
    if not _fits(total, rest, bool(free)):
        raise ShapeError(
            f"reshape2: X {list(old)} has {total} elements where shape {list(shape)} has {rest}"
            + (" times the -1" if free else ""),
            hint="use -1 for one dimension to take what is left",
        )
    if free:
        dims[free[0]] = total // rest if rest else 0
    return tuple(dims)


@reshape.infer
def _(x, shape_tensor, shape_tensor_list, *, shape):
    if shape_tensor is not None:
        return x.replace_shape((UNKNOWN,) * length(shape_tensor, "reshape2")), _xshape_spec(x)
    if shape_tensor_list:
        return x.replace_shape(shape), _xshape_spec(x)
    return x.replace_shape(_target(x.shape, shape)), _xshape_spec(x)


@reshape.gradient(wrt="X")
def _(k, xshape: Like, dout):
    return k.unshape(dout, xshape)


@op(
    "flatten",
    "X -> Out XShape",
    type="flatten_contiguous_range",
    attrs={"start_axis": 1, "stop_axis": 1},
    trait=Trait.MOVES | Trait.VIEW,
)
def flatten(k, x, *, start_axis, stop_axis):
    """Dimensions *start_axis* to *stop_axis* (included) joined into one."""
    start, stop = _range(x.ndim, start_axis, stop_axis)
    shape = (*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :])
    return x.reshape(shape), _xshape(k, x)


def _range(ndim, start, stop):
    if ndim == 0:
        return 0, -1
    start, stop = axis_in(start, ndim, "flatten"), axis_in(stop, ndim, "flatten")
    if start > stop:
        raise ShapeError(f"flatten: start_axis {start} is behind stop_axis {stop}")
    return start, stop


@flatten.infer
def _(x, *, start_axis, stop_axis):
    start, stop = _range(x.ndim, start_axis, stop_axis)
    shape = (*x.shape[:start], product(x.shape[start : stop + 1]), *x.shape[stop + 1 :])
    return x.replace_shape(shape), _xshape_spec(x)


@flatten.gradient
def _(k, xshape: Like, dout):
    return k.unshape(dout, xshape)


def _squeezed(shape, axes):
    """The axes to drop: those of *axes* (all, when it is empty) whose dimension is 1.

    An unknown dimension counts as 1 where an axis names it, and as another one elsewhere.
    """
    if axes:
        return tuple(i for i in axes_in(axes, len(shape), "squeeze2") if i < len(shape) and shape[i] in (1, UNKNOWN))
    return tuple(i for i, d in enumerate(shape) if d == 1)


@op("squeeze", "X -> Out XShape", type="squeeze2", attrs={"axes": ()}, trait=Trait.MOVES | Trait.VIEW)
def squeeze(k, x, *, axes):
    """Without the dimensions *axes* that are 1 (all that are 1 when there are no axes)."""
    return x.squeeze(_squeezed(x.shape, axes)), _xshape(k, x)


@squeeze.infer
def _(x, *, axes):
    dropped = _squeezed(x.shape, axes)
    return x.replace_shape(d for i, d in enumerate(x.shape) if i not in dropped), _xshape_spec(x)


@squeeze.gradient
def _(k, xshape: Like, dout):
    return k.unshape(dout, xshape)


@op(
    "unsqueeze",
    "X AxesTensor? AxesTensorList* -> Out XShape",
    type="unsqueeze2",
    attrs={"axes": ()},
    trait=Trait.MOVES | Trait.VIEW,
    sized="AxesTensor AxesTensorList",
)
def unsqueeze(k, x, axes_tensor, axes_tensor_list, *, axes):
    """With dimensions of 1 put in, one after the other, at *axes* of the result so far."""
    if axes_tensor is not None:
        axes = whole(axes_tensor)
    elif axes_tensor_list:
        axes = wholes(axes_tensor_list)
    return x.reshape(_unsqueezed(x.shape, axes)), _xshape(k, x)


def _unsqueezed(shape, axes):
    dims = list(shape)
    for axis in axes:
        dims.insert(axis_in(axis, len(dims) + 1, "unsqueeze2"), 1)
    return tuple(dims)


@unsqueeze.infer
def _(x, axes_tensor, axes_tensor_list, *, axes):
    count = length(axes_tensor, "unsqueeze2") if axes_tensor is not None else len(axes_tensor_list)
    shape = (UNKNOWN,) * (x.ndim + count) if count else _unsqueezed(x.shape, axes)
    return x.replace_shape(shape), _xshape_spec(x)


@unsqueeze.gradient(wrt="X")
def _(k, axes_tensor: Like, axes_tensor_list: Like, xshape: Like, dout):
    return k.unshape(dout, xshape)


# -- order of dimensions and elements ---------------------------------------------------------------------------------


def _permutation(axis, ndim):
    axes = tuple(axis_in(a, ndim, "transpose2") for a in axis)
    if sorted(axes) != list(range(ndim)):
        raise ShapeError(f"transpose2: axis {list(axis)} must name each of the {ndim} dimensions once")
    return axes


def _inverse(axis):
    axes = _permutation(axis, len(axis))
    return tuple(axes.index(i) for i in range(len(axes)))


@op("transpose", "X -> Out XShape", type="transpose2", attrs={"axis": ()}, trait=Trait.MOVES | Trait.VIEW)
def transpose(k, x, *, axis):
    """The dimensions in the order *axis*."""
    try:
        return x.transpose(axis), _xshape(k, x)
    except ValueError:
        _permutation(axis, x.ndim)  # has the error to raise
        raise


@transpose.infer
def _(x, *, axis):
    return x.replace_shape(x.shape[a] for a in _permutation(axis, x.ndim)), _xshape_spec(x)


@transpose.gradient
def _(k, xshape: Like, dout, *, axis):
    return k.permute(dout, axis=_inverse(axis))


@op("permute", attrs={"axis": ()}, trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def permute(k, x, *, axis):
    """The dimensions in the order *axis*."""
    return x.transpose(axis)


@permute.gradient
def _(k, dout, *, axis):
    return k.permute(dout, axis=_inverse(axis))


@op("flip", attrs={"axis": ()}, trait=Trait.MOVES)
def flip(k, x, *, axis):
    """The elements in reverse order along *axis*."""
    return k.xp.flip(x, axes_in(axis, x.ndim, "flip"))


@flip.infer
def _(x, *, axis):
    if len(axes_in(axis, x.ndim, "flip")) < len(axis):
        raise ShapeError(f"flip: axis {list(axis)} must name every dimension of X {list(x.shape)} once")
    return x


@flip.gradient(expands=True)
def _(k, dout, *, axis):
    return k.flip(dout, axis=axis)


def _roll(k, x, shifts, axis, sign):
    if axis and len(axis) != len(shifts):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axis)} axes")
    moves = [sign * s for s in shifts]
    return k.xp.roll(x, moves, tuple(axis)) if axis else k.xp.roll(x, sum(moves))


@op("roll", "X ShiftsTensor? -> Out", attrs={"shifts": (), "axis": ()}, trait=Trait.MOVES)
def roll(k, x, shifts_tensor, *, shifts, axis):
    """The elements moved by *shifts* along *axis*, what leaves at one end entering at the other."""
    return _roll(k, x, shifts if shifts_tensor is None else list(shifts_tensor.reshape(-1)), axis, 1)


@op("roll_back", "X ShiftsTensor? -> Out", attrs={"shifts": (), "axis": ()}, trait=Trait.INTERNAL | Trait.MOVES)
def roll_back(k, x, shifts_tensor, *, shifts, axis):
    """The inverse of ``roll``."""
    return _roll(k, x, shifts if shifts_tensor is None else list(shifts_tensor.reshape(-1)), axis, -1)


@roll.infer
def _(x, shifts_tensor, *, axis):
    for a in axis:
        axis_in(a, x.ndim, "roll")
    return x


@roll.gradient(wrt="X")
def _(k, x: Like, shifts_tensor, dout, *, shifts, axis):
    return k.roll_back(dout, shifts_tensor, shifts=shifts, axis=axis)


@roll_back.gradient(wrt="X")
def _(k, shifts_tensor, dout, *, shifts, axis):
    return k.roll(dout, shifts_tensor, shifts=shifts, axis=axis)


@op("tril_triu", attrs={"diagonal": 0, "lower": False}, trait=Trait.MOVES)
def tril_triu(k, x, *, diagonal, lower):
    """The lower (or upper) triangle of each matrix, zeros elsewhere."""
    return k.xp.tril(x, diagonal) if lower else k.xp.triu(x, diagonal)


@tril_triu.infer
def _(x):
    if x.ndim < 2:
        raise ShapeError(f"tril_triu: X {list(x.shape)} must have at least two dimensions")
    return x


@tril_triu.gradient
def _(k, dout, *, diagonal, lower):
    return k.tril_triu(dout, diagonal=diagonal, lower=lower)


# -- samples ----------------------------------------------------------------------------------------------------------


@reshape.samples
def _(make):
    yield make(x=(2, 3, 4), shape_tensor_list=[], shape=(4, -1))
    yield make(x=(2, 3, 4), shape_tensor_list=[], shape=(0, 12))
    yield make(x=(2, 3, 4), shape_tensor_list=[], shape_tensor=exactly([6, -1], "int32"))
    yield make(x=(2, 3), shape_tensor_list=[exactly([3], "int32"), exactly([-1], "int32")], shape=(-1, -1))
    yield make(x=(1,), shape_tensor_list=[], shape=())
    yield make(x=(0, 3), shape_tensor_list=[], shape=(0, -1, 1))


@flatten.samples
def _(make):
    yield make(x=(2, 3, 4), start_axis=0, stop_axis=-1)
    yield make(x=(2, 3, 4, 5), start_axis=1, stop_axis=2)
    yield make(x=(), start_axis=0, stop_axis=0)
    yield make(x=(0, 3), start_axis=0, stop_axis=1)


@squeeze.samples
def _(make):
    yield make(x=(1, 3, 1, 4))
    yield make(x=(1, 3, 1, 4), axes=(0, 1, -2))
    yield make(x=(1,), axes=(0,))
    yield make(x=(0, 1), axes=(1,))


@unsqueeze.samples
def _(make):
    yield make(x=(2, 3), axes_tensor_list=[], axes=(0, -1))
    yield make(x=(2, 3), axes_tensor_list=[], axes_tensor=exactly([1], "int32"))
    yield make(x=(2, 3), axes_tensor_list=[exactly([1], "int32"), exactly([0], "int32")])
    yield make(x=(), axes_tensor_list=[], axes=(0,))
    yield make(x=(0, 3), axes_tensor_list=[], axes=(1,))


@transpose.samples
def _(make):
    yield make(x=(2, 3, 4), axis=(2, 0, 1))
    yield make(x=(2, 3), axis=(-1, 0))
    yield make(x=(), axis=())
    yield make(x=(0, 3), axis=(1, 0))


@flip.samples
def _(make):
    yield make(x=(2, 3, 4), axis=(0, -1))
    yield make(x=(3,), axis=(0,))
    yield make(x=(0, 3), axis=(1,))


@roll.samples
def _(make):
    yield make(x=(2, 3), shifts=(1,))
    yield make(x=(4, 3), shifts=(1, -2), axis=(0, 1))
    yield make(x=(4, 3), shifts_tensor=exactly([2], "int64"), axis=(0,))
    yield make(x=(), shifts=(1,))
    yield make(x=(0, 3), shifts=(1,), axis=(1,))


@tril_triu.samples
def _(make):
    yield make(x=(3, 4), lower=True)
    yield make(x=(2, 3, 4), diagonal=1)
    yield make(x=(2, 4, 3), diagonal=-1, lower=True)
    yield make(x=(0, 3))
