"""Decorators of ``fluid.layers.layer_function_generator`` that wrote documentation from operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def templatedoc(op_type: str | None = None) -> Callable[[F], F]:
    """The function as it is: its documentation is what its author wrote."""
    return lambda function: function


autodoc = templatedoc
