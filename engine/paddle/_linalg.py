"""``paddle.matmul``, ``paddle.bmm``, …: products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor

from ._dispatch import apply, binary
from ._remembered import remembered


def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> AnyTensor:
    """Matrix product over the last two dimensions; the others are broadcast, a vector counts as a row or a column.

    Args:
        transpose_x, transpose_y: whether to swap the last two dimensions first.

    Raises:
        ShapeError: the inner dimensions differ (a ValueError).
    """
    if not transpose_x and not transpose_y:
        return _product(x, y, name)
    attrs = {"trans_x": transpose_x, "trans_y": transpose_y}
    return apply("matmul_v2", x, y, attrs=attrs, name=name)  # type: ignore[no-any-return]


_product = binary("matmul", "matmul_v2", lambda x, y, name: apply("matmul_v2", x, y, name=name))


@remembered
def mm(input: Any, mat2: Any, name: str | None = None) -> AnyTensor:
    """Matrix product, without transposing."""
    return apply("matmul_v2", input, mat2, key="mm", name=name)  # type: ignore[no-any-return]


@remembered
def bmm(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Matrix products of two batches, ``[b, m, n]`` and ``[b, n, p]``."""
    return apply("bmm", x, y, name=name)  # type: ignore[no-any-return]


def dot(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """Inner product of two vectors, or of each pair of rows of two matrices."""
    return apply("dot", x, y, name=name)  # type: ignore[no-any-return]


@remembered
def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> AnyTensor:
    """``beta·input + alpha·(x @ y)`` of matrices; *input* is broadcast."""
    return apply("addmm", input, x, y, attrs={"Alpha": alpha, "Beta": beta}, name=name)  # type: ignore[no-any-return]
