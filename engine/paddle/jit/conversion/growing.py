"""Lists that grow in loops of programs: arrays of tensors stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from gradtool import paddle
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _arrays, _creation

from ....engine.core.identity import identity
from .containers import Containers, same
from .refusals import refused


class ListInProgram:
    """Stands alone in a list whose entries an array of the program holds.

    Attributes:
        array: the variable that holds them.
        branches, loops: how many are around where it was made.
    """

    __slots__ = ("array", "branches", "loops")

    def __init__(self, array: Variable) -> None:
        self.array = array
        self.branches = _branches.get()
        self.loops = len(_loops.get())


def array_of(value: Any) -> Variable | None:
    """The array that stands for the list *value*, if one does."""
    if type(value) is list and len(value) == 1 and type(value[0]) is ListInProgram:
        return value[0].array
    return None


class Grown(Exception):
    """A list grows in a loop: an array is to hold what it holds."""

    def __init__(self, entries: list[Any], dtype: Any) -> None:
        super().__init__()
        self.entries = entries
        self.dtype = dtype


_loops: ContextVar[tuple[Containers, ...]] = ContextVar("gradtool_jit_loops", default=())
"""What the loops hold that are being built."""


@contextmanager
def looped(containers: Containers) -> Iterator[None]:
    """Build a loop inside, whose body may let these containers grow."""
    before = _loops.get()
    _loops.set((*before, containers))
    try:
        yield
    finally:
        _loops.set(before)


_branches: ContextVar[int] = ContextVar("gradtool_jit_branches", default=0)
"""How many branches are being built around this place."""


@contextmanager
def branching() -> Iterator[None]:
    """Build one way of a branch inside."""
    before = _branches.get()
    _branches.set(before + 1)
    try:
        yield
    finally:
        _branches.set(before)


def check_growth(container: Any, held: Any) -> None:
    """Raise :class:`Grown` where a loop that can begin anew appended tensors to a list of tensors, and nothing else.

    Args:
        held: what *container* held at the beginning of the iteration.
    """
    if type(container) is not list or not any(identity(container) in loop.contents for loop in _loops.get()):
        return
    inner = array_of(container)
    if inner is not None:
        raise Grown(container, inner.dtype)
    grew = len(container) > len(held) and same(container[: len(held)], held)
    if grew and all(isinstance(v, Variable) for v in container):
        raise Grown(container, container[-1].dtype)


def begin(entries: list[Any], dtype: Any) -> None:
    """Let an array hold what the list holds, from here on."""
    entries[:] = [ListInProgram(_arrays.create_array(dtype, list(entries)))]


def _append(held: ListInProgram) -> Callable[[Any], None]:
    array = held.array

    def append(entry: Any) -> None:
        if _branches.get() > held.branches:
            raise refused(
                "a tensor is appended on one way of a branch to a list that grows in a loop, where tensors decide",
                "append in every iteration (paddle.where chooses between tensors), and select entries after the loop",
            )
        if not isinstance(entry, Variable):
            raise refused(
                f"a {type(entry).__name__} is appended to a list that grows in a loop that a tensor repeats",
                "append tensors of one type",
            )
        _arrays.array_write(entry, _arrays.array_length(array), array)

    return append


def method(entries: list[Any], name: str) -> Callable[..., Any]:
    """A method of a list for which an array stands."""
    if name == "append":
        return _append(entries[0])
    raise refused(
        f"'{name}' of a list that grows in a loop, where a tensor decides how often",
        "append to it, read its entries and len(), and join them with paddle.stack or paddle.concat",
    )


def _read(entries: list[Any]) -> Variable:
    """The array that stands for a list that is read."""
    held: ListInProgram = entries[0]
    if len(_loops.get()) > held.loops:
        raise refused(
            "a list that grows in a loop that a tensor repeats is read in the loop",
            "keep the last entry in a variable of its own, and read the list after the loop",
        )
    return held.array


def length(entries: list[Any]) -> Any:
    """``len()`` of a list for which an array stands."""
    array = _read(entries)
    return paddle.reshape(_arrays.array_length(array), [])


def entry(entries: list[Any], index: Any) -> Any:
    """An entry of a list for which an array stands."""
    array = _read(entries)
    if isinstance(index, bool) or not isinstance(index, (int, Variable)):
        raise refused(
            f"a list that grows in a loop is read by a {type(index).__name__}", "read one entry, by a whole number"
        )
    return read_at(array, length(entries) + index if isinstance(index, int) and index < 0 else index)


def read_at(array: Variable, index: Any) -> Any:
    """Return the element of *array* at a place."""
    place = index if isinstance(index, Variable) else _creation.full([1], index, "int64")
    return _arrays.array_read(array, paddle.reshape(_creation.cast(place, "int64"), [1]))


def joining(function: Callable[..., Any]) -> Callable[..., Any]:
    """``paddle.stack`` or ``paddle.concat`` that takes such lists too."""

    def join(x: Any, *args: Any, **named: Any) -> Any:
        return function(x if array_of(x) is None else _read(x), *args, **named)

    return join
