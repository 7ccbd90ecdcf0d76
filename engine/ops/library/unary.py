"""One tensor in, one of the same shape and dtype out: elementary functions, scaling, copies."""

from __future__ import annotations

from ..opdef import Like, Trait, op
from ..samples import between


@op(
    "scale",
    "X BiasTensor? ScaleTensor? -> Out",
    attrs={"scale": 1.0, "bias": 0.0, "bias_after_scale": True},
    trait=Trait.UNARY,
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


@scale.gradient(wrt="X", expands=True)
def _(k, bias_tensor: Like, scale_tensor, dout, *, scale):
    return k.scale(dout, None, scale_tensor, scale=scale)


@op("assign", trait=Trait.UNARY)
def assign(k, x):
    """The tensor itself, under another name."""
    return x


@assign.gradient(expands=True)
def _(k, dout):
    return k.assign(dout)


@op("share_data", trait=Trait.UNARY, differentiable=False)
def share_data(k, x):
    """The tensor itself, cut off from its gradient: what ``detach()`` makes."""
    return x


@op("square", trait=Trait.UNARY)
def square(k, x):
    """Square of each element."""
    return k.xp.square(x)


@square.gradient
def _(k, x, dout):
    return dout * (2 * x)


@op("exp", trait=Trait.UNARY)
def exp(k, x):
    """e to the power of each element."""
    return k.xp.exp(x)


@exp.gradient
def _(k, out, dout):
    return dout * out


@op("log", trait=Trait.UNARY)
def log(k, x):
    """Natural logarithm of each element."""
    return k.xp.log(x)


@log.gradient
def _(k, x, dout):
    return dout / x


@op("reciprocal", trait=Trait.UNARY)
def reciprocal(k, x):
    """One over each element."""
    return k.xp.reciprocal(x)


@reciprocal.gradient
def _(k, out, dout):
    return -dout * out * out


@op("power", type="pow", signature="X FactorTensor? -> Out", attrs={"factor": 1.0}, trait=Trait.UNARY)
def power(k, x, factor_tensor, *, factor):
    """Each element to the power of one number."""
    if factor_tensor is not None:
        factor = factor_tensor.reshape(()).astype(x.dtype)
    return k.xp.power(x, factor)


@power.gradient(wrt="X")
def _(k, x, factor_tensor, dout, *, factor):
    if factor_tensor is not None:
        return dout * factor_tensor * k.pow(x, factor_tensor - 1)
    return dout * factor * k.power(x, factor=factor - 1) if factor else k.zeros_like(dout)


for _op in (scale, assign, share_data, square, exp):

    @_op.samples
    def _(make):
        yield make(x=(2, 3))
        yield make(x=())
        yield make(x=(0, 3))


for _op in (log, reciprocal):

    @_op.samples
    def _(make):
        yield make(x=between(0.3, 2, (2, 3)))
        yield make(x=between(0.3, 2, ()))
        yield make(x=(0, 3))


@scale.samples
def _(make):
    yield make(x=(2, 3), scale=2.0, bias=0.5)
    yield make(x=(2, 3), scale=2.0, bias=0.5, bias_after_scale=False)
    yield make(x=(), scale=-1.0)
    yield make(x=(0, 3), scale=3.0)


@power.samples
def _(make):
    yield make(x=between(0.3, 2, (2, 3)), factor=3.0)
    yield make(x=between(0.3, 2, (2, 3)), factor=-0.5)
    yield make(x=between(0.3, 2, ()), factor=2.0)
