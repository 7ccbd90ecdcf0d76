"""Arrays of tensors: ``paddle.tensor.create_array`` and what goes with it.

In dynamic mode they are lists. In a program an array is a variable of its own kind (``ir/arrays.py``), which operators
write in place, in branches and loops too.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import source, state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import ARRAY, Variable

from ._arguments import tensor
from ._creation import to_tensor
from ._dispatch import apply
from ._manipulation import concat, stack

__all__ = ["array_length", "array_read", "array_write", "create_array", "tensor_array_to_tensor"]


class ArrayError(UsageError, AssertionError):
    """An index or array that does not fit (Paddle raises AssertionError)."""


class ArrayIndexError(UsageError, IndexError):
    """An index beyond the end."""


def create_array(dtype: Any, initialized_list: Any = None) -> Any:
    """A list of tensors, empty unless *initialized_list* gives some; in static mode a variable that holds tensors.

    Args:
        dtype: what is known of its tensors before one is written; in dynamic mode nothing depends on it.

    Raises:
        ArgumentTypeError: *initialized_list* is no list or tuple of tensors (a TypeError).

    >>> from gradtool import paddle
    >>> array = paddle.tensor.create_array("float32")
    >>> array = paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor([0]), array)
    >>> paddle.tensor.array_length(array)
    1
    """
    entries = [] if initialized_list is None else initialized_list
    if not isinstance(entries, (list, tuple)):
        raise ArgumentTypeError(
            f"Require type(initialized_list) should be list/tuple, but received {type(initialized_list)}"
        )
    static = state.in_static_mode()
    for entry in entries:
        if not isinstance(entry, Variable if static else Tensor):
            raise ArgumentTypeError(
                f"All values in `initialized_list` should be Variable or pir.Value, but received {type(entry)}."
            )
    if not static:
        return list(entries)
    array = _new_array(f"{default.default_main_program().names('array')}.out", dtype)
    for entry in entries:
        array_write(entry, array_length(array), array)
    return array


def _new_array(name: str, dtype: Any) -> Variable:
    """A variable of the current block that holds tensors."""
    return default.current_block().create_var(name=name, dtype=dtype, type=ARRAY)


def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """Put *x* at place *i* of *array*, which may be its end, and return it; a new array without one.

    In static mode the variable *array* is written in place, and *i* may be any place: those between stay empty.

    Args:
        i: a tensor of one whole number.

    Raises:
        ArrayError: in dynamic mode *i* is no tensor of shape [1], or beyond the end (an AssertionError).
        ArgumentTypeError: in static mode an argument of another kind (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     x, i = paddle.static.data("x", [2, 3]), paddle.zeros([1], "int64")
    ...     array = paddle.tensor.array_write(x, i)
    ...     paddle.tensor.array_read(array, i).shape
    (2, 3)
    >>> paddle.disable_static()
    """
    if state.in_static_mode():
        return _written(x, i, array)
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


def _written(x: Any, i: Any, array: Any) -> Variable:
    """``array_write`` in static mode."""
    tensor(x, "x", "array_write")
    tensor(i, "i", "array_write", ("int64",))
    name = default.default_main_program().names("array_write")
    if array is None:
        array = _new_array(f"{name}.out", x.dtype)
    _expect_array(array, "array_write")
    apply("write_to_array", x, i, name=name, outputs={"Out": array})
    return array  # type: ignore[no-any-return]


def _expect_array(array: Any, where: str) -> None:
    if isinstance(array, Variable) and array.kind == ARRAY:
        return
    made = source.describe(array.made_at) if isinstance(array, Variable) else None
    raise ArgumentTypeError(
        f"{where}: array should be tensor array vairable, but received "
        f"{f'the tensor {array.name!r}' if isinstance(array, Variable) else type(array).__name__}.",
        made=made,
        hint="make one with paddle.tensor.create_array or paddle.tensor.array_write",
    )


def array_read(array: Any, i: Any) -> Any:
    """The tensor at place *i*.

    Raises:
        ArrayError: *i* is no tensor of shape [1], or *array* no list (an AssertionError).
        ArrayIndexError: there is none at that place (an IndexError); in static mode the executor raises an
            ``ExecutionError`` for that.
        ArgumentTypeError: in static mode *array* is no array, or *i* no whole number (a TypeError).
    """
    if state.in_static_mode():
        tensor(i, "i", "array_read", ("int64",))
        _expect_array(array, "array_read")
        return apply("read_from_array", array, i, key="array_read")
    if not isinstance(array, list):
        raise ArrayError("The 'array' in array_read must be list in dygraph mode")
    place = _place(i, "array_read")
    if place >= len(array):
        raise ArrayIndexError(f"array_read: place {place} of an array of {len(array)}.")
    return array[place]


def array_length(array: Any) -> Any:
    """Return the number of places: a number, in static mode a variable of shape [1] and type int64.

    Raises:
        ArrayError: *array* is no list (an AssertionError).
        ArgumentTypeError: in static mode it is no array (a TypeError).
    """
    if state.in_static_mode():
        _expect_array(array, "array_length")
        length = apply("lod_array_length", array, key="array_length")
        length.stop_gradient = True
        return length
    if not isinstance(array, list):
        raise ArrayError("The 'array' in array_write must be a list in dygraph mode")
    return len(array)


def joined(array: Variable, axis: int, use_stack: bool, name: str | None) -> AnyTensor:
    """The tensors of *array* as one: what ``paddle.stack`` and ``paddle.concat`` make of an array."""
    return _as_one(array, axis, use_stack, "stack" if use_stack else "concat", name)[0]


def _as_one(array: Variable, axis: int, use_stack: bool, key: str, name: str | None) -> tuple[AnyTensor, AnyTensor]:
    attrs = {"axis": axis, "use_stack": use_stack}
    return apply("tensor_array_to_tensor", array, attrs=attrs, key=key, name=name)  # type: ignore[no-any-return]


def tensor_array_to_tensor(
    input: Any, axis: int = 1, use_stack: bool = False, name: str | None = None
) -> tuple[AnyTensor, AnyTensor]:
    """The tensors of an array one after another, or stacked, along *axis*; and how long each of them is there.

    Raises:
        ArgumentTypeError: *input* is no array; in dynamic mode, no list of tensors (a TypeError).
    """
    if state.in_static_mode():
        _expect_array(input, "tensor_array_to_tensor")
        return _as_one(input, axis, use_stack, "tensor_array_to_tensor", name)
    if not isinstance(input, list) or not all(isinstance(v, Tensor) for v in input):
        raise ArgumentTypeError("tensor_array_to_tensor: input must be a list of tensors in dynamic mode.")
    lengths = to_tensor([1 if use_stack else v.shape[axis] for v in input], "int32")
    return (stack(input, axis) if use_stack else concat(input, axis)), lengths


def _place(i: Any, where: str) -> int:
    if not isinstance(i, Tensor):
        raise ArrayError(f"The index 'i' in {where} must be Variable in dygraph mode")
    if i.shape != [1] and tuple(i.shape) != (1,):
        raise ArrayError("The shape of index 'i' should be [1] in dygraph mode")
    place = int(i.item())
    if place < 0:
        raise ArrayError(f"{where}: the index is {place}, and places are counted from 0.")
    return place
