"""Newton's method with a curvature that the steps tell (Nocedal & Wright, algorithms 6.1 and 7.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.eager.calls import grad
from gradtool.engine.eager.mode import enable_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle.optimizer._line_search import LinePoint, LineSearch

Array = np.ndarray[Any, Any]


class _Objective:
    """The function, of arrays: its values and gradients, counted."""

    def __init__(self, function: Callable[[Tensor], Any], dtype: str) -> None:
        self.calls = 0
        self._function, self._dtype = function, dtype

    def __call__(self, position: Array) -> tuple[float, Array]:
        self.calls += 1
        x: Any = paddle.to_tensor(position.astype(self._dtype), stop_gradient=False)
        with enable_grad():
            value = self._function(x)
            if not isinstance(value, Tensor) or value.size != 1:
                raise ArgumentTypeError("objective_func must return a tensor of one element.")
            slope: Any = grad(value, [x], allow_unused=True)[0]
        gradient = np.zeros(position.shape) if slope is None else slope.numpy().astype(np.float64)
        return float(value), gradient


class _Result(NamedTuple):
    converged: bool
    position: Array
    value: float
    gradient: Array


Direction = Callable[[Array], Array]
Learning = Callable[[Array, Array], None]


def _minimized(
    objective: _Objective,
    start: Array,
    direction: Direction,
    learn: Learning,
    max_iters: int,
    tolerance_grad: float,
    tolerance_change: float,
    first_step: float,
) -> _Result:
    """Steps along directions, until the gradient or the change is small."""
    position = start.astype(np.float64)
    value, gradient = objective(position)
    for _ in range(max_iters):
        if np.abs(gradient).max(initial=0.0) < tolerance_grad:
            return _Result(True, position, value, gradient)
        way = direction(gradient)
        slope = float(gradient @ way)
        if not np.isfinite(slope) or slope >= 0:
            return _Result(False, position, value, gradient)

        def at(step: float, origin: Array = position, way: Array = way) -> LinePoint:
            loss, there = objective(origin + step * way)
            return LinePoint(step, loss, there, float(there @ way))

        search = LineSearch(at, LinePoint(0.0, value, gradient, slope), float(np.abs(way).max(initial=0.0)))
        found = search.run(first_step)
        moved = found.step * way
        if found.step == 0.0:
            return _Result(False, position, value, gradient)
        learn(moved, found.gradient - gradient)
        small = np.abs(moved).max(initial=0.0) < tolerance_change
        position, value, gradient = position + moved, found.loss, found.gradient
        if small:
            return _Result(True, position, value, gradient)
    return _Result(bool(np.abs(gradient).max(initial=0.0) < tolerance_grad), position, value, gradient)


def _checked(where: str, initial_position: Any, line_search_fn: str, dtype: str) -> Array:
    """The start as an array; raises the errors for arguments."""
    if dtype not in ("float32", "float64"):
        raise UsageError(f"{where}: The dtype must be 'float32' or 'float64', but the specified is {dtype}.")
    if line_search_fn != "strong_wolfe":
        raise UnsupportedError(
            f"{where}: Currently only support line_search_fn = 'strong_wolfe', but the specified is {line_search_fn!r}"
        )
    if not isinstance(initial_position, Tensor):
        raise ArgumentTypeError(
            f"{where}: initial_position must be a Tensor, but received {type(initial_position).__name__}."
        )
    start = initial_position.numpy().astype(np.float64)
    if start.ndim != 1:
        raise UsageError(f"{where}: initial_position must have one dimension, but its shape is {list(start.shape)}.")
    return start


def _estimate(where: str, given: Any, size: int) -> Array:
    """The inverse of the curvature at the start."""
    if given is None:
        return np.eye(size)
    matrix: Array = given.numpy().astype(np.float64)
    if matrix.shape != (size, size) or not np.allclose(matrix, matrix.T):
        raise UsageError(f"{where}: The initial_inverse_hessian_estimate should be symmetric, of shape {[size, size]}.")
    if np.linalg.eigvalsh(matrix).min(initial=1.0) <= 0:
        raise UsageError(f"{where}: The initial_inverse_hessian_estimate should be positive definite.")
    return matrix


def _answer(objective: _Objective, result: _Result, dtype: str, *more: Array) -> tuple[Any, ...]:
    values = (result.position, np.array(result.value), result.gradient, *more)
    tensors = [paddle.to_tensor(np.asarray(v).astype(dtype)) for v in values]
    calls = paddle.to_tensor([objective.calls], "int64")
    return paddle.to_tensor([result.converged]), calls, *tensors


def minimize_bfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Any,
    max_iters: int = 50,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    initial_inverse_hessian_estimate: Any = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """The minimum of a function by BFGS, which keeps the inverse of the curvature as a matrix. Dynamic mode only.

    Args:
        objective_func: from a tensor ``[size]`` to one of one element.
        initial_position: ``[size]``.
        tolerance_grad, tolerance_change: ends where no element of the gradient, or of a step, is larger.
        initial_inverse_hessian_estimate: ``[size, size]``, symmetric and positive definite; the identity when None.
        line_search_fn: ``"strong_wolfe"``.
        max_line_search_iters: accepted for compatibility; a search tries 25 steps.
        initial_step_length: what a line search tries first.
        dtype: ``"float32"`` or ``"float64"``.

    Returns:
        Whether it converged ``[1]``, how often the function was computed ``[1]``, the position, the value there, the
        gradient and the inverse of the curvature. Steps and their number differ from Paddle's, as line searches do.

    Raises:
        UsageError: a start, type or estimate that does not fit (a ValueError).
        UnsupportedError: another line search (a ValueError).
        ArgumentTypeError: the start is no tensor, or the function returns something else (a TypeError).

    >>> from gradtool import paddle
    >>> start = paddle.to_tensor([3.0, -1.0])
    >>> found = paddle.incubate.optimizer.functional.minimize_bfgs(lambda x: ((x - 1.0) ** 2).sum(), start)
    >>> bool(found[0]), found[2].tolist()
    (True, [1.0, 1.0])
    """
    where = "paddle.incubate.optimizer.functional.minimize_bfgs"
    start = _checked(where, initial_position, line_search_fn, dtype)
    inverse = _estimate(where, initial_inverse_hessian_estimate, start.size)
    objective = _Objective(objective_func, dtype)

    def direction(gradient: Array) -> Array:
        return -inverse @ gradient

    def learn(moved: Array, turned: Array) -> None:
        nonlocal inverse
        along = float(moved @ turned)
        if along <= 0:
            return
        cut = np.eye(moved.size) - np.outer(moved, turned) / along
        inverse = cut @ inverse @ cut.T + np.outer(moved, moved) / along

    result = _minimized(
        objective, start, direction, learn, max_iters, tolerance_grad, tolerance_change, initial_step_length
    )
    return _answer(objective, result, dtype, inverse)


def minimize_lbfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Any,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Any = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """The minimum of a function by L-BFGS, which keeps the last *history_size* steps instead of a matrix.

    The other arguments, the results but for the matrix, and the errors are those of :func:`minimize_bfgs`.
    """
    where = "paddle.incubate.optimizer.functional.minimize_lbfgs"
    start = _checked(where, initial_position, line_search_fn, dtype)
    inverse = _estimate(where, initial_inverse_hessian_estimate, start.size)
    objective = _Objective(objective_func, dtype)
    steps: list[tuple[Array, Array, float]] = []

    def direction(gradient: Array) -> Array:
        way, shares = gradient.copy(), []
        for moved, turned, along in reversed(steps):
            share = float(moved @ way) / along
            way -= share * turned
            shares.append(share)
        if steps:
            _, turned, along = steps[-1]
            way = way * (along / float(turned @ turned))
        else:
            way = inverse @ way
        for (moved, turned, along), share in zip(steps, reversed(shares), strict=True):
            way += (share - float(turned @ way) / along) * moved
        return -way

    def learn(moved: Array, turned: Array) -> None:
        along = float(moved @ turned)
        if along > 0:
            steps.append((moved, turned, along))
            del steps[: max(0, len(steps) - history_size)]

    result = _minimized(
        objective, start, direction, learn, max_iters, tolerance_grad, tolerance_change, initial_step_length
    )
    return _answer(objective, result, dtype)
