"""Putting tensors together and taking them apart along one dimension."""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..samples import exactly
from .shape_tensors import wholes


def _axis(axis, axis_tensor):
    return axis if axis_tensor is None else int(axis_tensor.reshape(()))


def _joined(dims):
    return UNKNOWN if UNKNOWN in dims else sum(dims)


@op("concat", "X* AxisTensor? -> Out", attrs={"axis": 0}, trait=Trait.MOVES, sized="AxisTensor")
def concat(k, xs, axis_tensor, *, axis):
    """The tensors one after another along *axis*."""
    return k.xp.concatenate(xs, axis=_axis(axis, axis_tensor))


@concat.infer
def _(xs, axis_tensor, *, axis):
    if not xs:
        raise ShapeError("concat: at least one tensor is needed")
    first = xs[0]
    for i, x in enumerate(xs[1:], 1):
        if x.dtype is not first.dtype:
            raise DtypeError(f"concat: X[0] is {first.dtype.name} and X[{i}] is {x.dtype.name}")
        if x.ndim != first.ndim:
            raise ShapeError(f"concat: X[0] {list(first.shape)} and X[{i}] {list(x.shape)} differ in dimensions")
    if axis_tensor is not None:
        return first.replace_shape((UNKNOWN,) * first.ndim)
    if not first.ndim:
        raise ShapeError("concat: a 0-d tensor has no axis to join along", hint="use paddle.stack")
    at = axis_in(axis, first.ndim, "concat")
    dims = []
    for j in range(first.ndim):
        sizes = [x.shape[j] for x in xs]
        extents = {d for d in sizes if d != UNKNOWN}
        if j == at:
            dims.append(_joined(sizes))
        elif len(extents) > 1:
            shapes = ", ".join(str(list(x.shape)) for x in xs)
            raise ShapeError(
                f"concat: {shapes} differ in dimension {j}",
                hint=f"all dimensions but the one they are joined along ({at}) must be equal",
            )
        else:
            dims.append(extents.pop() if extents else UNKNOWN)
    return first.replace_shape(dims)


@concat.gradient(wrt="X")
def _(k, xs: Like, axis_tensor, dout, *, axis):
    return k.split_like(dout, xs, axis_tensor, axis=axis)


@op("split_like", "X Y* AxisTensor? -> Out*", attrs={"axis": 0}, trait=Trait.INTERNAL | Trait.MOVES)
def split_like(k, x, likes, axis_tensor, *, axis):
    """Consecutive parts of *x* along *axis*, each as long as one of *likes*."""
    axis = _axis(axis, axis_tensor)
    ends, end = [], 0
    for like in likes[:-1]:
        end += like.shape[axis]
        ends.append(end)
    return k.xp.split(x, ends, axis)


@split_like.gradient(wrt="X")
def _(k, axis_tensor, dout, *, axis):
    return k.concat(list(dout), axis_tensor, axis=axis)


