"""``paddle.sparse.sparse_coo_tensor`` and ``sparse_csr_tensor``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core import watch
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, LabelError, ShapeError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import integers
from gradtool.paddle._creation import cast, to_tensor

from ._operands import dense, need_dynamic
from ._places import Array
from ._tensor import SparseTensor

INDICES = ("int8", "int16", "int32", "int64")


def sparse_coo_tensor(
    indices: Any, values: Any, shape: Any = None, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> Tensor:
    """A sparse tensor in the form of coordinates.

    Args:
        indices: ``[sparse dimensions, nnz]``, whole numbers: a list, an array or a tensor.
        values: ``[nnz, …]``. A tensor that is given gets *stop_gradient* itself (as in Paddle); gradients flow into it.
        shape: the smallest that has room for all places when None.
        dtype: of the values; their own when None.
        place: accepted for compatibility; there is one.

    Raises:
        ShapeError: indices, values and shape do not fit each other (a ValueError).
        LabelError: a place is outside of the shape (a ValueError).
        DtypeError: indices that are no whole numbers (a TypeError).
        ModeError: static mode is on.

    >>> from gradtool import paddle
    >>> paddle.sparse.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], [2, 3])
    Tensor(shape=[2, 3], dtype=float32, place=Place(cpu), stop_gradient=True,
           indices=[[0, 0, 1],
                    [0, 2, 1]],
           values=[1., 2., 3.])
    """
    where = "paddle.sparse.sparse_coo_tensor"
    need_dynamic(where, indices, values)
    places = _places_of(indices, "indices", where, 2)
    tensor = _values_of(values, dtype, stop_gradient, where)
    count = places.shape[1]
    if not tensor.ndim or tensor.shape[0] != count:
        raise ShapeError(
            f"{where}: the indices and values must have same number of non-zero, but get {count} and "
            f"{tensor.shape[0] if tensor.ndim else 'a 0-D tensor'}"
        )
    smallest = [*(int(n) for n in (places.max(axis=1) + 1 if count else places.shape[0] * [0])), *tensor.shape[1:]]
    sizes = smallest if shape is None else _sizes_of(shape, where)
    if len(sizes) != len(smallest):
        raise ShapeError(
            f"{where}: the number of dimensions(len(shape) must be sparse_dim({len(places)}) + "
            f"dense_dim({tensor.ndim - 1}), but get {len(sizes)}"
        )
    if any(size < least for size, least in zip(sizes, smallest, strict=True)):
        raise LabelError(f"{where}: the minimum shape required is {smallest}, but get {sizes}")
    if list(tensor.shape[1:]) != sizes[len(places) :]:
        raise ShapeError(f"{where}: values {tensor.shape} do not have the last dimensions of the shape {sizes}.")
    if count and places.min() < 0:
        raise LabelError(f"{where}: indices must not be negative, but there is {places.min()}.")
    # Made by an operator of Paddle's: gradients flow on into the values, and the tensor is no leaf.
    carrier = Tensor(tensor.array, version=tensor.version) if tensor.stop_gradient else tensor.clone()
    if watch.noting and tensor.stop_gradient and tensor.node is not None:
        watch.note(watch.Copied("detach", (tensor,), carrier))
    return SparseTensor(carrier, (places,), tuple(sizes), False)


def sparse_csr_tensor(
    crows: Any,
    cols: Any,
    values: Any,
    shape: Any = None,
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> Tensor:
    """A sparse matrix, or a batch of them, in the form of compressed rows.

    It is a leaf: no gradient flows on into *values* (as in Paddle). Where one is to, use :func:`sparse_coo_tensor`.

    Args:
        crows: of each matrix where each of its rows begins among its values, and how many values it has.
        cols: the column of each value.
        values: ``[nnz]``.
        shape: ``[rows, columns]`` or ``[matrices, rows, columns]``; the smallest matrix with room for all when None.
        dtype: of the values; their own when None.
        place: accepted for compatibility; there is one.

    Raises:
        ShapeError: the arguments do not fit each other (a ValueError).
        LabelError: a column is outside of the shape (a ValueError).
        DtypeError: crows or cols that are no whole numbers (a TypeError).
        ModeError: static mode is on.

    >>> from gradtool import paddle
    >>> paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0], [2, 3]).to_dense().tolist()
    [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    """
    where = "paddle.sparse.sparse_csr_tensor"
    need_dynamic(where, crows, cols, values)
    ends, columns = _places_of(crows, "crows", where, 1), _places_of(cols, "cols", where, 1)
    tensor = _values_of(values, dtype, stop_gradient, where)
    if tensor.ndim != 1 or tensor.shape[0] != len(columns):
        raise ShapeError(
            f"{where}: the length of cols must be same as length of values, but they are {list(columns.shape)} and "
            f"{tensor.shape}."
        )
    if not len(ends):
        raise ShapeError(f"{where}: crows must not be empty.")
    least = int(columns.max()) + 1 if len(columns) else 0
    sizes = [len(ends) - 1, least] if shape is None else _sizes_of(shape, where)
    _check_rows(ends, columns, sizes, where)
    if len(columns) and (columns.min() < 0 or least > sizes[-1]):
        raise LabelError(
            f"{where}: a column must be from 0 to {sizes[-1] - 1}, but there is "
            f"{columns.min() if columns.min() < 0 else least - 1}."
        )
    carrier = tensor.detach() if not tensor.stop_gradient else Tensor(tensor.array, version=tensor.version)
    carrier.stop_gradient = stop_gradient
    made = SparseTensor(carrier, (ends, columns), tuple(sizes), False)
    made.coalesced = bool((np.diff(made.numbers) > 0).all())
    return made


def _check_rows(ends: Array, columns: Array, sizes: list[int], where: str) -> None:
    """Raise :class:`ShapeError` unless the row ends are those of a tensor of that shape."""
    if len(sizes) not in (2, 3):
        raise ShapeError(f"{where}: a tensor in CSR has 2 or 3 dimensions, but the shape is {sizes}.")
    batches, rows = (sizes[0] if len(sizes) == 3 else 1), sizes[-2]
    if len(ends) != batches * (rows + 1):
        raise ShapeError(
            f"{where}: The length({len(ends)}) of crows must be equal to the rows({rows})+1 of matrix"
            f"{f', {batches} times' if len(sizes) == 3 else ''}."
        )
    each = ends.reshape(batches, rows + 1)
    if each[:, 0].any():
        raise ShapeError(f"{where}: the 0th value of crows must be 0")
    if (np.diff(each, axis=1) < 0).any():
        raise ShapeError(f"{where}: crows must not fall from one row to the next, but is {ends.tolist()}.")
    if each[:, -1].sum() != len(columns):
        raise ShapeError(
            f"{where}: the last value of crows must be equal the number of non-zero, but they are "
            f"{int(each[:, -1].sum())} and {len(columns)}."
        )


def _places_of(value: Any, what: str, where: str, rank: int) -> Array:
    """*value* as an array of whole numbers of its own.

    Raises:
        DtypeError: other numbers (a TypeError).
        ShapeError: another number of dimensions (a ValueError).
    """
    if not isinstance(value, (list, tuple, np.ndarray, Tensor)):
        raise ArgumentTypeError(
            f"{where}: '{what}' must be a list, a tuple, an array or a Tensor, but received {type(value).__name__}."
        )
    array = np.array(dense(value, what, where).array if isinstance(value, Tensor) else value)
    if array.dtype.name not in INDICES:
        raise DtypeError(
            f"{where}: the dtype of {what} must be 'int8' or 'int16' or 'int32' or 'int64', but is {array.dtype.name}."
        )
    if array.ndim != rank:
        raise ShapeError(f"{where}: '{what}' must be {rank}-D, but its shape is {list(array.shape)}.")
    return array


def _values_of(value: Any, dtype: Any, stop_gradient: bool, where: str) -> Tensor:
    """*value* as a tensor that has *stop_gradient*; one that is given gets it (as in Paddle)."""
    if not isinstance(value, Tensor):
        made = to_tensor(value, dtype, stop_gradient=stop_gradient)
    else:
        made = dense(value, "values", where)
        if dtype is not None and made.dtype is not dtype_of(dtype):
            made = cast(made, dtype)
    if made.dtype.name == "bool":
        raise DtypeError(
            f"{where}: values must be numbers, but they are bool.", hint="cast them, for example to 'int32'"
        )
    if made.stop_gradient == stop_gradient:
        return made  # type: ignore[return-value]
    if not stop_gradient:
        made.stop_gradient = False
    elif not (watch.noting and watch.note(watch.Cutting(where, made))):
        # No setting of the user's: mostly it is the default, and the values were to be trained.
        made._stop = True
    return made  # type: ignore[return-value]


def _sizes_of(shape: Any, where: str) -> list[int]:
    return integers(shape.tolist() if isinstance(shape, np.ndarray) else shape, "shape", where)
