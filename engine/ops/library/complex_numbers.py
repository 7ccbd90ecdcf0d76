"""Complex numbers from their parts, and their parts.

None of these functions has a complex derivative but those that only rearrange; their rules follow the convention that
the gradient by z is ``∂L/∂Re z + i·∂L/∂Im z``.
"""

from __future__ import annotations

from ...core.errors import DtypeError, ShapeError
from ...core.spec import UNKNOWN, TensorSpec
from ...core.spec import dtype as dtype_of
from ..infer import broadcast, expect_floating, real_part
from ..opdef import Like, Trait, op
from ..samples import complexes, exactly, uniform

WHOLE = {"float32": "complex64", "float64": "complex128"}
"""The complex type with parts of a real one."""


def _whole(x):
    """The complex array type with parts of the type of *x*."""
    return dtype_of(WHOLE[x.dtype.name]).numpy


def _complex_spec(spec, slot, name):
    if spec.dtype.name not in WHOLE:
        raise DtypeError(f"{name}: {slot} must be float32 or float64, but received {spec.dtype.name}.")
    return spec.replace_dtype(WHOLE[spec.dtype.name])


def _parts(x):
    """Both parts of complex numbers; of other numbers the shape rule says why not."""
    if x.dtype.kind != "c":
        raise TypeError("no complex numbers")
    return x.real, x.imag


def _of_complex(name):
    """The shape rule of an operator that takes complex numbers only and gives one of their parts."""

    def infer(x):
        if not x.dtype.is_complex:
            raise DtypeError(
                f"{name}: X must be complex64 or complex128, but received {x.dtype.name}.",
                hint="a real number is its own real part",
            )
        return real_part(x)

    return infer


@op("complex", "X Y -> Out", trait=Trait.COMPLEX)
def complex(k, x, y):
    """``X + i·Y``, broadcast against each other."""
    out = k.xp.empty(broadcast(x.shape, y.shape), _whole(x))
    k.xp.copyto(out.real, x, casting="no")
    k.xp.copyto(out.imag, y, casting="no")
    return out


@complex.infer
def _(x, y):
    if y.dtype is not x.dtype:
        raise DtypeError(
            f"complex: X is {x.dtype.name} and Y is {y.dtype.name}.", hint="cast one of them to the other's type"
        )
    return _complex_spec(x, "X", "complex").replace_shape(broadcast(x.shape, y.shape, op="complex"))


@complex.gradient
def _(k, x: Like, y: Like, dout):
    return (lambda: k.sum_to(k.real(dout), x)), (lambda: k.sum_to(k.imag(dout), y))


@op("real", trait=Trait.COMPLEX)
def real(k, x):
    """Real part of each complex number."""
    return _parts(x)[0].copy()


@real.gradient
def _(k, dout):
    return k.complex(dout, k.zeros_like(dout))


@op("imag", trait=Trait.COMPLEX)
def imag(k, x):
    """Imaginary part of each complex number."""
    return _parts(x)[1].copy()


@imag.gradient
def _(k, dout):
    return k.complex(k.zeros_like(dout), dout)


real.infer(_of_complex("real"))
imag.infer(_of_complex("imag"))


@op("conj", trait=Trait.UNARY | Trait.COMPLEX)
def conj(k, x):
    """Each complex number with the sign of its imaginary part changed; real numbers as they are."""
    return x.conj()


@conj.gradient(expands=True)
def _(k, dout):
    return k.conj(dout)


@op("angle", trait=Trait.COMPLEX)
def angle(k, x):
    """Angle of each number to the positive real axis, between -π and π: 0 or π for a real one."""
    if x.dtype.kind in "biu":
        raise TypeError("no real or complex numbers")
    # Of what is no number it is no number, too.
    return k.xp.angle(x) if x.dtype.kind == "c" else k.xp.where(x < 0, k.xp.pi, x * 0).astype(x.dtype)


@angle.infer
def _(x):
    expect_floating(x, "X", "angle")
    return real_part(x)


@angle.gradient
def _(k, x, dout):
    if x.dtype.kind != "c":
        return k.zeros_like(x)
    a, b = k.real(x), k.imag(x)
    square = k.square(a) + k.square(b)
    share = dout / k.select(square > 0, square, k.ones_like(square))
    return k.complex(-b * share, a * share)


@op("as_complex", trait=Trait.COMPLEX | Trait.VIEW)
def as_complex(k, x):
    """Complex numbers from pairs of real ones along the last dimension, which goes away."""
    return k.xp.ascontiguousarray(x).view(_whole(x)).reshape(x.shape[:-1])


@as_complex.infer
def _(x):
    if not x.ndim or x.shape[-1] not in (2, UNKNOWN):
        raise ShapeError(f"as_complex: the last dimension of X {list(x.shape)} must be 2")
    return _complex_spec(x, "X", "as_complex").replace_shape(x.shape[:-1])


@as_complex.gradient(expands=True)
def _(k, x: Like, dout):
    return k.as_real(dout)


@op("as_real", trait=Trait.COMPLEX)
def as_real(k, x):
    """Real and imaginary part of each complex number, in a new last dimension."""
    return k.xp.stack(_parts(x), axis=-1)


@as_real.infer
def _(x):
    return TensorSpec((*x.shape, 2), _of_complex("as_real")(x).dtype)


@as_real.gradient(expands=True)
def _(k, x: Like, dout):
    return k.as_complex(dout)


@complex.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(4, 1, 3), y=(2, 1))
    yield make(x=(), y=())
    yield make(x=(0, 3), y=(3,))


for _op in (real, imag, conj, angle, as_real):

    @_op.samples
    def _(make):
        yield make(x=complexes((2, 3)))
        yield make(x=complexes(()))
        yield make(x=complexes((0, 3)))
        if make.op in (conj, angle):
            yield make(x=uniform(0.5, 1.5, (2, 3)))
            yield make(x=uniform(-1.5, -0.5, (2,)))


@as_complex.samples
def _(make):
    yield make(x=(3, 4, 2))
    yield make(x=(2,))
    yield make(x=(0, 2))
    yield make(x=exactly([[1.0, -2.0], [0.0, 0.5]]))
