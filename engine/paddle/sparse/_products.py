"""Products with sparse matrices: ``matmul``, ``mv``, ``addmm``, ``masked_matmul``, ``mask_as``, ``pca_lowrank``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core.errors import DtypeError, ShapeError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _manipulation, _math, _reduction

from . import _arithmetic, _places
from ._forms import masked, to_dense
from ._operands import assembled, dense, need_dynamic, of_floats, put_together, sparse, taken
from ._places import Array
from ._tensor import SparseTensor


def matmul(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product of a sparse matrix, or a batch of them, and a dense or sparse one.

    Args:
        x: sparse, ``[…, rows, n]``.
        y: dense or sparse of the same format, ``[…, n, columns]``.

    Returns:
        A dense tensor where *y* is dense, else a sparse one.

    Raises:
        ShapeError: the shapes do not fit (a ValueError).
        NotSparse: *x* is dense (a NotImplementedError).

    >>> from gradtool import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
    >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [10.0]])).tolist()
    [[20.0], [3.0]]
    """
    where = "paddle.sparse.matmul"
    x = _matrix(x, "x", where)
    need_dynamic(where, y)
    if not isinstance(y, SparseTensor):
        return _with_dense(x, dense(y, "y", where), where)
    y = _matrix(sparse(y, "y", where, x.format), "y", where)
    _check(x, y, where)
    return _with_sparse(x, y)


def mv(x: Any, vec: Any, name: str | None = None) -> Tensor:
    """The product of the sparse matrix *x* and the dense vector *vec*."""
    where = "paddle.sparse.mv"
    x, vec = _matrix(x, "x", where), dense(vec, "vec", where)
    if x.ndim != 2 or vec.ndim != 1 or x.shape[1] != vec.shape[0]:
        raise ShapeError(f"{where}: x must be [m, n] and vec [n], but they are {x.shape} and {vec.shape}.")
    return _reduced(_with_dense(x, _manipulation.unsqueeze(vec, -1), where))  # type: ignore[arg-type]


def _reduced(column: Any) -> Tensor:
    return _manipulation.squeeze(column, -1)  # type: ignore[return-value]


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """``beta · input + alpha · (x @ y)``.

    Args:
        input: dense where *y* is dense, sparse where it is sparse, in the shape of the product.
        x: a sparse matrix.
    """
    where = "paddle.sparse.addmm"
    product = matmul(x, y)
    if isinstance(product, SparseTensor):
        input = sparse(input, "input", where, product.format)
        scaled = _arithmetic.multiply(input, float(beta)), _arithmetic.multiply(product, float(alpha))
        return _arithmetic.add(*scaled)
    input = dense(input, "input", where)
    if input.shape != product.shape:
        raise ShapeError(f"{where}: input must have the shape of the product, {product.shape}, but has {input.shape}.")
    return input * float(beta) + product * float(alpha)  # type: ignore[no-any-return]


def masked_matmul(x: Any, y: Any, mask: Any, name: str | None = None) -> Tensor:
    """The product of two dense matrices, or batches of them, computed where *mask* has places only.

    Args:
        x: ``[…, rows, n]``.
        y: ``[…, n, columns]``.
        mask: a sparse tensor ``[…, rows, columns]``; its values do not matter.

    Returns:
        A sparse tensor with the places of *mask*.
    """
    where = "paddle.sparse.masked_matmul"
    x, y, mask = dense(x, "x", where), dense(y, "y", where), sparse(mask, "mask", where)
    _check(x, y, where)
    expected = [*x.shape[:-1], y.shape[-1]]
    if mask.shape != expected or mask.dense_dim():
        raise ShapeError(f"{where}: mask must have the shape of the product, {expected}, but has {mask.shape}.")
    places, rank = mask.coordinates, x.ndim
    rows = _places.numbered(places[:-1], x.shape[:-1])
    turned = _manipulation.transpose(y, [*range(rank - 2), rank - 1, rank - 2])
    columns = _places.numbered(np.concatenate([places[:-2], places[-1:]]), [*y.shape[:-2], y.shape[-1]])
    parts = [_flat(x), _flat(turned)]  # type: ignore[arg-type]
    products = _math.multiply(taken(parts[0], rows), taken(parts[1], columns))
    return mask.of_values(_reduction.sum(products, -1))  # type: ignore[no-any-return]


