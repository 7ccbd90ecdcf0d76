"""Reading and replacing a box of elements given by starts, ends and strides along some axes.

Starts and ends count as Python's do: negative ones from the end, too large ones stop at it. ``decrease_axis`` lists
the axes that an integer index removed. Any of the numbers may come from tensors.
"""

from __future__ import annotations

from functools import partial

from ...core.errors import LabelError, ShapeError
from ...core.spec import UNKNOWN
from ...core.spec import dtype as dtype_of
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..refusals import refuse
from ..samples import exactly
from ..writing import put
from .shape_tensors import known, whole, wholes

BOX = {"axes": (), "starts": (), "ends": (), "strides": (), "infer_flags": (), "decrease_axis": ()}
STARTS_ENDS = "StartsTensor? EndsTensor? StartsTensorList* EndsTensorList*"
SIZED = "StartsTensor EndsTensor StridesTensor StartsTensorList EndsTensorList StridesTensorList"
SIZED_SLICE = "StartsTensor EndsTensor StartsTensorList EndsTensorList"
SIZED_SET = "StartsTensorList EndsTensorList StepsTensorList"
STRIDED = "StartsTensor? EndsTensor? StridesTensor? StartsTensorList* EndsTensorList* StridesTensorList*"


def _numbers(numbers, tensor, tensors):
    """An attribute, or the tensors that stand for it."""
    if tensor is not None:
        return whole(tensor)
    return wholes(tensors) if tensors else numbers


def _sized(attrs):
    """The slots that a box's size depends on; none of them where every axis is indexed by a single number."""
    axes = attrs["axes"]
    if axes and _single(axes, attrs.get("decrease_axis") or attrs.get("decrease_axes") or ()):
        return ""
    return SIZED if "strides" in attrs else SIZED_SET if "steps" in attrs else SIZED_SLICE


def _single(axes, decreased):
    return not {*axes} - {*decreased}


def _edges(axes, decreased, starts, ends, strides):
    """Starts, ends and strides, each given as an attribute, the tensor and the tensors that may stand for it.

    Where single numbers index every axis, and a backend that compiles does not know them yet, they are arrays.
    """
    _, tensor, tensors = starts
    given = tensor is not None or tensors
    if given and _single(axes, decreased) and not all(map(known, tensors or [tensor])):
        places = [t.reshape(()) for t in tensors] if tensors else list(tensor.reshape(-1))
        return places, places, ()
    return _numbers(*starts), _numbers(*ends), _numbers(*strides)


NO_STRIDES = (), None, ()


def _box(shape, axes, edges, decreased, name):
    """The index of the box in an array of that shape: a slice for each dimension, or the one place in it.

    Raises:
        LabelError: an integer index is out of range (an IndexError).
    """
    starts, ends, strides = edges
    index = [slice(None)] * len(shape)
    for axis, start, end, stride in zip(axes, starts, ends, strides or (1,) * len(axes), strict=True):
        at = axis_in(axis, len(shape), name)
        error = partial(_outside, name, at, shape)
        if not isinstance(start, int):
            refuse((start < -shape[at]) | (start >= shape[at]), error, start)
            index[at] = start
            continue
        index[at] = slice(start, end, stride)
        if axis in decreased and len(range(shape[at])[index[at]]) != 1:
            raise error(start)
    return tuple(index)


def _outside(name, at, shape, start):
    return LabelError(f"{name}: index {start} is out of range for dimension {at} of {list(shape)}")


def _box_shape(shape, index):
    """The shape of the box, with 1 for a dimension that a place in it indexes."""
    return tuple([len(range(n)[i]) if isinstance(i, slice) else 1 for n, i in zip(shape, index, strict=True)])


def _put_box(array, index, values):
    """*array* with the box filled with *values*, in whatever shape these are."""
    shape = [len(range(n)[i]) for n, i in zip(array.shape, index, strict=True) if isinstance(i, slice)]
    return put(array, index, values.reshape(shape))


def _without(shape, axes):
    return tuple(d for i, d in enumerate(shape) if i not in {a % len(shape) for a in axes})


def _cut(x, index, decreased):
    part = x[index]
    if not decreased:
        return part
    shape = part.shape if part.ndim == x.ndim else _box_shape(x.shape, index)
    return part.reshape(_without(shape, decreased))


