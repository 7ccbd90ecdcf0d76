"""Windows of a signal at equal distances: cut out of it, and added up to one again; each is the other's adjoint."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..scattering import contiguous
from ..writing import add_to


def _check(name, axis, **numbers):
    """Refuse lengths below 1, and a dimension in the middle."""
    if axis not in (0, -1):
        raise OperatorError(f"{name}: axis must be 0 or -1, but is {axis}")
    for what, number in numbers.items():
        if number < 1:
            raise OperatorError(f"{name}: {what} must be at least 1, but is {number}")


def _cut(k, x, length, hop):
    """The windows along the last dimension: ``[…, length, windows]``."""
    xp = k.xp
    count = 1 + (x.shape[-1] - length) // hop
    return x[..., xp.arange(length)[:, None] + hop * xp.arange(count)]


def _added(k, x, hop, size):
    """Add up ``[…, length, windows]`` along *size* elements; the shorter of both loops is taken."""
    length, count = x.shape[-2:]
    out = k.xp.zeros((*x.shape[:-2], size), x.dtype)
    if length <= count:
        for i in range(length):
            out = add_to(out, (..., slice(i, i + hop * (count - 1) + 1, hop)), x[..., i, :])
        return out
    for i in range(count):
        out = add_to(out, (..., slice(i * hop, i * hop + length)), x[..., :, i])
    return out


def _to_end(k, x, axis, dims):
    """*x* with its first *dims* dimensions behind the others in reversed order, where *axis* says so."""
    if axis == -1:
        return x
    order = [*range(dims, x.ndim), *reversed(range(dims))]
    return k.xp.transpose(x, order)


def _to_start(k, x, axis, dims):
    """The contrary of :func:`_to_end`."""
    if axis == -1:
        return x
    order = [*reversed(range(x.ndim - dims, x.ndim)), *range(x.ndim - dims)]
    return contiguous(k.xp.transpose(x, order))


@op("frame", "X -> Out", attrs={"frame_length": 0, "hop_length": 0, "axis": -1}, trait=Trait.HOLOMORPHIC)
def frame(k, x, *, frame_length, hop_length, axis):
    """The windows of a signal: ``[…, frame_length, windows]`` of its last dimension, or ``[windows, frame_length, …]``.

    Args:
        frame_length: how many elements a window has.
        hop_length: how far the starts of two windows are apart.
        axis: -1, or 0 for a signal along the first dimension.
    """
    return _to_start(k, _cut(k, _to_end(k, x, axis, 1), frame_length, hop_length), axis, 2)


@frame.infer
def _(x, *, frame_length, hop_length, axis):
    _check("frame", axis, frame_length=frame_length, hop_length=hop_length)
    if x.ndim < 1:
        raise ShapeError("frame: X [] must have at least 1 dimension")
    size = x.shape[axis]
    if size != UNKNOWN and frame_length > size:
        raise ShapeError(
            f"frame: a window of {frame_length} does not fit into the {size} elements of X {list(x.shape)}"
        )
    count = UNKNOWN if size == UNKNOWN else 1 + (size - frame_length) // hop_length
    if axis:
        return x.replace_shape((*x.shape[:-1], frame_length, count))
    return x.replace_shape((count, frame_length, *x.shape[1:]))


@frame.gradient
def _(k, x: Like, dout, *, hop_length, axis):
    return k.frame_adjoint(dout, x, hop_length=hop_length, axis=axis)


@op("frame_adjoint", "X Y -> Out", attrs={"hop_length": 1, "axis": -1}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def frame_adjoint(k, x, y, *, hop_length, axis):
    """Windows added up to a signal in the shape of *y*: elements behind the last window are 0."""
    return _to_start(k, _added(k, _to_end(k, x, axis, 2), hop_length, y.shape[axis]), axis, 1)


@frame_adjoint.infer
def _(x, y):
    return x.replace_shape(y.shape)


@frame_adjoint.gradient(wrt="X")
def _(k, x: Like, dout, *, hop_length, axis):
    return k.frame_like(dout, x, hop_length=hop_length, axis=axis)


@op("frame_like", "X Y -> Out", attrs={"hop_length": 1, "axis": -1}, trait=Trait.INTERNAL | Trait.HOLOMORPHIC)
def frame_like(k, x, y, *, hop_length, axis):
    """The windows of a signal, in the shape of *y*."""
    return frame.kernel(k, x, frame_length=y.shape[-2 if axis else 1], hop_length=hop_length, axis=axis)


@frame_like.infer
def _(x, y):
    return x.replace_shape(y.shape)


@frame_like.gradient(wrt="X")
def _(k, x: Like, dout, *, hop_length, axis):
    return k.frame_adjoint(dout, x, hop_length=hop_length, axis=axis)


@op("overlap_add", "X -> Out", attrs={"hop_length": 0, "axis": -1}, trait=Trait.HOLOMORPHIC)
def overlap_add(k, x, *, hop_length, axis):
    """The signal that windows add up to: ``[…, windows × elements]``, as ``frame`` cuts them.

    Args:
        hop_length: how far the starts of two windows are apart.
        axis: -1 for ``[…, frame_length, windows]``, 0 for ``[windows, frame_length, …]``.
    """
    windows = _to_end(k, x, axis, 2)
    length, count = windows.shape[-2:]
    return _to_start(k, _added(k, windows, hop_length, (count - 1) * hop_length + length), axis, 1)


@overlap_add.infer
def _(x, *, hop_length, axis):
    _check("overlap_add", axis, hop_length=hop_length)
    if x.ndim < 2:
        raise ShapeError(f"overlap_add: X {list(x.shape)} must have at least 2 dimensions")
    length, count = x.shape[-2:] if axis else x.shape[1::-1]
    if length != UNKNOWN and hop_length > length:
        raise ShapeError(
            f"overlap_add: hop_length {hop_length} must not be greater than the windows' {length} elements"
        )
    size = UNKNOWN if UNKNOWN in (length, count) else (count - 1) * hop_length + length
    return x.replace_shape((*x.shape[:-2], size) if axis else (size, *x.shape[2:]))


@overlap_add.gradient
def _(k, x: Like, dout, *, hop_length, axis):
    return k.frame_like(dout, x, hop_length=hop_length, axis=axis)


@frame.samples
def _(make):
    yield make(x=(7,), frame_length=3, hop_length=2)
    yield make(x=(2, 8), frame_length=3, hop_length=2)
    yield make(x=(7, 2, 3), frame_length=2, hop_length=3, axis=0)
    yield make(x=(6,), frame_length=4, hop_length=1, axis=0)
    yield make(x=(0, 6), frame_length=4, hop_length=1)


@overlap_add.samples
def _(make):
    yield make(x=(3, 4), hop_length=2)
    yield make(x=(2, 5, 3), hop_length=1)
    yield make(x=(4, 2, 3), hop_length=2, axis=0)
    yield make(x=(0, 3, 2), hop_length=2)
