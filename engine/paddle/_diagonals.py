"""``paddle.diag``, ``paddle.diagonal``, ``paddle.trace``, …: diagonals of matrices."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet_in_programs
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._dispatch import apply
from ._manipulation import flatten, reshape


def diag(x: Any, offset: int = 0, padding_value: Any = 0, name: str | None = None) -> AnyTensor:
    """The matrix with the vector *x* on its diagonal, or the diagonal of the matrix *x*.

    Args:
        offset: which diagonal: above the main one for positive numbers, below it for negative ones.
        padding_value: what stands beside the diagonal.
    """
    attrs = {"offset": integer(offset, "offset", "paddle.diag"), "padding_value": float(padding_value)}
    x = tensor(x, "x", "paddle.diag")
    if not x.stop_gradient:
        meet_in_programs("values of programs")
    return apply("diag_v2", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def diagflat(x: Any, offset: int = 0, name: str | None = None) -> AnyTensor:
    """The matrix with all elements of *x* on its diagonal."""
    x = tensor(x, "x", "paddle.diagflat")
    return diag(x if x.ndim == 1 else flatten(x), offset)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> AnyTensor:
    """The diagonals of the planes of two dimensions, in a new last one."""
    attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return apply("diagonal", tensor(x, "x", "paddle.diagonal"), attrs=attrs, name=name)  # type: ignore[no-any-return]


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> AnyTensor:
    """Matrices with the vectors of the last dimension on their diagonals; no gradient flows through it (as in Paddle).

    Args:
        dim1, dim2: where the matrices stand in the result.
    """
    attrs = {"offset": offset, "dim1": dim1, "dim2": dim2}
    made = apply("diag_embed", tensor(input, "input", "paddle.diag_embed"), attrs=attrs)
    made.stop_gradient = True
    return made  # type: ignore[no-any-return]


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> AnyTensor:
    """The sum of the diagonal of the planes of two dimensions."""
    attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return apply("trace", tensor(x, "x", "paddle.trace"), attrs=attrs, name=name)  # type: ignore[no-any-return]


def fill_diagonal_tensor(
    x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> AnyTensor:
    """*x* with *y* on the diagonals of two dimensions; *y* gets no gradient (as in Paddle)."""
    x, y = tensor(x, "x", "paddle.fill_diagonal_tensor"), tensor(y, "y", "paddle.fill_diagonal_tensor")
    if y.ndim == 1:
        y = reshape(y, [1, -1]) if x.ndim > 2 else y
    attrs = {"offset": offset, "dim1": dim1, "dim2": dim2}
    return apply("fill_diagonal_tensor", x, y, attrs=attrs, name=name)  # type: ignore[no-any-return]


def diagonal_scatter(
    x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> AnyTensor:
    """*x* with *y* on the diagonals that :func:`diagonal` takes; *y* gets no gradient (as in Paddle)."""
    return fill_diagonal_tensor(x, y, offset, axis1, axis2, name)


def fill_diagonal(x: Any, value: float, offset: int = 0, wrap: bool = False, name: str | None = None) -> AnyTensor:
    """*x* with one value on its diagonal."""
    attrs = {"value": float(value), "offset": offset, "wrap": bool(wrap)}
    return apply("fill_diagonal", tensor(x, "x", "paddle.fill_diagonal"), attrs=attrs, name=name)  # type: ignore[no-any-return]


def tril_indices(row: int, col: int | None, offset: int = 0, dtype: Any = "int64") -> AnyTensor:
    """The coordinates of the lower triangle of a matrix of *row* rows and *col* columns, a column each."""
    rows, columns, kind = _triangle(row, col, offset, dtype, "paddle.tril_indices")
    attrs = {"rows": rows, "cols": columns, "offset": offset, "dtype": kind}
    return apply("tril_indices", attrs=attrs)  # type: ignore[no-any-return]


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> AnyTensor:
    """The coordinates of the upper triangle of a matrix of *row* rows and *col* columns, a column each."""
    rows, columns, kind = _triangle(row, col, offset, dtype, "paddle.triu_indices")
    attrs = {"row": rows, "col": columns, "offset": offset, "dtype": kind}
    return apply("triu_indices", attrs=attrs)  # type: ignore[no-any-return]


def _triangle(row: Any, col: Any, offset: Any, dtype: Any, where: str) -> tuple[int, int, int]:
    sizes = integer(row, "row", where), integer(row if col is None else col, "col", where)
    if min(sizes) < 0:
        raise UsageError(f"{where}: row and col must not be negative, but received {list(sizes)}.")
    kind = dtype_of(dtype)
    if kind.name not in INTEGERS:
        raise UsageError(f"{where}: dtype must be int32 or int64, but received {kind.name}.")
    integer(offset, "offset", where)
    return *sizes, kind.code
