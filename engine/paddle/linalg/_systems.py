"""``paddle.linalg.inv``, ``solve``, ``det``, …: inverse matrices, solutions of equations, determinants, powers."""

from __future__ import annotations

import itertools
from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import integer, tensor, tensors
from gradtool.paddle._creation import assign
from gradtool.paddle._dispatch import apply
from gradtool.paddle._linalg import matmul
from gradtool.paddle._manipulation import reshape, squeeze, unsqueeze
from gradtool.paddle._short_names import delivered
from gradtool.paddle._sizes import is_square
from gradtool.paddle._splitting import matrix_transpose


def inv(x: Any, name: str | None = None) -> AnyTensor:
    """The inverse of each matrix of a batch.

    Raises:
        ShapeError: matrices that are not square (a ValueError).
        KernelError: a matrix that has none.
    """
    return apply("inverse", tensor(x, "x", "paddle.linalg.inv"), name=name)  # type: ignore[no-any-return]


def inverse(x: Any, name: str | None = None) -> AnyTensor:
    """The inverse of each matrix of a batch: :func:`paddle.linalg.inv`."""
    return inv(x, name)


def det(x: Any, name: str | None = None) -> AnyTensor:
    """The determinant of each matrix of a batch; its gradient is right for singular matrices, too."""
    return apply("determinant", tensor(x, "x", "paddle.linalg.det"), name=name)  # type: ignore[no-any-return]


def slogdet(x: Any, name: str | None = None) -> AnyTensor:
    """The signs of the determinants of a batch, and the logarithms of their sizes: ``[2, …]``."""
    return apply("slogdeterminant", tensor(x, "x", "paddle.linalg.slogdet"), name=name)  # type: ignore[no-any-return]


def solve(x: Any, y: Any, left: bool = True, name: str | None = None, *, out: Any = None) -> AnyTensor:
    """Solve ``x @ result = y`` for the result.

    A vector *y* is one column; with one dimension less than *x*, and the sizes of its rows, it is a batch of them.

    Args:
        left: *x* stands at the left; else the result times *x* is *y*.
        out: a tensor for the result.
    """
    x, y = tensor(x, "x", "paddle.linalg.solve"), tensor(y, "y", "paddle.linalg.solve")
    if left and y.ndim > 1 and y.shape == x.shape[:-1]:
        column = apply("solve", x, unsqueeze(y, -1), name=name)
        return delivered(squeeze(column, -1), out)  # type: ignore[no-any-return]
    if left:
        return delivered(apply("solve", x, y, name=name), out)  # type: ignore[no-any-return]
    if y.ndim == 1:
        return delivered(apply("solve", matrix_transpose(x), y, name=name), out)  # type: ignore[no-any-return]
    turned = apply("solve", matrix_transpose(x), matrix_transpose(y), name=name)
    return delivered(matrix_transpose(turned), out)  # type: ignore[no-any-return]


