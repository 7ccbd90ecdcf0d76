"""``x[...]`` on static variables and ``static.setitem``: which operators an index stands for.

An index is taken apart into a box (integers and slices, one ``slice`` or ``strided_slice``), new dimensions (None, one
``unsqueeze2``) and tensors (lists, arrays and variables), which a ``gather_nd`` looks up after the dimensions that they
index have been moved to the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.ir import build, default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry

from . import _creation, _manipulation
from ._arguments import tensor
from ._dispatch import apply, compute
from ._gather import gather_nd, index_put, masked_select
from ._remembered import remembered
from ._search import nonzero
from .utils import unique_name

LAST = 2**31 - 1
"""An end beyond every dimension."""
FIRST = -(2**31)
"""An end before every dimension, for a stride backwards."""


class IndexTypeError(UsageError, IndexError):
    """Something that cannot be used as an index (an IndexError, as in Paddle)."""


class IndexRangeError(ShapeError, IndexError):
    """An index beyond a dimension or beyond the last dimension (an IndexError)."""

    in_paddle = "(OutOfRange)"


class Parsed:
    """An index, taken apart.

    Attributes:
        axes, starts, ends, steps: the box; starts, ends and steps are numbers or variables.
        decrease: the axes that an integer indexes.
        new: where None stands, counted in the dimensions of *x* with the new ones.
        tensors: dimension of the result of the box -> the index tensor for it.
    """

    def __init__(self) -> None:
        self.axes: list[int] = []
        self.starts: list[Any] = []
        self.ends: list[Any] = []
        self.steps: list[Any] = []
        self.decrease: list[int] = []
        self.new: list[int] = []
        self.tensors: dict[int, AnyTensor] = {}

    @property
    def strided(self) -> bool:
        return any(isinstance(s, AnyTensor) or s != 1 for s in self.steps)

    def after(self) -> list[int]:
        """Return where the new dimensions stand once integers have removed theirs."""
        return [n - sum(a < n - i for a in self.decrease) for i, n in enumerate(self.new)]

    def add(self, axis: int, start: Any, end: Any, step: Any = 1) -> None:
        self.axes.append(axis)
        self.starts.append(start)
        self.ends.append(end)
        self.steps.append(step)


def _is_scalar(entry: Any) -> bool:
    return isinstance(entry, AnyTensor) and not entry.ndim and entry.dtype.name != "bool"


def _is_advanced(entry: Any) -> bool:
    return isinstance(entry, (bool, list, tuple, range, np.ndarray, AnyTensor)) and not _is_scalar(entry)


def _entries(x: AnyTensor, index: Any) -> list[Any]:
    """The entries of an index, an ellipsis filled out with ``:``."""
    entries = list(index) if isinstance(index, tuple) else [index]
    at = [i for i, e in enumerate(entries) if e is Ellipsis]
    if len(at) > 1:
        raise IndexTypeError("An index can only have a single ellipsis ('...').")
    taken = sum(_dimensions(e) for e in entries if e is not None and e is not Ellipsis)
    if taken > x.ndim:
        raise IndexRangeError(f"too many indices: {taken} for '{x.name}' of shape {list(x.shape)}")
    if at:
        entries[at[0] : at[0] + 1] = [slice(None)] * (x.ndim - taken)
    return entries


def _dimensions(entry: Any) -> int:
    """Return the number of dimensions that an entry indexes."""
    if isinstance(entry, bool):
        return 0
    if isinstance(entry, np.ndarray) and entry.dtype == bool:
        return entry.ndim
    if isinstance(entry, AnyTensor) and entry.dtype.name == "bool":
        return entry.ndim
    return 1


def parse(x: AnyTensor, index: Any) -> Parsed:
    """Take *index* apart.

    Raises:
        IndexTypeError: an entry of another kind, or two ellipses (an IndexError).
        IndexRangeError: an integer out of range, or too many entries (an IndexError).
    """
    selection = Parsed()
    dim = 0  # of x
    seen = 0  # of what the box leaves, new dimensions included
    for entry in _entries(x, index):
        if entry is None:
            selection.new.append(seen + len(selection.decrease))
            seen += 1
        elif isinstance(entry, bool):
            selection.new.append(seen + len(selection.decrease))
            selection.tensors[seen] = _creation.to_tensor([entry])
            seen += 1
        elif _is_advanced(entry):
            mask = _index_tensor(entry, x, dim)
            selection.tensors[seen] = mask
            if mask.dtype.name == "bool" and not mask.ndim:
                selection.new.append(seen + len(selection.decrease))
            width = max(_dimensions(mask), 1)
            seen += width
            dim += _dimensions(mask)
        elif isinstance(entry, slice):
            _add_slice(selection, entry, x.shape[dim], dim)
            dim += 1
            seen += 1
        else:
            _add_integer(selection, entry, x, dim)
            dim += 1
    return selection


def _add_integer(selection: Parsed, entry: Any, x: AnyTensor, dim: int) -> None:
    selection.decrease.append(dim)
    if isinstance(entry, AnyTensor):
        selection.add(dim, entry, entry + 1)
        return
    if isinstance(entry, (float, str)) or not hasattr(entry, "__index__"):
        raise IndexTypeError(
            f"an index holds integers, slices, ..., None, lists, arrays and variables, but received {entry!r} "
            f"({type(entry).__name__})."
        )
    number = int(entry.__index__())
    size = x.shape[dim]
    if size >= 0 and not -size <= number < size:
        raise IndexRangeError(f"index {number} is out of range for dimension {dim} of '{x.name}' {list(x.shape)}")
    selection.add(dim, number, number + 1 if number != -1 else LAST)


def _add_slice(selection: Parsed, entry: slice, size: int, dim: int) -> None:
    start, end, step = (_bound(b) for b in (entry.start, entry.stop, entry.step))
    if start is None and end is None and step is None:
        return
    step = 1 if step is None else step
    if isinstance(step, AnyTensor):
        selection.add(dim, 0 if start is None else start, LAST if end is None else end, step)
        return
    if step == 0:
        raise IndexTypeError("the step of a slice must not be 0")
    if start is None:
        start = 0 if step > 0 else LAST
    end = _end(end, size, step)
    # Told apart by type first: `variable == 0` would append an operator.
    numbers = not isinstance(start, AnyTensor) and not isinstance(end, AnyTensor)
    if not numbers or (start, end, step) != (0, LAST, 1):
        selection.add(dim, start, end, step)


def _end(end: Any, size: int, step: int) -> Any:
    """Return the end of a slice that is written without one, or with one beyond the dimension."""
    if end is None:
        return LAST if step > 0 else FIRST
    if isinstance(end, AnyTensor) or size == -1 or end < size:
        return end
    return LAST if step > 0 else size


def _bound(value: Any) -> Any:
    if value is None or isinstance(value, AnyTensor):
        return value
    if not hasattr(value, "__index__"):
        raise IndexTypeError(f"the bounds of a slice are integers or variables, but received {value!r}.")
    return int(value.__index__())


def _index_tensor(entry: Any, x: AnyTensor, dim: int) -> AnyTensor:
    if isinstance(entry, AnyTensor):
        indices = entry
    elif isinstance(entry, np.ndarray):
        indices = _creation.assign(entry)
    else:
        indices = _creation.to_tensor(list(entry), None if len(entry) else "int64")
    if indices.dtype.name == "bool":
        for i, size in enumerate(indices.shape):
            if -1 not in (size, x.shape[dim + i]) and size != x.shape[dim + i]:
                raise IndexRangeError(
                    f"the shape {list(indices.shape)} of a bool index does not fit '{x.name}' {list(x.shape)} from "
                    f"dimension {dim} on"
                )
    elif not indices.dtype.is_integer:
        raise IndexTypeError(
            f"an index tensor must be of whole numbers or bool, but '{indices.name}' is {indices.dtype.name}."
        )
    return indices


# -- reading ----------------------------------------------------------------------------------------------------------


@remembered
def getitem(x: AnyTensor, index: Any) -> AnyTensor:
    """The part of *x* that *index* selects, as NumPy selects it (but an integer never counts as an index tensor).

    Args:
        index: integers, slices with steps, ``...``, None, lists, arrays and variables (0-d ones count as integers),
            or a tuple of them.

    Raises:
        IndexTypeError, IndexRangeError: see :func:`parse`.
    """
    selection = parse(x, index)
    out = _box(x, selection)
    return _looked_up(out, selection.tensors) if selection.tensors else out


def _box(x: AnyTensor, selection: Parsed) -> AnyTensor:
    out = x
    if selection.axes:
        op_type = "strided_slice" if selection.strided else "slice"
        columns = [selection.starts, selection.ends, *([selection.steps] if selection.strided else [])]
        numbers, parts = zip(*(_split_column(c) for c in columns), strict=True)
        attrs: dict[str, Any] = dict(zip(("starts", "ends", "strides"), numbers, strict=False))
        attrs["axes"] = selection.axes
        attrs["decrease_axis"] = selection.decrease
        attrs["infer_flags"] = [
            -1 if any(isinstance(c[i], AnyTensor) for c in columns) else 1 for i in range(len(selection.axes))
        ]
        out = _append(x, op_type, (x, *(None,) * len(columns), *parts), attrs)
    return _manipulation.unsqueeze(out, selection.after()) if selection.new else out


def _split_column(values: Sequence[Any]) -> tuple[list[int], tuple[AnyTensor, ...]]:
    """Starts, ends or steps as an attribute and, if one is a variable, as tensors."""
    if not any(isinstance(v, AnyTensor) for v in values):
        return list(values), ()
    numbers = [-1 if isinstance(v, AnyTensor) else v for v in values]
    return numbers, tuple(
        v if isinstance(v, AnyTensor) else _creation.fill([1], v, "int64", force_cpu=True) for v in values
    )


def _append(x: AnyTensor, op_type: str, operands: tuple[Any, ...], attrs: dict[str, Any]) -> AnyTensor:
    """A slice; a program calls it ``<x>_slice_0``, … by the process's generator, as in Paddle."""
    op = registry.get_by_type(op_type)
    if not isinstance(x, Variable):
        return compute(op, operands, attrs)  # type: ignore[no-any-return]
    block = default.current_block()
    name = unique_name.generate(f"{x.name}_{op_type}")
    while name in block.vars:
        name = unique_name.generate(f"{x.name}_{op_type}")
    out = build.emit(block, op, operands, attrs, [name]).outputs[0]
    assert isinstance(out, Variable)
    return out


