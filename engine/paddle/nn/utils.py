"""``paddle.nn.utils``: gradients kept small by hand, parameters as one vector and back, normed weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtool.engine.core import state, watch
from gradtool.engine.core.errors import ExecutionError, ShapeError, UsageError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _lazy, _manipulation

from ._normed_weights import DynamicOnly, remove_weight_norm, spectral_norm, weight_norm

__path__: list[str] = []  # there are modules below it, in the table of old paths
__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

SMALL = 1e-6
"""Is added to a norm before dividing by it."""


class NonFiniteNorm(ExecutionError):
    """The norm of the gradients is infinite or not a number (Paddle raises RuntimeError)."""

    code = "GT-E309"


def _need_dynamic(function: str) -> None:
    if state.in_static_mode():
        raise DynamicOnly(
            f"paddle.nn.utils.{function}: this API can only run in dynamic mode.",
            hint="give the optimizer a grad_clip, for example paddle.nn.ClipGradByGlobalNorm",
        )


def _gradients(by: str, parameters: Any, limit: float) -> list[Tensor]:
    """The gradients of *parameters*, which the function *by* is about to clip; up to infinity it only measures them."""
    tensors = [parameters] if isinstance(parameters, Tensor) else parameters
    held = tuple([p for p in tensors if p.grad is not None])
    if watch.noting and limit != math.inf:
        watch.note(watch.Limited(held, by))
    return [p.grad for p in held if p.grad is not None]


def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale the gradients of *parameters* down, in place, so that together they are no longer than *max_norm*.

    Args:
        norm_type: the order of the norm of all gradients as one vector: infinity, 2, 1 or 0.
        error_if_nonfinite: raise where the norm is infinite or not a number.

    Returns:
        The norm before.

    Raises:
        DynamicOnly: static mode is on (a RuntimeError).
        UsageError: another order (a ValueError).
        NonFiniteNorm: see *error_if_nonfinite* (a RuntimeError).

    >>> from gradtool import paddle
    >>> p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([3.0, 4.0]))
    >>> (p * p / 2).sum().backward()
    >>> paddle.nn.utils.clip_grad_norm_([p], 0.5).item()
    5.0
    >>> p.grad
    Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=False,
           [0.29999995, 0.39999992])
    """
    _need_dynamic("clip_grad_norm_")
    if norm_type not in (math.inf, 0, 1, 2):
        raise UsageError(f"norm_type only support [inf, 0, 1, 2], but received {norm_type!r}.")
    grads = _gradients("clip_grad_norm_", parameters, max_norm)
    if not grads:
        return Tensor(np.zeros((), state.default_dtype().numpy))
    parts = np.array([np.linalg.norm(g.array.reshape(-1), norm_type) if g.array.size else 0.0 for g in grads])
    # The parts may be of several dtypes; the norm is in that of the first.
    total = np.asarray(np.linalg.norm(parts, norm_type), grads[0].array.dtype)
    if error_if_nonfinite and not np.isfinite(total):
        raise NonFiniteNorm(
            f"The total norm of {norm_type} order of the gradients from `parameters` is non-finite, so it cannot be "
            "clipped.",
            hint="error_if_nonfinite=False scales by it all the same",
        )
    factor = np.minimum(max_norm / (total + SMALL), 1.0)
    for g in grads:
        g.write(g.array * factor.astype(g.array.dtype), "clip_grad_norm_")
    return Tensor(total)


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Move every element of the gradients of *parameters* into the range from -*clip_value* to *clip_value*, in place.

    Raises:
        DynamicOnly: static mode is on (a RuntimeError).
        UsageError: *clip_value* is negative (a ValueError).
    """
    _need_dynamic("clip_grad_value_")
    if not clip_value >= 0:
        raise UsageError(f"clip_grad_value_: clip_value must not be negative, but received {clip_value}.")
    for g in _gradients("clip_grad_value_", parameters, clip_value):
        g.write(np.clip(g.array, -clip_value, clip_value), "clip_grad_value_")


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Any:
    """All elements of *parameters*, one after another; gradients flow through it."""
    _need_dynamic("parameters_to_vector")
    return _manipulation.concat([_manipulation.reshape(p, [-1]) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Give *parameters* the values in *vec*: the reverse of :func:`parameters_to_vector`.

    Raises:
        ShapeError: they have more or fewer elements than *vec* (a ValueError).
    """
    _need_dynamic("vector_to_parameters")
    chosen = list(parameters)
    sizes = [p.array.size for p in chosen]
    if vec.array.ndim != 1 or vec.array.size != sum(sizes):
        raise ShapeError(
            f"vector_to_parameters: the parameters have {sum(sizes)} elements, but the vector has the shape "
            f"{list(vec.array.shape)}."
        )
    with no_grad():
        for p, part in zip(chosen, np.split(vec.array, np.cumsum(sizes)[:-1]), strict=True):
            p.set_value(part.reshape(p.array.shape))


__getattr__ = _lazy.refuse(__name__, globals())