def triangular_solve(
    x: Any,
    y: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Solve ``x @ result = y`` for the result, reading one triangle of *x*.

    Args:
        upper: the upper triangle is read, else the lower one.
        transpose: of the transposed matrix.
        unitriangular: the diagonal counts as ones.
    """
    place = "paddle.linalg.triangular_solve"
    attrs = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    x, y = tensor(x, "x", place), tensor(y, "y", place)
    return apply("triangular_solve", x, y, attrs=attrs, name=name)  # type: ignore[no-any-return]


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> AnyTensor:
    """The solution of equations with the right side *x* whose matrix has Cholesky's factor *y*.

    Args:
        upper: *y* is the upper factor, else the lower one.
    """
    place = "paddle.linalg.cholesky_solve"
    x, y = tensor(x, "x", place), tensor(y, "y", place)
    if y.dtype.is_complex:
        y = y.conj()
        first = triangular_solve(y if upper else y.conj(), x, upper, upper)
        return triangular_solve(y.conj() if upper else y, first, upper, not upper, name=name)
    return triangular_solve(y, triangular_solve(y, x, upper, upper), upper, not upper, name=name)


def cholesky_inverse(x: Any, upper: bool = False, name: str | None = None) -> AnyTensor:
    """The inverse of the matrix that *x* is a factor of, ``x @ x.T``.

    Args:
        upper: *x* is the upper factor, and its matrix ``x.T @ x``.
    """
    x = tensor(x, "x", "paddle.linalg.cholesky_inverse")
    if x.ndim != 2 or not is_square(x):
        raise ShapeError(f"paddle.linalg.cholesky_inverse: x {list(x.shape)} must be a square matrix.")
    return inv(matmul(x, x, transpose_x=upper, transpose_y=not upper), name)


def matrix_power(x: Any, n: int, name: str | None = None) -> AnyTensor:
    """Each matrix of a batch times itself, *n* times; negative powers are those of the inverse.

    The squares of squares are multiplied, so that there are as many products as *n* has digits to the base two.
    """
    place = "paddle.linalg.matrix_power"
    x = tensor(x, "x", place)
    if not is_square(x):
        raise ShapeError(f"{place}: x {list(x.shape)} must hold square matrices.")
    count = integer(n, "n", place)
    if not count:
        return apply("matrix_power", x, attrs={"n": 0}, name=name)  # type: ignore[no-any-return]
    base = assign(x) if count > 0 else inv(x)
    result = base
    for digit in f"{abs(count):b}"[1:]:
        result = matmul(result, result)
        if digit == "1":
            result = matmul(result, base)
    return result


def multi_dot(x: Any, name: str | None = None) -> AnyTensor:
    """The product of several matrices, multiplied in the order that takes the fewest operations.

    The first and the last may be vectors, a row and a column.

    Raises:
        UsageError: fewer than two, or one in the middle that is no matrix (a ValueError).
    """
    place = "paddle.linalg.multi_dot"
    matrices = tensors(x, "x", place)
    if len(matrices) < 2:
        raise UsageError(f"{place}: at least two tensors are needed, but received {len(matrices)}.")
    for i, m in enumerate(matrices):
        if m.ndim != 2 and (m.ndim != 1 or 0 < i < len(matrices) - 1):
            raise UsageError(f"{place}: x[{i}] {list(m.shape)} must be a matrix; the first and last may be vectors.")
    first, last = matrices[0].ndim == 1, matrices[-1].ndim == 1
    if first:
        matrices[0] = unsqueeze(matrices[0], 0)
    if last:
        matrices[-1] = unsqueeze(matrices[-1], 1)
    out = _product(matrices, place)
    rest = [*([] if first else [out.shape[0]]), *([] if last else [out.shape[1]])]
    return reshape(out, rest) if first or last else out


def _product(matrices: list[AnyTensor], place: str) -> AnyTensor:
    """The product, in the order that dynamic programming finds.

    Raises:
        UsageError: two neighbours do not fit (a ValueError).
    """
    sizes = [matrices[0].shape[0], *(m.shape[1] for m in matrices)]
    for i, (a, b) in enumerate(itertools.pairwise(matrices)):
        if a.shape[1] != b.shape[0] and -1 not in (a.shape[1], b.shape[0]):
            raise UsageError(f"{place}: x[{i}] {list(a.shape)} and x[{i + 1}] {list(b.shape)} cannot be multiplied.")
    count = len(matrices)
    costs = {(i, i): (0, i) for i in range(count)}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs[i, j] = min(
                (costs[i, k][0] + costs[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    products: dict[tuple[int, int], AnyTensor] = {(i, i): m for i, m in enumerate(matrices)}
    for i, j in _needed(costs, count):
        at = costs[i, j][1]
        products[i, j] = matmul(products[i, at], products[at + 1, j])
    return products[0, count - 1]


def _needed(costs: dict[tuple[int, int], tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """The spans whose products are needed, each behind those that it is made of."""
    open_spans, spans = [(0, count - 1)], []
    while open_spans:
        i, j = open_spans.pop()
        if i == j:
            continue
        spans.append((i, j))
        at = costs[i, j][1]
        open_spans += [(i, at), (at + 1, j)]
    return spans[::-1]
