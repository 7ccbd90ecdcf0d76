"""Activations of sparse tensors: of the stored elements; those that are not stored stay zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import AxisError, UnsupportedError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _math
from gradtool.paddle.nn import functional as F
from gradtool.paddle.sparse import _places
from gradtool.paddle.sparse._operands import of_floats, put_together, sparse, taken
from gradtool.paddle.sparse._tensor import CSR


class OtherAxis(UnsupportedError, NotImplementedError):
    """An axis that softmax does not take for tensors in CSR (Paddle raises NotImplementedError)."""

    in_paddle = "(Unimplemented)"


def relu(x: Any, name: str | None = None) -> Tensor:
    """``max(x, 0)`` of each stored element."""
    x = sparse(x, "x", "paddle.sparse.nn.functional.relu")
    return x.of_values(F.relu(x.carrier))  # type: ignore[no-any-return]


def relu6(x: Any, name: str | None = None) -> Tensor:
    """``min(max(x, 0), 6)`` of each stored element."""
    x = sparse(x, "x", "paddle.sparse.nn.functional.relu6")
    return x.of_values(F.relu6(x.carrier))  # type: ignore[no-any-return]


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """*x* where it is positive, ``negative_slope · x`` elsewhere, of each stored element."""
    x = sparse(x, "x", "paddle.sparse.nn.functional.leaky_relu")
    return x.of_values(F.leaky_relu(x.carrier, negative_slope))  # type: ignore[no-any-return]


def softmax(x: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Softmax along *axis* over the stored elements alone, as if the others were minus infinity.

    Args:
        axis: of a tensor in CSR the last one.

    Raises:
        OtherAxis: another axis of a tensor in CSR (a NotImplementedError).
        AxisError: a dimension that places of *x* do not have (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 1.0, 3.0], [2, 3])
    >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
    [0.5, 0.5, 1.0]
    """
    where = "paddle.sparse.nn.functional.softmax"
    x = sparse(x, "x", where)
    of_floats(x, "x", where)
    if x.format == CSR and axis != -1:
        raise OtherAxis(
            f"{where}: of a tensor in CSR the axis must be -1, but is {axis}.",
            hint="convert it with x.to_sparse_coo(2)",
        )
    count = x.sparse_dim()
    if not -x.ndim <= axis < x.ndim:
        raise AxisError(f"{where}: the dimension {axis} is outside of those of x, {-x.ndim} to {x.ndim - 1}.")
    if axis % x.ndim >= count:
        return x.of_values(F.softmax(x.carrier, axis % x.ndim - count + 1))  # type: ignore[no-any-return]
    lines = np.delete(x.coordinates, axis % x.ndim, 0)
    _, at = np.unique(_places.numbered(lines, np.delete(x.placed_sizes, axis % x.ndim).tolist()), return_inverse=True)
    return x.of_values(_over_groups(x.carrier, at.reshape(-1)))  # type: ignore[no-any-return]


def _over_groups(values: Tensor, group: Any) -> Tensor:
    """Softmax of the rows of each group."""
    count = int(group.max()) + 1 if len(group) else 0
    # What is taken away before exp is a constant: it cancels out, in every derivative too.
    largest = np.full((count, *values.array.shape[1:]), -np.inf, values.array.dtype)
    np.maximum.at(largest, group, values.array)
    powers = _math.exp(_math.subtract(values, Tensor(largest[group])))
    return _math.divide(powers, taken(put_together(powers, group, count), group))  # type: ignore[arg-type, return-value]
