"""Eigenvalues and eigenvectors.

The gradients are those of M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), with the adjoint for the transposed matrix; those of a general matrix take into account that
its vectors have the length one.
"""

from __future__ import annotations

from ...core.errors import DtypeError
from ..infer import real_part
from ..opdef import Late, Like, Trait, op
from ..samples import complexes, exactly
from ..scattering import contiguous
from .complex_numbers import WHOLE
from .systems import finite_matrices, square, without


def triangle(name, uplo):
    """Return whether the lower triangle is read."""
    if uplo not in ("L", "U"):
        raise DtypeError(f"{name}: UPLO must be 'L' or 'U', but received {uplo!r}.")
    return uplo == "L"


def _hermitian(k, x, uplo):
    """The matrices that one triangle stands for, those that are not finite apart."""
    matrices, lost = finite_matrices(k, x)
    values, vectors = k.xp.linalg.eigh(matrices, uplo)
    return without(k, values, lost, 1), without(k, vectors, lost, 2)


@op("adjoint", "X -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def adjoint(k, x):
    """Each matrix of a batch with rows for columns, and conjugates of complex numbers."""
    return contiguous(k.xp.conj(x.swapaxes(-1, -2)))


@adjoint.infer
def _(x):
    *batch, rows, columns = x.shape
    return x.replace_shape((*batch, columns, rows))


@adjoint.gradient
def _(k, dout):
    return k.adjoint(dout)


@op("as_type", "X Y -> Out", trait=Trait.INTERNAL | Trait.COMPLEX)
def as_type(k, x, like):
    """*x* with numbers of the type of *like*: the real parts of complex ones where that is real."""
    return k.xp.asarray(x.real if x.dtype.kind == "c" and like.dtype.kind != "c" else x, like.dtype)


@as_type.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.as_type(dout, x)


@op("inverse_differences", "X -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def inverse_differences(k, x):
    """``1 / (xⱼ - xᵢ)`` in row i and column j, 0 on the diagonal; infinite where two numbers are equal."""
    xp = k.xp
    same = xp.eye(x.shape[-1], dtype=bool)
    gaps = x[..., None, :] - x[..., :, None]
    return xp.where(same, xp.zeros((), x.dtype), 1 / xp.where(same, xp.ones((), x.dtype), gaps))


@inverse_differences.gradient
def _(k, out, dout):
    slopes = dout * out * out
    return k.reduce_sum(slopes, dim=(-1,)) - k.reduce_sum(slopes, dim=(-2,))


@op("eigh", "X -> Eigenvalues Eigenvectors", attrs={"UPLO": "L"}, trait=Trait.COMPLEX)
def eigh(k, x, *, UPLO):
    """Eigenvalues, the smallest first, and eigenvectors of matrices that equal their adjoints.

    Args:
        UPLO: ``"L"`` or ``"U"``: the triangle that is read; the other one is taken for its adjoint. The gradient is
            shared between both, as Paddle and PyTorch do it.
    """
    return _hermitian(k, x, UPLO)


@eigh.infer
def _(x, *, UPLO):
    triangle("eigh", UPLO)
    shape = square("eigh", x)
    return real_part(x).replace_shape(shape[:-1]), x


def _by_vectors(k, x, eigenvalues, eigenvectors, deigenvalues, deigenvectors):
    """Vectors turn without bounds where two values meet: their gradients are not finite there."""
    across = k.adjoint(eigenvectors)
    left = eigenvectors * k.as_type(k.insert_row(deigenvalues), x)
    if deigenvectors is not None:
        turned = k.matmul(across, deigenvectors)
        gaps = k.as_type(k.inverse_differences(eigenvalues), x)
        # Of how vectors turn, the half that matrices which equal their adjoints can see, as Paddle has it.
        left = left + k.matmul(eigenvectors, (turned - k.adjoint(turned)) * gaps * 0.5)
    return k.matmul(left, across)


@eigh.gradient
def _(k, x: Like, eigenvalues, eigenvectors, deigenvalues, deigenvectors: Late):
    return _by_vectors(k, x, eigenvalues, eigenvectors, deigenvalues, deigenvectors)


@op("eigvalsh", "X -> Eigenvalues Eigenvectors", attrs={"UPLO": "L", "is_test": False}, trait=Trait.COMPLEX)
def eigvalsh(k, x, *, UPLO, is_test):
    """Eigenvalues, the smallest first, of matrices that equal their adjoints; vectors for the gradient."""
    return _hermitian(k, x, UPLO)


@eigvalsh.infer
def _(x, *, UPLO, is_test):
    triangle("eigvalsh", UPLO)
    return real_part(x).replace_shape(square("eigvalsh", x)[:-1]), x


@eigvalsh.gradient
def _(k, x: Like, eigenvalues, eigenvectors, deigenvalues, deigenvectors: Late):
    return _by_vectors(k, x, eigenvalues, eigenvectors, deigenvalues, deigenvectors)


def _general(k, x):
    """Values and vectors of general matrices: complex numbers, also where all of them happen to be real."""
    matrices, lost = finite_matrices(k, x)
    whole = k.xp.result_type(x.dtype, "complex64")
    values, vectors = k.xp.linalg.eig(matrices)
    return without(k, values.astype(whole), lost, 1), without(k, vectors.astype(whole), lost, 2)


def _whole(name, x):
    if x.dtype.name not in {*WHOLE, *WHOLE.values()}:
        raise DtypeError(f"{name}: X must be float32, float64, complex64 or complex128, but received {x.dtype.name}.")
    return x.replace_dtype(WHOLE.get(x.dtype.name, x.dtype.name))


@op("eig", "X -> Eigenvalues Eigenvectors", trait=Trait.COMPLEX)
def eig(k, x):
    """Eigenvalues, in no order, and eigenvectors of length one of square matrices, as complex numbers."""
    return _general(k, x)


@eig.infer
def _(x):
    shape = square("eig", x)
    whole = _whole("eig", x)
    return whole.replace_shape(shape[:-1]), whole


@eig.gradient
def _(k, x: Like, eigenvalues, eigenvectors, deigenvalues, deigenvectors: Late):
    """Not finite where two values are equal and the vectors are asked about, nor where vectors are dependent."""
    across = k.adjoint(eigenvectors)
    inner = across * k.as_column(deigenvalues)
    if deigenvectors is not None:
        turned = k.matmul(across, deigenvectors)
        lengths = k.as_type(k.real(k.reduce_sum(k.conj(eigenvectors) * deigenvectors, dim=(-2,))), eigenvectors)
        turned = turned - k.matmul(across, eigenvectors * k.insert_row(lengths))
        inner = inner + k.matmul(turned * k.inverse_differences(k.conj(eigenvalues)), across)
    return k.as_type(k.solve(across, inner), x)


@op("eigvals", "X -> Out", trait=Trait.COMPLEX)
def eigvals(k, x):
    """Eigenvalues of square matrices, in no order, as complex numbers."""
    return _general(k, x)[0]


@eigvals.infer
def _(x):
    return _whole("eigvals", x).replace_shape(square("eigvals", x)[:-1])


@eigvals.gradient
def _(k, x, dout):
    across = k.adjoint(k.eig(x)[1])
    return k.as_type(k.solve(across, across * k.as_column(dout)), x)


SYMMETRIC = exactly([[2.0, -0.5, 0.3], [-0.5, 1.2, 0.7], [0.3, 0.7, -0.8]])
GENERAL = exactly([[2.0, -0.5, 0.3], [0.4, 1.2, 0.7], [-0.6, 0.2, -0.8]])
TURNING = exactly([[[0.5, 1.5], [-1.0, 0.3]], [[3.0, 1.0], [0.5, 1.0]]])
"""The first has complex eigenvalues."""

for _op in (eigh, eigvalsh):

    @_op.samples
    def _(make):
        # One triangle is read, and both get a gradient: differences in one direction do not see the same.
        yield make(x=SYMMETRIC, smooth=False)
        yield make(x=SYMMETRIC, UPLO="U", smooth=False)
        yield make(x=(1, 1))
        yield make(x=(0, 2, 2))


@eig.samples
def _(make):
    # Vectors have no phase of their own: differences of them are not those of a function.
    yield make(x=GENERAL, smooth=False)
    yield make(x=TURNING, smooth=False)
    yield make(x=complexes((2, 2)), smooth=False)
    yield make(x=(0, 2, 2))


@eigvals.samples
def _(make):
    yield make(x=GENERAL)
    yield make(x=TURNING)
    yield make(x=complexes((2, 2)))
    yield make(x=(0, 2, 2))
