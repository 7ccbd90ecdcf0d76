"""Dynamic mode as ``paddle.base.dygraph`` and ``paddle.fluid.dygraph`` switch it on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.eager.tensor import Tensor

from ._creation import to_tensor


@contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Compute at once inside, whatever the mode is outside.

    Args:
        place: accepted for compatibility; there is one.
    """
    static = state.in_static_mode()
    state.disable_static()
    try:
        yield
    finally:
        if static:
            state.enable_static()


def switch_to_static_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, which builds a program whatever the mode is outside."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        static = state.in_static_mode()
        state.enable_static()
        try:
            return function(*args, **named)
        finally:
            if not static:
                state.disable_static()

    return call


def enabled() -> bool:
    """Whether functions compute at once."""
    return not state.in_static_mode()


def to_variable(value: Any, name: str | None = None, zero_copy: bool | None = None, dtype: Any = None) -> Tensor:
    """A tensor with the values of an array, list or tuple; a tensor is returned itself.

    Args:
        name: of the tensor; generated when None.
        zero_copy: accepted for compatibility; the values are copied.
        dtype: that of *value* when None.

    Raises:
        ArgumentTypeError: *value* is something else (a TypeError).
    """
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (np.ndarray, list, tuple)):
        raise ArgumentTypeError(
            "The type of 'value' in fluid.dygraph.to_variable must be numpy.ndarray, list, tuple or Tensor, "
            f"but received {type(value).__name__}."
        )
    tensor: Any = to_tensor(value, dtype)
    if name is not None:
        tensor.name = name
    return tensor  # type: ignore[no-any-return]
