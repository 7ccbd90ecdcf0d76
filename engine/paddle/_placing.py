"""``paddle.index_add``, ``paddle.masked_scatter``, ``paddle.take``, ``paddle.crop``, …: parts taken, parts replaced."""

from __future__ import annotations

import builtins
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, RefusedValue, integer, integers, tensor, tensors
from ._creation import cast, full, to_tensor, zeros, zeros_like
from ._dispatch import apply
from ._gather import gather, index_put, index_select
from ._manipulation import broadcast_to, flatten, flip, reshape, slice, transpose
from ._math import clip, maximum, minimum
from ._reduction import cumsum
from ._search import where
from ._short_names import delivered
from ._sizes import alike, counted
from ._splitting import broadcast_shape


class SizeMismatch(ShapeError, RuntimeError):
    """Values of another shape than what they are to replace (Paddle raises RuntimeError)."""


def index_add(
    x: Any, index: Any, axis: int, value: Any, alpha: float = 1, name: str | None = None, *, out: Any = None
) -> AnyTensor:
    """*x* with ``alpha·value`` added to its slices at *index* along *axis*."""
    where_ = "paddle.index_add"
    x, value = tensor(x, "x", where_), tensor(value, "value", where_)
    if x.dtype is not value.dtype:
        raise DtypeError(f"{where_}: x is {x.dtype.name} and value {value.dtype.name}; they must be of one type.")
    value = value * alpha if alpha != 1 else value
    operands = x, tensor(index, "index", where_, INTEGERS), value
    result = apply("index_add", *operands, attrs={"axis": integer(axis, "axis", where_)}, name=name)
    return delivered(result, out)  # type: ignore[no-any-return]


def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> AnyTensor:
    """*x* with one value in its slices at *index* along *axis*."""
    where_ = "paddle.index_fill"
    x, index = tensor(x, "x", where_), tensor(index, "index", where_, INTEGERS)
    at = integer(axis, "axis", where_)
    if not -x.ndim <= at < x.ndim:
        raise UsageError(f"{where_}: axis must be within [-{x.ndim}, {x.ndim}), but received {at}.")
    at %= x.ndim
    if not isinstance(value, AnyTensor):
        if not isinstance(value, (bool, int, float, complex)):
            raise ArgumentTypeError(f"{where_}: value must be a number or a tensor, but is {type(value).__name__}.")
        value = full([], value, x.dtype)
    order = [at, *(i for i in range(x.ndim) if i != at)]
    if not at:
        return index_put(x, (index,), value)
    moved = index_put(transpose(x, order), (index,), value)
    return transpose(moved, sorted(range(x.ndim), key=order.__getitem__))


def index_sample(x: Any, index: Any) -> AnyTensor:
    """Of each row of the matrix *x* the elements that the same row of *index* names."""
    where_ = "paddle.index_sample"
    return apply("index_sample", tensor(x, "x", where_), tensor(index, "index", where_, INTEGERS))  # type: ignore[no-any-return]


def masked_scatter(x: Any, mask: Any, value: Any, name: str | None = None) -> AnyTensor:
    """*x* with the elements where *mask* holds replaced by those of *value*, one after another.

    The two are broadcast against each other.

    Raises:
        RefusedValue: in dynamic mode, *value* has too few elements (an AssertionError).
    """
    where_ = "paddle.masked_scatter"
    x, value = tensor(x, "x", where_), tensor(value, "value", where_)
    mask = tensor(mask, "mask", where_, ["bool"])
    if x.dtype is not value.dtype:
        raise RefusedValue(f"{where_}: x is {x.dtype.name} and value {value.dtype.name}; they must be of one type.")
    if mask.shape != x.shape:
        shape = broadcast_shape(x.shape, mask.shape)
        x, mask = broadcast_to(x, shape), broadcast_to(mask, shape)
    if hasattr(mask, "array") and mask.array.sum() > value.array.size:
        raise RefusedValue(
            f"mask true nums must be <= value size, but got mask true nums is {int(mask.array.sum())}, value size is "
            f"{value.array.size} in {where_}"
        )
    places = clip(cumsum(cast(flatten(mask), "int64"), 0) - 1, min=0)
    values = reshape(gather(flatten(value), places), x.shape)
    return where(mask, values, x)  # type: ignore[no-any-return]


def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> AnyTensor:
    """*x* with its slice at *index* along *axis* replaced by *values*.

    Raises:
        SizeMismatch: *values* has another shape than that slice (a RuntimeError).
    """
    where_ = "paddle.select_scatter"
    x, values = tensor(x, "x", where_), tensor(values, "values", where_)
    at = integer(axis, "axis", where_) % x.ndim
    wanted = [d for i, d in enumerate(x.shape) if i != at]
    if not alike(values.shape, wanted):
        raise SizeMismatch(
            f"expected values to have a size equal to the slice of x. value size = {list(values.shape)} slice size = "
            f"{wanted} in {where_}"
        )
    return _replaced(x, (*[builtins.slice(None)] * at, index), values, "select_scatter")


