"""Pseudo-inverses, least squares, ranks, and the exponential of matrices."""

from __future__ import annotations

import math

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import broadcast, expect_floating, real_part
from ..opdef import Late, Trait, op
from ..refusals import refuse
from ..samples import exactly, uniform
from .systems import finite_matrices, square, without


def _inverted(k, x, rcond):
    """Singular vectors and values, which of these count, and what they are divided by: 0 for those that do not."""
    xp = k.xp
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    largest = s[..., :1] if s.shape[-1] else s
    counts = s > rcond * largest
    shares = xp.where(counts, 1 / xp.where(counts, s, 1), 0).astype(s.dtype)
    return xp.conj(u.swapaxes(-1, -2)), s, xp.conj(vh.swapaxes(-1, -2)), counts, shares


@op("pseudo_inverse", "X -> Out", attrs={"rcond": 1e-15}, trait=Trait.INTERNAL | Trait.COMPLEX)
def pseudo_inverse(k, x, *, rcond):
    """The pseudo-inverse of each matrix; singular values up to *rcond* times the largest one count as 0."""
    matrices, lost = finite_matrices(k, x)
    rows, _, columns, _, shares = _inverted(k, matrices, rcond)
    out = k.xp.matmul(columns * shares[..., None, :], rows)
    return without(k, k.xp.asarray(out, x.dtype), lost, 2)


@pseudo_inverse.infer
def _(x):
    *batch, rows, columns = x.shape
    return x.replace_shape((*batch, columns, rows))


def _through(k, x, out, dout):
    """The gradient of matrices by that of their pseudo-inverses *out*.

    G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
    variables separate" (1973), equation 4.12; it holds among matrices of one rank.
    """
    across, slope = k.adjoint(out), k.adjoint(dout)
    first = k.matmul(k.matmul(across, dout), across)
    beyond = slope - k.matmul(x, k.matmul(out, slope))
    beside = slope - k.matmul(k.matmul(slope, out), x)
    return k.matmul(k.matmul(beyond, out), across) + k.matmul(across, k.matmul(out, beside)) - first


@pseudo_inverse.gradient
def _(k, x, out, dout):
    return _through(k, x, out, dout)


