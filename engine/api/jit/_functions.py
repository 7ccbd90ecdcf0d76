"""Marks of functions that Paddle turns into static programs.

gradtool runs them as Python: values and gradients are those of dynamic mode, which are the same, and every line stays
one that can be asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from gradtool.engine.core.errors import UnsupportedError

F = TypeVar("F")


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> Any:
    """*function*, or a Layer, as it is: it runs in dynamic mode, with the same values and gradients.

    Args:
        function: a function or a Layer; without one, a decorator is returned.
        input_spec, build_strategy, backend, kwargs: of Paddle's compilation; they change no value and are not used.

    Example:
        >>> import gradtool as paddle
        >>> @paddle.jit.to_static
        ... def double(x):
        ...     return x * 2
        >>> double(paddle.ones([1])).item()
        2.0
    """
    return _as_it_is if function is None else function


def _as_it_is(function: F) -> F:
    return function


def not_to_static(func: Any = None) -> Any:
    """*func* as it is; a decorator without it."""
    return _as_it_is if func is None else func


def ignore_module(modules: Sequence[Any]) -> None:
    """Nothing happens: no module is turned into a program."""


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Nothing happens: functions run as Python whatever is set."""


def save(layer: Any, path: str, input_spec: Sequence[Any] | None = None, **configs: Any) -> NoReturn:
    """Paddle writes a program and its parameters here.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "paddle.jit.save is not in gradtool: it writes a compiled program.",
        hint="paddle.save(layer.state_dict(), path) saves the parameters",
    )


def load(path: str, **configs: Any) -> Callable[..., Any]:
    """Paddle reads what ``save`` wrote.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "paddle.jit.load is not in gradtool: it reads a compiled program.",
        hint="make the layer, and layer.set_state_dict(paddle.load(path)) for its parameters",
    )