def mask_as(x: Any, mask: Any, name: str | None = None) -> Tensor:
    """The elements of the dense tensor *x* at the places of the sparse tensor *mask*.

    >>> from gradtool import paddle
    >>> mask = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 1.0], [2, 2])
    >>> paddle.sparse.mask_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), mask).values().tolist()
    [2.0, 3.0]
    """
    where = "paddle.sparse.mask_as"
    x, mask = dense(x, "x", where), sparse(mask, "mask", where)
    if x.shape != mask.shape:
        raise ShapeError(f"{where}: x has the shape {x.shape} and mask {mask.shape}; they must have the same.")
    if x.dtype is not mask.dtype:
        raise DtypeError(f"{where}: x is {x.dtype.name} and mask {mask.dtype.name}; they must be of one type.")
    return mask.of_values(masked(x, mask.coordinates, mask.coalesced).carrier)  # type: ignore[no-any-return]


def pca_lowrank(x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None) -> Any:
    """As :func:`paddle.linalg.pca_lowrank`, of a sparse matrix."""
    from gradtool.paddle.linalg import pca_lowrank as of_dense

    return of_dense(to_dense(_matrix(x, "x", "paddle.sparse.pca_lowrank")), q, center, niter)


# -- parts ------------------------------------------------------------------------------------------------------------


def _matrix(x: Any, what: str, where: str) -> SparseTensor:
    """*x*, if it is a sparse matrix, or a batch of them, of floating-point numbers."""
    x = sparse(x, what, where)
    of_floats(x, what, where)
    if x.ndim not in (2, 3) or x.dense_dim():
        raise ShapeError(
            f"{where}: '{what}' must be a matrix or a batch of them whose places have all dimensions, but has the "
            f"shape {x.shape} and places of {x.sparse_dim()} dimensions."
        )
    return x  # type: ignore[no-any-return]


def _check(x: Tensor, y: Tensor, where: str) -> None:
    """Raise unless ``x @ y`` is there."""
    if x.dtype is not y.dtype:
        raise DtypeError(f"{where}: x is {x.dtype.name} and y {y.dtype.name}; they must be of one type.")
    if x.ndim < 2 or x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2] or x.shape[-1] != y.shape[-2]:
        raise ShapeError(f"{where}: x {x.shape} and y {y.shape} cannot be multiplied as matrices.")


def _flat(x: Tensor) -> Tensor:
    """A batch of matrices as the rows of one."""
    return _manipulation.reshape(x, [-1, x.shape[-1]]) if x.ndim > 2 else x  # type: ignore[return-value]


def _ends(x: SparseTensor) -> tuple[Array, Array]:
    """Of each element its row among all rows of the batch, and the row of a second factor that it meets."""
    places, sizes = x.coordinates, x.shape
    meeting = np.concatenate([places[:-2], places[-1:]])
    return _places.numbered(places[:-1], sizes[:-1]), _places.numbered(meeting, [*sizes[:-2], sizes[-1]])


def _with_dense(x: SparseTensor, y: Tensor, where: str) -> Tensor:
    _check(x, y, where)
    rows, meeting = _ends(x)
    products = _math.multiply(taken(_flat(y), meeting), _manipulation.unsqueeze(x.carrier, -1))
    total = put_together(products, rows, math.prod(x.shape[:-1]))  # type: ignore[arg-type]
    return _manipulation.reshape(total, [*x.shape[:-1], y.shape[-1]]) if x.ndim > 2 else total  # type: ignore[return-value]


def _with_sparse(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    rows, meeting = _ends(x)
    places = y.coordinates
    lines = _places.numbered(places[:-1], y.shape[:-1])
    # Each element of x meets the elements of one row of y, which stand together once y is in order.
    order = np.argsort(lines, kind="stable")
    starts = np.searchsorted(lines[order], meeting, "left")
    lengths = np.searchsorted(lines[order], meeting, "right") - starts
    of_x = np.repeat(np.arange(len(meeting)), lengths)
    of_y = order[np.arange(len(of_x)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(starts, lengths)]
    products = _math.multiply(taken(x.carrier, of_x), taken(y.carrier, of_y))
    sizes = [*x.shape[:-1], y.shape[-1]]
    numbers, at = np.unique(rows[of_x] * y.shape[-1] + places[-1][of_y], return_inverse=True)
    return assembled(put_together(products, at.reshape(-1), len(numbers)), numbers, sizes, x)  # type: ignore[arg-type]
