"""Products of matrices and vectors."""

from __future__ import annotations

import math

from ...errors import ShapeError
from ...spec import UNKNOWN, TensorSpec
from ..infer import broadcast, product
from ..opdef import Like, Trait, op


@op("matmul", "X Y -> Out", type="matmul_v2", attrs={"trans_x": False, "trans_y": False})
def matmul(k, x, y, *, trans_x, trans_y):
    """Matrix product over the last two dimensions, the others broadcast; a vector counts as a row or a column."""
    if trans_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if trans_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    return k.xp.matmul(x, y)


@matmul.infer
def _(x, y, *, trans_x, trans_y):
    a, b = list(x.shape), list(y.shape)
    if not a or not b:
        raise ShapeError(f"matmul_v2: X {a} and Y {b} must have at least one dimension")
    if trans_x and len(a) > 1:
        a[-1], a[-2] = a[-2], a[-1]
    if trans_y and len(b) > 1:
        b[-1], b[-2] = b[-2], b[-1]
    inner = a[-1], b[-2] if len(b) > 1 else b[0]
    if inner[0] != inner[1] and UNKNOWN not in inner:
        raise ShapeError(
            f"matmul_v2: X {list(x.shape)} and Y {list(y.shape)} cannot be multiplied: "
            f"the inner dimensions are {inner[0]} and {inner[1]}",
            hint="transpose_x or transpose_y swaps a matrix's last two dimensions",
        )
    rows = a[-2:-1] if len(a) > 1 else []
    columns = b[-1:] if len(b) > 1 else []
    batch = broadcast(tuple(a[:-2]), tuple(b[:-2]), op="matmul_v2")
    return TensorSpec((*batch, *rows, *columns), x.dtype)


@matmul.gradient
def _(k, x, y, dout, *, trans_x, trans_y):
    if x.ndim == 1 or y.ndim == 1:
        return _vector_gradients(k, x, y, dout, trans_x and x.ndim > 1, trans_y and y.ndim > 1)

    def left():
        if trans_x:
            return k.sum_to(k.matmul(y, dout, trans_x=trans_y, trans_y=True), x)
        return k.sum_to(k.matmul(dout, y, trans_y=not trans_y), x)

    def right():
        if trans_y:
            return k.sum_to(k.matmul(dout, x, trans_x=True, trans_y=trans_x), y)
        return k.sum_to(k.matmul(x, dout, trans_x=not trans_x), y)

    return left, right


def _vector_gradients(k, x, y, dout, trans_x, trans_y):
    """A vector is a row on the left and a column on the right: give every operand its matrix form."""
    row = k.as_row(x) if x.ndim == 1 else x
    column = k.as_column(y) if y.ndim == 1 else y
    if x.ndim == 1 and y.ndim == 1:
        middle = k.as_row(k.as_row(dout))
    elif x.ndim == 1:
        middle = k.insert_row(dout)
    else:
        middle = k.as_column(dout)

    def left():
        if trans_x:
            return k.sum_to(k.matmul(column, middle, trans_x=trans_y, trans_y=True), x)
        found = k.matmul(middle, column, trans_y=not trans_y)
        return k.reshape_like(k.sum_to(found, row), x)

    def right():
        if trans_y:
            return k.sum_to(k.matmul(middle, row, trans_x=True, trans_y=trans_x), y)
        found = k.matmul(row, middle, trans_x=not trans_x)
        return k.reshape_like(k.sum_to(found, column), y)

    return left, right


@op("as_row", trait=Trait.INTERNAL)
def as_row(k, x):
    """A leading dimension of one."""
    return x.reshape((1, *x.shape))


@op("as_column", trait=Trait.INTERNAL)
def as_column(k, x):
    """A trailing dimension of one."""
    return x.reshape((*x.shape, 1))


@op("insert_row", trait=Trait.INTERNAL)
def insert_row(k, x):
    """A dimension of one before the last."""
    return x.reshape((*x.shape[:-1], 1, x.shape[-1]))


