"""Diagonals of matrices: taken, summed, written, and made into matrices."""

from __future__ import annotations

import math

import numpy as np

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..samples import ints
from ..writing import put


def _plane(ndim, axis1, axis2, name):
    """The two dimensions, counted from the front."""
    if ndim < 2:
        raise ShapeError(f"{name}: a diagonal takes two dimensions, but X has {ndim}")
    first, second = axis_in(axis1, ndim, name), axis_in(axis2, ndim, name)
    if first == second:
        raise ShapeError(f"{name}: the two dimensions must be different ones, but both are {first}")
    return first, second


def _length(rows, columns, offset):
    """Return the length of the diagonal."""
    if UNKNOWN in (rows, columns):
        return UNKNOWN
    return max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))


def _without(shape, plane):
    return tuple(d for i, d in enumerate(shape) if i not in plane)


@op("diagonal", "Input -> Out", attrs={"offset": 0, "axis1": 0, "axis2": 1}, trait=Trait.MOVES | Trait.VIEW)
def diagonal(k, x, *, offset, axis1, axis2):
    """Diagonal of the planes of two dimensions, in a new last one; *offset* steps above the main one."""
    return k.xp.diagonal(x, offset, axis1, axis2)


@diagonal.infer
def _(x, *, offset, axis1, axis2):
    rows, columns = _plane(x.ndim, axis1, axis2, "diagonal")
    return x.replace_shape((*_without(x.shape, (rows, columns)), _length(x.shape[rows], x.shape[columns], offset)))


@diagonal.gradient
def _(k, x: Like, dout, *, offset, axis1, axis2):
    return k.on_diagonal(dout, x, offset=offset, axis1=axis1, axis2=axis2)


