"""The rectifier whose slope below 0 is learned."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..choosing import choose
from ..infer import product
from ..opdef import Like, Trait, op


@op("slopes", "Alpha X -> Out", attrs={"mode": "all", "data_format": "NCHW"}, trait=Trait.INTERNAL)
def slopes(k, alpha, x, *, mode, data_format):
    """*alpha* in the shape in which it broadcasts against *x*."""
    if mode == "element":
        return alpha.reshape((1, *x.shape[1:]))
    shape = [1] * x.ndim
    if mode == "channel" and x.ndim > 1:
        shape[-1 if data_format == "NHWC" else 1] = -1
    return alpha.reshape(shape)


@slopes.gradient(wrt="Alpha")
def _(k, alpha: Like, dout):
    return k.reshape_like(dout, alpha)


@op("prelu", "X Alpha -> Out", attrs={"mode": "all", "data_format": "NCHW"})
def prelu(k, x, alpha, *, mode, data_format):
    """``x`` where it is positive, else ``alpha · x`` (He et al. 2015).

    There is one slope for ``all``, for each ``channel``, or for each ``element`` of an example.
    """
    return choose(k.xp, x > 0, x, x * slopes.kernel(k, alpha, x, mode=mode, data_format=data_format))


@prelu.infer
def _(x, alpha, *, mode, data_format):
    if mode not in ("all", "channel", "element"):
        raise OperatorError(f"prelu: mode must be 'all', 'channel' or 'element', not {mode!r}")
    last = data_format == "NHWC"
    expected = 1
    if mode == "element":
        expected = product(x.shape[1:])
    elif mode == "channel" and x.ndim > 1:
        expected = x.shape[-1 if last else 1]
    count = product(alpha.shape)
    if count != expected and UNKNOWN not in (count, expected):
        raise ShapeError(
            f"prelu: Alpha {list(alpha.shape)} must have {expected} elements for X {list(x.shape)} and mode {mode!r}"
        )
    return x


@prelu.gradient
def _(k, x, alpha, dout, *, mode, data_format):
    slope = k.slopes(alpha, x, mode=mode, data_format=data_format)
    zero = k.zeros_like(dout)
    return (
        lambda: k.select(x > 0, dout, dout * slope),
        lambda: k.reshape_like(k.sum_to(k.select(x > 0, zero, dout * x), slope), alpha),
    )


@prelu.samples
def _(make):
    yield make(x=(2, 3, 4), alpha=(1,))
    yield make(x=(2, 3, 4, 5), alpha=(1, 3, 1, 1), mode="channel")
    yield make(x=(2, 4, 5, 3), alpha=(1, 1, 1, 3), mode="channel", data_format="NHWC")
    yield make(x=(2, 3, 4), alpha=(1, 3, 4), mode="element")
    yield make(x=(), alpha=())
    yield make(x=(0, 3), alpha=(3,), mode="channel")
