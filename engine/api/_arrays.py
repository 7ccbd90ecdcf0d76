"""Arrays of tensors: ``paddle.tensor.create_array`` and what goes with it; in dynamic mode they are lists."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.eager.tensor import Tensor

__all__ = ["array_length", "array_read", "array_write", "create_array"]


class ArrayError(UsageError, AssertionError):
    """An index or array that does not fit (Paddle raises AssertionError)."""


class ArrayIndexError(UsageError, IndexError):
    """An index beyond the end."""


def _dynamic(where: str) -> None:
    """Raise in static mode, where an array is a variable of another kind."""
    if state.in_static_mode():
        raise UnsupportedError(
            f"paddle.tensor.{where}: programs have no arrays of tensors in this version of gradtool.",
            hint="outside of loops use a list and paddle.stack; in while_loop carry one tensor with a row for each "
            "step, and write rows with paddle.scatter",
        )


def create_array(dtype: Any, initialized_list: Any = None) -> list[Tensor]:
    """A list of tensors, empty unless *initialized_list* gives some.

    Raises:
        ArgumentTypeError: it is no list or tuple of tensors (a TypeError).
        UnsupportedError: in static mode (a ValueError).

    >>> import gradtool as paddle
    >>> array = paddle.tensor.create_array("float32")
    >>> array = paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor([0]), array)
    >>> paddle.tensor.array_length(array)
    1
    """
    _dynamic("create_array")
    if initialized_list is None:
        return []
    if not isinstance(initialized_list, (list, tuple)):
        raise ArgumentTypeError(
            f"Require type(initialized_list) should be list/tuple, but received {type(initialized_list)}"
        )
    for entry in initialized_list:
        if not isinstance(entry, Tensor):
            raise ArgumentTypeError(
                f"All values in `initialized_list` should be Variable or pir.Value, but received {type(entry)}."
            )
    return list(initialized_list)


def array_write(x: Any, i: Any, array: list[Tensor] | None = None) -> list[Tensor]:
    """Put *x* at place *i* of *array*, which may be its end, and return it; a new array without one.

    Raises:
        ArrayError: *i* is no tensor of shape [1], or beyond the end (an AssertionError).
        UnsupportedError: in static mode (a ValueError).
    """
    _dynamic("array_write")
    if not isinstance(x, Tensor):
        raise ArrayError("The input data 'x' in array_write must be Variable in dygraph mode")
    place = _place(i, "array_write")
    array = [] if array is None else array
    if not isinstance(array, list):
        raise ArrayError("The 'array' in array_write must be a list in dygraph mode")
    if place > len(array):
        raise ArrayError("The index 'i' should not be greater than the length of 'array' in dygraph mode")
    if place < len(array):
        array[place] = x
    else:
        array.append(x)
    return array


def array_read(array: list[Tensor], i: Any) -> Tensor:
    """The tensor at place *i*.

    Raises:
        ArrayError: *i* is no tensor of shape [1], or *array* no list (an AssertionError).
        ArrayIndexError: there is none at that place (an IndexError).
        UnsupportedError: in static mode (a ValueError).
    """
    _dynamic("array_read")
    if not isinstance(array, list):
        raise ArrayError("The 'array' in array_read must be list in dygraph mode")
    place = _place(i, "array_read")
    if place >= len(array):
        raise ArrayIndexError(f"array_read: place {place} of an array of {len(array)}.")
    return array[place]


def array_length(array: list[Tensor]) -> int:
    """How many tensors there are.

    Raises:
        ArrayError: *array* is no list (an AssertionError).
        UnsupportedError: in static mode (a ValueError).
    """
    _dynamic("array_length")
    if not isinstance(array, list):
        raise ArrayError("The 'array' in array_write must be a list in dygraph mode")
    return len(array)


def _place(i: Any, where: str) -> int:
    if not isinstance(i, Tensor):
        raise ArrayError(f"The index 'i' in {where} must be Variable in dygraph mode")
    if i.shape != [1] and tuple(i.shape) != (1,):
        raise ArrayError("The shape of index 'i' should be [1] in dygraph mode")
    place = int(i.item())
    if place < 0:
        raise ArrayError(f"{where}: the index is {place}, and places are counted from 0.")
    return place
