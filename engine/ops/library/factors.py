"""Matrices as products of simpler ones: Cholesky's factors, orthogonal and triangular ones, L and U with exchanges."""

from __future__ import annotations

import math

from ...core.errors import ShapeError, UnsupportedError, UsageError
from ...core.spec import UNKNOWN
from ..infer import expect_floating
from ..opdef import Like, Trait, op
from ..samples import exactly, ints
from ..scattering import contiguous
from ..writing import add_to, put
from .systems import finite_matrices, square, without


def _least(a, b):
    return UNKNOWN if UNKNOWN in (a, b) else min(a, b)


def _matrices(name, x):
    """Batch, rows and columns of floating-point matrices."""
    expect_floating(x, "X", name)
    if x.ndim < 2:
        raise ShapeError(f"{name}: X {list(x.shape)} must have at least 2 dimensions")
    *batch, rows, columns = x.shape
    return batch, rows, columns


@op("halved_triangle", "X -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def halved_triangle(k, x):
    """The hermitian half of a matrix of which one triangle counts: that triangle and its adjoint, over two."""
    low = k.xp.tril(x, -1)
    across = k.xp.conj(low.swapaxes(-1, -2))
    diagonal = k.xp.where(k.xp.eye(x.shape[-1], dtype=bool), x.real, k.xp.zeros((), x.dtype))
    return k.xp.asarray((low + across + diagonal) / 2, x.dtype)


@halved_triangle.gradient
def _(k, dout):
    both = (dout + k.adjoint(dout)) * 0.5
    return k.tril_triu(both, lower=True, diagonal=-1) + k.halved_diagonal(both)


@op("halved_diagonal", "X -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def halved_diagonal(k, x):
    """Half of the real part of the diagonal, zeros elsewhere."""
    xp = k.xp
    return xp.asarray(xp.where(xp.eye(x.shape[-1], dtype=bool), x.real / 2, xp.zeros((), x.dtype)), x.dtype)


@halved_diagonal.gradient
def _(k, dout):
    return k.halved_diagonal(dout)


@op("cholesky", "X -> Out", attrs={"upper": False}, trait=Trait.COMPLEX)
def cholesky(k, x, *, upper):
    """The triangular factor of which a positive definite matrix is the product with its adjoint.

    Args:
        upper: the upper factor ``U`` of ``UᴴU``, read from the upper triangle; else the lower one ``L`` of ``LLᴴ``. The
            gradient is shared between both triangles, as Paddle and PyTorch do it.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    if not upper:
        return without(k, xp.linalg.cholesky(matrices), lost, 2)
    factor = xp.linalg.cholesky(xp.conj(matrices.swapaxes(-1, -2)))
    return without(k, contiguous(xp.conj(factor.swapaxes(-1, -2))), lost, 2)


@cholesky.infer
def _(x, *, upper):
    expect_floating(x, "X", "cholesky")
    square("cholesky", x)
    return x


@cholesky.gradient
def _(k, out, dout, *, upper):
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10."""
    factor, slope = (k.adjoint(out), k.adjoint(dout)) if upper else (out, dout)
    inner = k.halved_triangle(k.matmul(k.adjoint(factor), slope))
    # L⁻ᴴ · inner · L⁻¹, by two triangular systems.
    half = k.triangular_solve(k.adjoint(factor), inner, upper=True)
    return k.adjoint(k.triangular_solve(k.adjoint(factor), k.adjoint(half), upper=True))


@op("qr", "X -> Q R", attrs={"mode": "reduced"}, trait=Trait.COMPLEX)
def qr(k, x, *, mode):
    """``X = Q · R``: orthonormal columns, and an upper triangle.

    Args:
        mode: ``"reduced"``, ``"complete"`` (Q is square), or ``"r"`` (Q is empty).
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    if mode == "r":
        return xp.zeros((0,), x.dtype), without(k, xp.linalg.qr(matrices, "r"), lost, 2)
    q, r = xp.linalg.qr(matrices, mode)
    return without(k, q, lost, 2), without(k, r, lost, 2)


@qr.infer
def _(x, *, mode):
    batch, rows, columns = _matrices("qr", x)
    if mode not in ("reduced", "complete", "r"):
        raise UsageError(f"QR type {mode!r} is not supported: mode must be 'reduced', 'complete' or 'r'.")
    inner = rows if mode == "complete" else _least(rows, columns)
    q = x.replace_shape((0,)) if mode == "r" else x.replace_shape((*batch, rows, inner))
    return q, x.replace_shape((*batch, inner, columns))


@qr.gradient
def _(k, q, r, dq, dr, *, mode):
    """S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010)."""
    rows, columns = q.shape[-2] if mode != "r" else r.shape[-2], r.shape[-1]
    if mode == "r" or (mode == "complete" and rows > columns):
        raise UnsupportedError(
            f"qr: there is no gradient with mode={mode!r} of matrices of {rows} rows and {columns} columns",
            hint="mode='reduced' has one",
        )
    if columns <= rows:
        return _of_tall(k, q, r, dq, dr)
    # X = [A B] = Q · [U V]: B = Q·V, and what is left is the gradient of A = Q·U.
    u, du = _columns(k, r, 0, rows), _columns(k, dr, 0, rows)
    v, dv = _columns(k, r, rows, columns), _columns(k, dr, rows, columns)
    b = k.matmul(q, v)
    first = _of_tall(k, q, u, dq + k.matmul(b, k.adjoint(dv)), du)
    return k.concat([first, k.matmul(q, dv)], None, axis=-1)


def _columns(k, x, start, end):
    return k.slice(x, axes=[len(x.shape) - 1], starts=[start], ends=[end])


def _of_tall(k, q, r, dq, dr):
    inner = k.matmul(r, k.adjoint(dr)) - k.matmul(k.adjoint(dq), q)
    left = dq + k.matmul(q, k.halved_triangle(inner) * 2.0)
    # left · R⁻ᴴ, from the adjoint of R⁻¹ · leftᴴ.
    return k.adjoint(k.triangular_solve(r, k.adjoint(left), upper=True))


@op("lu", "X -> Out Pivots Infos", attrs={"pivots": True}, trait=Trait.COMPLEX)
def lu(k, x, *, pivots):
    """L and U in one matrix, of which X is the product with its rows exchanged; the ones on L's diagonal are left out.

    Row i was exchanged with row ``Pivots[i] - 1``, one after the other. ``Infos`` counts from 1 the first column that
    has no pivot but 0, and is 0 where all have one.

    Args:
        pivots: exchange rows; without that there are no Pivots in Paddle on a CPU either.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    out = xp.array(matrices)
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    batch = x.shape[:-2]
    chosen = xp.zeros((*batch, count), "int32")
    infos = xp.zeros(batch, "int32")
    size = math.prod(batch)
    flat, places, codes = out.reshape(size, rows, columns), chosen.reshape(size, count), infos.reshape(-1)
    every = xp.arange(len(flat))
    for i in range(count):
        column = flat[:, i:, i]  # LAPACK takes the sum of both parts for the size of a complex number
        at = i + xp.argmax(abs(column.real) + abs(column.imag) if column.dtype.kind == "c" else abs(column), axis=1)
        places[:, i] = at + 1
        kept = flat[:, i].copy()
        flat[:, i] = flat[every, at]
        flat[every, at] = kept
        pivot = flat[:, i, i]
        empty = pivot == 0
        codes[empty & (codes == 0)] = i + 1
        shares = flat[:, i + 1 :, i] / xp.where(empty, xp.ones((), x.dtype), pivot)[:, None]
        flat[:, i + 1 :, i] = shares
        flat[:, i + 1 :, i + 1 :] -= shares[:, :, None] * flat[:, i, None, i + 1 :]
    return without(k, out, lost, 2), chosen, infos


@lu.infer
def _(x, *, pivots):
    batch, rows, columns = _matrices("lu", x)
    if not pivots:
        raise UnsupportedError("lu: pivots=False is not there on a CPU, in Paddle neither")
    return (
        x,
        x.replace_shape((*batch, _least(rows, columns))).replace_dtype("int32"),
        x.replace_shape(batch).replace_dtype("int32"),
    )


@lu.gradient
def _(k, out, pivots, dout):
    """From ``L⁻¹·dL`` below the diagonal and ``dU·U⁻¹`` from it on, of the square part of both factors."""
    rows, columns = out.shape[-2:]
    count = min(rows, columns)
    exchange, low, up = k.lu_unpack(out, pivots)
    dlow, dup = k.tril_triu(dout, lower=True, diagonal=-1), k.tril_triu(dout)
    if columns > rows:
        dlow = _columns(k, dlow, 0, count)
    else:
        dup = _rows(k, dup, 0, count)
    inner = k.matmul(k.adjoint(low), dlow) - k.matmul(dup, k.adjoint(up))
    if columns >= rows:
        # A = P·L·[U₁ U₂]: L⁻ᴴ · ([tril(inner)·U₁⁻ᴴ 0] + dU)
        below = k.tril_triu(inner, lower=True, diagonal=-1)
        share = k.adjoint(k.triangular_solve(_columns(k, up, 0, count), k.adjoint(below), upper=True))
        if columns > rows:
            share = k.concat([share, k.zeros_like(_columns(k, up, count, columns))], None, axis=-1)
        back = k.triangular_solve(k.adjoint(low), share + dup, upper=True, unitriangular=True)
    else:
        # A = P·[L₁; L₂]·U: ([L₁⁻ᴴ·triu(-inner); 0] + dL) · U⁻ᴴ
        above = k.tril_triu(-inner)
        head = k.triangular_solve(k.adjoint(_rows(k, low, 0, count)), above, upper=True, unitriangular=True)
        whole = k.concat([head, k.zeros_like(_rows(k, low, count, rows))], None, axis=-2) + dlow
        back = k.adjoint(k.triangular_solve(up, k.adjoint(whole), upper=True))
    return k.matmul(exchange, back)


def _rows(k, x, start, end):
    return k.slice(x, axes=[len(x.shape) - 2], starts=[start], ends=[end])


@op(
    "lu_unpack",
    "X Pivots -> Pmat L U",
    attrs={"unpack_ludata": True, "unpack_pivots": True},
    trait=Trait.COMPLEX,
)
def lu_unpack(k, x, pivots, *, unpack_ludata, unpack_pivots):
    """The matrix of exchanges, L with ones on its diagonal, and U, from what ``lu`` gives."""
    xp = k.xp
    *batch, rows, columns = x.shape
    count = min(rows, columns)
    order = xp.broadcast_to(xp.arange(rows), (*batch, rows)).reshape(math.prod(batch), rows).copy()
    places = pivots.reshape(len(order), pivots.shape[-1])
    every = xp.arange(len(order))
    for i in range(places.shape[1]):
        at = places[:, i] - 1
        kept = order[:, i].copy()
        order = put(order, (slice(None), i), order[every, at])
        order = put(order, (every, at), kept)
    exchange = xp.asarray(xp.arange(rows)[:, None] == order[:, None, :], x.dtype).reshape(*batch, rows, rows)
    low = xp.tril(x[..., :count], -1) + xp.eye(rows, count, dtype=x.dtype)
    return exchange, low, xp.triu(x[..., :count, :])


@lu_unpack.infer
def _(x, pivots, *, unpack_ludata, unpack_pivots):
    batch, rows, columns = _matrices("lu_unpack", x)
    count = _least(rows, columns)
    return (
        x.replace_shape((*batch, rows, rows)),
        x.replace_shape((*batch, rows, count)),
        x.replace_shape((*batch, count, columns)),
    )


@lu_unpack.gradient(wrt="X")
def _(k, dl, du):
    return k.packed_triangles(dl, du)


@op("packed_triangles", "L U -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def packed_triangles(k, low, up):
    """One matrix with the part of the first below its diagonal, and the part of the second from it on."""
    out = k.xp.zeros((*low.shape[:-1], up.shape[-1]), low.dtype)
    count = low.shape[-1]
    out = add_to(out, (..., slice(count)), k.xp.tril(low, -1))
    return add_to(out, (..., slice(count), slice(None)), k.xp.triu(up))


@packed_triangles.infer
def _(low, up):
    return low.replace_shape((*low.shape[:-1], up.shape[-1]))


@packed_triangles.gradient
def _(k, low: Like, up: Like, dout):
    def of_low():
        part = k.tril_triu(dout, lower=True, diagonal=-1)
        return _columns(k, part, 0, low.shape[-1]) if low.shape[-1] < up.shape[-1] else part

    def of_up():
        part = k.tril_triu(dout)
        return _rows(k, part, 0, up.shape[-2]) if up.shape[-2] < low.shape[-2] else part

    return of_low, of_up


POSITIVE = exactly([[2.0, -0.5, 0.3], [-0.5, 1.7, 0.4], [0.3, 0.4, 1.2]])
TALL = exactly([[0.2, -0.5], [1.4, 0.7], [-0.6, 1.8]])
WIDE = exactly([[0.2, -1.5, 0.4], [1.4, 0.7, -0.9]])
SQUARE = exactly([[0.2, -0.5, 0.3], [1.4, 0.5, 0.7], [-0.6, 0.9, 1.8]])


@cholesky.samples
def _(make):
    # One triangle is read, and both get a gradient: differences in one direction do not see the same.
    yield make(x=POSITIVE, smooth=False)
    yield make(x=POSITIVE, upper=True, smooth=False)
    yield make(x=exactly([[2.0]]))
    yield make(x=exactly([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.2], [-0.2, 0.5]]]), smooth=False)
    yield make(x=(0, 2, 2))


@qr.samples
def _(make):
    yield make(x=SQUARE)
    yield make(x=TALL)
    yield make(x=WIDE)
    yield make(x=(0, 3, 2))


@lu.samples
def _(make):
    yield make(x=SQUARE)
    yield make(x=TALL)
    yield make(x=WIDE)
    yield make(x=exactly([[[0.1, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]))
    yield make(x=(0, 2, 2))


@lu_unpack.samples
def _(make):
    yield make(x=SQUARE, pivots=exactly([2, 3, 3], "int32"))
    yield make(x=TALL, pivots=exactly([2, 3], "int32"))
    yield make(x=WIDE, pivots=exactly([2, 2], "int32"))
    yield make(x=(2, 2, 2), pivots=ints((2, 2), 3, 2, "int32"))