@op(
    "lstsq",
    "X Y -> Solution Residuals Rank SingularValues",
    attrs={"rcond": 0.0, "driver": "gels"},
    trait=Trait.COMPLEX,
)
def lstsq(k, x, y, *, rcond):
    """The ``Solution`` of which ``X @ Solution`` is nearest to Y, the shortest of several.

    Args:
        rcond: singular values up to that share of the largest one count as 0.
        driver: the routine of LAPACK that Paddle calls; here it is always by singular values.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    rows, s, columns, counts, shares = _inverted(k, matrices, rcond)
    inner = xp.matmul(rows, y) * shares[..., :, None]
    out = without(k, xp.asarray(xp.matmul(columns, inner), y.dtype), lost, 2)
    rank = counts.sum(-1).astype("int32")
    left = xp.matmul(x, out) - y
    squares = xp.square(left.real) + xp.square(left.imag) if left.dtype.kind == "c" else xp.square(left)
    return out, squares.sum(-2), rank, without(k, s, lost, 1)


@lstsq.infer
def _(x, y):
    for slot, operand in (("X", x), ("Y", y)):
        expect_floating(operand, slot, "lstsq")
        if operand.ndim < 2:
            raise ShapeError(f"lstsq: {slot} {list(operand.shape)} must have at least 2 dimensions")
    rows, columns = x.shape[-2:]
    if y.shape[-2] != rows and UNKNOWN not in (y.shape[-2], rows):
        raise ShapeError(f"lstsq: X {list(x.shape)} and Y {list(y.shape)} must have the same number of rows")
    batch = broadcast(x.shape[:-2], y.shape[:-2], op="lstsq")
    real = real_part(x)
    count = UNKNOWN if UNKNOWN in (rows, columns) else min(rows, columns)
    return (
        TensorSpec((*batch, columns, y.shape[-1]), y.dtype),
        real.replace_shape((*batch, y.shape[-1])),
        TensorSpec(x.shape[:-2], "int32"),
        real.replace_shape((*x.shape[:-2], count)),
    )


@lstsq.gradient
def _(k, x, y, solution, dsolution, dresiduals, dsingularvalues: Late, *, rcond):
    inverses = k.pseudo_inverse(x, rcond=rcond)
    left = (k.matmul(x, solution) - y) * (k.as_type(k.insert_row(dresiduals), y) * 2.0)
    total = dsolution + k.matmul(k.adjoint(x), left)

    def of_x():
        slope = _through(k, x, inverses, k.matmul(total, k.adjoint(y))) + k.matmul(left, k.adjoint(solution))
        slope = k.sum_to(slope, x)
        if dsingularvalues is None:
            return slope
        u, _, vh = k.svd(x, full_matrices=False)
        return slope + k.matmul(u * k.as_type(k.insert_row(dsingularvalues), u), vh)

    def of_y():
        return k.sum_to(k.matmul(k.adjoint(inverses), total) - left, y)

    return of_x, of_y


def _sizes(xp, x, hermitian):
    """The singular values of matrices, or the sizes of their eigenvalues."""
    refuse(~xp.isfinite(x).all(), lambda: ValueError("there is no rank of a matrix that holds NaN or infinity"))
    return abs(xp.linalg.eigvalsh(x)) if hermitian else xp.linalg.svd(x, compute_uv=False)


@op(
    "matrix_rank",
    "X TolTensor? -> Out",
    attrs={"tol": 0.0, "use_default_tol": True, "hermitian": False},
    trait=Trait.COMPLEX,
    differentiable=False,
)
def matrix_rank(k, x, tol_tensor, *, tol, use_default_tol, hermitian):
    """Number of singular values of each matrix that are greater than a bound.

    Args:
        tol: the bound, where there is no ``TolTensor``.
        use_default_tol: the bound is the largest value times the larger of both dimensions times the type's precision.
        hermitian: the sizes of eigenvalues, read from the lower triangle, in place of singular values.
    """
    xp = k.xp
    s = _sizes(xp, x, hermitian)
    if tol_tensor is not None:
        bound = tol_tensor
    elif use_default_tol:
        bound = s.max(-1, initial=0) * (max(x.shape[-2:]) * xp.finfo(s.dtype).eps)
    else:
        bound = xp.asarray(tol, s.dtype)
    return (s > bound[..., None]).sum(-1).astype("int64")


@matrix_rank.infer
def _(x, tol_tensor, *, hermitian):
    expect_floating(x, "X", "matrix_rank")
    if x.ndim < 2:
        raise ShapeError(f"matrix_rank: X {list(x.shape)} must have at least 2 dimensions")
    if hermitian:
        square("matrix_rank", x)
    bound = () if tol_tensor is None else tol_tensor.shape
    return TensorSpec(broadcast(x.shape[:-2], bound, op="matrix_rank"), "int64")


@op(
    "matrix_rank_atol_rtol",
    "x atol rtol? -> out",
    attrs={"hermitian": False},
    trait=Trait.COMPLEX,
    differentiable=False,
)
def matrix_rank_atol_rtol(k, x, atol, rtol, *, hermitian):
    """Number of singular values of each matrix that are greater than *atol*, and than *rtol* times the largest one."""
    s = _sizes(k.xp, x, hermitian)
    bound = atol
    if rtol is not None:
        bound = k.xp.maximum(atol, rtol * s.max(-1, initial=0))
    return (s > bound[..., None]).sum(-1).astype("int64")


@matrix_rank_atol_rtol.infer
def _(x, atol, rtol, *, hermitian):
    expect_floating(x, "x", "matrix_rank_atol_rtol")
    if x.ndim < 2:
        raise ShapeError(f"matrix_rank_atol_rtol: x {list(x.shape)} must have at least 2 dimensions")
    if hermitian:
        square("matrix_rank_atol_rtol", x)
    shape = broadcast(x.shape[:-2], atol.shape, op="matrix_rank_atol_rtol")
    return TensorSpec(shape if rtol is None else broadcast(shape, rtol.shape, op="matrix_rank_atol_rtol"), "int64")


@matrix_rank_atol_rtol.samples
def _(make):
    yield make(x=(2, 4, 4), atol=uniform(0.2, 0.3, (1,)))
    yield make(x=(4, 4), atol=uniform(0.2, 0.3, ()), rtol=uniform(0.4, 0.5, ()), hermitian=True)
    yield make(x=(2, 4, 3), atol=uniform(0.0, 0.1, ()), rtol=uniform(0.1, 0.9, (2,)))


@op("matrix_exp", "X -> Out", trait=Trait.HOLOMORPHIC)
def matrix_exp(k, x):
    """The exponential of each matrix of a batch.

    By the quotient of degree 13 and as many squarings as the largest sum of a column asks for: N. J. Higham, "The
    scaling and squaring method for the matrix exponential revisited" (2005), table 2.3 and algorithm 2.3.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    sizes = abs(matrices).sum(-2).max(-1, initial=0)
    count = xp.maximum(0, xp.ceil(xp.log2(xp.maximum(sizes.max(initial=0), 1e-30) / 5.371920351148152)))
    a = matrices * xp.asarray(0.5**count, x.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    b = [xp.asarray(c, x.dtype) for c in PADE]
    unit = xp.eye(x.shape[-1], dtype=x.dtype)
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    out = xp.linalg.solve(even - odd, even + odd)
    out = k.until(0, count, out, lambda n, out: (out @ out, False))
    return without(k, xp.asarray(out, x.dtype), lost, 2)


PADE = [math.factorial(26 - i) / (math.factorial(i) * math.factorial(13 - i)) / math.factorial(13) for i in range(14)]
PADE = [c / PADE[13] for c in PADE]


@matrix_exp.infer
def _(x):
    square("matrix_exp", x)
    return x


@matrix_exp.gradient
def _(k, x, dout):
    """The exponential of twice the size whose upper right part is the derivative in one direction.

    I. Najfeld and T. F. Havel, "Derivatives of the matrix exponential and their computation" (1995).
    """
    size, last = x.shape[-1], len(x.shape) - 1
    across = k.transposed(x)
    top = k.concat([across, dout], None, axis=-1)
    whole = k.concat([top, k.concat([k.zeros_like(across), across], None, axis=-1)], None, axis=-2)
    return k.slice(k.matrix_exp(whole), axes=[last - 1, last], starts=[0, size], ends=[size, 2 * size])


LINE = exactly([[1.0, 3.0], [3.0, 2.0], [5.0, 6.0]])


@lstsq.samples
def _(make):
    yield make(x=LINE, y=(3, 2))
    yield make(x=exactly([[1.0, 0.5], [-0.5, 2.0]]), y=(2, 1), driver="gelsy")
    yield make(x=exactly([[1.0, 0.5, -0.3], [-0.5, 2.0, 0.7]]), y=(2, 2))


@matrix_rank.samples
def _(make):
    yield make(x=LINE)
    yield make(x=exactly([[1.0, 2.0], [2.0, 4.0]]), hermitian=True)
    yield make(x=LINE, tol=3.0, use_default_tol=False)
    yield make(x=(2, 2, 2), tol_tensor=exactly([0.1, 5.0]))


@matrix_exp.samples
def _(make):
    yield make(x=(1, 1))
    yield make(x=exactly([[0.3, -0.5, 0.3], [0.4, 0.2, 0.7], [-0.6, 0.2, -0.4]]))
    yield make(x=exactly([[[9.0, 0.5], [-0.5, 2.0]], [[0.0, 1.0], [0.0, 0.0]]]))
    yield make(x=(0, 2, 2))
