"""Singular values, of which matrix norms are made."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import expect_floating, real_part
from ..opdef import Late, Like, Trait, op
from ..samples import complexes, exactly
from ..writing import put
from .systems import finite_matrices, without


@op("svd", "X -> U S VH", attrs={"full_matrices": False}, trait=Trait.COMPLEX)
def svd(k, x, *, full_matrices):
    """``X = U · diag(S) · VH`` for every matrix of a batch: columns, singular values from the largest on, and rows.

    Args:
        full_matrices: U and VH are square; columns and rows without a value complete them.
    """
    # NumPy gives up where a number is not finite, for the whole batch: here the matrix is lost that holds it.
    matrices, lost = finite_matrices(k, x)
    u, s, vh = k.xp.linalg.svd(matrices, full_matrices=full_matrices)
    return without(k, u, lost, 2), without(k, s, lost, 1), without(k, vh, lost, 2)


@svd.infer
def _(x, *, full_matrices):
    expect_floating(x, "X", "svd")
    if x.ndim < 2:
        raise ShapeError(f"svd: X {list(x.shape)} must have at least 2 dimensions")
    *batch, rows, columns = x.shape
    count = UNKNOWN if UNKNOWN in (rows, columns) else min(rows, columns)
    left, right = (rows, columns) if full_matrices else (count, count)
    return (
        x.replace_shape((*batch, rows, left)),
        real_part(x).replace_shape((*batch, count)),
        x.replace_shape((*batch, right, columns)),
    )


@svd.gradient
def _(k, x: Like, u, s, vh, ds, du: Late, dvh: Late, *, full_matrices):
    """Of the values alone it is ``U · diag(dS) · VH``, also where several of them are equal.

    Columns and rows turn without bounds where two values meet: their gradients are not finite there, nor where a value
    is 0, and with them the derivatives of higher order of what is made of the values.
    """
    v, dv = k.adjoint(vh), None if dvh is None else k.adjoint(dvh)
    if full_matrices:
        u, du = _with_values(k, u, du, s)
        v, dv = _with_values(k, v, dv, s)
    row = k.as_type(k.insert_row(s), u)
    column = k.as_type(k.as_column(s), u)
    left = u * k.as_type(k.insert_row(ds), u)
    if du is not None:
        inner, turn = _turn(k, u, du, s)
        left = left + k.matmul(u, turn * row) + k.beyond(du, u) / row
        if u.dtype.kind == "c":
            # Both phases turn together: what of them is left stands in either.
            left = left + k.matmul(u, k.imaginary_diagonal(inner)) / row
    if dv is None:
        return k.matmul(left, k.adjoint(v))
    _, turn = _turn(k, v, dv, s)
    beside = k.adjoint(k.beyond(dv, v) / row)
    return k.matmul(left + k.matmul(u, column * turn), k.adjoint(v)) + k.matmul(u, beside)


def _turn(k, basis, slope, s):
    """The slope in terms of the basis, and how it turns the columns against each other."""
    inner = k.matmul(k.adjoint(basis), slope)
    gaps = k.as_type(k.inverse_differences(k.square(s)), basis)
    return inner, (inner - k.adjoint(inner)) * gaps


def _with_values(k, basis, slope, s):
    """The columns that have a value, and their slope.

    The others span what these leave: when these turn, those follow, so that the slope of the others is one of these.
    """
    columns = k.some_columns(basis, s)
    if slope is None:
        return columns, None
    others = k.some_columns(basis, s, last=True)
    turned = k.matmul(k.adjoint(k.some_columns(slope, s, last=True)), columns)
    return columns, k.some_columns(slope, s) - k.matmul(others, turned)


@op("some_columns", "X S -> Out", attrs={"last": False}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def some_columns(k, x, s, *, last):
    """As many of the first columns as *s* has numbers, or those behind them."""
    count = s.shape[-1]
    return k.xp.array(x[..., count:] if last else x[..., :count])


@some_columns.infer
def _(x, s, *, last):
    count, width = s.shape[-1], x.shape[-1]
    if last:
        count = UNKNOWN if UNKNOWN in (count, width) else width - count
    return x.replace_shape((*x.shape[:-1], count))


@some_columns.gradient(wrt="X")
def _(k, x: Like, s: Like, dout, *, last):
    return k.columns_among(dout, x, s, last=last)


@op("columns_among", "X Y S -> Out", attrs={"last": False}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def columns_among(k, x, y, s, *, last):
    """*x* at the place of ``some_columns`` among zeros in the shape of *y*."""
    count = s.shape[-1]
    return put(k.xp.zeros(y.shape, x.dtype), (..., slice(count, None) if last else slice(count)), x)


@columns_among.infer
def _(x, y, s):
    return x.replace_shape(y.shape)


@columns_among.gradient(wrt="X")
def _(k, s: Like, dout, *, last):
    return k.some_columns(dout, s, last=last)


@op("imaginary_diagonal", "X -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def imaginary_diagonal(k, x):
    """The imaginary parts of the diagonal of each square matrix, zeros elsewhere."""
    xp = k.xp
    return xp.asarray(xp.where(xp.eye(x.shape[-1], dtype=bool), 1j * x.imag, 0), x.dtype)


@imaginary_diagonal.gradient
def _(k, dout):
    return k.imaginary_diagonal(dout)


@op("beyond", "X Basis -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def beyond(k, x, basis):
    """*x* without what its columns have in those of *basis*; nothing of it is left by a whole basis."""
    xp = k.xp
    if basis.shape[-1] == basis.shape[-2]:
        return xp.zeros_like(x)  # and no rounding errors, which a small singular value would magnify
    return x - xp.matmul(basis, xp.matmul(xp.conj(basis.swapaxes(-1, -2)), x))


@beyond.gradient
def _(k, x, basis, dout):
    def of_basis():
        first = k.matmul(dout, k.matmul(k.adjoint(x), basis))
        return -first - k.matmul(x, k.matmul(k.adjoint(dout), basis))

    return (lambda: k.beyond(dout, basis)), of_basis


@op("pinv", "X -> Out", attrs={"rcond": 1e-15}, trait=Trait.COMPLEX)
def pinv(k, x, *, rcond):
    """The pseudo-inverse of every matrix of a batch; values below *rcond* of the largest one count as 0.

    The gradient takes them for 0, so the share must be a small one.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    u, s, vh = xp.linalg.svd(matrices, full_matrices=False)
    counts = s > s.max(-1, keepdims=True, initial=0) * rcond
    inverses = xp.where(counts, 1 / xp.where(counts, s, xp.ones((), s.dtype)), xp.zeros((), s.dtype))
    rows = xp.swapaxes(vh.conj(), -1, -2) * inverses[..., None, :].astype(x.dtype)
    return without(k, (rows @ xp.swapaxes(u.conj(), -1, -2)).astype(x.dtype), lost, 2)


