"""``paddle.nn.functional``."""

from __future__ import annotations

from typing import Any

from gradtool._dispatch import apply, counted


def relu(x: Any, name: str | None = None) -> Any:
    """The positive part of each element."""
    return apply("relu", x, name=name)


def square_error_cost(input: Any, label: Any) -> Any:
    """``(input - label)²`` element by element."""
    layer = counted("square_error_cost")
    return apply("square", apply("elementwise_sub", input, label, name=layer), name=layer)
