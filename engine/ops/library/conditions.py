"""Choosing elements by a condition or a class."""

from __future__ import annotations

from ...core.errors import LabelError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..choosing import choose
from ..infer import broadcast
from ..opdef import Like, Trait, op
from ..refusals import refuse_outside
from ..samples import bools, exactly, ints


@op("where", "Condition X Y -> Out", trait=Trait.MOVES)
def where(k, condition, x, y):
    """*x* where the condition holds, else *y*."""
    return choose(k.xp, condition, x, y)


@where.infer
def _(condition, x, y):
    both = broadcast(x.shape, y.shape, op="where")
    return x.replace_shape(broadcast(condition.shape, both, op="where"))


@where.gradient(wrt="X Y")
def _(k, condition, x: Like, y: Like, dout):
    zero = k.zeros_like(dout)
    return (
        lambda: k.sum_to(k.select(condition, dout, zero), x),
        lambda: k.sum_to(k.select(condition, zero, dout), y),
    )


# The mask says how many elements there are.
@op("masked_select", "X Mask -> Y", trait=Trait.MOVES | Trait.VALUES)
def masked_select(k, x, mask):
    """The elements of *x* where *mask* holds, as a vector; the two are broadcast against each other."""
    shape = broadcast(x.shape, mask.shape, op="masked_select")
    return k.xp.broadcast_to(x, shape)[k.xp.broadcast_to(mask, shape)]


@masked_select.infer
def _(x, mask):
    broadcast(x.shape, mask.shape, op="masked_select")
    return x.replace_shape((UNKNOWN,))


@masked_select.gradient(wrt="X")
def _(k, x: Like, mask, dy):
    return k.unmask(dy, mask, x)


@op("unmask", "X Mask Y -> Out", trait=Trait.INTERNAL | Trait.MOVES | Trait.VALUES)
def unmask(k, x, mask, like):
    """Zeros in the shape of *like*, and *x* added where *mask* holds: the transpose of ``masked_select``."""
    shape = broadcast(like.shape, mask.shape, op="masked_select")
    out = k.xp.zeros(shape, x.dtype)
    out[k.xp.broadcast_to(mask, shape)] = x
    before = len(shape) - like.ndim
    spread = [*range(before), *(before + i for i, n in enumerate(like.shape) if shape[before + i] != n)]
    return out.sum(tuple(spread)).reshape(like.shape) if spread else out


@unmask.gradient(wrt="X")
def _(k, mask, dout):
    return k.masked_select(dout, mask)


@op(
    "one_hot",
    "X depth_tensor? -> Out",
    type="one_hot_v2",
    attrs={"depth": -1, "dtype": 5, "allow_out_of_range": False},
    differentiable=False,
    sized="depth_tensor",
)
def one_hot(k, x, depth_tensor, *, depth, dtype, allow_out_of_range):
    """For each number a vector of *depth* zeros with a one at that place."""
    if depth_tensor is not None:
        depth = int(depth_tensor.reshape(()))
    if not allow_out_of_range:
        refuse_outside(x, 0, depth, lambda bad: LabelError(f"one_hot_v2: {bad} has no place among {depth} classes"))
    return (x[..., None] == k.xp.arange(depth)).astype(dtype_of(dtype).numpy)


@one_hot.infer
def _(x, depth_tensor, *, depth, dtype):
    return TensorSpec((*x.shape, UNKNOWN if depth_tensor is not None else depth), dtype)


@where.samples
def _(make):
    yield make(condition=bools((2, 3)), x=(2, 3), y=(2, 3))
    yield make(condition=bools((3,)), x=(2, 3), y=(2, 1))
    yield make(condition=bools(()), x=(), y=())
    yield make(condition=bools((0, 3)), x=(0, 3), y=(0, 3))


@masked_select.samples
def _(make):
    yield make(x=(3, 4), mask=bools((3, 4)))
    yield make(x=(3, 4), mask=bools((4,)))
    yield make(x=(0, 4), mask=bools((0, 4)))


@one_hot.samples
def _(make):
    yield make(x=ints((2, 3), 4), depth=4)
    yield make(x=ints((2, 1), 4), depth_tensor=exactly([4], "int32"), dtype=6)
    yield make(x=exactly([-1, 2, 5]), depth=4, allow_out_of_range=True)
    yield make(x=ints((), 4), depth=4)
    yield make(x=ints((0,), 4), depth=4)
