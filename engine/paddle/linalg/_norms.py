"""``paddle.linalg.vector_norm``, ``cond``, ``svd``, ``pinv``, ``cov``, …: sizes of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import integers, tensor
from gradtool.paddle._creation import cast, ones_like, zeros_like
from gradtool.paddle._diagonals import diagonal
from gradtool.paddle._dispatch import apply
from gradtool.paddle._linalg import matmul
from gradtool.paddle._manipulation import unsqueeze
from gradtool.paddle._math import abs, sqrt
from gradtool.paddle._reduction import max, mean, min, norm, sum
from gradtool.paddle._search import where
from gradtool.paddle._short_names import delivered
from gradtool.paddle._sizes import counted
from gradtool.paddle._splitting import matrix_transpose

from ._eigen import eigh
from ._systems import inv


def vector_norm(
    x: Any,
    p: float = 2.0,
    axis: Any = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: Any = None,
    out: Any = None,
) -> AnyTensor:
    """The norm of order *p* of vectors.

    Args:
        axis: the dimensions over which a vector extends; all of them when None.
        dtype: to compute in.
        out: a tensor for the result.
    """
    place = "paddle.linalg.vector_norm"
    x = tensor(x, "x", place)
    x = x if dtype is None else cast(x, dtype)
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise UsageError(f"only valid p type is int or float for vector_norm, found {type(p).__name__}.")
    if axis is None:
        return delivered(norm(x, float(p), None, keepdim, name), out)  # type: ignore[no-any-return]
    axes = integers(axis, "axis", place)
    if not {*axes} <= {*range(-x.ndim, x.ndim), *([0, -1] if not x.ndim else [])}:
        raise UsageError(f"{place}: axis must be within [-{x.ndim}, {x.ndim}), but received {axes}.")
    if not axes or not x.ndim:  # as None, also for a number
        return delivered(norm(x, float(p), None, keepdim, name), out)  # type: ignore[no-any-return]
    dims = [d % x.ndim for d in axes]
    if len(dims) == 1:
        return delivered(norm(x, float(p), dims[0], keepdim, name), out)  # type: ignore[no-any-return]
    return delivered(_over(abs(x), float(p), dims, keepdim), out)  # type: ignore[no-any-return]


def _over(sizes: AnyTensor, p: float, dims: list[int], keepdim: bool) -> AnyTensor:
    """The norm over several dimensions: norms of one order are norms of norms, and counts are added."""
    last, *others = sorted(dims, reverse=True)
    out = norm(sizes, p, last, keepdim)
    if not p:
        return sum(out, others, keepdim=keepdim)
    for d in others:
        out = norm(out, p, d, keepdim)
    return out


def matrix_norm(
    x: Any, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: str | None = None
) -> AnyTensor:
    """The norm of matrices: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, ∞ or -∞, as :func:`paddle.norm` has them.

    Args:
        axis: the dimensions of rows and columns.
    """
    x = tensor(x, "x", "paddle.linalg.matrix_norm")
    dims = integers([*axis] if isinstance(axis, (list, tuple)) else axis, "axis", "paddle.linalg.matrix_norm")
    if len(dims) != 2:
        raise UsageError(f"paddle.linalg.matrix_norm: axis must be two numbers, but received {axis}.")
    # The largest of no singular values, or of no rows.
    over = dims if p in (2, -2) else dims[:1] if p in (math.inf, -math.inf) else []
    if 0 in [x.shape[d] for d in over if -x.ndim <= d < x.ndim]:
        raise ShapeError(
            f"paddle.linalg.matrix_norm: of matrices without elements there is no norm {p}: x is {list(x.shape)}."
        )
    return norm(x, p, dims, keepdim, name)


def cond(x: Any, p: Any = None, name: str | None = None) -> AnyTensor:
    """Return the condition number, by which equations with a matrix magnify errors: the norm of it times that of its
    inverse.

    Args:
        p: the norm; None and 2 are the quotient of the largest and the smallest singular value, -2 the inverse of it.
    """
    x = tensor(x, "x", "paddle.linalg.cond")
    if x.ndim < 2:
        raise ShapeError(f"paddle.linalg.cond: x {list(x.shape)} must hold matrices.")
    if p is None or p in (2, -2):
        values = svdvals(x)
        largest, smallest = max(values, -1), min(values, -1)
        return smallest / largest if p == -2 else largest / smallest  # type: ignore[no-any-return]
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise UsageError(
            "unsupported p for cond: only 'fro', 'nuc', 1, -1, 2, -2, inf, -inf or None, "
            f"but paddle.linalg.cond received {p!r}."
        )
    return matrix_norm(x, p) * matrix_norm(inv(x), p)  # type: ignore[no-any-return]


def svd(
    x: Any, full_matrices: bool = False, name: str | None = None, *, out: Any = None
) -> tuple[AnyTensor, AnyTensor, AnyTensor]:
    """``x = U · diag(S) · VH`` for each matrix of a batch: columns, singular values from the largest on, and rows.

    Args:
        full_matrices: columns and rows without a value complete U and VH to square ones. Only what does not depend on
            the choice of these has a gradient.
        out: three tensors for the results.
    """
    x = tensor(x, "x", "paddle.linalg.svd")
    parts = apply("svd", x, attrs={"full_matrices": full_matrices}, name=name)
    u, s, vh = (delivered(part, None if out is None else out[i]) for i, part in enumerate(parts))
    return u, s, vh


def svdvals(x: Any, name: str | None = None) -> AnyTensor:
    """The singular values of each matrix of a batch, from the largest on."""
    x = tensor(x, "x", "paddle.linalg.svdvals")
    if x.ndim < 2:
        raise ShapeError(f"The input of svdvals must be at least 2-dimensional, but x is {list(x.shape)}.")
    return svd(x, name=name)[1]


ROUNDING = 1e-10
"""The share of the largest singular value that smaller ones are taken for zeros by, also in gradients."""


def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> AnyTensor:
    """The pseudo-inverse of each matrix of a batch, by singular values.

    Args:
        rcond: what is smaller than that share of the largest singular value counts as 0.
        hermitian: the matrices equal their adjoints: their lower triangles are read, and decomposed by eigenvalues.
    """
    x = tensor(x, "x", "paddle.linalg.pinv")
    if 0 in x.shape[-2:]:
        return matrix_transpose(_conj(x))  # no elements either
    if hermitian:
        values, columns = eigh(x)
        return matmul(columns * _inverses(values, values.abs(), rcond, x), _conj(columns), transpose_y=True, name=name)
    if isinstance(rcond, (int, float)) and rcond <= ROUNDING:
        return apply("pinv", x, attrs={"rcond": float(rcond)}, name=name)  # type: ignore[no-any-return]
    u, s, vh = svd(x)  # values that are more than errors of rounding are left out, and their vectors turn the others
    return matmul(matrix_transpose(_conj(vh)) * _inverses(s, s, rcond, x), _conj(u), transpose_y=True, name=name)


def _inverses(values: AnyTensor, sizes: AnyTensor, rcond: Any, like: AnyTensor) -> AnyTensor:
    """One over each value in a row, 0 for those that are too small, in the type of *like*."""
    counts = sizes > max(sizes, -1, keepdim=True) * rcond
    factors = where(counts, 1 / where(counts, values, ones_like(values)), zeros_like(values))
    row = unsqueeze(factors, -2)
    return cast(row, like.dtype) if like.dtype.is_complex else row


def _conj(x: AnyTensor) -> AnyTensor:
    return x.conj() if x.dtype.is_complex else x


def cov(
    x: Any,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Any = None,
    aweights: Any = None,
    name: str | None = None,
) -> AnyTensor:
    """The covariances of variables, of which each column is an observation.

    Args:
        rowvar: each row is a variable, else each column; a single row is one variable.
        ddof: divide by one less than the number of observations.
        fweights: how often each observation counts.
        aweights: how much each observation weighs.

    Raises:
        UsageError: more than two dimensions, weights that are no vector of a number for each observation, or negative
            ones in dynamic mode (a ValueError).
    """
    place = "paddle.linalg.cov"
    x = tensor(x, "x", place, ["float32", "float64"])
    if not 0 < x.ndim <= 2:
        raise UsageError(f"Input(x) only support N-D (1<=N<=2) tensor in cov, but received {x.ndim}-D.")
    rows = unsqueeze(x, 0) if x.ndim == 1 else x
    # One row is one variable in any case.
    rows = matrix_transpose(rows) if x.ndim == 2 and not rowvar and x.shape[0] != 1 else rows
    often = _weights(fweights, rows, "fweights")
    if often is not None and hasattr(often, "array") and (often.array % 1).any():
        raise UsageError(f"{place}: Input(fweights) must be integer, but has {often.array[often.array % 1 != 0][0]}.")
    heavy = _weights(aweights, rows, "aweights")
    total, weights = _totals(rows, often, heavy)
    # Numbers of observations less one, as far as they weigh.
    if not ddof:
        divisor = total
    elif heavy is None:
        divisor = total - 1
    else:
        divisor = total - sum(weights * heavy) / total
    average = mean(rows, 1, True) if weights is None else sum(rows * weights, 1, keepdim=True) / total
    centred = rows - average
    out = matmul(centred if weights is None else centred * weights, centred, transpose_y=True) / divisor
    return out[0, 0] if rows.shape[0] == 1 else out  # type: ignore[no-any-return]


def _weights(weights: Any, rows: AnyTensor, what: str) -> AnyTensor | None:
    if weights is None:
        return None
    place = "paddle.linalg.cov"
    weights = tensor(weights, what, place)
    if weights.ndim != 1 or weights.shape[0] != rows.shape[1]:
        raise UsageError(
            f"{place}: {what} must be a vector of {rows.shape[1]} numbers, one for each observation, "
            f"but its shape is {list(weights.shape)}."
        )
    if hasattr(weights, "array") and weights.array.size and weights.array.min() < 0:
        raise UsageError(
            f"{place}: The value of Input({what}) cannot be negative, but received min of Input({what}) is "
            f"{weights.array.min()}."
        )
    return cast(weights, rows.dtype)


def _totals(rows: AnyTensor, often: AnyTensor | None, heavy: AnyTensor | None) -> tuple[Any, Any]:
    """The sum of the weights, and the weights, if there are any."""
    if often is None and heavy is None:
        return counted(rows, 1), None
    if often is not None and heavy is not None:
        return sum(often * heavy), often * heavy
    weights = heavy if often is None else often
    return sum(weights), weights


def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> AnyTensor:
    """The correlations of variables, of which each column is an observation: covariances over standard deviations.

    Args:
        rowvar: each row is a variable, else each column.
    """
    covariances = cov(x, rowvar)
    if not covariances.ndim:
        return covariances / covariances  # type: ignore[no-any-return]
    deviations = sqrt(diagonal(covariances))
    return covariances / unsqueeze(deviations, 1) / unsqueeze(deviations, 0)  # type: ignore[no-any-return]