for _op in (as_row, as_column, insert_row):

    @_op.gradient
    def _(k, x: Like, dout):
        return k.reshape_like(dout, x)


@matmul.samples
def _(make):
    yield make(x=(2, 3), y=(3, 4))
    yield make(x=(3, 2), y=(3, 4), trans_x=True)
    yield make(x=(2, 3), y=(4, 3), trans_y=True)
    yield make(x=(3, 2), y=(4, 3), trans_x=True, trans_y=True)
    yield make(x=(5, 2, 3), y=(3, 4))
    yield make(x=(5, 3, 2), y=(1, 4, 3), trans_x=True, trans_y=True)
    yield make(x=(2, 1, 3, 4), y=(5, 4, 2))
    yield make(x=(3,), y=(3,))
    yield make(x=(2, 3), y=(3,))
    yield make(x=(3, 2), y=(3,), trans_x=True)
    yield make(x=(3,), y=(3, 4))
    yield make(x=(3,), y=(4, 3), trans_y=True)
    yield make(x=(3,), y=(5, 3, 4))
    yield make(x=(5, 2, 3), y=(3,))
    yield make(x=(0, 3), y=(3, 4))


@op("fc_mul", "X Y -> Out", type="mul", attrs={"x_num_col_dims": 1, "y_num_col_dims": 1})
def fc_mul(k, x, y, *, x_num_col_dims, y_num_col_dims):
    """Matrix product of two tensors, each flattened to a matrix after its first ``num_col_dims`` dimensions."""
    rows, columns = x.shape[:x_num_col_dims], y.shape[y_num_col_dims:]
    a = (
        x.reshape((math.prod(rows), -1))
        if x.size
        else x.reshape((math.prod(rows), math.prod(x.shape[x_num_col_dims:])))
    )
    b = y.reshape((math.prod(y.shape[:y_num_col_dims]), math.prod(columns)))
    return k.xp.matmul(a, b).reshape(rows + columns)


@fc_mul.infer
def _(x, y, *, x_num_col_dims, y_num_col_dims):
    for name, spec, dims in (("X", x, x_num_col_dims), ("Y", y, y_num_col_dims)):
        if not 0 < dims < spec.ndim:
            raise ShapeError(f"mul: cannot make a matrix of {name} {list(spec.shape)} after {dims} dimensions")
    inner = product(x.shape[x_num_col_dims:]), product(y.shape[:y_num_col_dims])
    if inner[0] != inner[1] and UNKNOWN not in inner:
        raise ShapeError(
            f"mul: X {list(x.shape)} (as [·, {inner[0]}]) and Y {list(y.shape)} (as [{inner[1]}, ·]) "
            "cannot be multiplied: the inner dimensions differ"
        )
    return TensorSpec((*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]), x.dtype)


@fc_mul.gradient
def _(k, x, y, dout, *, x_num_col_dims, y_num_col_dims):
    a = k.as_matrix(x, dims=x_num_col_dims)
    b = k.as_matrix(y, dims=y_num_col_dims)
    d = k.as_matrix(dout, dims=x_num_col_dims)
    return (
        lambda: k.reshape_like(k.matmul(d, b, trans_y=True), x),
        lambda: k.reshape_like(k.matmul(a, d, trans_x=True), y),
    )


@op("as_matrix", trait=Trait.INTERNAL, attrs={"dims": 1})
def as_matrix(k, x, *, dims):
    """Flatten to a matrix: the first *dims* dimensions are rows."""
    return x.reshape((math.prod(x.shape[:dims]), math.prod(x.shape[dims:])))


@as_matrix.gradient
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


@fc_mul.samples
def _(make):
    yield make(x=(2, 3), y=(3, 4))
    yield make(x=(2, 3, 4), y=(12, 5))
    yield make(x=(2, 3, 4), y=(4, 5), x_num_col_dims=2)
    yield make(x=(2, 6), y=(2, 3, 5), y_num_col_dims=2)
    yield make(x=(0, 3), y=(3, 4))
