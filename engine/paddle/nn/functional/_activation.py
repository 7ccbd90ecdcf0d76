"""Activation functions, softmax included."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle import _manipulation, _math
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply, layer_name, made_when_used, unary
from gradtool.paddle._images import FLOATS, layout
from gradtool.paddle._math import sigmoid as sigmoid
from gradtool.paddle._math import tanh as tanh
from gradtool.paddle._remembered import remembered
from gradtool.paddle._tensor_methods import in_place

_UNARY = {
    "hardswish": ("hardswish", "hard_swish"),
    "log_sigmoid": ("log_sigmoid", "logsigmoid"),
    "logsigmoid": ("log_sigmoid", "logsigmoid"),
    "mish": ("mish",),
    "relu": ("relu",),
    "relu6": ("relu6",),
    "swish": ("swish",),
    "tanhshrink": ("tanh_shrink",),
}
"""By function: what its results are counted under, and its operator if that is called otherwise."""

__getattr__ = made_when_used(globals(), {name: partial(unary, *row) for name, row in _UNARY.items()})


def softsign(x: Any, name: str | None = None) -> AnyTensor:
    """``x / (1 + |x|)``, of real or complex numbers."""
    if tensor(x, "x", "softsign").dtype.is_complex:
        return x / _math.abs(x).scale(1.0, 1.0).astype(x.dtype)  # type: ignore[no-any-return]
    return apply("softsign", x, name=name)  # type: ignore[no-any-return]


def silu(x: Any, inplace: bool = False, name: str | None = None) -> AnyTensor:
    """``x·sigmoid(x)``.

    Args:
        inplace: write to *x*, in dynamic mode.
    """
    if inplace and not in_static_mode():
        return in_place("silu", "gradtool.paddle.nn.functional")(tensor(x, "x", "silu"))  # type: ignore[no-any-return]
    return apply("silu", x, name=name)  # type: ignore[no-any-return]


@remembered
def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> AnyTensor:
    """x where positive, ``alpha·(exp(x) - 1)`` elsewhere."""
    return apply("elu", x, attrs={"alpha": alpha}, name=name)  # type: ignore[no-any-return]


class ZeroAlphaError(UsageError, ZeroDivisionError):
    """``celu`` with alpha 0 (Paddle raises ZeroDivisionError)."""


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> AnyTensor:
    """x where positive, ``alpha·(exp(x/alpha) - 1)`` elsewhere.

    Raises:
        ZeroAlphaError: alpha is 0 (a ZeroDivisionError).
    """
    if alpha == 0:
        raise ZeroAlphaError("celu: alpha must not be 0, as x is divided by it.")
    return apply("celu", x, attrs={"alpha": alpha}, name=name)  # type: ignore[no-any-return]


def selu(
    x: Any, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None
) -> AnyTensor:
    """``scale·x`` where positive, ``scale·alpha·(exp(x) - 1)`` elsewhere.

    Raises:
        UsageError: scale is not greater than 1, or alpha is negative (a ValueError).
    """
    if scale <= 1.0:
        raise UsageError(f"selu: scale must be greater than 1.0, but received {scale}.")
    if alpha < 0:
        raise UsageError(f"selu: alpha must not be negative, but received {alpha}.")
    return apply("selu", x, attrs={"scale": scale, "alpha": alpha}, name=name)  # type: ignore[no-any-return]


@remembered
def gelu(x: Any, approximate: bool = False, name: str | None = None) -> AnyTensor:
    """``x·Φ(x)`` with the normal distribution's Φ; *approximate* replaces Φ by a formula with tanh."""
    return apply("gelu", x, attrs={"approximate": approximate}, name=name)  # type: ignore[no-any-return]


@remembered
def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> AnyTensor:
    """x where positive, ``negative_slope·x`` elsewhere."""
    return apply("leaky_relu", x, attrs={"alpha": negative_slope}, name=name)  # type: ignore[no-any-return]


