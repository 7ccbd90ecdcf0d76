"""One tensor in, one of the same shape and dtype out, with settings: scaling, copies, powers, rounding, bounds."""

from __future__ import annotations

from ...core.errors import DtypeError
from ..bounding import clamp, maximum, minimum
from ..opdef import Like, Trait, op
from ..powers import raise_to_power
from ..samples import distinct, exactly, ints, uniform


@op(
    "scale",
    "X BiasTensor? ScaleTensor? -> Out",
    attrs={"scale": 1.0, "bias": 0.0, "bias_after_scale": True},
    trait=Trait.UNARY | Trait.HOLOMORPHIC,
)
def scale(k, x, bias_tensor, scale_tensor, *, scale, bias, bias_after_scale):
    """``scale·x + bias``, or ``scale·(x + bias)`` with bias_after_scale=False."""
    if scale_tensor is not None:
        scale = scale_tensor.reshape(()).astype(x.dtype)
    if bias_tensor is not None:
        bias = bias_tensor.reshape(()).astype(x.dtype)
    if x.dtype.kind in "iu":
        scale, bias = k.xp.asarray(scale).astype(x.dtype), k.xp.asarray(bias).astype(x.dtype)
    if isinstance(bias, float) and bias == 0.0:
        return x * scale
    return x * scale + bias if bias_after_scale else (x + bias) * scale


@scale.infer
def _(x, bias_tensor, scale_tensor):
    if scale_tensor is not None and scale_tensor.dtype.is_complex:
        raise DtypeError(
            f"scale: ScaleTensor must be real, but received {scale_tensor}.", hint="multiply by it: x * factor"
        )
    return x


@scale.gradient(wrt="X", expands=True)
def _(k, bias_tensor: Like, scale_tensor, dout, *, scale):
    return k.scale(dout, None, scale_tensor, scale=scale)


@op("assign", trait=Trait.UNARY | Trait.MOVES)
def assign(k, x):
    """The tensor itself, under another name."""
    return x


@assign.gradient(expands=True)
def _(k, dout):
    return k.assign(dout)


@op("share_data", trait=Trait.UNARY | Trait.MOVES | Trait.VIEW, differentiable=False)
def share_data(k, x):
    """The tensor itself, cut off from its gradient: what ``detach()`` makes."""
    return x


@op("sign", trait=Trait.UNARY)
def sign(k, x):
    """1 for positive elements, -1 for negative ones, 0 for 0."""
    return k.xp.sign(x)


@sign.gradient(expands=True)
def _(k, dout):
    return k.scale(dout, scale=0.0)


@op("round", attrs={"decimals": 0}, trait=Trait.UNARY)
def round(k, x, *, decimals):
    """Nearest number with that many decimals, the even one of two that are equally near."""
    return k.xp.round(x, decimals)


@round.gradient
def _(k, dout):
    return k.zeros_like(dout)


@op(
    "power",
    type="pow",
    signature="X FactorTensor? -> Out",
    attrs={"factor": 1.0},
    trait=Trait.UNARY | Trait.HOLOMORPHIC,
)
def power(k, x, factor_tensor, *, factor):
    """Each element to the power of one number; of integers, cut off to an integer."""
    if factor_tensor is not None:
        factor = factor_tensor.reshape(()).astype(x.dtype)
    elif x.dtype.kind in "iu":
        exact = factor >= 0 and factor == int(factor)
        return k.xp.power(x, int(factor)) if exact else k.xp.power(x.astype("float64"), factor).astype(x.dtype)
    return raise_to_power(k.xp, x, factor)


@power.gradient(wrt="X")
def _(k, x, factor_tensor, dout, *, factor):
    if factor_tensor is not None:
        return dout * factor_tensor * k.pow(x, factor_tensor - 1)
    return dout * factor * k.power(x, factor=factor - 1) if factor else k.zeros_like(dout)


FLOAT32_MAX = 3.4028234663852886e38
"""What stands in ``clip``'s attributes for a side without a bound."""


