"""``paddle.linalg.eig``, ``eigh``, …: eigenvalues, ranks, and solutions that are nearest."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet
from gradtool.engine.core.errors import DtypeError, UsageError
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ops.infer import real_part
from gradtool.paddle._arguments import tensor
from gradtool.paddle._creation import cast, full, zeros
from gradtool.paddle._dispatch import apply


def eig(x: Any, name: str | None = None) -> tuple[AnyTensor, AnyTensor]:
    """Eigenvalues, in no order, and eigenvectors, as columns, of each matrix of a batch, as complex numbers."""
    values, vectors = apply("eig", tensor(x, "x", "paddle.linalg.eig"), name=name)
    return values, vectors


def eigvals(x: Any, name: str | None = None) -> AnyTensor:
    """Eigenvalues, in no order, of each matrix of a batch, as complex numbers."""
    x = tensor(x, "x", "paddle.linalg.eigvals")
    if not x.stop_gradient:
        meet("gradients of solutions")
    return apply("eigvals", x, name=name)  # type: ignore[no-any-return]


def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> tuple[AnyTensor, AnyTensor]:
    """Eigenvalues, the smallest first, and eigenvectors, as columns, of matrices that equal their adjoints.

    The gradient is shared between both triangles, although one is read, as Paddle and PyTorch do it.

    Args:
        UPLO: the triangle that is read, ``"L"`` or ``"U"``.
    """
    values, vectors = apply("eigh", tensor(x, "x", "paddle.linalg.eigh"), attrs={"UPLO": UPLO}, name=name)
    return values, vectors


def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> AnyTensor:
    """Eigenvalues, the smallest first, of matrices that equal their adjoints (:func:`eigh`)."""
    x = tensor(x, "x", "paddle.linalg.eigvalsh")
    attrs = {"UPLO": UPLO, "is_test": bool(x.stop_gradient)}
    return apply("eigvalsh", x, attrs=attrs, name=name)[0]  # type: ignore[no-any-return]


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[AnyTensor, AnyTensor, AnyTensor, AnyTensor]:
    """The solution of ``x @ solution ≈ y`` with the smallest squares of what is left, the shortest of several.

    All of it has gradients, which it has not in Paddle.

    Args:
        rcond: singular values up to that share of the largest one count as 0; by the type and size when None.
        driver: decides which of the other results are empty, as in Paddle; ``"gelsy"`` when None.

    Returns:
        The solution; the sums of squares (empty where *x* has no more rows than columns, is short of rank, or with
        ``"gelsy"``); the rank (empty with ``"gels"``); the singular values (with ``"gelsd"`` and ``"gelss"``).
    """
    place = "paddle.linalg.lstsq"
    if driver not in (None, *DRIVERS):
        raise UsageError(f"Only support valid driver is 'gels', 'gelss', 'gelsd', 'gelsy' or None. But got {driver}")
    x, y = tensor(x, "x", place), tensor(y, "y", place)
    if x.dtype != y.dtype or x.dtype.name not in ("float32", "float64"):
        raise DtypeError("Only support x and y have the same dtype such as 'float32' and 'float64'.")
    if rcond is None and x.ndim >= 2:
        rcond = (1e-7 if x.dtype.name == "float32" else 1e-15) * sorted(x.shape[-2:])[1]
    attrs = {"rcond": rcond, "driver": driver or "gelsy"}
    if not (x.stop_gradient and y.stop_gradient):
        meet("gradients of solutions")
    solution, residuals, rank, values = apply("lstsq", x, y, attrs=attrs, name=name)
    short = not in_static_mode() and bool((rank < x.shape[-1]).any())
    if x.shape[-2] <= x.shape[-1] or driver in (None, "gelsy") or short:
        residuals = zeros([0], x.dtype)
    if driver == "gels":
        rank = zeros([0], "int64")
    if driver not in ("gelsd", "gelss"):
        values = zeros([0], x.dtype)
    return solution, residuals, rank, values


def matrix_rank(
    x: Any,
    tol: Any = None,
    hermitian: bool = False,
    atol: Any = None,
    rtol: Any = None,
    name: str | None = None,
) -> AnyTensor:
    """Return the number of singular values of each matrix of a batch that are greater than a bound.

    Args:
        tol: the bound; by the type, the size and the largest value when None.
        hermitian: the matrices equal their adjoints: sizes of eigenvalues count.
        atol: the bound, together with *rtol*: the larger of both.
        rtol: the bound as a share of the largest value.

    Raises:
        UsageError: *tol* beside *atol* or *rtol* (a ValueError).
    """
    place = "paddle.linalg.matrix_rank"
    x = tensor(x, "x", place)
    attrs: dict[str, Any] = {"use_default_tol": tol is None, "hermitian": hermitian}
    if atol is None and rtol is None:
        if tol is None or isinstance(tol, (int, float)):
            attrs["tol"] = 0.0 if tol is None else float(tol)
            return apply("matrix_rank", x, None, attrs=attrs, name=name)  # type: ignore[no-any-return]
        return apply("matrix_rank", x, tensor(tol, "tol", place), attrs=attrs, name=name)  # type: ignore[no-any-return]
    if tol is not None:
        raise UsageError("Only support to use tol alone or use atol and rtol without tol.")
    bounds = [_number(0.0 if atol is None else atol, x), None if rtol is None else _number(rtol, x)]
    return apply("matrix_rank_atol_rtol", x, *bounds, attrs={"hermitian": hermitian}, name=name)  # type: ignore[no-any-return]


def _number(value: Any, like: AnyTensor) -> AnyTensor:
    kind = real_part(like.spec).dtype
    if isinstance(value, (int, float)):
        return full([], float(value), kind)
    return cast(value, kind)
