"""Dynamic mode as ``paddle.base.dygraph`` and ``paddle.fluid.dygraph`` switch it on."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.eager.tensor import Tensor

from . import _saving, autograd
from ._creation import to_tensor

PARAMETERS, OPTIMIZER = ".pdparams", ".pdopt"
"""The endings of what a layer's and an optimizer's state are saved under."""


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


def declarative(function: Callable[..., Any]) -> Any:
    """As ``paddle.jit.to_static``, under the name of version 1."""
    from gradtool.paddle import jit

    return jit.to_static(function)


def enabled() -> bool:
    """Return whether functions compute at once."""
    return not state.in_static_mode()


def no_grad(func: Callable[..., Any] | None = None) -> Any:
    """As ``paddle.no_grad()``, which it gives; a function that it decorates without brackets is run within that."""
    return autograd.no_grad() if func is None else autograd.no_grad()(func)


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


def save_dygraph(state_dict: Mapping[str, Any], model_path: str) -> None:
    """Write the state of a layer to ``MODEL_PATH.pdparams``, that of an optimizer to ``MODEL_PATH.pdopt``.

    Raises:
        UsageError: there is nothing to save (a ValueError).
    """
    if not state_dict:
        raise UsageError("fluid.save_dygraph: state_dict is empty, there is nothing to save")
    of_layer = any(isinstance(value, TensorParameter) for value in state_dict.values())
    _saving.save(dict(state_dict), model_path + (PARAMETERS if of_layer else OPTIMIZER))


def load_dygraph(model_path: str) -> tuple[Any, Any]:
    """Return what :func:`save_dygraph` wrote: the layer's state and the optimizer's, None for one that is not there.

    Raises:
        UsageError: neither is there (a ValueError).
    """
    stem = model_path.removesuffix(PARAMETERS).removesuffix(OPTIMIZER)
    files = [stem + PARAMETERS, stem + OPTIMIZER]
    if not any(map(os.path.exists, files)):
        raise UsageError(f"fluid.load_dygraph: neither {files[0]} nor {files[1]} is there")
    layer, optimizer = (_saving.load(file) if os.path.exists(file) else None for file in files)
    return layer, optimizer