def _looked_up(x: AnyTensor, tensors: dict[int, AnyTensor]) -> AnyTensor:
    """The elements of *x* at index tensors: their dimensions go to the front, are looked up, and go back."""
    places = list(tensors)
    indices = list(tensors.values())
    moved = _to_front(x, _covered(tensors))
    if len(indices) == 1 and indices[0].dtype.name == "bool":
        out = _masked(moved, indices[0])
        rank = 1
    else:
        out, rank = _gathered(moved, indices)
    covered = _covered(tensors)
    together = covered == list(range(covered[0], covered[0] + len(covered)))
    first = places[0] if together else 0
    if not first:
        return out
    axes = [*range(rank, first + rank), *range(rank), *range(first + rank, out.ndim)]
    return _manipulation.transpose(out, axes)


def _covered(tensors: dict[int, AnyTensor]) -> list[int]:
    """The dimensions that the index tensors stand for."""
    return [place + i for place, t in tensors.items() for i in range(max(_dimensions(t), 1))]


def _to_front(x: AnyTensor, dims: list[int]) -> AnyTensor:
    order = [*dims, *(i for i in range(x.ndim) if i not in dims)]
    return x if order == list(range(x.ndim)) else _manipulation.transpose(x, order)


def _masked(x: AnyTensor, mask: AnyTensor) -> AnyTensor:
    if mask.ndim == x.ndim:
        return masked_select(x, mask)
    return gather_nd(x, nonzero(mask if mask.ndim else _manipulation.reshape(mask, [1])))


