"""``Jacobian`` and ``Hessian`` of functions: all arguments, and all results, laid flat behind each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from gradtool.engine.eager.calls import grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import autograd
from gradtool.paddle._manipulation import concat, reshape
from gradtool.paddle.autograd._products import called, filled, listed


class IndexKindError(UsageError, IndexError):
    """An index that these matrices do not take (Paddle raises IndexError)."""


class SizeError(UsageError, RuntimeError):
    """A function with more than one result for each case (Paddle raises RuntimeError)."""


class _Flat(autograd.Jacobian):
    """The derivatives of flat results by several points, a row for each result."""

    def __init__(self, y: Tensor, points: Sequence[Tensor], batched: bool) -> None:
        self._ys = y
        self._points = points
        self._axis = int(batched)
        self._rows: dict[int, Tensor] = {}
        width = sum(math.prod(p.array.shape[self._axis :]) for p in points)
        self.shape = (*y.array.shape, width)  # type: ignore[assignment]  # a list there, as in Paddle

    def _row(self, i: int) -> Tensor:
        if i not in self._rows:
            y = self._ys[:, i] if self._axis else self._ys[i]
            gradients = grad(y, self._points, create_graph=True, allow_unused=True)
            self._rows[i] = flat(filled(gradients, self._points), bool(self._axis))
        return self._rows[i]

    def __getitem__(self, index: Any) -> Tensor:
        entries = index if isinstance(index, tuple) else (index,)
        if any(e is Ellipsis for e in entries):
            raise IndexKindError(
                "Ellipsis index currently is not supported.", hint="write a colon for each dimension, as in J[:, 0]"
            )
        return super().__getitem__(index)


def flat(tensors: Sequence[Any], batched: bool) -> Tensor:
    """*tensors* behind each other, each laid flat; but for the cases of a batch."""
    rows = []
    for t in tensors:
        if batched and not t.ndim:
            raise ShapeError("the first dimension of all tensors must be that of a batch, but one has none.")
        rows.append(reshape(t, [t.shape[0], -1] if batched else [-1]))
    joined: Any = rows[0] if len(rows) == 1 else concat(rows, int(batched))
    return cast("Tensor", joined)


def _result(func: Callable[..., Any], xs: Any, batched: bool, where: str) -> tuple[list[Tensor], Tensor]:
    """Points with the values of *xs*, and the flat result there."""
    points, ys = called(func, xs, where)
    for y in listed(ys):
        if not isinstance(y, Tensor):
            raise ArgumentTypeError(f"{where}: 'func' must return tensors, but returned {type(y).__name__}.")
    return points, flat(listed(ys), batched)


class Jacobian(_Flat):
    """The matrix of the derivatives of a function; a row is computed when it is first asked for.

    Several arguments stand behind each other in the columns, several results in the rows. Index it as a tensor,
    ``J[:]`` for all of it.

    Args:
        func: takes the tensors *xs*, returns a Tensor or a sequence of them.
        xs: a Tensor or a sequence of them, of any shape.
        is_batched: the first dimension of all of them counts independent cases: ``[B, M, N]`` instead of ``[M, N]``.

    Raises:
        ArgumentTypeError: *xs*, or what *func* returns, is no tensor (a TypeError).
        ShapeError: a batch of tensors without dimensions (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> paddle.incubate.autograd.Jacobian(lambda a: a.sum(0), x)[:].tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        points, y = _result(func, xs, is_batched, "Jacobian")
        super().__init__(y, points, is_batched)


class Hessian(_Flat):
    """The matrix of second derivatives of a function with one result (for each case of a batch).

    Args:
        func, xs, is_batched: see :class:`Jacobian`.

    Raises:
        SizeError: several results (a RuntimeError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.incubate.autograd.Hessian(lambda a: (a * a * a).sum(), x)[:].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        points, y = _result(func, xs, is_batched, "Hessian")
        if y.array.shape[-1] != 1:
            raise SizeError(
                "The function given to Hessian should return as single element Tensor or batched single element "
                f"Tensor, but it returned {y.array.shape[-1]} elements{' for each case' if is_batched else ''}."
            )
        gradients = filled(grad(y, points, create_graph=True, allow_unused=True), points)
        super().__init__(flat(gradients, is_batched), points, is_batched)
