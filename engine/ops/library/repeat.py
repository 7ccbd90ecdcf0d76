"""Repeating elements: broadcasting, tiling, coordinate grids."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import broadcast, product
from ..opdef import Like, Trait, op
from ..samples import exactly
from .shape_tensors import length, whole, wholes


def _expanded(old, shape):
    """The shape that ``expand`` gives: -1 keeps a dimension."""
    if len(shape) < len(old):
        raise ShapeError(f"expand_v2: shape {list(shape)} has fewer dimensions than X {list(old)}")
    aligned = (None,) * (len(shape) - len(old)) + tuple(old)
    dims = []
    for i, (had, d) in enumerate(zip(aligned, shape, strict=True)):
        if d == UNKNOWN:
            if had is None:
                raise ShapeError(f"expand_v2: -1 at place {i} of shape {list(shape)} has no dimension of X {list(old)}")
            dims.append(had)
        elif had in (None, 1, d, UNKNOWN):
            dims.append(d)
        else:
            raise ShapeError(
                f"expand_v2: X {list(old)} does not broadcast to shape {list(shape)}: dimension {had} is neither 1 "
                f"nor {d}"
            )
    return tuple(dims)


@op(
    "expand",
    "X Shape? expand_shapes_tensor* -> Out",
    type="expand_v2",
    attrs={"shape": ()},
    trait=Trait.MOVES,
    sized="Shape expand_shapes_tensor",
)
def expand(k, x, shape_tensor, shape_tensor_list, *, shape):
    """Broadcast to *shape*; -1 keeps a dimension."""
    if shape_tensor is not None:
        shape = whole(shape_tensor)
    elif shape_tensor_list:
        shape = wholes(shape_tensor_list)
    return k.xp.broadcast_to(x, _expanded(x.shape, shape))


@expand.infer
def _(x, shape_tensor, shape_tensor_list, *, shape):
    if shape_tensor is not None or shape_tensor_list:
        target = shape or (UNKNOWN,) * length(shape_tensor, "expand_v2")
        dims = (1,) * (len(target) - x.ndim) + x.shape  # a dimension other than 1 stays as it is
        return x.replace_shape(k if k > 1 else max(d, UNKNOWN) for k, d in zip(dims, target, strict=True))
    return x.replace_shape(_expanded(x.shape, shape))


@expand.gradient(wrt="X")
def _(k, x: Like, shape_tensor: Like, shape_tensor_list: Like, dout):
    return k.sum_to(dout, x)


@op("expand_as", "X Y? -> Out", type="expand_as_v2", attrs={"target_shape": ()}, trait=Trait.MOVES)
def expand_as(k, x, y, *, target_shape):
    """Broadcast to the shape of *y*."""
    return k.xp.broadcast_to(x, _expanded(x.shape, target_shape if y is None else y.shape))


@expand_as.infer
def _(x, y, *, target_shape):
    if y is None:
        return x.replace_shape(_expanded(x.shape, target_shape))
    if x.ndim > y.ndim:
        raise ShapeError(f"expand_as_v2: X {list(x.shape)} has more dimensions than Y {list(y.shape)}")
    return x.replace_shape(broadcast(x.shape, y.shape, op="expand_as_v2"))


@expand_as.gradient
def _(k, x: Like, dout):
    return k.sum_to(dout, x)


@op("broadcast_tensors", "X* -> Out*", trait=Trait.MOVES)
def broadcast_tensors(k, xs):
    """All of them broadcast to their common shape."""
    shape = _common(xs)
    return [k.xp.broadcast_to(x, shape) for x in xs]


def _common(xs):
    shape: tuple[int, ...] = ()
    for x in xs:
        shape = broadcast(shape, x.shape, op="broadcast_tensors")
    return shape


@broadcast_tensors.infer
def _(xs):
    shape = _common(xs)
    return (tuple(x.replace_shape(shape) for x in xs),)


@broadcast_tensors.gradient
def _(k, xs: Like, dout):
    return [k.sum_to(d, x) for x, d in zip(xs, dout, strict=True)]


# -- tile -------------------------------------------------------------------------------------------------------------


def _repeats(ndim, times):
    """Repetitions per dimension of the result, and how many dimensions it has more."""
    more = max(len(times) - ndim, 0)
    return (1,) * (ndim - len(times)) + tuple(times), more


@op(
    "tile",
    "X RepeatTimes? repeat_times_tensor* -> Out",
    attrs={"repeat_times": ()},
    trait=Trait.MOVES,
    sized="RepeatTimes repeat_times_tensor",
)
def tile(k, x, times_tensor, times_list, *, repeat_times):
    """The tensor repeated *repeat_times* along each dimension."""
    if times_tensor is not None:
        repeat_times = whole(times_tensor)
    elif times_list:
        repeat_times = wholes(times_list)
    return k.xp.tile(x, repeat_times)


@tile.infer
def _(x, times_tensor, times_list, *, repeat_times):
    if times_tensor is not None:
        repeat_times = (UNKNOWN,) * length(times_tensor, "tile")
    times, more = _repeats(x.ndim, repeat_times)
    return x.replace_shape(
        UNKNOWN if UNKNOWN in (d, t) else d * t for d, t in zip((1,) * more + x.shape, times, strict=True)
    )


@tile.gradient(wrt="X")
def _(k, x: Like, times_tensor: Like, times_list: Like, dout):
    return k.untile(dout, x)


def _folded(big, small):
    """*big* with each dimension cut into (repetition, original), and the axes of the repetitions."""
    aligned = (1,) * (len(big) - len(small)) + tuple(small)
    shape = []
    for b, s in zip(big, aligned, strict=True):
        shape += [b // s if s else 0, s]
    return tuple(shape), tuple(range(0, 2 * len(big), 2))


@op("untile", "X Y -> Out", trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def untile(k, x, like):
    """Sum of the copies that ``tile`` made of *like*."""
    shape, copies = _folded(x.shape, like.shape)
    if not x.size:
        return k.xp.zeros(like.shape, x.dtype)
    return x.reshape(shape).sum(axis=copies).reshape(like.shape)


@op("tile_like", "X Y -> Out", trait=Trait.INTERNAL | Trait.MOVES)
def tile_like(k, x, like):
    """Copies of *x* in the shape of *like*: the transpose of ``untile``."""
    shape, _ = _folded(like.shape, x.shape)
    if not x.size:
        return k.xp.zeros(like.shape, x.dtype)
    single = [1 if i % 2 == 0 else d for i, d in enumerate(shape)]
    return k.xp.broadcast_to(x.reshape(single), shape).reshape(like.shape)


@untile.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.tile_like(dout, x)


@tile_like.gradient(wrt="X")
def _(k, x: Like, dout):
    return k.untile(dout, x)


# -- meshgrid ---------------------------------------------------------------------------------------------------------


@op("meshgrid", "X* -> Out*", trait=Trait.MOVES)
def meshgrid(k, xs):
    """The i-th vector along the i-th dimension, the same along all others."""
    shape = tuple(x.size for x in xs)
    return [_along(k, x, i, shape) for i, x in enumerate(xs)]


def _along(k, x, place, shape):
    return k.xp.broadcast_to(x.reshape([-1 if i == place else 1 for i in range(len(shape))]), shape)


@meshgrid.infer
def _(xs):
    for x in xs:
        if x.ndim > 1:
            raise ShapeError(f"meshgrid: each input must be a vector or a scalar, but one is {list(x.shape)}")
    shape = tuple(product(x.shape) for x in xs)
    return (tuple(x.replace_shape(shape) for x in xs),)


@meshgrid.gradient
def _(k, xs: Like, dout):
    return [k.unmesh(d, x, place=i) for i, (x, d) in enumerate(zip(xs, dout, strict=True))]


@op("unmesh", "X Y -> Out", attrs={"place": 0}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def unmesh(k, x, like, *, place):
    """Sum over all dimensions but *place*, in the shape of *like*."""
    return x.sum(axis=tuple(i for i in range(x.ndim) if i != place)).reshape(like.shape)


@op("mesh", "X Y -> Out", attrs={"place": 0}, trait=Trait.INTERNAL | Trait.MOVES)
def mesh(k, x, like, *, place):
    """*x* along dimension *place* of the shape of *like*: the transpose of ``unmesh``."""
    return _along(k, x, place, like.shape)


@unmesh.gradient(wrt="X")
def _(k, x: Like, dout, *, place):
    return k.mesh(dout, x, place=place)


@mesh.gradient(wrt="X")
def _(k, x: Like, dout, *, place):
    return k.unmesh(dout, x, place=place)


# -- samples ----------------------------------------------------------------------------------------------------------


@expand.samples
def _(make):
    yield make(x=(3, 1), shape_tensor_list=[], shape=(2, -1, 4))
    yield make(x=(3, 1), shape_tensor_list=[], shape_tensor=exactly([3, 2], "int32"))
    yield make(x=(3, 1), shape_tensor_list=[exactly([3], "int32"), exactly(2, "int32")], shape=(-1, -1))
    yield make(x=(), shape_tensor_list=[], shape=(2,))
    yield make(x=(0, 1), shape_tensor_list=[], shape=(0, 3))


@expand_as.samples
def _(make):
    yield make(x=(3, 1), y=(2, 3, 4))
    yield make(x=(3, 1), target_shape=(3, 2))
    yield make(x=(), y=(2, 3))
    yield make(x=(0, 1), y=(0, 3))


@broadcast_tensors.samples
def _(make):
    yield make(xs=[(2, 3), (3,), (2, 1)])
    yield make(xs=[(), (0, 3)])


@tile.samples
def _(make):
    yield make(x=(2, 3), times_list=[], repeat_times=(4, 2))
    yield make(x=(2, 3), times_list=[], repeat_times=(2,))
    yield make(x=(3,), times_list=[], repeat_times=(2, 4, 2))
    yield make(x=(2, 3), times_list=[], times_tensor=exactly([1, 2], "int32"))
    yield make(x=(2, 3), times_list=[exactly([3], "int32"), exactly(1, "int32")], repeat_times=(-1, -1))
    yield make(x=(), times_list=[], repeat_times=(2,))
    yield make(x=(0, 3), times_list=[], repeat_times=(2, 2))


@meshgrid.samples
def _(make):
    yield make(xs=[(2,), (3,)])
    yield make(xs=[(2,), (), (4,)])
    yield make(xs=[(0,), (3,)])