def _cut_spec(x, axes, starts, ends, strides, flags, decreased, unknown, name):
    dims = list(x.shape)
    for i, axis in enumerate(axes):
        at = axis_in(axis, x.ndim, name)
        if unknown or (i < len(flags) and flags[i] == UNKNOWN) or dims[at] == UNKNOWN:
            dims[at] = UNKNOWN
            continue
        if strides and strides[i] == 0:
            raise ShapeError(f"{name}: a stride must not be 0")
        dims[at] = len(range(dims[at])[slice(starts[i], ends[i], strides[i] if strides else 1)])
        if axis in decreased and dims[at] != 1:
            raise ShapeError(f"{name}: index {starts[i]} is out of range for dimension {at} of X {list(x.shape)}")
    return x.replace_shape(_without(dims, decreased) if decreased else dims)


@op(
    "slice",
    f"Input {STARTS_ENDS} -> Out",
    attrs={n: v for n, v in BOX.items() if n != "strides"},
    trait=Trait.MOVES | Trait.VIEW,
    sized=_sized,
)
def slice_(k, x, starts_t, ends_t, starts_l, ends_l, *, axes, starts, ends, decrease_axis):
    """The elements from *starts* up to but without *ends* along *axes*."""
    edges = _edges(axes, decrease_axis, (starts, starts_t, starts_l), (ends, ends_t, ends_l), NO_STRIDES)
    return _cut(x, _box(x.shape, axes, edges, decrease_axis, "slice"), decrease_axis)


@slice_.infer
def _(x, starts_t, ends_t, starts_l, ends_l, *, axes, starts, ends, infer_flags, decrease_axis):
    unknown = starts_t is not None or ends_t is not None
    return _cut_spec(x, axes, starts, ends, (), infer_flags, decrease_axis, unknown, "slice")


@slice_.gradient(wrt="Input")
def _(k, x: Like, starts_t, ends_t, starts_l, ends_l, dout, *, axes, starts, ends, decrease_axis):
    return k.place(
        dout,
        x,
        starts_t,
        ends_t,
        None,
        starts_l,
        ends_l,
        [],
        axes=axes,
        starts=starts,
        ends=ends,
        decrease_axis=decrease_axis,
    )


@op("strided_slice", f"Input {STRIDED} -> Out", attrs=BOX, trait=Trait.MOVES | Trait.VIEW, sized=_sized)
def strided_slice(
    k, x, starts_t, ends_t, strides_t, starts_l, ends_l, strides_l, *, axes, starts, ends, strides, decrease_axis
):
    """As ``slice``, taking every *strides*-th element; a negative stride goes backwards."""
    lists = (starts, starts_t, starts_l), (ends, ends_t, ends_l), (strides, strides_t, strides_l)
    edges = _edges(axes, decrease_axis, *lists)
    return _cut(x, _box(x.shape, axes, edges, decrease_axis, "strided_slice"), decrease_axis)


@strided_slice.infer
def _(
    x,
    starts_t,
    ends_t,
    strides_t,
    starts_l,
    ends_l,
    strides_l,
    *,
    axes,
    starts,
    ends,
    strides,
    infer_flags,
    decrease_axis,
):
    unknown = starts_t is not None or ends_t is not None or strides_t is not None
    return _cut_spec(x, axes, starts, ends, strides, infer_flags, decrease_axis, unknown, "strided_slice")


@strided_slice.gradient(wrt="Input")
def _(
    k,
    x: Like,
    starts_t,
    ends_t,
    strides_t,
    starts_l,
    ends_l,
    strides_l,
    dout,
    *,
    axes,
    starts,
    ends,
    strides,
    decrease_axis,
):
    tensors = starts_t, ends_t, strides_t, starts_l, ends_l, strides_l
    return k.place(dout, x, *tensors, axes=axes, starts=starts, ends=ends, strides=strides, decrease_axis=decrease_axis)


@op("place", f"X Y {STRIDED} -> Out", attrs=BOX, trait=Trait.INTERNAL | Trait.MOVES)
def place(
    k, x, like, starts_t, ends_t, strides_t, starts_l, ends_l, strides_l, *, axes, starts, ends, strides, decrease_axis
):
    """Zeros in the shape of *like* with *x* in the box: the transpose of ``strided_slice``."""
    lists = (starts, starts_t, starts_l), (ends, ends_t, ends_l), (strides, strides_t, strides_l)
    index = _box(like.shape, axes, _edges(axes, decrease_axis, *lists), decrease_axis, "slice")
    return _put_box(k.xp.zeros(like.shape, x.dtype), index, x)


@place.gradient(wrt="X")
def _(k, starts_t, ends_t, strides_t, starts_l, ends_l, strides_l, dout, *, axes, starts, ends, strides, decrease_axis):
    tensors = starts_t, ends_t, strides_t, starts_l, ends_l, strides_l
    return k.strided_slice(
        dout, *tensors, axes=axes, starts=starts, ends=ends, strides=strides, decrease_axis=decrease_axis
    )


