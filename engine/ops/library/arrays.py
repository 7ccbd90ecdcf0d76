"""Arrays of tensors in programs: writing a place, reading one, and all of them as one tensor.

A program writes an array in place: ``Out`` is the variable that ``Before`` is. For gradients each write makes a new
value of what it found, as every operator does (``core/tensor_array.py``).
"""

from __future__ import annotations

from ...core.errors import ExecutionError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.tensor_array import EMPTY, TensorArray
from ..opdef import Like, Trait, op


def _place(i, op_type):
    """The place that *i*, a tensor of one whole number, names."""
    place = int(i.reshape(-1)[0]) if i.size == 1 else -1
    if place < 0:
        said = f"is {place}" if i.size == 1 else f"has {i.size} elements"
        raise ExecutionError(f"{op_type}: I must be one number that is not negative, but it {said}")
    return place


def _joined(before, x):
    """Return what is known of the tensors of an array after one like *x* has been written, too."""
    if before is None or before.ndim != x.ndim or before.dtype is not x.dtype:
        return x
    return x.replace_shape(m if m == n else UNKNOWN for m, n in zip(before.shape, x.shape, strict=True))


def _check_index(i, op_type):
    if i.count not in (1, UNKNOWN):
        raise ShapeError(f"{op_type}: I must have one element, but its shape is {list(i.shape)}")


@op("write_to_array", "X I Before? -> Out", trait=Trait.MOVES)
def write_to_array(k, x, i, before):
    """The array *before*, empty without one, with the tensor *x* at the place *i*; places between stay empty."""
    return (before or EMPTY).written(_place(i, "write_to_array"), x)


@write_to_array.infer
def _(x, i, before):
    _check_index(i, "write_to_array")
    return _joined(before, x)


@write_to_array.gradient(wrt="X Before", expands=True)
def _(k, x: Like, i, dout):
    return k.read_from_array(dout, i, x), k.array_without(dout, i)


@op("read_from_array", "X I X_W? -> Out", trait=Trait.MOVES)
def read_from_array(k, x, i, x_w):
    """The tensor at the place *i* of the array *x*; where there is none, zeros like *x_w* if that is given."""
    place = _place(i, "read_from_array")
    value = x.entries.get(place)
    if value is not None:
        return value
    if x_w is not None:
        return k.xp.zeros(x_w.shape, x_w.dtype)
    there = f"it has {len(x)} places" if place >= len(x) else "nothing was written there"
    raise ExecutionError(f"read_from_array: I asks for place {place} of the array, but {there}")


@read_from_array.infer
def _(x, i, x_w):
    _check_index(i, "read_from_array")
    return x if x_w is None else x_w


@read_from_array.gradient(wrt="X", expands=True)
def _(k, i, dout):
    return k.write_to_array(dout, i)


@op("array_without", "X I -> Out", trait=Trait.MOVES)
def array_without(k, x, i):
    """The array *x* with nothing at the place *i*: the gradient of what an array held before a place was written."""
    return x.without(_place(i, "array_without"))


@array_without.infer
def _(x, i):
    return x


@array_without.gradient(wrt="X", expands=True)
def _(k, i, dout):
    return k.array_without(dout, i)


@op("array_popped", "X I -> Out", trait=Trait.MOVES)
def array_popped(k, x, i):
    """The array *x* without the place *i*: what stands behind it moves up."""
    return x.pop(_place(i, "array_popped"))


@array_popped.infer
def _(x, i):
    return x


@array_popped.gradient(wrt="X", expands=True)
def _(k, i, dout):
    return k.array_parted(dout, i)


@op("array_parted", "X I -> Out", trait=Trait.MOVES)
def array_parted(k, x, i):
    """The array *x* with one more place *i* and nothing there: the gradient of what an array lost a place of."""
    return x.insert_place(_place(i, "array_parted"))


@array_parted.infer
def _(x, i):
    return x


@array_parted.gradient(wrt="X", expands=True)
def _(k, i, dout):
    return k.array_popped(dout, i)


