"""Sizes of dimensions that a program may not know before it runs."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.value import AnyTensor


def known(x: AnyTensor, axis: int, where: str) -> int:
    """Return the size of a dimension.

    Raises:
        ShapeError: nothing says how large it is before the program runs (a ValueError).
    """
    size: int = x.shape[axis]
    if size == UNKNOWN:
        raise ShapeError(
            f"{where}: dimension {axis % x.ndim} of '{x.name}' {list(x.shape)} must be known.",
            hint="declare its size in paddle.static.data",
        )
    return size


def counted(x: AnyTensor, axis: int) -> Any:
    """Return the size of a dimension: a number, or what counts it when the program runs, an int64 variable."""
    from ._creation import cast, shape

    size: int = x.shape[axis]
    return size if size != UNKNOWN else cast(shape(x)[axis], "int64")


def is_square(x: AnyTensor) -> bool:
    """Return whether the last two dimensions of *x* are equal, or may turn out to be when the program runs."""
    return x.ndim >= 2 and (x.shape[-1] == x.shape[-2] or UNKNOWN in x.shape[-2:])


def alike(one: Any, other: Any) -> bool:
    """Return whether two shapes are equal, or may turn out to be."""
    return len(one) == len(other) and all(UNKNOWN in (a, b) or a == b for a, b in zip(one, other, strict=True))
