"""Matrices of first and second derivatives, of which a row is computed when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from gradtool.engine.eager.calls import grad
from gradtool.engine.eager.tensor import Tensor

from ._products import filled


class Jacobian:
    """The matrix of the derivatives of *ys* by *xs*; a row is computed when it is first asked for.

    Index it as a tensor, ``J[:]`` for all of it. Its operators and methods are those of ``J[:]``.
    """

    def __init__(self, ys: Tensor, xs: Tensor, batched: bool = False) -> None:
        least = 1 if batched else 0
        for name, t in (("xs", xs), ("ys", ys)):
            if not isinstance(t, Tensor):
                raise ArgumentTypeError(f"jacobian: '{name}' must be a Tensor, but received {type(t).__name__}.")
            if not least <= t.ndim <= least + 1:
                raise ShapeError(
                    f"jacobian: {name}.ndim should be {least} or {least + 1} "
                    f"{'with' if batched else 'without'} batch_axis, but got {t.ndim}."
                )
        self._ys = ys
        self._xs = xs
        self._axis = least
        self._rows: dict[int, Tensor] = {}
        outputs, inputs = list(ys.array.shape), list(xs.array.shape)
        self.shape = [*inputs[:least], *outputs[least:], *inputs[least:]]

    def __getitem__(self, index: Any) -> Tensor:
        entries = list(index) if isinstance(index, tuple) else [index]
        if Ellipsis in entries:
            at = entries.index(Ellipsis)
            entries[at : at + 1] = [slice(None)] * (len(self.shape) - len(entries) + 1)
        entries += [slice(None)] * (len(self.shape) - len(entries))
        if len(entries) > len(self.shape):
            raise UsageError(f"too many indices: the matrix has shape {self.shape}.")
        if self._ys.ndim == self._axis:
            part = self._row(0)
        else:
            count, asked = self.shape[self._axis], entries[self._axis]
            if isinstance(asked, slice):
                from gradtool.paddle._manipulation import stack

                rows = [self._row(i) for i in range(*asked.indices(count))]
                if not rows:
                    raise UsageError(f"no row of the {count} is selected by {asked}.")
                stacked: Any = stack(rows, axis=self._axis)
                part = stacked
                entries[self._axis] = slice(None)
            else:
                row = asked.__index__()
                if not -count <= row < count:
                    raise IndexError(f"row {row} of {count}")
                part = self._row(row % count)
                del entries[self._axis]
        whole = all(isinstance(e, slice) and e == slice(None) for e in entries)
        selected: Tensor = part if whole else part[tuple(entries)]
        return selected

    def _row(self, i: int) -> Tensor:
        if i not in self._rows:
            y = self._ys
            if y.ndim > self._axis:
                y = y[:, i] if self._axis else y[i]
            self._rows[i] = filled(grad(y, self._xs, create_graph=True, allow_unused=True), [self._xs])[0]
        return self._rows[i]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self[:], name)


class Hessian(Jacobian):
    """The matrix of second derivatives; see :class:`Jacobian`."""


def _delegate(method: str) -> Callable[..., Any]:
    def operate(self: Jacobian, other: Any) -> Any:
        return getattr(self[:], method)(other[:] if isinstance(other, Jacobian) else other)

    operate.__name__ = method
    operate.__doc__ = "The operator of the whole matrix."
    return operate


for _method in ["add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "matmul", "eq", "ne", "lt", "le", "gt", "ge"]:
    setattr(Jacobian, f"__{_method}__", _delegate(f"__{_method}__"))
Jacobian.__hash__ = object.__hash__  # type: ignore[method-assign]


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The derivatives of *ys* by *xs*, computed row by row when they are asked for.

    Args:
        ys: a Tensor computed from *xs*, of 0 or 1 dimensions (1 or 2 with a batch), or a sequence of them.
        xs: a Tensor of 0 or 1 dimensions (1 or 2 with a batch), or a sequence of them.
        batch_axis: 0 if the first dimension of all of them counts independent cases.

    Returns:
        A :class:`Jacobian` of shape ``[M, N]`` (``[B, M, N]``), a tuple of them if either argument is a sequence, a
        tuple of tuples, ys outside, if both are.

    Raises:
        UsageError: *batch_axis* is neither None nor 0 (a ValueError).
        ShapeError: a tensor of too many dimensions (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    if batch_axis is not None and (isinstance(batch_axis, bool) or batch_axis != 0):
        raise UsageError(f"jacobian: batch_axis should be None or 0, but got {batch_axis}.")
    if isinstance(ys, (list, tuple)):
        return tuple(jacobian(y, xs, batch_axis) for y in ys)
    if isinstance(xs, (list, tuple)):
        return tuple(jacobian(ys, x, batch_axis) for x in xs)
    return Jacobian(ys[:] if isinstance(ys, Jacobian) else ys, xs, batch_axis is not None)


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """The second derivatives of *ys* by *xs*.

    Args:
        ys: a Tensor of one element (per case, with a batch).
        xs, batch_axis: see :func:`jacobian`.

    Returns:
        A :class:`Hessian` of shape ``[N, N]`` (``[B, N, N]``), or a tuple of tuples of them for a sequence *xs*.

    Raises:
        UsageError: *ys* has more elements, or *batch_axis* is neither None nor 0 (a ValueError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    if not isinstance(ys, Tensor):
        raise ArgumentTypeError(f"hessian: 'ys' must be a Tensor, but received {type(ys).__name__}.")
    batched = batch_axis is not None
    cases = ys.array.shape[0] if batched and ys.ndim else 1
    if ys.array.size != cases:
        raise UsageError(
            f"hessian: 'ys' must have one element{' per case' if batched else ''}, but has shape "
            f"{list(ys.array.shape)}."
        )
    first = jacobian(ys.reshape([-1] if batched else []), xs, batch_axis)
    if isinstance(first, Jacobian):
        return _second(first, xs, batched)
    return tuple(tuple(_second(row, x, batched) for x in xs) for row in first)


def _second(first: Jacobian, x: Tensor, batched: bool) -> Hessian:
    return Hessian(first[...] if not first.shape else first[:], x, batched)
