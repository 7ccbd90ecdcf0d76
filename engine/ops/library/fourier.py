"""Discrete Fourier transforms: of complex numbers, of real ones, and back to these.

All three are linear. The adjoint of the first is itself in the other direction; the others have theirs as operators,
whose adjoints they are in turn. So there are derivatives of every order.
"""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN
from ...core.spec import dtype as dtype_of
from ..infer import axis_in, real_part
from ..opdef import Like, Trait, op
from ..samples import complexes
from ..scattering import contiguous
from ..writing import put

WHOLE = {"float32": "complex64", "float64": "complex128"}
"""The complex type with parts of a real one."""

SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""Which direction is divided by the number of elements in the adjoint of a transform."""

DIRECTION = {"axes": (), "normalization": "backward", "forward": True}


def _transform(k, x, axes, normalization, forward):
    """The sums over *axes*, in the precision of *x*."""
    function = k.xp.fft.fftn if forward else k.xp.fft.ifftn
    return function(x, axes=axes, norm=normalization).astype(_whole(x), copy=False)


def _whole(x):
    return x.dtype if x.dtype.kind == "c" else dtype_of(WHOLE[x.dtype.name]).numpy


def _axes(name, x, axes):
    """The dimensions that are transformed, at least one."""
    if not axes:
        raise ShapeError(f"{name}: axes must name a dimension of X {list(x.shape)}, but is empty")
    places = [axis_in(axis, x.ndim, name) for axis in axes]  # in their order: the last one is halved
    for place in places:
        if x.shape[place] == 0:
            raise ShapeError(f"{name}: X {list(x.shape)} has no elements in dimension {place}, over which it adds")
    return places


@op("fft_c2c", "X -> Out", attrs=DIRECTION, trait=Trait.HOLOMORPHIC)
def fft_c2c(k, x, *, axes, normalization, forward):
    """The discrete Fourier transform of complex numbers over *axes*."""
    return _transform(k, x, axes, normalization, forward)


@fft_c2c.infer
def _(x, *, axes):
    _axes("fft_c2c", x, axes)
    if not x.dtype.is_complex:
        raise DtypeError(
            f"fft_c2c: X must be complex64 or complex128, but received {x.dtype.name}.",
            hint="paddle.fft.fft takes real numbers, too",
        )
    return x


@fft_c2c.gradient
def _(k, dout, *, axes, normalization, forward):
    return k.fft_c2c(dout, axes=axes, normalization=normalization, forward=forward)


@op("fft_r2c", "X -> Out", attrs={**DIRECTION, "onesided": True}, trait=Trait.COMPLEX)
def fft_r2c(k, x, *, axes, normalization, forward, onesided):
    """The discrete Fourier transform of real numbers over *axes*.

    Args:
        onesided: without the second half over the last one, which is the first one's mirror image.
    """
    if not onesided:
        return _transform(k, x, axes, normalization, forward)
    xp = k.xp
    norm = normalization if forward else SWAPPED[normalization]
    out = xp.fft.rfftn(x, axes=axes, norm=norm)
    return (out if forward else xp.conj(out)).astype(_whole(x), copy=False)


@fft_r2c.infer
def _(x, *, axes, onesided):
    places = _axes("fft_r2c", x, axes)
    if x.dtype.name not in WHOLE:
        raise DtypeError(f"fft_r2c: X must be float32 or float64, but received {x.dtype.name}.")
    shape = list(x.shape)
    if onesided and shape[places[-1]] != UNKNOWN:
        shape[places[-1]] = shape[places[-1]] // 2 + 1
    return x.replace_shape(tuple(shape)).replace_dtype(WHOLE[x.dtype.name])


@fft_r2c.gradient
def _(k, x: Like, dout, *, axes, normalization, forward, onesided):
    return k.fft_r2c_adjoint(dout, x, axes=axes, normalization=normalization, forward=forward, onesided=onesided)


@op("fft_r2c_adjoint", "X Y -> Out", attrs={**DIRECTION, "onesided": True}, trait=Trait.INTERNAL | Trait.COMPLEX)
def fft_r2c_adjoint(k, x, y, *, axes, normalization, forward, onesided):
    """The adjoint of ``fft_r2c``, for operands in the shape of *y*."""
    xp = k.xp
    whole = x
    if onesided:
        whole = xp.zeros(y.shape, x.dtype)
        place = [slice(None)] * x.ndim
        place[axes[-1]] = slice(x.shape[axes[-1]])
        whole = put(whole, tuple(place), x)
    return contiguous(_transform(k, whole, axes, SWAPPED[normalization], not forward).real)


@fft_r2c_adjoint.gradient(wrt="X")
def _(k, y: Like, dout, *, axes, normalization, forward, onesided):
    return k.fft_r2c(dout, axes=axes, normalization=normalization, forward=forward, onesided=onesided)


@op("fft_c2r", "X -> Out", attrs={**DIRECTION, "last_dim_size": 0}, trait=Trait.COMPLEX)
def fft_c2r(k, x, *, axes, normalization, forward, last_dim_size):
    """The discrete Fourier transform over *axes* of the first half of what is its own mirror image: real numbers.

    Args:
        last_dim_size: how many there are over the last one; an even number when it is 0.
    """
    xp = k.xp
    operand, norm = (xp.conj(x), SWAPPED[normalization]) if forward else (x, normalization)
    size = last_dim_size or 2 * (x.shape[axes[-1]] - 1)
    sizes = [*(x.shape[axis] for axis in axes[:-1]), size]
    return xp.fft.irfftn(operand, s=sizes, axes=axes, norm=norm).astype(x.real.dtype, copy=False)


@fft_c2r.infer
def _(x, *, axes, last_dim_size):
    places = _axes("fft_c2r", x, axes)
    if not x.dtype.is_complex:
        raise DtypeError(f"fft_c2r: X must be complex64 or complex128, but received {x.dtype.name}.")
    shape, last = list(x.shape), places[-1]
    held = shape[last]
    if last_dim_size > 0 and held not in (UNKNOWN, last_dim_size // 2 + 1):
        raise ShapeError(
            f"fft_c2r: of {last_dim_size} numbers X must hold {last_dim_size // 2 + 1} in dimension {last}, "
            f"but X is {list(x.shape)}"
        )
    if last_dim_size <= 0 and held == 1:
        raise ShapeError(
            f"fft_c2r: X {list(x.shape)} holds one number in dimension {last}: last_dim_size must say more"
        )
    shape[last] = last_dim_size or (UNKNOWN if held == UNKNOWN else 2 * (held - 1))
    return real_part(x).replace_shape(tuple(shape))


@fft_c2r.gradient
def _(k, x: Like, dout, *, axes, normalization, forward, last_dim_size):
    return k.fft_c2r_adjoint(
        dout, x, axes=axes, normalization=normalization, forward=forward, last_dim_size=last_dim_size
    )


@op("fft_c2r_adjoint", "X Y -> Out", attrs={**DIRECTION, "last_dim_size": 0}, trait=Trait.INTERNAL | Trait.COMPLEX)
def fft_c2r_adjoint(k, x, y, *, axes, normalization, forward, last_dim_size):
    """The adjoint of ``fft_c2r``: every number counts twice, but for those that are their own mirror images."""
    xp = k.xp
    norm = SWAPPED[normalization]
    half = fft_r2c.kernel(k, x, axes=axes, normalization=norm, forward=not forward, onesided=True)
    size, last = x.shape[axes[-1]], y.shape[axes[-1]]
    places = xp.arange(last)
    twice = ((places > 0) & (2 * places != size)).astype(x.dtype) + 1
    along = [1] * x.ndim
    along[axes[-1]] = last
    return half * twice.reshape(along)


@fft_c2r_adjoint.gradient(wrt="X")
def _(k, y: Like, dout, *, axes, normalization, forward, last_dim_size):
    return k.fft_c2r(dout, axes=axes, normalization=normalization, forward=forward, last_dim_size=last_dim_size)


@fft_c2c.samples
def _(make):
    yield make(x=complexes((5,)), axes=(0,))
    yield make(x=complexes((2, 3)), axes=(0, 1), forward=False)
    yield make(x=complexes((2, 3, 4)), axes=(-1, 0), normalization="ortho")
    yield make(x=complexes((0, 3)), axes=(1,), normalization="forward")


@fft_r2c.samples
def _(make):
    yield make(x=(5,), axes=(0,))
    yield make(x=(4,), axes=(0,), forward=False)
    yield make(x=(2, 3, 4), axes=(0, 2), normalization="ortho")
    yield make(x=(4, 3), axes=(1, 0), normalization="forward")
    yield make(x=(2, 3), axes=(-1,), onesided=False)
    yield make(x=(2, 3), axes=(0, 1), onesided=False, forward=False)
    yield make(x=(0, 3), axes=(1,))


@fft_c2r.samples
def _(make):
    yield make(x=complexes((3,)), axes=(0,), forward=False)
    yield make(x=complexes((3,)), axes=(0,), last_dim_size=5)
    yield make(x=complexes((2, 3)), axes=(0, 1), normalization="ortho", forward=False, last_dim_size=4)
    yield make(x=complexes((3, 2, 2)), axes=(2, 0), normalization="forward")
    yield make(x=complexes((0, 3)), axes=(1,), forward=False)
