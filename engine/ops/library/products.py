"""Products of matrices, solutions with factors that are known, norms of what lies between two tensors."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..opdef import op
from ..samples import exactly
from .placing import _alike


def _spread(k, x, ndim, first):
    """*x* with as many dimensions, and one of size one before or behind each of them."""
    sizes = (1,) * (ndim - x.ndim) + tuple(x.shape)
    shape = [n for size in sizes for n in ((size, 1) if first else (1, size))]
    return k.ops.reshape(x, shape=tuple(shape))[0]


@compose("X Y Out@GRAD")
@op("kron", "X Y -> Out")
def kron(k, x, y):
    """Every element of *X* times the whole of *Y* (the Kronecker product)."""
    ndim = max(x.ndim, y.ndim)
    product = k.ops.mul(_spread(k, x, ndim, True), _spread(k, y, ndim, False))
    sizes = product.shape
    return k.ops.reshape(product, shape=tuple(sizes[i] * sizes[i + 1] for i in range(0, 2 * ndim, 2)))[0]


@kron.infer
def _(x, y):
    ndim = max(x.ndim, y.ndim)
    pairs = zip((1,) * (ndim - x.ndim) + x.shape, (1,) * (ndim - y.ndim) + y.shape, strict=True)
    return x.replace_shape(tuple(UNKNOWN if UNKNOWN in (m, n) else m * n for m, n in pairs))


@compose("X Y Out Out@GRAD")
@op("dist", "X Y -> Out", attrs={"p": 2.0})
def dist(k, x, y, *, p):
    """The *p*-norm of the difference of two tensors."""
    return k.ops.p_norm(x - y, porder=p, asvector=True)


@compose("Input X Y Out@GRAD")
@op("baddbmm", "Input X Y -> Out", attrs={"Alpha": 1.0, "Beta": 1.0})
def baddbmm(k, added, x, y, *, Alpha, Beta):
    """*Beta* times *Input* plus *Alpha* times the products of a batch of matrices."""
    return k.ops.add(added * Beta, k.ops.bmm(x, y) * Alpha)


@baddbmm.infer
def _(added, x, y):
    fits = x.ndim == y.ndim == 3 and _alike((x.shape[0], x.shape[2]), y.shape[:2])
    if not fits:
        raise ShapeError(f"baddbmm: X {list(x.shape)} and Y {list(y.shape)} must be batches of matrices that fit")
    shape = (*x.shape[:2], y.shape[2])
    ends = zip(added.shape[::-1], shape[::-1], strict=False)
    if added.ndim > 3 or not all(n in (1, m) or UNKNOWN in (n, m) for n, m in ends):
        raise ShapeError(f"baddbmm: Input {list(added.shape)} must broadcast to the products, {list(shape)}")
    return x.replace_shape(shape)


@compose("X Out@GRAD")
@op("multi_dot", "X* -> Out")
def multi_dot(k, xs):
    """The product of several matrices; the first and the last may be vectors."""
    out = xs[0]
    for x in xs[1:]:
        out = k.ops.matmul(out, x)
    return out


@compose("X Out Out@GRAD")
@op("matrix_power", "X -> Out", attrs={"n": 1})
def matrix_power(k, x, *, n):
    """The product of *n* times the same matrix; of its inverse where *n* is negative."""
    if not n:
        return k.ops.add(k.ops.zeros_like(x), k.ops.cast_like(k.ops.eye(num_rows=x.shape[-1]), x))
    base = k.ops.inverse(x) if n < 0 else x
    out = None
    for digit in reversed(f"{abs(n):b}"):
        if digit == "1":
            out = base if out is None else k.ops.matmul(out, base)
        base = k.ops.matmul(base, base)
    return out


@matrix_power.infer
def _(x):
    if x.ndim < 2 or (UNKNOWN not in x.shape[-2:] and x.shape[-1] != x.shape[-2]):
        raise ShapeError(f"matrix_power: X {list(x.shape)} must hold square matrices")
    return x


@compose("X Y Out Out@GRAD")
@op("cholesky_solve", "X Y -> Out", attrs={"upper": False})
def cholesky_solve(k, x, y, *, upper):
    """Solution of a positive definite system, given its factor *Y* and the right side *X*."""
    first = k.ops.triangular_solve(y, x, upper=upper, transpose=upper)
    return k.ops.triangular_solve(y, first, upper=upper, transpose=not upper)


@compose("b lu pivots out out@GRAD", wrt="b lu")
@op("lu_solve", "b lu pivots -> out", attrs={"trans": "N"})
def lu_solve(k, b, lu, pivots, *, trans):
    """Solution of a system, given the factors of its matrix, the rows that were swapped and the right side *b*."""
    order, low, high = k.ops.lu_unpack(lu, pivots)
    if trans == "N":
        first = k.ops.triangular_solve(low, k.ops.matmul(order, b, trans_x=True), upper=False, unitriangular=True)
        return k.ops.triangular_solve(high, first, upper=True)
    first = k.ops.triangular_solve(high, b, upper=True, transpose=True)
    second = k.ops.triangular_solve(low, first, upper=False, transpose=True, unitriangular=True)
    return k.ops.matmul(order, second)


@lu_solve.infer
def _(b, lu, pivots, *, trans):
    if trans not in ("N", "T", "C"):
        raise OperatorError(f"lu_solve: trans must be 'N', 'T' or 'C', not {trans!r}")
    if b.ndim < 2 or lu.ndim < 2 or (UNKNOWN not in (b.shape[-2], lu.shape[-1]) and b.shape[-2] != lu.shape[-1]):
        raise ShapeError(f"lu_solve: b {list(b.shape)} does not fit lu {list(lu.shape)}")
    return b


@compose("x s@GRAD")
@op("svdvals", "x -> s")
def svdvals(k, x):
    """The singular values, the largest first."""
    return k.ops.svd(x)[1]


@kron.samples
def _(make):
    yield make(x=(2, 3), y=(3, 2))
    yield make(x=(2,), y=(3, 2))


@dist.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(2, 3), y=(3,), p=3.0)


@baddbmm.samples
def _(make):
    yield make(added=(2, 3, 2), x=(2, 3, 4), y=(2, 4, 2), Alpha=0.5, Beta=2.0)


@multi_dot.samples
def _(make):
    yield make(xs=[(2, 3), (3, 4), (4, 2)])
    yield make(xs=[(3,), (3, 4), (4,)])


@matrix_power.samples
def _(make):
    yield make(x=(2, 3, 3), n=5)
    yield make(x=exactly([[2.0, 0.3], [-0.4, 1.5]]), n=-2)
    yield make(x=(3, 3), n=0)


@cholesky_solve.samples
def _(make):
    factor = exactly([[1.5, 0.0], [0.4, 0.8]])
    yield make(x=(2, 3), y=factor)
    yield make(x=(2, 1), y=exactly([[1.5, 0.4], [0.0, 0.8]]), upper=True)


@lu_solve.samples
def _(make):
    lu = exactly([[2.0, 0.5, 0.3], [0.4, 1.5, -0.2], [-0.3, 0.6, 1.2]])
    pivots = exactly([2, 3, 3], "int32")
    yield make(b=(3, 2), lu=lu, pivots=pivots)
    yield make(b=(3, 1), lu=lu, pivots=pivots, trans="T")


@svdvals.samples
def _(make):
    yield make(x=exactly([[2.0, 0.3, 0.1], [-0.4, 1.5, 0.6]]))
