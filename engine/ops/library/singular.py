"""Singular values, of which matrix norms are made."""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError, UnsupportedError
from ...core.spec import UNKNOWN
from ..opdef import Late, Trait, op
from ..samples import exactly


@op("svd", "X -> U S VH", attrs={"full_matrices": False})
def svd(k, x, *, full_matrices):
    """``X = U · diag(S) · VH`` for every matrix of a batch: columns, singular values from the largest on, and rows."""
    xp = k.xp
    finite = xp.isfinite(x).all((-2, -1))
    if finite.all():
        return tuple(xp.linalg.svd(x, full_matrices=False))
    # NumPy gives up where a number is not finite, for the whole batch: here the matrix is lost that holds it.
    parts = xp.linalg.svd(xp.where(finite[..., None, None], x, 0), full_matrices=False)
    lost = ~finite[..., None]
    return tuple(
        xp.where(mask, xp.asarray(xp.nan, x.dtype), part)
        for mask, part in zip((lost[..., None], lost, lost[..., None]), parts, strict=True)
    )


@svd.infer
def _(x, *, full_matrices):
    if not x.dtype.is_floating:
        raise DtypeError(f"svd: X must hold real floating-point numbers, but received {x.dtype.name}.")
    if x.ndim < 2:
        raise ShapeError(f"svd: X {list(x.shape)} must have at least 2 dimensions")
    if full_matrices:
        raise UnsupportedError(
            "svd: full_matrices is not part of this version of gradtool", hint="norms do without them"
        )
    *batch, rows, columns = x.shape
    count = UNKNOWN if UNKNOWN in (rows, columns) else min(rows, columns)
    return (
        x.with_shape((*batch, rows, count)),
        x.with_shape((*batch, count)),
        x.with_shape((*batch, count, columns)),
    )


@svd.gradient
def _(k, u, s, vh, ds, du: Late, dvh: Late):
    """Of the values alone it is ``U · diag(dS) · VH``, also where several of them are equal.

    Columns and rows turn without bounds where two values meet: their gradients are not finite there, nor where a value
    is 0, and with them the derivatives of higher order of what is made of the values.
    """
    row, column = k.insert_row(s), k.as_column(s)
    left = u * k.insert_row(ds)
    if du is not None:
        turned = k.matmul(u, du, trans_x=True)
        turn = (turned - k.matmul(du, u, trans_x=True)) * k.inverse_differences(k.square(s))
        left = left + k.matmul(u, turn * row) + k.beyond(du, u) / row
    if dvh is None:
        return k.matmul(left, vh)
    turned = k.matmul(dvh, vh, trans_y=True)
    turn = (k.matmul(vh, dvh, trans_y=True) - turned) * k.inverse_differences(k.square(s))
    beside = k.beyond(dvh, vh, rows=True) / column
    return k.matmul(left + k.matmul(u, column * turn), vh) + k.matmul(u, beside)


@op("beyond", "X Basis -> Out", attrs={"rows": False}, trait=Trait.INTERNAL)
def beyond(k, x, basis, *, rows):
    """*x* without what its columns (or rows) have in those of *basis*; nothing of it is left by a whole basis."""
    xp = k.xp
    if basis.shape[-1] == basis.shape[-2]:
        return xp.zeros_like(x)  # and no rounding errors, which a small singular value would magnify
    across = basis.swapaxes(-1, -2)
    return x - (xp.matmul(xp.matmul(x, across), basis) if rows else xp.matmul(basis, xp.matmul(across, x)))


@beyond.gradient
def _(k, x, basis, dout, *, rows):
    def turned():
        if rows:
            return k.matmul(k.matmul(basis, x, trans_y=True), dout) + k.matmul(k.matmul(basis, dout, trans_y=True), x)
        return k.matmul(dout, k.matmul(x, basis, trans_x=True)) + k.matmul(x, k.matmul(dout, basis, trans_x=True))

    return (lambda: k.beyond(dout, basis, rows=rows)), (lambda: -turned())


@svd.samples
def _(make):
    yield make(x=(3, 3))
    yield make(x=(4, 2))
    yield make(x=(2, 4))
    yield make(x=(2, 3, 2))
    yield make(x=(0, 3, 2))
    yield make(x=exactly([[2.0, 0.0], [0.0, 2.0]]), smooth=False)
