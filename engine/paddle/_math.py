"""``paddle.exp``, ``paddle.add``, ``paddle.clip``, …: functions of single elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, EmptyArgumentError, ShapeError, UsageError
from gradtool.engine.core.spec import DTYPES, bool_, float32
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._creation import full
from ._dispatch import apply, binary, layer_name, made_when_used, unary
from ._promotion import cast
from ._remembered import remembered

LARGEST = 3.4028234663852886e38
"""The largest float32: stands for a bound that is not there."""

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor log log10 log1p log2 reciprocal rsqrt "
    "sigmoid sign sin sinh sqrt square tan tanh"
)
"""Functions that are the operator of their name."""


def _binary(name: str, op_type: str) -> Callable[..., AnyTensor]:
    """``paddle.<name>(x, y)``; the result is called ``<op_type>_0`` itself, without ``.tmp_0``."""

    def general(x: Any, y: Any, name: str | None) -> AnyTensor:
        return apply(op_type, x, y, name=name, direct=True)  # type: ignore[no-any-return]

    return binary(name, op_type, general)


__getattr__ = made_when_used(globals(), {name: partial(unary, name) for name in UNARY.split()})

add = _binary("add", "elementwise_add")
subtract = _binary("subtract", "elementwise_sub")
multiply = _binary("multiply", "elementwise_mul")
divide = _binary("divide", "elementwise_div")
maximum = _binary("maximum", "elementwise_max")
minimum = _binary("minimum", "elementwise_min")


def _remainder(x: Any, y: Any, name: str | None) -> AnyTensor:
    """By a number, in the type of *x*."""
    if isinstance(y, (int, float)) and isinstance(x, AnyTensor):
        y = full([], y, x.dtype)
    return apply("elementwise_mod", x, y, name=name, direct=True)  # type: ignore[no-any-return]


def _floor_divide(x: Any, y: Any, name: str | None) -> AnyTensor:
    """By a number, as ``x // y``."""
    if isinstance(y, (int, float)) and isinstance(x, AnyTensor):
        return x // y  # type: ignore[no-any-return]
    return apply("elementwise_floordiv", x, y, name=name, direct=True)  # type: ignore[no-any-return]


remainder = mod = floor_mod = binary("remainder", "elementwise_mod", _remainder)
floor_divide = binary("floor_divide", "elementwise_floordiv", _floor_divide)


@remembered
def pow(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """*x* to the power of *y*, a number or a tensor.

    Raises:
        ArgumentTypeError: *y* is neither (a TypeError).
    """
    if isinstance(y, AnyTensor):
        return apply("elementwise_pow", x, y, name=name)  # type: ignore[no-any-return]
    if not isinstance(y, (int, float)):
        raise ArgumentTypeError(f"paddle.pow: y must be a number or a Variable, but received {type(y).__name__}.")
    return apply("pow", x, None, attrs={"factor": y}, name=name)  # type: ignore[no-any-return]


def neg(x: Any, name: str | None = None) -> AnyTensor:
    """Each element with its sign changed."""
    return scale(x, -1.0, name=name)


def negative(x: Any, name: str | None = None) -> AnyTensor:
    """``-x``, of which Paddle makes another name in programs than :func:`neg`."""
    return -tensor(x, "x", "paddle.negative")  # type: ignore[no-any-return]


def positive(x: Any, name: str | None = None) -> AnyTensor:
    """*x* itself.

    Raises:
        DtypeError: it holds truth values (a TypeError).
    """
    return tensor(x, "x", "paddle.positive", [d.name for d in DTYPES if d is not bool_])


@remembered
def scale(
    x: Any,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> AnyTensor:
    """``scale·x + bias``, or ``scale·(x + bias)`` with bias_after_scale=False.

    Args:
        scale: a number, or a tensor of one element.
        act: an activation to apply to the result.
    """
    layer = layer_name(name, "scale")
    attrs = {"bias": bias, "bias_after_scale": bias_after_scale}
    if isinstance(scale, AnyTensor):
        out = apply("scale", x, None, scale, attrs=attrs, name=layer)
    else:
        out = apply("scale", x, None, None, attrs={"scale": scale, **attrs}, name=layer)
    return apply(act, out, name=layer) if act is not None else out  # type: ignore[no-any-return]


def round(x: Any, decimals: int = 0, name: str | None = None) -> AnyTensor:
    """The nearest number with *decimals* decimals; of two that are equally near, the even one."""
    attrs = {"decimals": integer(decimals, "decimals", "paddle.round")}
    if isinstance(x, AnyTensor) and x.dtype.name in INTEGERS:
        attrs["decimals"] = 0  # whole numbers stay what they are, as in Paddle
    return apply("round", x, attrs=attrs, name=name)  # type: ignore[no-any-return]


@remembered
def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> AnyTensor:
    """Each element, moved to the nearer bound where it lies outside; at a bound the gradient passes.

    Args:
        min, max: numbers, tensors of one element, or None for no bound.

    Raises:
        ArgumentTypeError: a bound is neither (a TypeError).
        UsageError: *min* is greater than *max* (a ValueError).
    """
    tensors = [_clip_bound(b, what) for b, what in ((min, "min"), (max, "max"))]
    if tensor(x, "x", "paddle.clip").dtype.name in INTEGERS and any(map(_is_real, (min, max))):
        x = cast(x, float32)
    bounds = {"min": -LARGEST if min is None else min, "max": LARGEST if max is None else max}
    attrs = {what: float(b) for what, b in bounds.items() if not isinstance(b, AnyTensor)}
    if len(attrs) == 2 and attrs["min"] > attrs["max"]:
        raise UsageError(f"paddle.clip: min={min} is greater than max={max}.")
    return apply("clip", x, *tensors, attrs=attrs, name=name)  # type: ignore[no-any-return]


def _is_real(bound: Any) -> bool:
    return bound.dtype.is_floating if isinstance(bound, AnyTensor) else isinstance(bound, float)


def _clip_bound(bound: Any, what: str) -> AnyTensor | None:
    if isinstance(bound, AnyTensor):
        return bound
    if bound is not None and not hasattr(bound, "__float__"):
        raise ArgumentTypeError(
            f"The type of '{what}' in paddle.clip must be float, Variable or None, but received {type(bound).__name__}."
        )
    return None


def add_n(inputs: Any, name: str | None = None) -> AnyTensor:
    """Sum of one tensor or a list of tensors of one shape.

    Raises:
        ArgumentTypeError: something else (a TypeError).
        EmptyArgumentError: an empty list (an IndexError).
        ShapeError: the shapes differ (a ValueError).
    """
    entries = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if not entries:
        raise EmptyArgumentError("paddle.add_n needs at least one tensor.")
    first, *others = [tensor(v, "inputs", "paddle.add_n") for v in entries]
    for v in others:
        if v.ndim != first.ndim or any(m != n and -1 not in (m, n) for m, n in zip(v.shape, first.shape, strict=True)):
            raise ShapeError(
                f"paddle.add_n: all tensors must have one shape, but '{first.name}' is {list(first.shape)} and "
                f"'{v.name}' is {list(v.shape)}.",
                hint="paddle.add broadcasts its arguments",
            )
    return apply("sum", entries, key="add_n", name=name)  # type: ignore[no-any-return]