@remembered
def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> AnyTensor:
    """``log(1 + exp(beta·x)) / beta``, and x itself where ``beta·x`` exceeds the threshold."""
    attrs = {"beta": beta, "threshold": threshold}
    return apply("softplus", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def hardsigmoid(x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> AnyTensor:
    """``slope·x + offset``, moved between 0 and 1."""
    attrs = {"slope": slope, "offset": offset}
    return apply("hard_sigmoid", x, attrs=attrs, key="hardsigmoid", name=name)  # type: ignore[no-any-return]


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> AnyTensor:
    """x, moved between *min* and *max*; at a bound no gradient passes."""
    attrs = {"t_min": min, "t_max": max}
    return apply("brelu", x, attrs=attrs, key="hardtanh", name=name)  # type: ignore[no-any-return]


def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> AnyTensor:
    """x where its size reaches the threshold, 0 elsewhere."""
    attrs = {"threshold": threshold}
    return apply("hard_shrink", x, attrs=attrs, key="hardshrink", name=name)  # type: ignore[no-any-return]


def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> AnyTensor:
    """x moved towards 0 by the threshold, and 0 where it is smaller than that.

    Raises:
        UsageError: a negative threshold (a ValueError).
    """
    if threshold < 0:
        raise UsageError(f"softshrink: threshold must not be negative, but received {threshold}.")
    return apply("softshrink", x, attrs={"lambda": threshold}, name=name)  # type: ignore[no-any-return]


def thresholded_relu(x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> AnyTensor:
    """x above the threshold, *value* elsewhere."""
    attrs = {"threshold": threshold, "value": value}
    return apply("thresholded_relu", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


def _along_axis(op_type: str, x: Any, axis: int, dtype: Any, name: str | None) -> AnyTensor:
    layer = layer_name(name, op_type)
    if dtype is not None:
        kinds = {"in_dtype": tensor(x, "x", op_type).dtype.code, "out_dtype": dtype_of(dtype).code}
        x = apply("cast", x, attrs=kinds, name=layer)
    return apply(op_type, x, attrs={"axis": axis}, name=layer)  # type: ignore[no-any-return]


@remembered
def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """``exp(x) / Σ exp(x)`` along *axis*; *x* is first cast to *dtype* if that is given."""
    return _along_axis("softmax", x, axis, dtype, name)


@remembered
def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Logarithm of the softmax along *axis*; *x* is first cast to *dtype* if that is given."""
    return _along_axis("log_softmax", x, axis, dtype, name)


def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> AnyTensor:
    """x where positive, *weight*·x elsewhere.

    Args:
        weight: ``[1]`` for all elements, or ``[channels]``.

    Raises:
        SlopeError: *weight* is not a vector of one element or of as many as *x* has channels (an AssertionError).
    """
    tensor(x, "x", "prelu", FLOATS)
    tensor(weight, "weight", "prelu", FLOATS)
    if weight.ndim == 0:
        weight = _manipulation.reshape(weight, [1])
    if weight.ndim != 1:
        raise SlopeError(f"prelu: the dim count of weight should be 1, but its shape is {list(weight.shape)}.")
    mode = "all"
    if weight.shape[0] != 1:
        data_format = layout(data_format, "prelu")
        channels = x.shape[1 if data_format == "NCHW" else -1] if x.ndim > 1 else None
        if channels is None or weight.shape[0] != channels:
            raise SlopeError(
                f"prelu: weight must have one element or one for each channel of x {list(x.shape)}, but its shape is "
                f"{list(weight.shape)}."
            )
        mode = "channel"
    return apply("prelu", x, weight, attrs={"mode": mode, "data_format": data_format}, name=name)  # type: ignore[no-any-return]


class SlopeError(UsageError, AssertionError):
    """Slopes that do not fit the channels (Paddle raises AssertionError)."""


def glu(x: Any, axis: int = -1, name: str | None = None) -> AnyTensor:
    """The first half of x along *axis* times the sigmoid of the second half."""
    tensor(x, "x", "glu", FLOATS)
    first, second = _manipulation.split(x, 2, axis=axis)
    return _math.multiply(first, sigmoid(second), name=name)
