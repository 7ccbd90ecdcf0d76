"""What is compared of results that are not unique: the same few words for both libraries.

Signs and phases of vectors are free, so their sizes are compared, or products in which they cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def adjoint(matrix: Any) -> Any:
    """Conjugate and transposed."""
    order = list(range(len(matrix.shape)))
    order[-2:] = order[-1], order[-2]
    return (matrix.transpose(order) if hasattr(matrix, "stop_gradient") else matrix.permute(*order)).conj()


def as_they_are(*operands: Any) -> list[Any]:
    """Nothing is made of them."""
    return [*operands]


def hermitian(matrix: Any, *rest: Any) -> list[Any]:
    """A matrix that is its own adjoint."""
    return [matrix + adjoint(matrix), *rest]


PREPARED: dict[str, Callable[..., list[Any]]] = dict.fromkeys(
    ("cholesky", "linalg.cholesky", "linalg.eigh", "linalg.eigvalsh", "linalg.pinv.hermitian"), hermitian
)
"""What is made of the operands first: operators that read one triangle share their gradient in different ways."""


def sizes_of_second(pair: Any) -> list[Any]:
    """Eigenvalues as they are, of eigenvectors the sizes."""
    values, vectors = pair
    return [values, vectors.abs()]


def svd_products(parts: Any) -> list[Any]:
    """Singular values, and the sizes of the vectors that belong to one."""
    u, s, v = parts
    k = s.shape[-1]
    return [u[..., :, :k].abs(), s, v[..., :, :k].abs()]


def svd_products_h(parts: Any) -> list[Any]:
    """The same where the last is transposed."""
    u, s, v = parts
    k = s.shape[-1]
    return [u[..., :, :k].abs(), s, v[..., :k, :].abs()]


def summed(values: Any) -> Any:
    """Eigenvalues have no order: their sums, of the numbers and of their squares."""
    return [values.sum(-1), (values * values).sum(-1)]


def eig(pair: Any) -> Any:
    """Eigenvalues alone, by their sums."""
    return summed(pair[0])


def first(results: Any) -> Any:
    """Which of equal elements is named is free: values alone."""
    return results[0]


def exponents(pair: Any) -> Any:
    """Mantissas alone; exponents are whole numbers here and floating there."""
    return pair[0]


MEASURES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("topk", "kthvalue", "mode", "linalg.lstsq", "linalg.lstsq.grad_oriented", "triangular_solve"), first
    ),
    "frexp": exponents,
    "linalg.eigh": sizes_of_second,
    "linalg.eig": eig,
    "linalg.eigvals": summed,
    "linalg.svd": svd_products_h,
    "svd": svd_products,
}