# -- set_value --------------------------------------------------------------------------------------------------------

TARGET = {"axes": (), "starts": (), "ends": (), "steps": (), "decrease_axes": (), "none_axes": ()}
TENSORS = "StartsTensorList* EndsTensorList* StepsTensorList*"


def _target(shape, axes, starts, ends, steps, starts_l, ends_l, steps_l, decreased):
    """The index of the box to write."""
    edges = _edges(axes, decreased, (starts, None, starts_l), (ends, None, ends_l), (steps, None, steps_l))
    return _box(shape, axes, edges, decreased, "set_value")


def _seen(shape, decreased, none_axes):
    """The shape in which values broadcast to a box: without the axes that integers index, with one per None."""
    dims = list(_without(shape, decreased))
    for i, axis in enumerate(none_axes):
        dims.insert(axis - sum(a < axis - i for a in decreased), 1)
    return tuple(dims)


@op(
    "set_value",
    f"Input ValueTensor? {TENSORS} -> Out",
    attrs={**TARGET, "dtype": 5, "shape": (), "values": ()},
    trait=Trait.MOVES,
    sized=_sized,
)
def set_value(
    k,
    x,
    value,
    starts_l,
    ends_l,
    steps_l,
    *,
    axes,
    starts,
    ends,
    steps,
    decrease_axes,
    none_axes,
    dtype,
    shape,
    values,
):
    """A copy of *x* with a box of it replaced by *value* (or by *values* in *shape*), broadcast."""
    index = _target(x.shape, axes, starts, ends, steps, starts_l, ends_l, steps_l, decrease_axes)
    if value is None:
        value = k.xp.array(values, dtype_of(dtype).numpy).reshape(shape)
    seen = _seen(_box_shape(x.shape, index), decrease_axes, none_axes)
    while value.ndim > len(seen) and value.shape[0] == 1:
        value = value[0]
    return _put_box(x.copy(), index, k.xp.broadcast_to(value, seen))


@set_value.infer
def _(x, value, starts_l, ends_l, steps_l, *, axes):
    for axis in axes:
        axis_in(axis, x.ndim, "set_value")
    return x


@set_value.gradient(wrt="Input ValueTensor")
def _(k, value: Like, starts_l, ends_l, steps_l, dout, *, axes, starts, ends, steps, decrease_axes, none_axes):
    lists = starts_l, ends_l, steps_l
    box = {"axes": axes, "starts": starts, "ends": ends, "steps": steps, "decrease_axes": decrease_axes}
    return (
        lambda: k.clear(dout, *lists, **box),
        None if value is None else lambda: k.sum_to(k.lift(dout, value, *lists, **box, none_axes=none_axes), value),
    )


@op("clear", f"X {TENSORS} -> Out", attrs=TARGET, trait=Trait.INTERNAL | Trait.MOVES)
def clear(k, x, starts_l, ends_l, steps_l, *, axes, starts, ends, steps, decrease_axes):
    """*x* with zeros in the box."""
    return put(x.copy(), _target(x.shape, axes, starts, ends, steps, starts_l, ends_l, steps_l, decrease_axes), 0)


@clear.gradient(wrt="X")
def _(k, starts_l, ends_l, steps_l, dout, *, axes, starts, ends, steps, decrease_axes):
    return k.clear(
        dout, starts_l, ends_l, steps_l, axes=axes, starts=starts, ends=ends, steps=steps, decrease_axes=decrease_axes
    )


@op("lift", f"X Y {TENSORS} -> Out", attrs=TARGET, trait=Trait.INTERNAL | Trait.MOVES)
def lift(k, x, value, starts_l, ends_l, steps_l, *, axes, starts, ends, steps, decrease_axes, none_axes):
    """The box of *x*, in the shape in which *value* is written to it."""
    index = _target(x.shape, axes, starts, ends, steps, starts_l, ends_l, steps_l, decrease_axes)
    seen = _seen(_box_shape(x.shape, index), decrease_axes, none_axes)
    return x[index].reshape((1,) * (value.ndim - len(seen)) + seen)


