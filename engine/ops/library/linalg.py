"""Products of matrices and vectors."""

from __future__ import annotations

import math

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import axis_in, broadcast, common_dtype, expect_floating, product, reduce_shape
from ..opdef import Like, Trait, op
from ..samples import exactly, uniform
from .reduction import ATTRS, axes_of


@op("matmul", "X Y -> Out", type="matmul_v2", attrs={"trans_x": False, "trans_y": False}, trait=Trait.HOLOMORPHIC)
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
    if x.dtype is not y.dtype and (x.dtype.is_half or y.dtype.is_half):
        raise DtypeError(
            f"matmul_v2: X is {x.dtype.name} and Y is {y.dtype.name}.", hint="cast one of them to the other's type"
        )
    batch = broadcast(tuple(a[:-2]), tuple(b[:-2]), op="matmul_v2")
    return TensorSpec((*batch, *rows, *columns), common_dtype(x.dtype, y.dtype))


@matmul.gradient
def _(k, x, y, dout, *, trans_x, trans_y):
    if x.ndim == 1 or y.ndim == 1:
        return _vector_gradients(k, x, y, dout, trans_x and x.ndim > 1, trans_y and y.ndim > 1)

    def left():
        if trans_x:
            return k.sum_to(k.matmul(y, dout, trans_x=trans_y, trans_y=True), x)
        return k.sum_to(k.matmul(dout, y, trans_y=not trans_y), x)

    def right():
        if y.ndim == 2 and x.ndim > 2 and not trans_x:
            # One product of tall matrices instead of one for each matrix of the batch, and their sum.
            flat, rows = k.as_rows(x), k.as_rows(dout)
            if trans_y:
                return k.matmul(rows, flat, trans_x=True)
            return k.matmul(flat, rows, trans_x=True)
        if trans_y:
            return k.sum_to(k.matmul(dout, x, trans_x=True, trans_y=trans_x), y)
        return k.sum_to(k.matmul(x, dout, trans_x=not trans_x), y)

    return left, right


@op("as_rows", "X -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def as_rows(k, x):
    """A batch of matrices as one, row under row."""
    return x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))  # -1 cannot be told where there are no elements


@as_rows.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.reshape_like(dout, x)


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
        gradient = k.matmul(middle, column, trans_y=not trans_y)
        return k.reshape_like(k.sum_to(gradient, row), x)

    def right():
        if trans_y:
            return k.sum_to(k.matmul(middle, row, trans_x=True, trans_y=trans_x), y)
        gradient = k.matmul(row, middle, trans_x=not trans_x)
        return k.reshape_like(k.sum_to(gradient, column), y)

    return left, right