def _gathered(x: AnyTensor, indices: list[AnyTensor]) -> tuple[AnyTensor, int]:
    """``gather_nd`` at the indices, broadcast against each other, and the dimensions of what they give."""
    whole: list[AnyTensor] = []
    for index in indices:
        if index.dtype.name == "bool":
            rows = nonzero(index)
            whole.extend(rows[:, i] for i in range(index.ndim))
        else:
            whole.append(index)
    if len(whole) == 1:
        at = _manipulation.unsqueeze(whole[0], -1)
    else:
        at = _manipulation.stack(_manipulation.broadcast_tensors(whole), axis=-1)
    return gather_nd(x, at), at.ndim - 1


# -- writing ----------------------------------------------------------------------------------------------------------


def setitem(x: Any, index: Any, value: Any) -> AnyTensor:
    """A new variable: *x* with the part that *index* selects replaced by *value*.

    Args:
        index: as for ``x[index]``.
        value: a number, a NumPy array or a variable that broadcasts to the part. Gradients flow into it, and into *x*
            everywhere but at that part.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> x = paddle.zeros([3, 4])
    >>> paddle.static.setitem(x, (0, slice(1, 3)), 1.0).shape
    (3, 4)
    """
    state.require_static("setitem")
    return replaced(tensor(x, "x", "paddle.static.setitem"), index, value)  # type: ignore[no-any-return]