@op("on_diagonal", "X Y -> Out", attrs=diagonal.defaults, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def on_diagonal(k, x, like, *, offset, axis1, axis2):
    """Zeros in the shape of *like* with *x* on that diagonal: the transpose of ``diagonal``."""
    return _with_diagonal(k.xp, k.xp.zeros(like.shape, x.dtype), offset, axis1, axis2, x)


@on_diagonal.gradient(wrt="X")
def _(k, dout, *, offset, axis1, axis2):
    return k.diagonal(dout, offset=offset, axis1=axis1, axis2=axis2)


def _with_diagonal(xp, array, offset, axis1, axis2, values):
    """*array*, which the kernel has made for itself, with *values* on that diagonal."""
    if isinstance(array, np.ndarray):
        view = np.diagonal(array, offset, axis1, axis2)
        view.flags.writeable = True
        view[...] = values
        return array
    plane = xp.moveaxis(array, (axis1, axis2), (-2, -1))
    steps = np.arange(_length(plane.shape[-2], plane.shape[-1], offset))
    plane = put(plane, (..., steps + max(-offset, 0), steps + max(offset, 0)), values)
    return xp.moveaxis(plane, (-2, -1), (axis1, axis2))


@op("trace", "Input -> Out", attrs=diagonal.defaults, trait=Trait.HOLOMORPHIC)
def trace(k, x, *, offset, axis1, axis2):
    """Sum of the diagonal of the planes of two dimensions."""
    return k.xp.asarray(k.xp.diagonal(x, offset, axis1, axis2).sum(axis=-1, dtype=x.dtype))


@trace.infer
def _(x, *, axis1, axis2):
    return x.replace_shape(_without(x.shape, _plane(x.ndim, axis1, axis2, "trace")))


@trace.gradient
def _(k, x: Like, dout, *, offset, axis1, axis2):
    on_each = k.ones_like(k.diagonal(x, offset=offset, axis1=axis1, axis2=axis2))
    every = on_each * k.unsqueeze(dout, axes=(-1,))[0]
    return k.on_diagonal(every, x, offset=offset, axis1=axis1, axis2=axis2)


@op("diag_v2", "X -> Out", attrs={"offset": 0, "padding_value": 0.0}, trait=Trait.HOLOMORPHIC)
def diag_v2(k, x, *, offset, padding_value):
    """Matrix with a vector on its diagonal and *padding_value* elsewhere, or the diagonal of a matrix."""
    xp = k.xp
    if x.ndim == 2:
        return xp.diagonal(x, offset)
    size = x.size + abs(offset)
    out = xp.full((size, size), padding_value).astype(x.dtype)
    return _with_diagonal(xp, out, offset, 0, 1, x)


@diag_v2.infer
def _(x, *, offset):
    if x.ndim not in (1, 2):
        raise ShapeError(f"diag_v2: X must be a vector or a matrix, but its shape is {list(x.shape)}")
    if x.ndim == 2:
        rows, columns = x.shape
        return x.replace_shape((_length(rows, columns, offset),))
    size = UNKNOWN if x.shape[0] == UNKNOWN else x.shape[0] + abs(offset)
    return x.replace_shape((size, size))


@diag_v2.gradient
def _(k, x: Like, dout, *, offset):
    if x.ndim == 1:
        return k.diagonal(dout, offset=offset)
    return k.on_diagonal(dout, x, offset=offset)


@op(
    "diag_embed",
    "Input -> Out",
    attrs={"offset": 0, "dim1": -2, "dim2": -1},
    trait=Trait.MOVES,
    differentiable=False,
)
def diag_embed(k, x, *, offset, dim1, dim2):
    """Matrices with the vectors of the last dimension on their diagonals; as in Paddle, without a gradient."""
    out = k.xp.zeros(_embedded(x, offset, dim1, dim2).shape, x.dtype)
    return _with_diagonal(k.xp, out, offset, dim1, dim2, x)


@diag_embed.infer
def _(x, *, offset, dim1, dim2):
    return x.replace_shape(_embedded(x, offset, dim1, dim2).shape)


def _embedded(x, offset, dim1, dim2):
    """The spec of the matrices."""
    if not x.ndim:
        raise ShapeError("diag_embed: Input must have at least one dimension")
    plane = _plane(x.ndim + 1, dim1, dim2, "diag_embed")
    size = UNKNOWN if x.shape[-1] == UNKNOWN else x.shape[-1] + abs(offset)
    others = iter(x.shape[:-1])
    return TensorSpec((size if i in plane else next(others) for i in range(x.ndim + 1)), x.dtype)


@op(
    "fill_diagonal_tensor",
    "X Y -> Out",
    attrs={"offset": 0, "dim1": 0, "dim2": 1},
    trait=Trait.MOVES,
)
def fill_diagonal_tensor(k, x, y, *, offset, dim1, dim2):
    """*X* with *Y* on the diagonals of two dimensions; as in Paddle, *Y* gets no gradient."""
    return _with_diagonal(k.xp, x.copy(), offset, dim1, dim2, y)


@fill_diagonal_tensor.infer
def _(x, y, *, offset, dim1, dim2):
    rows, columns = _plane(x.ndim, dim1, dim2, "fill_diagonal_tensor")
    wanted = (*_without(x.shape, (rows, columns)), _length(x.shape[rows], x.shape[columns], offset))
    if len(wanted) != y.ndim or any(UNKNOWN not in (m, n) and m != n for m, n in zip(wanted, y.shape, strict=True)):
        raise ShapeError(f"fill_diagonal_tensor: Y must have the shape {list(wanted)}, but it is {list(y.shape)}")
    return x


@fill_diagonal_tensor.gradient(wrt="X")
def _(k, y: Like, dout, *, offset, dim1, dim2):
    return k.fill_diagonal_tensor(dout, k.zeros_like(y), offset=offset, dim1=dim1, dim2=dim2)


@op("fill_diagonal", "X -> Out", attrs={"value": 0.0, "offset": 0, "wrap": False}, trait=Trait.HOLOMORPHIC)
def fill_diagonal(k, x, *, value, offset, wrap):
    """*X* with one value on its diagonal; *wrap* goes on below a matrix that is taller than wide."""
    return put(x.copy().reshape(-1), _steps(x.shape, offset, wrap), value).reshape(x.shape)


def _steps(shape, offset, wrap):
    """The slice of the elements in a row that the diagonal is made of."""
    step = sum(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    columns = shape[1] if len(shape) == 2 else shape[0]
    size = math.prod(shape)
    end = size if wrap else min(columns * columns, size)
    start = offset if offset >= 0 else -offset * columns
    if offset > 0 and not wrap:
        end = min(end, max(columns - offset, 0) * step + offset)
    return slice(start, end, max(step, 1))


@fill_diagonal.infer
def _(x, *, offset):
    if x.ndim < 2:
        raise ShapeError(f"fill_diagonal: X must have at least two dimensions, but its shape is {list(x.shape)}")
    if x.ndim > 2 and len({*x.shape} - {UNKNOWN}) > 1:
        raise ShapeError(f"fill_diagonal: all dimensions of X must be equal, but its shape is {list(x.shape)}")
    return x


@fill_diagonal.gradient
def _(k, dout, *, offset, wrap):
    return k.fill_diagonal(dout, value=0.0, offset=offset, wrap=wrap)


def _triangle(name, attrs, doc):
    lower = name == "tril_indices"

    def kernel(k, **given):
        rows, columns, offset, dtype = given.values()
        make = k.xp.tril_indices if lower else k.xp.triu_indices
        return k.xp.stack(make(rows, offset, columns)).astype(TensorSpec((), dtype).dtype.numpy)

    kernel.__doc__ = doc
    defined = op(name, "-> out", attrs=attrs, differentiable=False)(kernel)

    @defined.infer
    def _(**given):
        rows, columns, offset, dtype = given.values()
        count = sum(max(0, min(columns, i + offset + 1)) for i in range(rows))
        if not lower:
            count = rows * columns - sum(max(0, min(columns, i + offset)) for i in range(rows))
        return TensorSpec((2, count), dtype)

    return defined


tril_indices = _triangle(
    "tril_indices",
    {"rows": 0, "cols": 0, "offset": 0, "dtype": 3},
    "Coordinates of the elements of the lower triangle of a matrix, a column each.",
)
triu_indices = _triangle(
    "triu_indices",
    {"row": 0, "col": 0, "offset": 0, "dtype": 3},
    "Coordinates of the elements of the upper triangle of a matrix, a column each.",
)


for _op in (diagonal, trace):

    @_op.samples
    def _(make):
        yield make(x=(3, 4))
        yield make(x=(2, 3, 4), offset=1, axis1=1, axis2=2)
        yield make(x=(4, 2, 3), offset=-1, axis1=-1, axis2=0)
        yield make(x=(3, 0))
        yield make(x=(3, 2), offset=4)


@diag_v2.samples
def _(make):
    yield make(x=(3,))
    yield make(x=(3,), offset=1, padding_value=2.0)
    yield make(x=(2,), offset=-2)
    yield make(x=(3, 4))
    yield make(x=(3, 4), offset=2)
    yield make(x=(4, 3), offset=-1)
    yield make(x=(0,))


@diag_embed.samples
def _(make):
    yield make(x=(3,))
    yield make(x=(2, 3), offset=1)
    yield make(x=(2, 3), offset=-1, dim1=0, dim2=2)


@fill_diagonal_tensor.samples
def _(make):
    yield make(x=(3, 4), y=(3,))
    yield make(x=(2, 3, 4), y=(4, 2), offset=0, dim1=0, dim2=1)
    yield make(x=(2, 3, 4), y=(2, 2), offset=-1, dim1=1, dim2=2)


@fill_diagonal.samples
def _(make):
    yield make(x=(3, 4), value=2.0)
    yield make(x=(3, 4), offset=1)
    yield make(x=(4, 3), offset=-1)
    yield make(x=(7, 3), value=1.5, wrap=True)
    yield make(x=(3, 3, 3), value=1.5)
    yield make(x=ints((3, 3), 5), smooth=False)


@tril_indices.samples
def _(make):
    yield make(rows=3, cols=4)
    yield make(rows=4, cols=3, offset=-1, dtype=2)
    yield make(rows=2, cols=3, offset=5)


@triu_indices.samples
def _(make):
    yield make(row=3, col=4, offset=1)
    yield make(row=4, col=3, offset=-1, dtype=2)
    yield make(row=2, col=3, offset=5)
