"""Products with the Jacobian of a function, from either side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.eager.calls import grad
from gradtool.engine.eager.mode import enable_grad
from gradtool.engine.eager.tensor import Tensor


def vjp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """*func* at *xs*, and the product of *v* with its Jacobian (reverse mode).

    Args:
        func: takes the tensors *xs*, returns a Tensor or a sequence of them.
        xs: a Tensor or a sequence of them.
        v: like the result of *func*; ones by default.

    Returns:
        What *func* returned, and the product in the form of *xs*.

    >>> from gradtool import paddle
    >>> ys, product = paddle.autograd.vjp(lambda x: x * x, paddle.to_tensor([1.0, 2.0]))
    >>> product.tolist()
    [2.0, 4.0]
    """
    points, ys = called(func, xs, "vjp")
    start = None if v is None else _fitting("vjp", v, listed(ys))
    gradients = grad(listed(ys), points, start, create_graph=True, allow_unused=True)
    return ys, _in_form(filled(gradients, points), xs)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """*func* at *xs*, and the product of its Jacobian with *v* (the derivative in the direction *v*).

    Computed by differentiating the reverse-mode product by its own start, in which it is linear.

    Args:
        func: takes the tensors *xs*, returns a Tensor or a sequence of them.
        xs: a Tensor or a sequence of them.
        v: like *xs*; ones by default.

    Returns:
        What *func* returned, and the product in the same form.

    >>> from gradtool import paddle
    >>> ys, product = paddle.autograd.jvp(lambda x: x * x, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 10.0]))
    >>> product.tolist()
    [2.0, 40.0]
    """
    points, ys = called(func, xs, "jvp")
    directions: list[Any] = [None] * len(points) if v is None else _fitting("jvp", v, points)
    outputs = listed(ys)
    starts = zeros_like(outputs)
    products = grad(outputs, points, starts, create_graph=True, allow_unused=True)
    reached = [(p, d) for p, d in zip(products, directions, strict=True) if p is not None]
    if not reached:
        return ys, _in_form(filled([None] * len(starts), starts), ys)
    tangents = grad([p for p, _ in reached], starts, [d for _, d in reached], create_graph=True, allow_unused=True)
    return ys, _in_form(filled(tangents, starts), ys)


def _fitting(where: str, v: Any, like: Sequence[Tensor]) -> list[Tensor]:
    """The tensors of *v*, one in the shape of each of *like*.

    Raises:
        ArgumentTypeError: something else (a TypeError).
        DirectionError: another number of them, or another shape (a RuntimeError, as in Paddle).
    """
    if not all(isinstance(d, Tensor) for d in listed(v)):
        raise ArgumentTypeError(
            f"Expected 'v' is Tensor|Sequence[Tensor]|None, but got {type(v)}: {where} takes tensors like "
            f"{'the results' if where == 'vjp' else 'xs'}."
        )
    directions = listed(v)
    if len(directions) != len(like):
        raise DirectionError(
            f"The argument v is a tuple of invalid length:should be {len(like)} but got {len(directions)}."
        )
    for i, (d, t) in enumerate(zip(directions, like, strict=True)):
        if d.shape != t.shape:
            raise DirectionError(f"The v[{i}] has invalid shape: should be {list(t.shape)} but got {list(d.shape)}.")
    return directions


class DirectionError(UsageError, RuntimeError):
    """A direction that fits neither the points nor the results (Paddle raises RuntimeError)."""


def listed(value: Any) -> list[Any]:
    """The entries of a list or tuple; a list of anything else."""
    return [*value] if isinstance(value, (list, tuple)) else [value]


def called(func: Callable[..., Any], xs: Any, where: str) -> tuple[list[Tensor], Any]:
    """Points with the values of *xs*, and *func* of them.

    What is made of them has a way back to those of *xs* that gradients are wanted of, as in Paddle, so that a loss may
    be made of derivatives.
    """
    for x in listed(xs):
        if not isinstance(x, Tensor):
            raise ArgumentTypeError(f"{where}: 'xs' must be a Tensor or a sequence, but has {type(x).__name__}.")
    with enable_grad():
        points = [_point(x) for x in listed(xs)]
        return points, func(*points)


def _point(x: Tensor) -> Tensor:
    if x.stop_gradient:
        return Tensor(x.numpy(), stop_gradient=False)
    from gradtool.paddle._creation import assign

    copied: Any = assign(x)
    return copied  # type: ignore[no-any-return]


def zeros_like(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Leaves of zeros, also where there are numbers that are not finite."""
    return [Tensor(np.zeros(t.array.shape, t.array.dtype), stop_gradient=False) for t in tensors]


def filled(gradients: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    """*gradients* with zeros where no gradient arrived."""
    return [zeros_like([t])[0] if g is None else g for g, t in zip(gradients, like, strict=True)]


def _in_form(flat: list[Tensor], like: Any) -> Any:
    return tuple(flat) if isinstance(like, (list, tuple)) else flat[0]
