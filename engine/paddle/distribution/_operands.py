"""Parameters of distributions: tensors of one type and one shape."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.core.value import AnyTensor


def parameters(where: str, **values: Any) -> list[Any]:
    """Return the parameters of a distribution, broadcast to one shape.

    Numbers, lists and arrays take the type of the first tensor among them, else the default type.

    Args:
        where: the distribution, for messages.

    Raises:
        ArgumentTypeError: something is no number, list, array or tensor (a TypeError).
    """
    held = [value for value in values.values() if isinstance(value, AnyTensor)]
    dtype = held[0].dtype if held else state.default_dtype()
    return alike([_one(value, name, where, dtype) for name, value in values.items()])


def located(where: str, **values: Any) -> list[Any]:
    """As :func:`parameters`, but of what is no tensor the type is float64 if the first is such an array, else float32.

    So it is in Paddle, for ``Normal``, ``LogNormal`` and ``Uniform`` only: the default type does not count.
    """
    if any(isinstance(value, AnyTensor) for value in values.values()):
        return parameters(where, **values)
    first = next(iter(values.values()))
    dtype = "float64" if isinstance(first, np.ndarray) and first.dtype == np.float64 else "float32"
    return alike([_one(value, name, where, dtype) for name, value in values.items()])


def _one(value: Any, name: str, where: str, dtype: Any) -> Any:
    if isinstance(value, AnyTensor):
        return value
    if isinstance(value, str | bytes) or not isinstance(value, Real | np.ndarray | Sequence):
        raise ArgumentTypeError(
            f"{where}: '{name}' must be a number, a list, an array or a Tensor, but received {type(value).__name__}."
        )
    return paddle.to_tensor(np.asarray(value, dtype=np.float64), dtype=dtype)


def alike(tensors: Sequence[Any]) -> list[Any]:
    """The tensors in the shape that all of them broadcast to; those that have it are as they were."""
    shape: list[int] = []
    for one in tensors:
        shape = paddle.broadcast_shape(shape, list(one.shape))
    return [one if list(one.shape) == shape else paddle.expand(one, shape) for one in tensors]


def asked(value: Any, parameter: Any) -> Any:
    """Return the value that a distribution is evaluated at, as a tensor of the type of its parameter."""
    if not isinstance(value, AnyTensor):
        return paddle.to_tensor(np.asarray(value, dtype=np.float64), dtype=parameter.dtype)
    return value if value.dtype == parameter.dtype else paddle.cast(value, parameter.dtype)


def distance(value: Any, loc: Any, scale: Any) -> Any:
    """Return the distance of a value from *loc*, in units of *scale*."""
    return (asked(value, loc) - loc) / scale


def stopped(value: Any) -> Any:
    """*value*, through which no gradient goes."""
    out = value.detach()
    out.stop_gradient = True
    return out


def repeated(value: Any, shape: Sequence[int]) -> Any:
    """*value*, as often as a shape says that stands in front of its own."""
    return paddle.expand(value, [*shape, *value.shape]) if shape else value


def summed(value: Any, rank: int) -> Any:
    """*value*, summed over its last *rank* axes."""
    return paddle.sum(value, axis=list(range(-rank, 0))) if rank else value


def between(value: Any, dtype: Any) -> Any:
    """Probabilities, those of 0 and 1 moved inside by the distance from 1 to the next number of their type."""
    eps = float(np.finfo(dtype.name).eps)
    return paddle.clip(value, eps, 1 - eps)