def _sections(length, num, sections):
    """Lengths of the parts; -1 takes what is left."""
    if not sections:
        if length != UNKNOWN and length % num:
            raise ShapeError(f"split: {length} elements cannot be cut into {num} equal parts")
        return [UNKNOWN if length == UNKNOWN else length // num] * num
    if length == UNKNOWN:
        return list(sections)
    rest = length - sum(d for d in sections if d != UNKNOWN)
    if list(sections).count(UNKNOWN) > 1 or rest < 0 or (rest and UNKNOWN not in sections):
        raise ShapeError(f"split: sections {list(sections)} do not add up to {length} elements")
    return [rest if d == UNKNOWN else d for d in sections]


@op(
    "split",
    "X AxisTensor? SectionsTensorList* -> Out*",
    attrs={"axis": 0, "num": 0, "sections": ()},
    trait=Trait.MOVES,
    sized="AxisTensor SectionsTensorList",
)
def split(k, x, axis_tensor, sections_list, *, axis, num, sections):
    """Consecutive parts along *axis*: *num* equal ones, or of the lengths *sections*."""
    axis = _axis(axis, axis_tensor)
    parts = _sections(x.shape[axis], num, wholes(sections_list) if sections_list else sections)
    ends = [sum(parts[: i + 1]) for i in range(len(parts) - 1)]
    return k.xp.split(x, ends, axis)


@split.infer
def _(x, axis_tensor, sections_list, *, axis, num, sections):
    count = len(sections_list) or len(sections) or num
    if axis_tensor is not None:
        return ((x.replace_shape((UNKNOWN,) * x.ndim),) * count,)
    if not x.ndim:
        raise ShapeError("split: a 0-d tensor has no axis to split")
    at = axis_in(axis, x.ndim, "split")
    parts = [UNKNOWN] * count if sections_list else _sections(x.shape[at], num, sections)
    if x.shape[at] == UNKNOWN:
        parts = [UNKNOWN] * count
    return (tuple(x.replace_shape((*x.shape[:at], d, *x.shape[at + 1 :])) for d in parts),)


@split.gradient(wrt="X", expands=True)
def _(k, axis_tensor, dout, *, axis):
    return k.concat(list(dout), axis_tensor, axis=axis)


@op("stack", "X* -> Y", attrs={"axis": 0}, trait=Trait.MOVES)
def stack(k, xs, *, axis):
    """Tensors of one shape along a new dimension *axis*."""
    return k.xp.stack(xs, axis=axis)


@stack.infer
def _(xs, *, axis):
    if not xs:
        raise ShapeError("stack: at least one tensor is needed")
    dims = list(xs[0].shape)
    for i, x in enumerate(xs[1:], 1):
        if x.dtype is not xs[0].dtype:
            raise DtypeError(f"stack: X[0] is {xs[0].dtype.name} and X[{i}] is {x.dtype.name}")
        if x.ndim != len(dims) or any(UNKNOWN not in (a, b) and a != b for a, b in zip(dims, x.shape, strict=True)):
            raise ShapeError(f"stack: X[0] {dims} and X[{i}] {list(x.shape)} must have the same shape")
        dims = [b if a == UNKNOWN else a for a, b in zip(dims, x.shape, strict=True)]
    dims.insert(axis_in(axis, len(dims) + 1, "stack"), len(xs))
    return xs[0].replace_shape(dims)


@stack.gradient
def _(k, xs: Like, dy, *, axis):
    return k.unstack(dy, axis=axis)


def _parts(k, x, axis):
    moved = k.xp.moveaxis(x, axis, 0)
    return [moved[i] for i in range(moved.shape[0])]


def _parts_spec(x, axis, name):
    if not x.ndim:
        raise ShapeError(f"{name}: a 0-d tensor has no axis")
    at = axis_in(axis, x.ndim, name)
    if x.shape[at] == UNKNOWN:
        raise ShapeError(f"{name}: dimension {at} of X {list(x.shape)} must be known, as each part is a variable")
    return ((x.replace_shape((*x.shape[:at], *x.shape[at + 1 :])),) * x.shape[at],)


@op("unstack", "X -> Y*", attrs={"axis": 0, "num": 0}, trait=Trait.MOVES)
def unstack(k, x, *, axis):
    """The parts along *axis*, without that dimension."""
    return _parts(k, x, axis)


@unstack.infer
def _(x, *, axis):
    return _parts_spec(x, axis, "unstack")


@unstack.gradient
def _(k, dy, *, axis):
    return k.stack(list(dy), axis=axis)


@op("unbind", "X -> Out*", attrs={"axis": 0}, trait=Trait.MOVES | Trait.VIEW)
def unbind(k, x, *, axis):
    """The parts along *axis*, without that dimension."""
    return _parts(k, x, axis)


@unbind.infer
def _(x, *, axis):
    return _parts_spec(x, axis, "unbind")


@unbind.gradient(expands=True)
def _(k, dout, *, axis):
    return k.stack(list(dout), axis=axis)


# -- samples ----------------------------------------------------------------------------------------------------------


@concat.samples
def _(make):
    yield make(xs=[(2, 3), (4, 3)])
    yield make(xs=[(2, 3), (2, 1), (2, 4)], axis=-1)
    yield make(xs=[(2, 3), (2, 4)], axis_tensor=exactly([1], "int32"))
    yield make(xs=[(3,)])
    yield make(xs=[(0, 3), (2, 3)])


@split.samples
def _(make):
    yield make(x=(4, 3), sections_list=[], num=2)
    yield make(x=(2, 5), sections_list=[], axis=-1, sections=(1, -1, 2))
    yield make(x=(2, 4), sections_list=[], axis_tensor=exactly([1], "int32"), num=2)
    yield make(x=(2, 3), sections_list=[exactly([1], "int32"), exactly(2, "int32")], axis=1)
    yield make(x=(0, 4), sections_list=[], axis=1, num=2)


@stack.samples
def _(make):
    yield make(xs=[(2, 3), (2, 3), (2, 3), (2, 3)])
    yield make(xs=[(2, 3), (2, 3)], axis=-1)
    yield make(xs=[(), ()])
    yield make(xs=[(0, 3)], axis=1)


for _op in (unstack, unbind):

    @_op.samples
    def _(make):
        yield make(x=(2, 3, 4))
        yield make(x=(2, 3, 4), axis=-2)
        yield make(x=(3,))
        yield make(x=(2, 0))