def _replaced(x: AnyTensor, index: Any, value: AnyTensor, key: str) -> AnyTensor:
    from ._indexing import replaced

    return replaced(x, index, value, key)  # type: ignore[no-any-return]


def slice_scatter(
    x: Any, value: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> AnyTensor:
    """*x* with the part from *starts* to *ends* in steps of *strides* along *axes* replaced by *value*."""
    where_ = "paddle.slice_scatter"
    x, value = tensor(x, "x", where_), tensor(value, "value", where_)
    for what, numbers in (("axes", axes), ("starts", starts), ("ends", ends), ("strides", strides)):
        if not isinstance(numbers, (list, tuple)) or len(numbers) != len(axes):
            raise ArgumentTypeError(
                f"The type of '{what}' in {where_} must be list or tuple, with a number for each axis, but received "
                f"{numbers!r}."
            )
    index: list[Any] = [builtins.slice(None)] * x.ndim
    for axis, start, end, stride in zip(axes, starts, ends, strides, strict=True):
        index[axis] = builtins.slice(start, end, stride)
    return _replaced(x, tuple(index), value, "slice_scatter")


def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> AnyTensor:
    """*x* with *updates* added at the coordinates in the last dimension of *index*."""
    where_ = "paddle.scatter_nd_add"
    x, updates = tensor(x, "x", where_), tensor(updates, "updates", where_)
    if x.dtype is not updates.dtype:
        raise DtypeError(f"{where_}: x is {x.dtype.name} and updates {updates.dtype.name}; they must be of one type.")
    return apply("scatter_nd_add", x, tensor(index, "index", where_, INTEGERS), updates, name=name)  # type: ignore[no-any-return]


def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> AnyTensor:
    """Zeros of that shape with *updates* added at the coordinates in the last dimension of *index*."""
    updates = tensor(updates, "updates", "paddle.scatter_nd")
    return scatter_nd_add(zeros(shape, updates.dtype), index, updates, name)


def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> AnyTensor:
    """The elements of *x* at places counted through all of it, in the shape of *index*.

    Args:
        mode: what happens to places beyond: ``"raise"``, ``"wrap"`` or ``"clip"``.
    """
    where_ = "paddle.take"
    if mode not in ("raise", "wrap", "clip"):
        raise UsageError(f"'mode' in 'take' should be 'raise', 'wrap', 'clip', but received {mode}.")
    x, index = tensor(x, "x", where_), tensor(index, "index", where_)
    if index.dtype.name not in INTEGERS:
        raise ArgumentTypeError(
            f"The data type of 'index' must be one of ['int32', 'int64'], but got {index.dtype.name} in {where_}"
        )
    row, places = flatten(x), flatten(index)
    size = counted(row, 0)
    if mode == "wrap":
        places = places % size
    elif mode == "clip" and isinstance(size, int):
        places = clip(places, 0, size - 1)
    elif mode == "clip":
        places = minimum(maximum(cast(places, "int64"), zeros_like(size)), size - 1)
    else:
        places = where(places < zeros_like(places), places + size, places)
    return reshape(index_select(row, places), index.shape)


def multiplex(inputs: Any, index: Any, name: str | None = None) -> AnyTensor:
    """Rows of several tensors: the i-th comes from the tensor that *index* names in its i-th row."""
    where_ = "paddle.multiplex"
    return apply("multiplex", tensor(index, "index", where_, INTEGERS), tensors(inputs, "inputs", where_), name=name)  # type: ignore[no-any-return]


def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> AnyTensor:
    """The part of *x* that has that shape, from *offsets* on.

    Args:
        shape: numbers; -1 takes what is left, as None does everywhere.
        offsets: numbers; 0 when None.
    """
    where_ = "paddle.crop"
    x = tensor(x, "x", where_)
    firsts = [0] * x.ndim if offsets is None else _numbers(offsets, "offsets", where_)
    sizes = [-1] * x.ndim if shape is None else _numbers(shape, "shape", where_)
    if len(firsts) != x.ndim or len(sizes) != x.ndim:
        raise ShapeError(
            f"{where_}: shape {sizes} and offsets {firsts} must have a number for each of {list(x.shape)}."
        )
    ends = []
    for size, first, whole in zip(sizes, firsts, x.shape, strict=True):
        if first < 0 or size < -1:
            raise UsageError(f"{where_}: offsets must not be negative and sizes from -1 on, but are {firsts}, {sizes}.")
        if -1 not in (size, whole) and first + size > whole:
            raise ShapeError(f"{where_}: offsets {firsts} and shape {sizes} reach beyond x {list(x.shape)}.")
        ends.append(2**31 - 1 if size == -1 else first + size)
    return slice(x, [*range(x.ndim)], firsts, ends)


def _numbers(value: Any, what: str, where_: str) -> list[int]:
    """Numbers from a list or, in dynamic mode, a tensor."""
    if isinstance(value, AnyTensor) and hasattr(value, "array"):
        return [int(n) for n in value.array.tolist()]
    return [int(v) if hasattr(v, "array") else integer(v, what, where_) for v in value]


def shard_index(input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> AnyTensor:
    """Places in a table as places in one of *nshards* equal parts of it; *ignore_value* for those in other parts."""
    where_ = "paddle.shard_index"
    x = tensor(input, "input", where_, INTEGERS)
    attrs = {"index_num": index_num, "nshards": nshards, "shard_id": shard_id, "ignore_value": ignore_value}
    return apply("shard_index", x, attrs=attrs)  # type: ignore[no-any-return]


# -- views ------------------------------------------------------------------------------------------------------------


def rot90(x: Any, k: int = 1, axes: Any = [0, 1], name: str | None = None) -> AnyTensor:  # noqa: B006
    """*x* turned by *k* quarters in the plane of two dimensions, from the first towards the second."""
    where_ = "paddle.rot90"
    x = tensor(x, "x", where_)
    if x.ndim < 2:
        raise UsageError(f"expected total dims >= 2, but got total dims = {x.ndim} in {where_}")
    if len(axes) != 2:
        raise UsageError(f"expected total rotation axes == 2, but got axes = {len(axes)} in {where_}")
    for a in axes:
        if not -x.ndim <= a < x.ndim:
            raise UsageError(f"Rotation axis {a} out of range in {where_}, axes of x are {x.ndim}")
    first, second = (a % x.ndim for a in axes)
    if first == second:
        raise UsageError(f"expected rotation axes to be different, but got axis0 = {axes[0]}, and axis1 = {axes[1]}")
    turns = k % 4
    if not turns:
        return x  # type: ignore[no-any-return]
    if turns == 2:
        return flip(flip(x, first), second)
    order = [*range(x.ndim)]
    order[first], order[second] = second, first
    return transpose(flip(x, second), order) if turns == 1 else flip(transpose(x, order), second)


def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> AnyTensor:
    """Windows of *size* elements along *axis*, every *step*, in a new last dimension."""
    where_ = "paddle.unfold"
    x = tensor(x, "x", where_)
    at = integer(axis, "axis", where_) % builtins.max(x.ndim, 1)
    if not x.ndim:
        return _number_unfolded(x, axis, size, step)
    length = x.shape[at]
    if size > length or size < 0 or step < 1:
        raise ShapeError(f"{where_}: windows of {size} in steps of {step} do not fit into the {length} of axis {axis}.")
    count = (length - size) // step + 1
    places = to_tensor([n // size * step + n % size for n in range(count * size)] or [0], "int64")
    if not size:
        return zeros([*x.shape[:at], count, *x.shape[at + 1 :], 0], x.dtype)
    windows = reshape(index_select(x, places, at), [*x.shape[:at], count, size, *x.shape[at + 1 :]])
    order = [i for i in range(x.ndim + 1) if i != at + 1]
    return transpose(windows, [*order, at + 1])


def _number_unfolded(x: AnyTensor, axis: int, size: int, step: int) -> AnyTensor:
    """The one window of a tensor without dimensions."""
    if axis not in (0, -1) or size not in (0, 1) or step < 1:
        raise ShapeError(f"paddle.unfold: a number has one window of one element, not of {size} along axis {axis}.")
    return reshape(x, [1]) if size else zeros([0], x.dtype)


def as_strided(x: Any, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> AnyTensor:
    """The elements of *x* in order, read with other dimensions.

    Args:
        stride: how many elements apart neighbours along each dimension stand.
        offset: where to begin, in bytes (as in Paddle).

    Raises:
        ShapeError: that reaches beyond the last element, which Paddle does not notice (a ValueError).
    """
    where_ = "paddle.as_strided"
    attrs = {
        "dims": integers(shape, "shape", where_),
        "stride": integers(stride, "stride", where_),
        "offset": integer(offset, "offset", where_),
    }
    return apply("as_strided", tensor(x, "x", where_), attrs=attrs, name=name)  # type: ignore[no-any-return]


def view(x: Any, shape_or_dtype: Any, name: str | None = None) -> AnyTensor:
    """The storage of *x* with another shape, or read as another type of elements."""
    from ._tensor_members import viewed

    return viewed(tensor(x, "x", "paddle.view"), shape_or_dtype)  # type: ignore[no-any-return]


def view_as(x: Any, other: Any, name: str | None = None) -> AnyTensor:
    """The storage of *x* in the shape of *other*."""
    return view(x, list(tensor(other, "other", "paddle.view_as").shape))
