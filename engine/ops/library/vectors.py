"""Products of vectors: with a matrix, and at right angles to both."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..infer import axis_in
from ..opdef import Trait, op


@op("mv", "X Vec -> Out")
def mv(k, x, vec):
    """Product of a matrix and a vector."""
    return k.xp.matmul(x, vec)


@mv.infer
def _(x, vec):
    if x.ndim != 2 or vec.ndim != 1 or (UNKNOWN not in (x.shape[1], vec.shape[0]) and x.shape[1] != vec.shape[0]):
        raise ShapeError(
            f"mv: X must be a matrix and Vec a vector that fits, but are {list(x.shape)}, {list(vec.shape)}"
        )
    return x.replace_shape(x.shape[:1])


@mv.gradient
def _(k, x, vec, dout):
    column, row = k.unsqueeze(dout, axes=(1,))[0], k.unsqueeze(vec, axes=(0,))[0]
    return (lambda: column * row), (lambda: k.matmul(x, dout, trans_x=True))


FIRST = 9
"""The attribute of an operator that takes the first dimension with three elements."""


def _dimension(shape, dim):
    """The dimension of the vectors' elements."""
    if dim != FIRST:
        return axis_in(dim, len(shape), "cross")
    return next((i for i, d in enumerate(shape) if d == 3), None)


@op("cross", "X Y -> Out", attrs={"dim": FIRST}, trait=Trait.HOLOMORPHIC)
def cross(k, x, y, *, dim):
    """Vectors at right angles to those of *X* and *Y* along *dim*, by default the first dimension of three elements."""
    at = _dimension(x.shape, dim)
    return k.xp.cross(x, y, axisa=at, axisb=at, axisc=at)


@cross.infer
def _(x, y, *, dim):
    fits = x.ndim == y.ndim and all(UNKNOWN in (m, n) or m == n for m, n in zip(x.shape, y.shape, strict=True))
    if not fits:
        raise ShapeError(f"cross: X {list(x.shape)} and Y {list(y.shape)} must have one shape")
    at = _dimension(x.shape, dim)
    if (at is None and UNKNOWN not in x.shape) or (at is not None and x.shape[at] not in (3, UNKNOWN)):
        raise ShapeError(f"cross: a dimension of three elements is needed, but X is {list(x.shape)}, dim={dim}")
    return x


@cross.gradient
def _(k, x, y, dout, *, dim):
    return (lambda: k.cross(y, dout, dim=dim)), (lambda: k.cross(dout, x, dim=dim))


@mv.samples
def _(make):
    yield make(x=(3, 4), vec=(4,))
    yield make(x=(0, 4), vec=(4,))
    yield make(x=(2, 0), vec=(0,))


@cross.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(3, 4, 3), y=(3, 4, 3))
    yield make(x=(3, 4, 3), y=(3, 4, 3), dim=-1)
    yield make(x=(0, 3), y=(0, 3), dim=1)
