"""Activations that choose among channels, gate them, or draw at random."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS

from ._activation import leaky_relu, silu, softmax


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> AnyTensor:
    """The largest of every *groups* channels that follow each other (Goodfellow et al. 2013).

    Args:
        x: an image of 4 dimensions.
        groups: how many channels make one of the result.
        axis: where the channels are: 1, or 3 or -1.

    Raises:
        UsageError: another axis, or channels that cannot be divided by *groups* (a ValueError).
    """
    tensor(x, "x", "maxout", FLOATS)
    if axis not in (1, -1, 3):
        raise UsageError(f"maxout: axis only supported 1, -1 or 3, but received axis is: {axis}.")
    if x.ndim != 4:
        raise ShapeError(f"maxout: x's dims should be 4, but received x's dims is: {x.ndim}.")
    at = 1 if axis == 1 else 3
    channels = x.shape[at]
    if groups < 1 or (channels != UNKNOWN and channels % groups):
        raise UsageError(f"maxout: the number of channels ({channels}) must be divisible by groups ({groups}).")
    parts = UNKNOWN if channels == UNKNOWN else channels // groups
    apart = paddle.unflatten(x, at, [parts, groups])
    return paddle.max(apart, at + 1, name=name)  # type: ignore[no-any-return]


def swiglu(x: Any, y: Any = None, name: str | None = None) -> AnyTensor:
    """``silu(x) · y`` (Shazeer 2020).

    Args:
        y: of the shape of *x*; by default the second half of *x* along its last axis, whose first half is then x.

    Raises:
        ShapeError: shapes that differ, or an odd last axis (a ValueError).
    """
    tensor(x, "x", "swiglu", FLOATS)
    if y is None:
        if x.ndim < 1 or (x.shape[-1] != UNKNOWN and x.shape[-1] % 2):
            raise ShapeError(
                f"swiglu: The last dim of Input(X) should be exactly divided by 2, but x has the shape {list(x.shape)}."
            )
        x, y = paddle.split(x, 2, -1)
    elif any(a != b and UNKNOWN not in (a, b) for a, b in zip(x.shape, y.shape, strict=False)) or x.ndim != y.ndim:
        raise ShapeError(
            f"swiglu: The shape of Input(X) should be equal of the shape of Input(Y), but they are {list(x.shape)} and "
            f"{list(y.shape)}."
        )
    return paddle.multiply(silu(x), y, name=name)  # type: ignore[no-any-return]


def gumbel_softmax(
    x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> AnyTensor:
    """A sample of a distribution over categories that can be differentiated (Jang et al. 2017).

    Args:
        x: logarithms of the probabilities, but for a constant, along *axis*.
        temperature: towards 0 samples are nearly one-hot.
        hard: return one-hot vectors, which are differentiated as if they were the soft ones.
    """
    tensor(x, "x", "gumbel_softmax", FLOATS)
    if temperature <= 0:
        raise UsageError(
            f"gumbel_softmax: The temperature must be greater than 0. But received temperature {temperature}"
        )
    # The smallest number keeps both logarithms finite.
    drawn = paddle.uniform(_shape(x), x.dtype, 1e-30, 1.0)
    noise = paddle.neg(paddle.log(paddle.neg(paddle.log(drawn))))
    soft = softmax(paddle.scale(paddle.add(x, noise), 1.0 / temperature), axis)
    if not hard:
        return soft
    place = paddle.argmax(soft, axis, keepdim=True)
    chosen = paddle.put_along_axis(paddle.zeros_like(soft), place, 1.0, axis)
    return paddle.add(paddle.subtract(chosen, soft.detach()), soft, name=name)  # type: ignore[no-any-return]


def rrelu(
    x: Any, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> AnyTensor:
    """x where it is not negative, elsewhere x times a slope drawn between *lower* and *upper* (Xu et al. 2015).

    Args:
        training: outside it, every slope is the mean of both.

    Raises:
        ArgumentTypeError: slopes that are no floats (a TypeError).
        UsageError: slopes outside of [0, 1], or *upper* below *lower* (a ValueError).
    """
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise ArgumentTypeError(
            f"rrelu: The lower and upper values must be float type. Received: lower {lower}, upper {upper}."
        )
    if not 0 <= lower <= 1:
        raise UsageError(f"The lower value must be no less than zero or greater than one. Received: {lower}.")
    if upper < lower:
        raise UsageError(f"The upper value must be greater than lower value. Received: lower {lower}, upper {upper}.")
    if upper > 1:
        raise UsageError(f"The upper value must be no greater than one. Received: {upper}.")
    tensor(x, "x", "rrelu", FLOATS)
    if not training:
        return leaky_relu(x, (lower + upper) / 2, name=name)
    slopes = paddle.uniform(_shape(x), x.dtype, lower, upper)
    return paddle.where(x >= 0.0, x, paddle.multiply(x, slopes), name=name)  # type: ignore[no-any-return]


def _shape(x: Any) -> Any:
    """The shape of *x*, as a tensor where it is not known."""
    return paddle.shape(x) if UNKNOWN in x.shape else list(x.shape)