def replaced(x: AnyTensor, index: Any, value: Any, key: str | None = None) -> Any:
    """*x* with the part that *index* selects replaced by *value*, as a new variable or tensor; counted under *key*."""
    selection = parse(x, index)
    if selection.tensors:
        value = _written(x, selection, value)
    attrs: dict[str, Any] = {"axes": selection.axes, "decrease_axes": selection.decrease, "none_axes": selection.new}
    lists: list[tuple[AnyTensor, ...]] = []
    for name, column in (("starts", selection.starts), ("ends", selection.ends), ("steps", selection.steps)):
        numbers, parts = _split_column(column)
        if not parts:
            attrs[name] = numbers
        lists.append(parts)
    attrs["dtype"] = x.dtype.code
    operand = None
    if isinstance(value, AnyTensor):
        _expect_fitting(value.dtype.is_complex, x)
        operand = value if value.dtype is x.dtype else _creation.cast(value, x.dtype)
    else:
        array = _values(value, x)
        attrs["values"] = array.reshape(-1).tolist()
        attrs["shape"] = array.shape or (1,)
    return apply("set_value", x, operand, *lists, attrs=attrs, key=key)


def _values(value: Any, x: AnyTensor) -> np.ndarray[Any, Any]:
    if not isinstance(value, (int, float, complex, np.ndarray, np.generic)):
        raise ArgumentTypeError(
            f"x[...] = value writes a number, an array or a tensor, but received {type(value).__name__}."
        )
    _expect_fitting(np.iscomplexobj(value), x)
    return np.asarray(value, x.dtype.numpy)


def _expect_fitting(is_complex: bool, x: AnyTensor) -> None:
    """Raise :class:`DtypeError` where complex numbers would lose their imaginary parts."""
    if is_complex and not x.dtype.is_complex:
        raise DtypeError(
            f"x[...] = value: the value is complex, and '{x.name}' is {x.dtype.name}.",
            hint="cast x, as in x.astype('complex64'), or write paddle.real(value)",
        )


def _written(x: AnyTensor, selection: Parsed, value: Any) -> AnyTensor:
    """The part that the box selects, with *value* written at the index tensors."""
    if not isinstance(value, AnyTensor):
        value = _creation.assign(_values(value, x) if np.ndim(value) or isinstance(value, complex) else value)
        value = value.astype(x.dtype)
    _expect_fitting(value.dtype.is_complex, x)
    part = _box(x, selection)
    dims = _covered(selection.tensors)
    order = [*dims, *(i for i in range(part.ndim) if i not in dims)]
    moved = _to_front(part, dims)
    if value.dtype is not moved.dtype:
        value = value.astype(moved.dtype)
    put = index_put(moved, tuple(selection.tensors.values()), value)
    return _manipulation.transpose(put, [order.index(i) for i in range(part.ndim)])