@op("lower", f"X Y {TENSORS} -> Out", attrs=TARGET, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def lower(k, x, like, starts_l, ends_l, steps_l, *, axes, starts, ends, steps, decrease_axes):
    """Zeros in the shape of *like* with *x* in the box: the transpose of ``lift``."""
    index = _target(like.shape, axes, starts, ends, steps, starts_l, ends_l, steps_l, decrease_axes)
    return _put_box(k.xp.zeros(like.shape, x.dtype), index, x)


@lift.gradient(wrt="X")
def _(k, x: Like, starts_l, ends_l, steps_l, dout, *, axes, starts, ends, steps, decrease_axes):
    return k.lower(
        dout,
        x,
        starts_l,
        ends_l,
        steps_l,
        axes=axes,
        starts=starts,
        ends=ends,
        steps=steps,
        decrease_axes=decrease_axes,
    )


@lower.gradient(wrt="X")
def _(k, x: Like, starts_l, ends_l, steps_l, dout, *, axes, starts, ends, steps, decrease_axes):
    box = {"axes": axes, "starts": starts, "ends": ends, "steps": steps, "decrease_axes": decrease_axes}
    return k.reshape_like(k.lift(dout, x, starts_l, ends_l, steps_l, **box), x)


# -- samples ----------------------------------------------------------------------------------------------------------

_NONE: dict[str, list[object]] = {"starts_l": [], "ends_l": []}
_ONE = [exactly([1], "int64")]


@slice_.samples
def _(make):
    yield make(x=(4, 5, 3), **_NONE, axes=(0, 2), starts=(1, -2), ends=(3, 2147483647))
    yield make(x=(4, 5), **_NONE, axes=(0, 1), starts=(-1, 0), ends=(2147483647, 2), decrease_axis=(0,))
    yield make(x=(4,), **_NONE, axes=(0,), starts=(2,), ends=(3,), decrease_axis=(0,))
    yield make(x=(4, 3), **_NONE, starts_t=exactly([1], "int32"), ends_t=exactly([3], "int32"), axes=(0,))
    yield make(
        x=(4, 3), starts_l=_ONE, ends_l=[exactly(2, "int32")], axes=(1,), starts=(-1,), ends=(-1,), infer_flags=(-1,)
    )
    yield make(x=(4, 3), **_NONE, axes=(0,), starts=(2,), ends=(2,))
    yield make(x=(0, 3), **_NONE, axes=(1,), starts=(0,), ends=(2,))


@strided_slice.samples
def _(make):
    plain = {**_NONE, "strides_l": []}
    yield make(x=(5, 6, 3), **plain, axes=(0, 1), starts=(0, 4), ends=(5, 0), strides=(2, -2))
    yield make(x=(4, 5), **plain, axes=(0, 1), starts=(3, 1), ends=(4, 5), strides=(1, 3), decrease_axis=(0,))
    yield make(x=(4,), **plain, axes=(0,), starts=(2147483647,), ends=(-2147483648,), strides=(-1,))
    yield make(
        x=(5, 3),
        **plain,
        starts_t=exactly([0], "int32"),
        ends_t=exactly([4], "int32"),
        strides_t=exactly([2], "int32"),
        axes=(0,),
    )
    yield make(
        x=(5, 3),
        starts_l=_ONE,
        ends_l=[exactly([5], "int64")],
        strides_l=[exactly(3, "int64")],
        axes=(0,),
        starts=(-1,),
        ends=(-1,),
        strides=(-1,),
        infer_flags=(-1,),
    )
    yield make(x=(0, 3), **plain, axes=(1,), starts=(0,), ends=(3,), strides=(2,))


@set_value.samples
def _(make):
    plain = {**_NONE, "steps_l": []}
    yield make(x=(3, 4), value=(4,), **plain, axes=(0,), starts=(1,), ends=(2,), steps=(1,), decrease_axes=(0,))
    yield make(x=(5, 4), value=(), **plain, axes=(0, 1), starts=(4, 0), ends=(0, 2), steps=(-2, 1))
    yield make(x=(3, 4), **plain, axes=(1,), starts=(0,), ends=(2,), steps=(1,), dtype=6, shape=(1,), values=(0.5,))
    yield make(
        x=(3, 4, 2),
        value=(1, 2),
        **plain,
        axes=(1,),
        starts=(2,),
        ends=(3,),
        steps=(1,),
        decrease_axes=(1,),
        none_axes=(2,),
    )
    yield make(x=(3, 4), value=(1, 1, 4), **plain)
    yield make(
        x=(3, 4), value=(2, 1), starts_l=_ONE, ends_l=[exactly([3], "int64")], steps_l=_ONE, axes=(0,), steps=(1,)
    )
    yield make(x=(3,), value=(), **plain, axes=(0,), starts=(1,), ends=(1,), steps=(1,))
    yield make(x=(0, 3), value=(3,), **plain)
