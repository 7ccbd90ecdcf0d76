"""Further activation functions; conventions at the kinks are Paddle's (as in Paddle 3.1).

Each kernel is right for arguments of any size: nothing overflows on the way to a finite result.
"""

from __future__ import annotations

import math
from typing import Any

from ..bounding import clamp, maximum, minimum
from ..choosing import choose
from ..infer import real_shape_rule
from ..opdef import OpDef, Trait, op
from . import special
from .basic_activation import logistic, sampled


def _softplus(xp, x):
    """``log(1 + exp(x))``."""
    return maximum(xp, x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


@op("relu6", trait=Trait.UNARY)
def relu6(k, x):
    """Each element, moved between 0 and 6."""
    return clamp(k.xp, x, 0.0, 6.0)


@relu6.gradient
def _(k, out, dout):
    return dout * (out > 0) * (out < 6)


@op("brelu", attrs={"t_min": 0.0, "t_max": 24.0}, trait=Trait.UNARY)
def brelu(k, x, *, t_min, t_max):
    """Each element, moved between two bounds; at a bound no gradient passes."""
    return clamp(k.xp, x, t_min, t_max)


@brelu.gradient
def _(k, x, dout, *, t_min, t_max):
    return dout * (x > t_min) * (x < t_max)


@op("leaky_relu", attrs={"alpha": 0.02}, trait=Trait.UNARY)
def leaky_relu(k, x, *, alpha):
    """x where positive, ``alpha·x`` elsewhere."""
    if 0 < alpha <= 1:
        return k.xp.maximum(x, x * alpha)
    return choose(k.xp, x > 0, x, x * alpha)


@leaky_relu.gradient
def _(k, x, dout, *, alpha):
    return k.select(x >= 0, dout, dout * alpha)


@op("thresholded_relu", attrs={"threshold": 1.0, "value": 0.0}, trait=Trait.UNARY)
def thresholded_relu(k, x, *, threshold, value):
    """x above the threshold, *value* elsewhere."""
    return choose(k.xp, x <= threshold, value, x)


@thresholded_relu.gradient
def _(k, x, dout, *, threshold):
    return dout * (x > threshold)


@op("hard_shrink", attrs={"threshold": 0.5}, trait=Trait.UNARY)
def hard_shrink(k, x, *, threshold):
    """x where its size reaches the threshold, 0 elsewhere."""
    return choose(k.xp, k.xp.abs(x) < threshold, 0, x)


@hard_shrink.gradient
def _(k, x, dout, *, threshold):
    return dout * (k.abs(x) >= threshold)


@op("softshrink", attrs={"lambda": 0.5}, trait=Trait.UNARY)
def softshrink(k, x, **attrs):
    """x moved towards 0 by ``lambda``, and 0 where it is smaller than that."""
    return k.xp.sign(x) * maximum(k.xp, k.xp.abs(x) - attrs["lambda"], 0)


@softshrink.gradient
def _(k, x, dout, **attrs):
    return dout * (k.abs(x) > attrs["lambda"])


@op("tanh_shrink", trait=Trait.UNARY)
def tanh_shrink(k, x):
    """``x - tanh(x)``."""
    return x - k.xp.tanh(x)


@tanh_shrink.gradient
def _(k, x, dout):
    return dout * k.square(k.tanh(x))


@op("elu", attrs={"alpha": 1.0}, trait=Trait.UNARY)
def elu(k, x, *, alpha):
    """x where positive, ``alpha·(exp(x) - 1)`` elsewhere."""
    return choose(k.xp, x > 0, x, alpha * k.xp.expm1(minimum(k.xp, x, 0)))


@elu.gradient
def _(k, x, out, dout, *, alpha):
    return k.select(x > 0, dout, dout * (out + alpha))


@op("celu", attrs={"alpha": 1.0}, trait=Trait.UNARY)
def celu(k, x, *, alpha):
    """x where positive, ``alpha·(exp(x/alpha) - 1)`` elsewhere."""
    return choose(k.xp, x > 0, x, alpha * k.xp.expm1(minimum(k.xp, x, 0) / alpha))


@celu.gradient
def _(k, x, dout, *, alpha):
    negative = k.select(x > 0, k.zeros_like(x), x)
    return k.select(x >= 0, dout, dout * k.exp(negative / alpha))


SELU = {"scale": 1.0507009873554804934193349852946, "alpha": 1.6732632423543772848170429916717}


@op("selu", attrs=SELU, trait=Trait.UNARY)
def selu(k, x, *, scale, alpha):
    """``scale·x`` where positive, ``scale·alpha·(exp(x) - 1)`` elsewhere."""
    return scale * choose(k.xp, x > 0, x, alpha * k.xp.expm1(minimum(k.xp, x, 0)))


@selu.gradient
def _(k, out, dout, *, scale, alpha):
    return k.select(out > 0, dout * scale, dout * (out + scale * alpha))


@op("softplus", attrs={"beta": 1.0, "threshold": 20.0}, trait=Trait.UNARY)
def softplus(k, x, *, beta, threshold):
    """``log(1 + exp(beta·x)) / beta``, and x itself where ``beta·x`` exceeds the threshold."""
    return choose(k.xp, x * beta > threshold, x, _softplus(k.xp, x * beta) / beta)


@softplus.gradient
def _(k, x, dout, *, beta, threshold):
    return k.select(x * beta > threshold, dout, dout * k.sigmoid(x * beta))


@op("logsigmoid", trait=Trait.UNARY)
def logsigmoid(k, x):
    """Logarithm of the sigmoid."""
    return -_softplus(k.xp, -x)


@logsigmoid.gradient
def _(k, x, dout):
    return dout * k.sigmoid(-x)


@op("softsign", trait=Trait.UNARY)
def softsign(k, x):
    """``x / (1 + |x|)``."""
    return x / (1 + k.xp.abs(x))


@softsign.gradient
def _(k, x, dout):
    return dout / k.square(k.abs(x) + 1)


@op("silu", trait=Trait.UNARY | Trait.HOLOMORPHIC)
def silu(k, x):
    """``x·sigmoid(x)``."""
    return x * logistic(k.xp, x)


@silu.gradient
def _(k, x, out, dout):
    inner = k.sigmoid(x)
    return dout * (inner + out * (1 - inner))


@op("swish", trait=Trait.UNARY)
def swish(k, x):
    """``x·sigmoid(x)``, under its older name."""
    return x * logistic(k.xp, x)


@swish.gradient
def _(k, x, dout):
    inner = k.sigmoid(x)
    return dout * (inner + x * inner * (1 - inner))


@op("mish", attrs={"threshold": 20.0}, trait=Trait.UNARY)
def mish(k, x, *, threshold):
    """``x·tanh(softplus(x))``."""
    return x * k.xp.tanh(choose(k.xp, x > threshold, x, _softplus(k.xp, x)))


@mish.gradient
def _(k, x, dout, *, threshold):
    outer = k.tanh(k.softplus(x, threshold=threshold))
    return dout * (outer + x * k.sigmoid(x) * (1 - outer * outer))


@op("hard_sigmoid", attrs={"slope": 0.2, "offset": 0.5}, trait=Trait.UNARY)
def hard_sigmoid(k, x, *, slope, offset):
    """``slope·x + offset``, moved between 0 and 1."""
    return clamp(k.xp, x * slope + offset, 0.0, 1.0)


@hard_sigmoid.gradient
def _(k, out, dout, *, slope):
    return dout * slope * (out > 0) * (out < 1)


@op("hard_swish", attrs={"threshold": 6.0, "scale": 6.0, "offset": 3.0}, trait=Trait.UNARY)
def hard_swish(k, x, *, threshold, scale, offset):
    """``x·min(max(x + offset, 0), threshold) / scale``."""
    return x * (clamp(k.xp, x + offset, 0.0, threshold) / scale)


@hard_swish.gradient
def _(k, x, dout, *, threshold, scale, offset):
    bent = k.select(x <= -offset, k.zeros_like(dout), dout * (x * 2 + offset) * (1 / scale))
    return k.select(x >= threshold - offset, dout * (threshold / scale), bent)


@op("gelu", attrs={"approximate": False}, trait=Trait.UNARY)
def gelu(k, x, *, approximate):
    """``x·Φ(x)`` with the normal distribution's Φ; approximate=True replaces Φ by a formula with tanh."""
    if approximate:
        return 0.5 * x * (1 + k.xp.tanh(_TANH_SCALE * (x + _TANH_CUBE * x * x * x)))
    return x * special.normal_cdf(k.xp, x)


# The normal density at 0.
DENSITY = 1 / math.sqrt(2 * math.pi)
# The tanh form: D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415.
_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


@gelu.gradient
def _(k, x, dout, *, approximate):
    square = k.square(x)
    if not approximate:
        density = k.exp(square * -0.5) * DENSITY
        return dout * (k.normal_cdf(x) + x * density)
    outer = k.tanh(x * (square * _TANH_CUBE + 1) * _TANH_SCALE)
    slope = (square * (3 * _TANH_CUBE) + 1) * _TANH_SCALE
    return dout * 0.5 * (outer + 1 + x * (1 - outer * outer) * slope)


@op("normal_cdf", trait=Trait.UNARY | Trait.INTERNAL)
def normal_cdf(k, x):
    """Φ: how much of the standard normal distribution lies below each element."""
    return special.normal_cdf(k.xp, x)


@normal_cdf.gradient
def _(k, x, dout):
    return dout * k.exp(k.square(x) * -0.5) * DENSITY


_SETTINGS: dict[OpDef, dict[str, Any]] = {
    brelu: {"t_min": -0.45, "t_max": 0.55},
    leaky_relu: {"alpha": 0.3},
    thresholded_relu: {"threshold": 0.45, "value": 0.25},
    hard_shrink: {"threshold": 0.35},
    softshrink: {"lambda": 0.35},
    elu: {"alpha": 0.7},
    celu: {"alpha": 0.7},
    selu: {"scale": 1.2, "alpha": 0.8},
    softplus: {"beta": 2.0, "threshold": 1.1},
    mish: {"threshold": 15.0},
    hard_sigmoid: {"slope": 0.3, "offset": 0.4},
    hard_swish: {"threshold": 4.0, "scale": 5.0, "offset": 2.0},
    gelu: {"approximate": True},
}
"""Attributes unlike the defaults, for one sample more."""

for _op in (
    relu6, brelu, leaky_relu, thresholded_relu, hard_shrink, softshrink, tanh_shrink, elu, celu,
    selu, softplus, logsigmoid, softsign, silu, swish, mish, hard_sigmoid, hard_swish, gelu, normal_cdf,
):  # fmt: skip
    sampled(_op, **_SETTINGS.get(_op, {}))
    _op.infer(real_shape_rule(_op.type))
