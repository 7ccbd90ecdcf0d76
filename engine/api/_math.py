"""``paddle.mean``, ``paddle.add``, …: arithmetic on tensors."""

from __future__ import annotations

from typing import Any

from ._dispatch import apply


def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Mean over *axis*, over everything when None."""
    dims = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return apply(
        "reduce_mean",
        x,
        attrs={"dim": dims, "keep_dim": keepdim, "reduce_all": not dims},
        key="mean",
        name=name,
    )


def square(x: Any, name: str | None = None) -> Any:
    """Square of each element."""
    return apply("square", x, name=name)


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Sum of two tensors, broadcast against each other."""
    return apply("elementwise_add", x, y, name=name, direct=True)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Sum of a list of tensors of one shape."""
    entries = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return apply("sum", entries, key="add_n", name=name)


def scale(
    x: Any,
    scale: float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: Any = None,
    name: str | None = None,
) -> Any:
    """``scale·x + bias``."""
    return apply("scale", x, attrs={"scale": scale, "bias": bias, "bias_after_scale": bias_after_scale}, name=name)
