"""``paddle.utils.layers_utils``: nested structures, and numbers for each dimension."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle import _lazy
from gradtool.paddle._checks_of_users import check_dtype, convert_dtype
from gradtool.paddle.framework import convert_np_dtype_to_dtype_

from ._structure import assert_same_structure, flatten, is_sequence, map_structure, pack_sequence_as

__all__ = [
    "NotSupportedTensorArgumentError",
    "assert_same_structure",
    "check_dtype",
    "convert_dtype",
    "convert_np_dtype_to_dtype_",
    "convert_to_list",
    "flatten",
    "is_sequence",
    "map_structure",
    "pack_sequence_as",
    "to_sequence",
]


class NotSupportedTensorArgumentError(ArgumentTypeError):
    """A tensor where numbers are needed (a TypeError)."""

    def __init__(self, msg: str, name: str) -> None:
        super().__init__(msg)
        self.name = name


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """*n* numbers: one number for all, or a list or tuple of so many.

    Raises:
        NotSupportedTensorArgumentError: a tensor (a TypeError).
        UsageError: another number of them, or something else (a ValueError).
    """
    if isinstance(value, dtype):
        return [value] * n
    if isinstance(value, AnyTensor):
        raise NotSupportedTensorArgumentError(
            f"`{name}` required numerical type with `{dtype}`, but received Tensor.", name
        )
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"The {name}'s type must be list or tuple. Received: {value}")
    entries = list(value)
    if len(entries) != n:
        raise UsageError(f"The {name} argument must be a tuple or list of {n} {dtype.__name__}. Received: {value}")
    for entry in entries:
        if isinstance(entry, AnyTensor):
            raise NotSupportedTensorArgumentError(
                f"`{name}` required numerical type with `{dtype}`, but received Tensor.", name
            )
        if not isinstance(entry, dtype):
            raise UsageError(f"{name} must be {n} numbers of type {dtype.__name__}, but {entry!r} is among them.")
    return entries


def to_sequence(nest: Any) -> list[Any]:
    """*nest*, if it is a list, tuple or dict, otherwise a list of it."""
    return nest if is_sequence(nest) else [nest]


__getattr__ = _lazy.refuse(__name__, globals())
