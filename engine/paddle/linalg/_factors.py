"""``paddle.linalg.cholesky``, ``qr``, ``lu``, …: matrices as products of simpler ones, and products of reflections."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import integer, tensor
from gradtool.paddle._creation import assign, eye
from gradtool.paddle._dispatch import apply
from gradtool.paddle._linalg import matmul
from gradtool.paddle._manipulation import expand, unsqueeze
from gradtool.paddle._random import randn
from gradtool.paddle._reduction import mean
from gradtool.paddle._sizes import is_square
from gradtool.paddle._splitting import matrix_transpose

from ._norms import svd
from ._systems import triangular_solve


def cholesky(x: Any, upper: bool = False, name: str | None = None) -> AnyTensor:
    """The triangular factor of which each positive definite matrix of a batch is the product with its adjoint.

    Args:
        upper: ``U`` of ``UᴴU``, from the upper triangle of *x*; else ``L`` of ``LLᴴ``, from the lower one.

    Raises:
        KernelError: a matrix that is not positive definite (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.disable_static()
    >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    x = tensor(x, "x", "paddle.linalg.cholesky")
    return apply("cholesky", x, attrs={"upper": upper}, name=name)  # type: ignore[no-any-return]


def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """``x = Q · R`` for each matrix of a batch: orthonormal columns, and an upper triangle.

    Args:
        mode: ``"reduced"``; ``"complete"``, with a square Q; or ``"r"`` for R alone.

    Raises:
        UsageError: another mode (a ValueError).
    """
    q, r = apply("qr", tensor(x, "x", "paddle.linalg.qr"), attrs={"mode": mode}, name=name)
    return r if mode == "r" else (q, r)


def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[AnyTensor, ...]:
    """L and U in one matrix, of which *x* is the product with rows exchanged, and the exchanges, counted from 1.

    Args:
        pivot: exchange rows: not to do so is not there on a CPU, in Paddle neither.
        get_infos: a third tensor, 0 for each matrix that has no pivot of 0.
    """
    parts = apply("lu", tensor(x, "x", "paddle.linalg.lu"), attrs={"pivots": pivot}, name=name)
    return tuple(parts) if get_infos else tuple(parts[:2])


def lu_unpack(
    x: Any, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[AnyTensor | None, AnyTensor | None, AnyTensor | None]:
    """The matrix of exchanges, L and U, from the two results of :func:`lu`; None for what is not asked for.

    Args:
        x: L and U in one matrix.
        y: the exchanges.
        unpack_ludata: give L and U.
        unpack_pivots: give the matrix of exchanges.
    """
    place = "paddle.linalg.lu_unpack"
    attrs = {"unpack_ludata": unpack_ludata, "unpack_pivots": unpack_pivots}
    exchange, low, up = apply("lu_unpack", tensor(x, "x", place), tensor(y, "y", place), attrs=attrs, name=name)
    return (exchange if unpack_pivots else None, *((low, up) if unpack_ludata else (None, None)))


def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: str | None = None) -> AnyTensor:
    """The solution of equations with the right side *b* whose matrix :func:`lu` has taken apart.

    Args:
        trans: of the matrix (``"N"``), of its transposed (``"T"``) or of its adjoint (``"C"``).

    Raises:
        UsageError: another letter (a ValueError).
    """
    place = "paddle.linalg.lu_solve"
    if trans not in ("N", "T", "C"):
        raise UsageError(f"{place}: trans must be 'N', 'T' or 'C', but received {trans!r}.")
    b, lu = tensor(b, "b", place), tensor(lu, "lu", place)
    exchange, low, up = lu_unpack(lu, pivots)
    if trans == "N":
        first = triangular_solve(low, matmul(matrix_transpose(exchange), b), upper=False, unitriangular=True)
        return triangular_solve(up, first, upper=True, name=name)
    if trans == "C" and lu.dtype.is_complex:
        low, up = low.conj(), up.conj()  # type: ignore[union-attr]
    first = triangular_solve(up, b, upper=True, transpose=True)
    return matmul(exchange, triangular_solve(low, first, upper=False, transpose=True, unitriangular=True), name=name)


def _adjoint(x: AnyTensor) -> AnyTensor:
    turned = matrix_transpose(x)
    return turned.conj() if x.dtype.is_complex else turned


def _reflectors(x: AnyTensor, tau: AnyTensor, place: str) -> list[tuple[AnyTensor, AnyTensor]]:
    """Columns ``[0 … 0 1 …]`` and their factors, one for each number of *tau*."""
    if x.ndim < 2 or tau.ndim != x.ndim - 1 or tau.shape[-1] > x.shape[-1] or x.shape[-2] < x.shape[-1]:
        raise ShapeError(
            f"{place}: x {list(x.shape)} must hold matrices with no more columns than rows, and tau "
            f"{list(tau.shape)} no more numbers for each than it has columns"
        )
    unit = eye(x.shape[-2], x.shape[-1], dtype=x.dtype)
    columns = x.tril(-1) + unit
    return [(columns[..., i : i + 1], unsqueeze(unsqueeze(tau[..., i], -1), -1)) for i in range(tau.shape[-1])]


def householder_product(x: Any, tau: Any, name: str | None = None) -> AnyTensor:
    """The first columns of the product of reflections ``1 - tauᵢ·vᵢ·vᵢᴴ``, of which *x* holds the vectors.

    Args:
        x: ``[…, rows, columns]``: below the diagonal of column i stands vᵢ, which has a 1 there.
        tau: ``[…, count]``.
    """
    place = "paddle.linalg.householder_product"
    x, tau = tensor(x, "x", place), tensor(tau, "tau", place)
    rows, columns = x.shape[-2:]
    reflections = _reflectors(x, tau, place)
    out = expand(eye(rows, columns, dtype=x.dtype), list(x.shape))
    for vector, share in reversed(reflections):
        out = out - share * matmul(vector, matmul(_adjoint(vector), out))
    return assign(out) if not reflections else out


def ormqr(x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False, name: str | None = None) -> AnyTensor:
    """*y* times the whole product of reflections that *x* and *tau* stand for (:func:`householder_product`).

    Args:
        left: the product stands at the left of *y*.
        transpose: its adjoint.
    """
    place = "paddle.linalg.ormqr"
    x, tau, out = tensor(x, "x", place), tensor(tau, "tau", place), tensor(y, "y", place)
    reflections = _reflectors(x, tau, place)
    if transpose:
        reflections = [(v, t.conj() if x.dtype.is_complex else t) for v, t in reflections]
    for vector, share in reflections if left == transpose else reversed(reflections):
        if left:
            out = out - share * matmul(vector, matmul(_adjoint(vector), out))
        else:
            out = out - share * matmul(matmul(out, vector), _adjoint(vector))
    return out


def svd_lowrank(
    x: Any, q: int | None = None, niter: int = 2, M: Any = None, name: str | None = None
) -> tuple[AnyTensor, AnyTensor, AnyTensor]:
    """The *q* largest singular values of *x*, nearly, with their columns and rows: ``x ≈ U · diag(S) · Vᴴ``.

    By random directions that are multiplied *niter* times: N. Halko, P. G. Martinsson and J. A. Tropp, "Finding
    structure with randomness" (2011), algorithms 4.4 and 5.1.

    Args:
        q: at most the smaller of both dimensions; 6 when None.
        niter: multiplications.
        M: what is subtracted from *x* before.

    Raises:
        UsageError: *q* or *niter* is out of range (a ValueError).
    """
    x = tensor(x, "x", "paddle.linalg.svd_lowrank")
    q, niter = _sizes(x, q, niter, "paddle.linalg.svd_lowrank")
    if M is not None:
        x = x - M
    rows, columns = x.shape[-2:]
    turned = rows < columns
    matrix = _adjoint(x) if turned else x
    basis, _ = qr(matmul(matrix, randn([matrix.shape[-1], q], dtype=x.dtype)))
    for _ in range(niter):
        across, _ = qr(matmul(_adjoint(matrix), basis))
        basis, _ = qr(matmul(matrix, across))
    u, s, vh = svd(matmul(_adjoint(basis), matrix))
    u, v = matmul(basis, u), _adjoint(vh)
    return (v, s, u) if turned else (u, s, v)


def _sizes(x: AnyTensor, q: int | None, niter: int, place: str) -> tuple[int, int]:
    if x.ndim < 2:
        raise ShapeError(f"{place}: x {list(x.shape)} must hold matrices.")
    most = min(x.shape[-2:])
    count = min(6, most) if q is None else integer(q, "q", place)
    if not 0 <= count <= most:
        raise UsageError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={most}")
    if niter < 0:
        raise UsageError(f"niter(={niter}) must be non-negative integer")
    return count, niter


def pca_lowrank(
    x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[AnyTensor, AnyTensor, AnyTensor]:
    """The *q* principal components of *x*, nearly: :func:`svd_lowrank` of it without the averages of its columns.

    Args:
        center: subtract the averages.
    """
    x = tensor(x, "x", "paddle.linalg.pca_lowrank")
    q, niter = _sizes(x, q, niter, "paddle.linalg.pca_lowrank")
    return svd_lowrank(x - mean(x, -2, True) if center else x, q, niter)


def matrix_exp(x: Any, name: str | None = None) -> AnyTensor:
    """The exponential of each matrix of a batch: ``1 + x + x·x/2 + …``.

    Raises:
        ShapeError: matrices that are not square (a ValueError).
    """
    x = tensor(x, "x", "paddle.linalg.matrix_exp")
    if not is_square(x):
        raise ShapeError(f"paddle.linalg.matrix_exp: x {list(x.shape)} must hold square matrices.")
    return apply("matrix_exp", x, name=name)  # type: ignore[no-any-return]
