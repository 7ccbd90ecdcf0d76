"""Systems of linear equations: inverse matrices, solutions and determinants."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ..infer import broadcast
from ..opdef import Trait, op
from ..refusals import may_hold
from ..samples import exactly
from ..scattering import contiguous
from ..writing import put


def square(name, x, slot="X"):
    """The shape of matrices that must have as many rows as columns."""
    if x.ndim < 2:
        raise ShapeError(
            f"{name}: {slot} {list(x.shape)} must have at least 2 dimensions",
            hint="the last two dimensions are the rows and the columns of a matrix",
        )
    rows, columns = x.shape[-2:]
    if rows != columns and UNKNOWN not in (rows, columns):
        raise ShapeError(
            f"{name}: {slot} {list(x.shape)} must hold square matrices, but they have {rows} rows and {columns} columns"
        )
    return x.shape


def finite_matrices(k, x):
    """*x* with a unit matrix for each that is not finite, which LAPACK may refuse, and which these are."""
    xp = k.xp
    lost = ~xp.isfinite(x).all((-2, -1))
    if not may_hold(lost):
        return x, None
    return xp.where(lost[..., None, None], xp.eye(x.shape[-2], x.shape[-1], dtype=x.dtype), x), lost


def without(k, result, lost, dims):
    """*result* with NaN for the matrices that are *lost*; it has *dims* dimensions for each."""
    if lost is None:
        return result
    return k.xp.where(lost.reshape(lost.shape + (1,) * dims), k.xp.asarray(k.xp.nan, result.dtype), result)


@op("transposed", "X -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def transposed(k, x):
    """Each matrix of a batch with rows for columns."""
    return contiguous(x.swapaxes(-1, -2))


@transposed.gradient
def _(k, dout):
    return k.transposed(dout)


@op("inverse", "Input -> Output", trait=Trait.HOLOMORPHIC)
def inverse(k, input):
    """The inverse of each matrix of a batch."""
    matrices, lost = finite_matrices(k, input)
    return without(k, k.xp.linalg.inv(matrices), lost, 2)


@inverse.infer
def _(input):
    square("inverse", input, "Input")
    return input


@inverse.gradient
def _(k, output, doutput):
    return -k.matmul(k.matmul(output, doutput, trans_x=True), output, trans_y=True)


@inverse.samples
def _(make):
    yield make(input=(1, 1))
    yield make(input=exactly([[2.0, -0.5, 0.3], [0.4, 1.5, 0.7], [-0.6, 0.2, 1.8]]))
    yield make(input=exactly([[[1.0, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]))
    yield make(input=(0, 2, 2))


@op("determinant", "Input -> Out", trait=Trait.HOLOMORPHIC)
def determinant(k, input):
    """The determinant of each matrix of a batch."""
    return k.xp.asarray(k.xp.linalg.det(input), input.dtype)


@determinant.infer
def _(input):
    return input.replace_shape(square("determinant", input, "Input")[:-2])


@determinant.gradient
def _(k, input, dout):
    return k.cofactors(input) * k.as_column(k.as_column(dout))


@op("cofactors", "X -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def cofactors(k, x):
    """``det(X)·X⁻ᵀ`` for every matrix of a batch, which singular ones have too."""
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    u, s, vh = xp.linalg.svd(matrices, full_matrices=False)
    others = xp.ones((*s.shape, s.shape[-1]), s.dtype) * s[..., None, :]
    products = xp.prod(xp.where(xp.eye(s.shape[-1], dtype=bool), xp.ones((), s.dtype), others), axis=-1)
    turn = xp.linalg.det(u) * xp.linalg.det(vh)
    scaled = xp.conj(u) * (turn[..., None] * products)[..., None, :]
    return without(k, xp.asarray(xp.matmul(scaled, xp.conj(vh)), x.dtype), lost, 2)


@cofactors.gradient
def _(k, x, out, dout):
    """Of a singular matrix it is not finite: only the first derivative of a determinant is computed there."""
    back = k.matmul(k.matmul(out, dout, trans_y=True), out)
    share = k.reduce_sum(out * dout, dim=(-2, -1), keep_dim=True)
    return (share * out - back) / k.as_column(k.as_column(k.determinant(x)))


@op("slogdeterminant", "Input -> Out", trait=Trait.COMPLEX)
def slogdeterminant(k, input):
    """The sign of each determinant, and behind all of them the logarithms of their sizes.

    Of complex numbers the sign is the determinant over its size.
    """
    xp = k.xp
    matrices, lost = finite_matrices(k, input)
    signs, logs = xp.linalg.slogdet(matrices)
    parts = xp.stack([signs, logs.astype(signs.dtype)])
    return parts if lost is None else xp.where(lost, xp.asarray(xp.nan, input.dtype), parts)


@slogdeterminant.infer
def _(input):
    return input.replace_shape((2, *square("slogdeterminant", input, "Input")[:-2]))


@slogdeterminant.gradient
def _(k, input, out, dout):
    """A sign of real numbers stays as it is; of complex ones it turns, by the imaginary part of ``tr(X⁻¹·dX)``."""
    share = _entry(k, dout, 1)
    if input.dtype.kind == "c":
        turned = k.imag(_entry(k, dout, 0) * k.conj(_entry(k, out, 0)))
        share = k.complex(k.real(share), turned)
    return k.adjoint(k.inverse(input)) * k.as_column(k.as_column(share))


def _entry(k, x, place):
    return k.slice(x, axes=[0], starts=[place], ends=[place + 1], decrease_axis=[0])


for _op in (determinant, slogdeterminant):

    @_op.samples
    def _(make):
        yield make(input=(1, 1))
        yield make(input=exactly([[2.0, -0.5, 0.3], [0.4, 1.5, 0.7], [-0.6, 0.2, 1.8]]))
        yield make(input=exactly([[[1.0, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]))
        yield make(input=(0, 2, 2))


@op("solve", "X Y -> Out", trait=Trait.HOLOMORPHIC)
def solve(k, x, y):
    """The ``Out`` of which ``X @ Out`` is Y, for every matrix of a batch; a vector is one column."""
    xp = k.xp
    matrices, lost = finite_matrices(k, x)
    columns = y[..., None] if y.ndim == 1 else y
    gone = ~xp.isfinite(columns).all(-2, keepdims=True)
    out = xp.linalg.solve(matrices, xp.where(gone, xp.zeros((), y.dtype), columns))
    out = xp.where(gone, xp.asarray(xp.nan, out.dtype), out)
    if lost is not None:
        out = xp.where(lost[..., None, None], xp.asarray(xp.nan, out.dtype), out)
    return out[..., 0] if y.ndim == 1 else out


@solve.infer
def _(x, y):
    return _solution("solve", x, y, vectors=True)


def _solution(name, x, y, vectors=False):
    """Return the solution of a system of equations."""
    size = square(name, x)[-1]
    if y.ndim < (1 if vectors else 2):
        raise ShapeError(f"{name}: Y {list(y.shape)} must have at least {1 if vectors else 2} dimensions")
    rows = y.shape[-1] if y.ndim == 1 else y.shape[-2]
    if size != rows and UNKNOWN not in (size, rows):
        raise ShapeError(
            f"{name}: X {list(x.shape)} and Y {list(y.shape)} do not fit: {size} unknowns, and {rows} rows in Y"
        )
    if y.ndim == 1:
        return TensorSpec((*x.shape[:-2], rows), y.dtype)
    return TensorSpec((*broadcast(x.shape[:-2], y.shape[:-2], op=name), rows, y.shape[-1]), y.dtype)


@solve.gradient
def _(k, x, y, out, dout):
    def right():
        if y.ndim == 1:
            return k.solve(k.transposed(x), k.as_column(dout))
        return k.solve(k.transposed(x), dout)

    def left():
        column = k.as_column(out) if y.ndim == 1 else out
        return k.sum_to(-k.matmul(right(), column, trans_y=True), x)

    def of_y():
        if y.ndim == 1:
            return k.reshape_like(k.sum_to(right(), k.as_column(y)), y)
        return k.sum_to(right(), y)

    return left, of_y


@op(
    "triangular_solve",
    "X Y -> Out",
    attrs={"upper": True, "transpose": False, "unitriangular": False},
    trait=Trait.HOLOMORPHIC,
)
def triangular_solve(k, x, y, *, upper, transpose, unitriangular):
    """The ``Out`` of which ``X @ Out`` is Y, where X stands for one of its triangles; row by row.

    Args:
        upper: the upper triangle, else the lower one; nothing of the other is read.
        transpose: of the transposed matrix.
        unitriangular: with ones on the diagonal, whatever stands there.
    """
    xp = k.xp
    if transpose:
        x, upper = x.swapaxes(-1, -2), not upper
    size = x.shape[-1]
    out = xp.array(xp.broadcast_to(y, (*broadcast(x.shape[:-2], y.shape[:-2]), *y.shape[-2:])))
    for i in reversed(range(size)) if upper else range(size):
        solved = xp.s_[i + 1 :] if upper else xp.s_[:i]
        row = out[..., i, :] - xp.matmul(x[..., i, None, solved], out[..., solved, :])[..., 0, :]
        out = put(out, (..., i, slice(None)), row if unitriangular else row / x[..., i, i, None])
    return out


@triangular_solve.infer
def _(x, y):
    return _solution("triangular_solve", x, y)


@triangular_solve.gradient
def _(k, x, y, out, dout, *, upper, transpose, unitriangular):
    def right():
        return k.triangular_solve(x, dout, upper=upper, transpose=not transpose, unitriangular=unitriangular)

    def left():
        gradient = k.matmul(out, right(), trans_y=True) if transpose else k.matmul(right(), out, trans_y=True)
        diagonal = int(unitriangular)
        part = k.tril_triu(-gradient, lower=not upper, diagonal=diagonal if upper else -diagonal)
        return k.sum_to(part, x)

    return left, (lambda: k.sum_to(right(), y))


MATRIX = exactly([[2.0, -0.5, 0.3], [0.4, 1.5, 0.7], [-0.6, 0.2, 1.8]])


@solve.samples
def _(make):
    yield make(x=MATRIX, y=(3, 2))
    yield make(x=MATRIX, y=(3,))
    yield make(x=exactly([[[1.0, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]), y=(2, 3))
    yield make(x=exactly([[[1.0, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]), y=(2,))
    yield make(x=exactly([[1.0, 0.5], [-0.5, 2.0]]), y=(3, 2, 1))
    yield make(x=(0, 2, 2), y=(0, 2, 3))


@triangular_solve.samples
def _(make):
    yield make(x=MATRIX, y=(3, 2))
    yield make(x=MATRIX, y=(3, 2), upper=False)
    yield make(x=MATRIX, y=(3, 1), transpose=True)
    yield make(x=MATRIX, y=(2, 3, 2), upper=False, transpose=True, unitriangular=True)
    yield make(x=exactly([[[1.0, 0.5], [-0.5, 2.0]], [[3.0, 1.0], [0.5, 1.0]]]), y=(2, 3), unitriangular=True)
    yield make(x=(0, 2, 2), y=(0, 2, 3))