@pinv.infer
def _(x):
    expect_floating(x, "X", "pinv")
    if x.ndim < 2:
        raise ShapeError(f"pinv: X {list(x.shape)} must have at least 2 dimensions")
    return x.replace_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


@pinv.gradient
def _(k, x, out, dout):
    """``dP = -P·dA·P + P·Pᴴ·dAᴴ·(1 - A·P) + (1 - P·A)·dAᴴ·Pᴴ·P``: no values are compared, so none may be equal or 0."""
    back, turned = k.adjoint(out), k.adjoint(dout)
    beside = k.matmul(turned, k.matmul(out, back))
    below = k.matmul(k.matmul(back, out), turned)
    return (
        beside
        - k.matmul(x, k.matmul(out, beside))
        + below
        - k.matmul(k.matmul(below, out), x)
        - k.matmul(k.matmul(back, dout), back)
    )


@pinv.samples
def _(make):
    yield make(x=(3, 2))
    yield make(x=(2, 3, 3))
    yield make(x=(0, 3))


@svd.samples
def _(make):
    yield make(x=(3, 3))
    yield make(x=(4, 2))
    yield make(x=(2, 4))
    yield make(x=(2, 3, 2))
    yield make(x=(0, 3, 2))
    yield make(x=exactly([[2.0, 0.0], [0.0, 2.0]]), smooth=False)
    yield make(x=(3, 2), full_matrices=True)
    yield make(x=(2, 2, 4), full_matrices=True, smooth=False)  # two rows without values may turn
    # Columns have no phase of their own: differences of them are not those of a function.
    yield make(x=complexes((3, 2)), smooth=False)
    yield make(x=complexes((2, 3)), full_matrices=True, smooth=False)
