"""Inputs of a function or a program: shape, type and name, without values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, ProgramError
from gradtool.engine.core.spec import DType, dtype
from gradtool.engine.eager.tensor import Tensor


class InputSpec:
    """A description of an input.

    Args:
        shape: sizes; None and -1 stand for what is not known.
        dtype: the type of its elements.
        name: what it is called.
        stop_gradient: whether it takes no gradient.

    Raises:
        ArgumentTypeError: a shape that is no sequence of whole numbers and None (a TypeError).

    Example:
        >>> from gradtool import paddle
        >>> paddle.static.InputSpec([None, 3], "float32", "x").shape
        (-1, 3)
    """

    def __init__(
        self, shape: Sequence[int | None], dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        self.shape = _sizes(shape)
        self.dtype: DType = _type(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> Self:
        """Return the spec of a tensor, with its own name unless another one is given."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray[Any, Any], name: str | None = None) -> Self:
        """Return the spec of an array."""
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int) -> Self:
        """This one with a dimension more in front.

        Raises:
            ArgumentTypeError: *batch_size* is no whole number (a TypeError).
        """
        self.shape = (*_sizes([batch_size]), *self.shape)
        return self

    def unbatch(self) -> Self:
        """This one without its first dimension.

        Raises:
            ProgramError: there is none (a ValueError).
        """
        if not self.shape:
            raise _NoDimension("InputSpec.unbatch: there is no dimension to take away; the shape is ().")
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name, self.stop_gradient


class _NoDimension(ProgramError, ValueError):
    """A shape of no dimensions has none to take away."""


def _type(wanted: Any) -> DType:
    return dtype(wanted)


def _sizes(shape: Sequence[int | None]) -> tuple[int, ...]:
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise ArgumentTypeError(f"InputSpec: shape is a list or tuple, but it is {type(shape).__name__}.")
    sizes = tuple(-1 if size is None else size for size in shape)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise ArgumentTypeError(f"InputSpec: sizes are whole numbers or None, but one is {size!r}.")
    return tuple(int(size) for size in sizes)