@op("lod_array_length", trait=Trait.MOVES, differentiable=False)
def lod_array_length(k, x):
    """Number of places of the array *x*."""
    return k.xp.array([len(x)], "int64")


@lod_array_length.infer
def _(x):
    return TensorSpec((1,), "int64")


def _parts(x, op_type):
    """The tensors of an array of which none is missing."""
    missing = next((place for place, v in enumerate(x.listed()) if v is None), None)
    if missing is not None or not len(x):
        said = "is empty" if missing is None else f"has nothing at place {missing}"
        raise ExecutionError(f"{op_type}: the array {said}, so its tensors do not make one")
    return x.listed()


def _as_one(k, parts, axis, use_stack):
    return k.xp.stack(parts, axis) if use_stack else k.xp.concatenate(parts, axis)


@op(
    "tensor_array_to_tensor",
    "X -> Out OutIndex",
    attrs={"axis": 0, "use_stack": False},
    trait=Trait.MOVES,
)
def tensor_array_to_tensor(k, x, *, axis, use_stack):
    """The tensors of the array *x* stacked, or one after another, along *axis*; and how long each of them is there."""
    parts = _parts(x, "tensor_array_to_tensor")
    lengths = [1 if use_stack else v.shape[axis] for v in parts]
    return _as_one(k, parts, axis, use_stack), k.xp.array(lengths, "int32")


@tensor_array_to_tensor.infer
def _(x, *, axis, use_stack):
    shape = list(x.shape)
    ndim = len(shape) + use_stack
    if not -ndim <= axis < ndim:
        raise ShapeError(f"tensor_array_to_tensor: axis {axis} is none of {ndim} dimensions")
    if use_stack:
        shape.insert(axis % ndim, UNKNOWN)
    else:
        shape[axis] = UNKNOWN
    return x.replace_shape(shape), TensorSpec((UNKNOWN,), "int32")


@tensor_array_to_tensor.gradient
def _(k, x: Like, dout, *, axis, use_stack):
    return k.tensor_to_array(x, dout, axis=axis, use_stack=use_stack)


@op("tensor_to_array", "Like X -> Out", attrs={"axis": 0, "use_stack": False}, trait=Trait.MOVES | Trait.INTERNAL)
def tensor_to_array(k, like, x, *, axis, use_stack):
    """The tensor *x*, cut into an array with tensors as those of the array *like*."""
    parts = {}
    start = 0
    for place, v in enumerate(like.listed()):
        size = 1 if use_stack else v.shape[axis]
        part = k.xp.take(x, k.xp.arange(start, start + size), axis)
        parts[place] = part.reshape(v.shape)
        start += size
    return TensorArray(parts, len(like))


@tensor_to_array.infer
def _(like, x):
    return like


@tensor_to_array.gradient(wrt="X")
def _(k, like: Like, dout, *, axis, use_stack):
    return k.joined_array(like, dout, axis=axis, use_stack=use_stack)


@op("joined_array", "Like X -> Out", attrs={"axis": 0, "use_stack": False}, trait=Trait.MOVES | Trait.INTERNAL)
def joined_array(k, like, x, *, axis, use_stack):
    """The tensors of the array *x* as one, zeros where it has none and *like* has one."""
    parts = [
        k.xp.zeros(v.shape, v.dtype) if part is None else part
        for v, part in zip(like.listed(), (x + TensorArray(length=len(like))).listed(), strict=True)
    ]
    return _as_one(k, parts, axis, use_stack)


@joined_array.infer
def _(like, x, *, axis, use_stack):
    shape = list(x.shape)
    if use_stack:
        shape.insert(axis % (len(shape) + 1), UNKNOWN)
    else:
        shape[axis] = UNKNOWN
    return x.replace_shape(shape)


@joined_array.gradient(wrt="X")
def _(k, like: Like, dout, *, axis, use_stack):
    return k.tensor_to_array(like, dout, axis=axis, use_stack=use_stack)
