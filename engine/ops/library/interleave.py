"""Repeating elements one by one, and the transpose of it."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import axis_in
from ..opdef import Like, Trait, op
from ..samples import exactly, ints
from ..scattering import add_slices


def _times(repeats, repeats_tensor, size):
    """Return how often each element comes: one number, or a vector of them."""
    if repeats_tensor is None:
        return repeats
    if repeats_tensor.shape != (size,) or (size and repeats_tensor.min() < 0):
        raise ShapeError(
            f"repeat_interleave: RepeatsTensor {list(repeats_tensor.shape)} must hold one number, 0 or more, for each "
            f"of the {size} elements"
        )
    return repeats_tensor


@op(
    "repeat_interleave",
    "X RepeatsTensor? -> Out",
    attrs={"Repeats": 0, "dim": 0},
    trait=Trait.MOVES,
    sized="RepeatsTensor",
)
def repeat_interleave(k, x, repeats_tensor, *, Repeats, dim):
    """Every slice of *x* along a dimension several times in a row."""
    return k.xp.repeat(x, _times(Repeats, repeats_tensor, x.shape[dim]), axis=dim)


@repeat_interleave.infer
def _(x, repeats_tensor, *, Repeats, dim):
    if not x.ndim:
        raise ShapeError("repeat_interleave: X must have at least one dimension")
    at = axis_in(dim, x.ndim, "repeat_interleave")
    if repeats_tensor is None and Repeats < 0:
        raise ShapeError(f"repeat_interleave: repeats must not be negative, but is {Repeats}")
    size = UNKNOWN if repeats_tensor is not None or x.shape[at] == UNKNOWN else x.shape[at] * Repeats
    return x.replace_shape((*x.shape[:at], size, *x.shape[at + 1 :]))


@repeat_interleave.gradient(wrt="X")
def _(k, x: Like, repeats_tensor, dout, *, Repeats, dim):
    return k.add_repeats(dout, x, repeats_tensor, Repeats=Repeats, dim=dim)


@op(
    "add_repeats", "X Y RepeatsTensor? -> Out", attrs={"Repeats": 0, "dim": 0}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC
)
def add_repeats(k, x, like, repeats_tensor, *, Repeats, dim):
    """Sums of the slices that ``repeat_interleave`` made from each slice of *like*: its transpose."""
    xp = k.xp
    size = like.shape[dim]
    origin = xp.repeat(xp.arange(size), _times(Repeats, repeats_tensor, size))
    return add_slices(xp.zeros(like.shape, x.dtype), dim, origin, x)


@add_repeats.gradient(wrt="X")
def _(k, like: Like, repeats_tensor, dout, *, Repeats, dim):
    return k.repeat_interleave(dout, repeats_tensor, Repeats=Repeats, dim=dim)


@repeat_interleave.samples
def _(make):
    yield make(x=(2, 3, 4), Repeats=2, dim=1)
    yield make(x=(2, 3), Repeats=3, dim=-1)
    yield make(x=(3, 2), repeats_tensor=exactly([2, 0, 1], "int64"), dim=0)
    yield make(x=(2, 3), repeats_tensor=ints((3,), 4, dtype="int32"), dim=1)
    yield make(x=(2, 3), Repeats=0, dim=1)
    yield make(x=(0, 3), Repeats=2, dim=0)