@op("clip", "X Min? Max? -> Out", attrs={"min": -FLOAT32_MAX, "max": FLOAT32_MAX}, trait=Trait.UNARY)
def clip(k, x, low, high, *, min, max):
    """Each element, moved to the nearer bound where it lies outside; Min and Max replace the attributes."""
    low, high = _bound(k, x, low, min), _bound(k, x, high, max)
    if low is not None and high is not None:
        return clamp(k.xp, x, low, high)
    if low is not None:
        return maximum(k.xp, x, low)
    return x if high is None else minimum(k.xp, x, high)


def _bound(k, x, tensor, number):
    """A bound in the dtype of *x*; None where nothing lies beyond it."""
    if tensor is not None:
        return tensor.reshape(()).astype(x.dtype)
    if x.dtype.kind in "iu":
        ends = k.xp.iinfo(x.dtype)
        return int(number) if ends.min <= number <= ends.max else None
    return number if -FLOAT32_MAX < number < FLOAT32_MAX else None


@op("within", "X Min? Max? -> Out", attrs=clip.defaults, trait=Trait.INTERNAL, differentiable=False)
def within(k, x, low, high, *, min, max):
    """True for elements within the bounds of ``clip``, or on them."""
    low, high = _bound(k, x, low, min), _bound(k, x, high, max)
    above = k.xp.equal(x, x) if low is None else x >= low
    return above if high is None else above & (x <= high)


@clip.gradient(wrt="X")
def _(k, x, low, high, dout, *, min, max):
    # At a bound the gradient passes (as in Paddle 3.1).
    return k.select(k.within(x, low, high, min=min, max=max), dout, k.zeros_like(dout))


for _op in (assign, share_data):

    @_op.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=())
        yield make(x=(0, 3))


@scale.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=(2, 3), scale=2.0, bias=0.5)
    yield make(x=(2, 3), scale=2.0, bias=0.5, bias_after_scale=False)
    yield make(x=(2, 3), bias_tensor=(), scale_tensor=(1,))
    yield make(x=(), scale=-1.0)
    yield make(x=(0, 3), scale=3.0)
    yield make(x=ints((2, 3), 9), scale=3.0, bias=1.0, smooth=False)


@sign.samples
def _(make):
    yield make(x=(2, 3))
    yield make(x=())
    yield make(x=exactly([-2.0, 0.0, 3.0]), smooth=False)


@round.samples
def _(make):
    yield make(x=uniform(0.6, 1.4, (2, 3)))
    yield make(x=uniform(0.16, 0.24, (2, 3)), decimals=1)
    yield make(x=uniform(16, 24, ()), decimals=-1)
    yield make(x=exactly([-1.5, -0.5, 0.5, 2.5]), smooth=False)


@power.samples
def _(make):
    yield make(x=uniform(0.3, 2, (2, 3)), factor=3.0)
    yield make(x=uniform(0.3, 2, (2, 3)), factor=-0.5)
    yield make(x=uniform(0.3, 2, ()), factor=2.0)
    yield make(x=(2, 3), factor=2.0)
    yield make(x=(2, 3), factor=0.0)
    yield make(x=uniform(0.3, 2, (2, 3)), factor_tensor=exactly([1.7]))
    yield make(x=ints((2, 3), 9), factor=3.0, smooth=False)


@clip.samples
def _(make):
    yield make(x=distinct((4, 3)), min=0.25, max=0.68)
    yield make(x=distinct((4, 3)), min=0.25)
    yield make(x=distinct((4, 3)), max=0.68)
    yield make(x=distinct((4, 3)), low=exactly([0.25]), high=exactly(0.68))
    yield make(x=(), max=0.0)
    yield make(x=exactly([-1.0, 0.0, 1.0]), min=-1.0, max=1.0, smooth=False)
    yield make(x=ints((4, 3), 9), min=2.0, max=6.0, smooth=False)


@within.samples
def _(make):
    yield make(x=distinct((4, 3)), min=0.25, max=0.68)