@op("as_row", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def as_row(k, x):
    """A leading dimension of one."""
    return x.reshape((1, *x.shape))


@op("as_column", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
def as_column(k, x):
    """A trailing dimension of one."""
    return x.reshape((*x.shape, 1))


@op("insert_row", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW)
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


@op("fc_mul", "X Y -> Out", type="mul", attrs={"x_num_col_dims": 1, "y_num_col_dims": 1}, trait=Trait.HOLOMORPHIC)
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


@op("as_matrix", trait=Trait.INTERNAL | Trait.MOVES | Trait.VIEW, attrs={"dims": 1})
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


@op("bmm", "X Y -> Out", trait=Trait.HOLOMORPHIC)
def bmm(k, x, y):
    """Matrix products of two batches of matrices, ``[b, m, n]`` and ``[b, n, p]``."""
    return k.xp.matmul(x, y)


@bmm.infer
def _(x, y):
    for name, spec in (("X", x), ("Y", y)):
        if spec.ndim != 3:
            raise ShapeError(
                f"bmm: {name} {list(spec.shape)} must have three dimensions",
                hint="paddle.matmul multiplies tensors of any number of dimensions",
            )
    if x.shape[0] != y.shape[0] and UNKNOWN not in (x.shape[0], y.shape[0]):
        raise ShapeError(f"bmm: X {list(x.shape)} and Y {list(y.shape)} hold different numbers of matrices")
    _expect_inner("bmm", x, y, x.shape[2], y.shape[1])
    return TensorSpec((y.shape[0] if x.shape[0] == UNKNOWN else x.shape[0], x.shape[1], y.shape[2]), x.dtype)


def _expect_inner(name, x, y, columns, rows):
    if columns != rows and UNKNOWN not in (columns, rows):
        raise ShapeError(
            f"{name}: X {list(x.shape)} and Y {list(y.shape)} cannot be multiplied: "
            f"the inner dimensions are {columns} and {rows}"
        )


@bmm.gradient
def _(k, x, y, dout):
    return (lambda: k.matmul(dout, y, trans_y=True)), (lambda: k.matmul(x, dout, trans_x=True))


@op("dot", "X Y -> Out", trait=Trait.HOLOMORPHIC)
def dot(k, x, y):
    """Inner product of two vectors, or of each pair of rows of two matrices."""
    return k.xp.sum(x * y, axis=-1, dtype=x.dtype)


@dot.infer
def _(x, y):
    if x.ndim not in (1, 2):
        raise ShapeError(f"dot: X {list(x.shape)} must have one or two dimensions")
    fits = x.ndim == y.ndim and all(m == n or UNKNOWN in (m, n) for m, n in zip(x.shape, y.shape, strict=True))
    if not fits:
        raise ShapeError(f"dot: X {list(x.shape)} and Y {list(y.shape)} must have the same shape")
    return x.replace_shape(x.shape[:-1])


@dot.gradient
def _(k, x, y, dout):
    return (lambda: k.as_column(dout) * y), (lambda: k.as_column(dout) * x)


@op("addmm", "Input X Y -> Out", attrs={"Alpha": 1.0, "Beta": 1.0}, trait=Trait.HOLOMORPHIC)
def addmm(k, base, x, y, *, Alpha, Beta):
    """``Beta·Input + Alpha·(X @ Y)`` of matrices; Input is broadcast."""
    return base * Beta + k.xp.matmul(x, y) * Alpha


@addmm.infer
def _(base, x, y):
    for name, spec in (("X", x), ("Y", y)):
        if spec.ndim != 2:
            raise ShapeError(f"addmm: {name} {list(spec.shape)} must have two dimensions")
    _expect_inner("addmm", x, y, x.shape[1], y.shape[0])
    out = (x.shape[0], y.shape[1])
    trailing = out[max(0, 2 - base.ndim) :]
    fits = base.ndim <= 2 and all(m in (1, n) or UNKNOWN in (m, n) for m, n in zip(base.shape, trailing, strict=True))
    if not fits:
        raise ShapeError(
            f"addmm: Input {list(base.shape)} cannot be broadcast to the product's shape {list(out)}",
            hint="each of its dimensions must be 1 or the product's",
        )
    return x.replace_shape(out)


@addmm.gradient
def _(k, base: Like, x, y, dout, *, Alpha, Beta):
    return (
        lambda: k.sum_to(dout * Beta, base),
        lambda: k.matmul(dout * Alpha, y, trans_y=True),
        lambda: k.matmul(x, dout * Alpha, trans_x=True),
    )


@op("p_norm", attrs={"porder": 2.0, "axis": -1, "epsilon": 1e-12, "keepdim": False, "asvector": False})
def p_norm(k, x, *, porder, axis, keepdim, asvector):
    """``(Σ |x|ᵖ)^(1/p)`` along a dimension, or over all of them with asvector.

    p = ∞ is the largest size, -∞ the smallest, and 0 counts the elements other than 0.
    """
    axes = _norm_axes(x, axis, asvector)
    xp, size = k.xp, k.xp.abs(x)
    if not x.size and math.isinf(porder):  # the largest size of no elements is 0, the least infinite
        start = xp.asarray(0 if porder > 0 else xp.inf, x.dtype)
        return xp.sum(size, axis=axes, keepdims=keepdim) + start
    if math.isinf(porder):
        return (xp.max if porder > 0 else xp.min)(size, axis=axes, keepdims=keepdim)
    if porder == 0:
        return xp.sum(size != 0, axis=axes, keepdims=keepdim).astype(x.dtype)
    if porder == 1:
        return xp.sum(size, axis=axes, keepdims=keepdim)
    if porder == 2:
        return xp.sqrt(xp.sum(xp.square(x), axis=axes, keepdims=keepdim))
    return xp.power(xp.sum(xp.power(size, porder), axis=axes, keepdims=keepdim), 1 / porder)


def _norm_axes(x, axis, asvector):
    return axes_of((axis,), asvector, x.ndim, "p_norm")


@p_norm.infer
def _(x, *, axis, keepdim, asvector):
    expect_floating(x, "X", "p_norm")
    if not asvector:
        axis_in(axis, x.ndim, "p_norm")
    return x.replace_shape(reduce_shape(x.shape, _norm_axes(x, axis, asvector), keepdim))


@p_norm.gradient
def _(k, x, out, dout, *, porder, axis, asvector):
    if porder == 0:
        return k.zeros_like(x)
    where = {"dim": (axis,), "reduce_all": asvector}
    norm, arriving, size = k.restore(out, x, **where), k.restore(dout, x, **where), k.abs(x)
    if porder == 1:
        return k.sign(x) * arriving
    if math.isinf(porder):
        extreme = (k.reduce_max if porder > 0 else k.reduce_min)(size, **where)
        return k.sign(x) * arriving * k.cast_like(k.equal(size, k.restore(extreme, x, **where)), x)
    if porder > 1:
        # Where the norm is 0 the gradient is taken as 0. For smaller orders an element of 0 has none: there is a cusp.
        norm = _never_zero(k, norm)
    if porder == 2:
        return x * arriving / norm
    return k.sign(x) * arriving * k.power(size / norm, factor=porder - 1)


def _never_zero(k, norm):
    """*norm*, a size, with 1 in place of 0; NaN stays."""
    return k.select(norm <= 0, k.ones_like(norm), norm)


@op("frobenius_norm", attrs=ATTRS)
def frobenius_norm(k, x, *, dim, keep_dim, reduce_all):
    """Square root of the sum of squares over dimensions."""
    axes = axes_of(dim, reduce_all, x.ndim, "frobenius_norm")
    return k.xp.sqrt(k.xp.sum(k.xp.square(x), axis=axes, keepdims=keep_dim))


@frobenius_norm.infer
def _(x, *, dim, keep_dim, reduce_all):
    expect_floating(x, "X", "frobenius_norm")
    return x.replace_shape(reduce_shape(x.shape, axes_of(dim, reduce_all, x.ndim, "frobenius_norm"), keep_dim))


@frobenius_norm.gradient
def _(k, x, out, dout, *, dim, reduce_all):
    where = {"dim": dim, "reduce_all": reduce_all}
    norm = k.restore(out, x, **where)
    return x * k.restore(dout, x, **where) / _never_zero(k, norm)


@bmm.samples
def _(make):
    yield make(x=(5, 2, 3), y=(5, 3, 4))
    yield make(x=(0, 2, 3), y=(0, 3, 4))


@dot.samples
def _(make):
    yield make(x=(3,), y=(3,))
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(0,), y=(0,))


@addmm.samples
def _(make):
    yield make(base=(2, 4), x=(2, 3), y=(3, 4), Alpha=2.0, Beta=0.5)
    yield make(base=(1, 4), x=(2, 3), y=(3, 4))
    yield make(base=(4,), x=(2, 3), y=(3, 4))


@p_norm.samples
def _(make):
    for order in (2.0, 1.0, 3.0, 0.5, -1.0, 0.0, math.inf, -math.inf):
        yield make(x=uniform(0.2, 0.9, (2, 3, 4)), porder=order, axis=1)
    yield make(x=(2, 3), porder=2.0, asvector=True)
    yield make(x=(2, 3), porder=1.5, asvector=True, keepdim=True)
    yield make(x=(2, 3), axis=0, keepdim=True)
    yield make(x=exactly([0.0, 3.0, -4.0]), porder=3.0)
    yield make(x=exactly([0.0, 0.0]), smooth=False)
    yield make(x=exactly([2.0, -2.0, 1.0]), porder=math.inf, smooth=False)


@frobenius_norm.samples
def _(make):
    yield make(x=(2, 3, 4), dim=(0, -1))
    yield make(x=(2, 3, 4), dim=(1, 2), keep_dim=True)
    yield make(x=(2, 3), reduce_all=True)
    yield make(x=exactly([[0.0, 0.0]]), dim=(0, 1), smooth=False)
