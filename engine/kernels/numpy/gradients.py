"""Gradients of the commonest operators without the general rule's detours.

They compute what the rule says, in the same order. What they leave out costs more than the arithmetic of a small
tensor: asking what broadcasting has to be undone where two shapes are equal, and making an array of a Python number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.bounding import MANY, maximum
from ...ops.library import special
from ...ops.library.activation import DENSITY
from ...ops.registry import get_by_type
from ..backend import Kernel, Override, override
from ..choice import backend
from .blocks import compute_in_pieces
from .general import rule_of
from .products import product

FLOATING = tuple(np.dtype(name) for name in ("float32", "float64"))

SINGLE = FLOATING[0]

_ONE = {d: np.ones((), d) for d in FLOATING}
_ONE_32 = _ONE[SINGLE]
_ZERO = {d: np.zeros((), d) for d in FLOATING}
_HALF = {d: np.full((), 0.5, d) for d in FLOATING}

_bell: Any = special.bell
_normal_cdf: Any = special.normal_cdf


def register() -> None:
    """Offer the gradients."""
    for op_type, kernel in ELEMENTWISE.items():
        override(op_type, "numpy")(_always(compute_in_pieces(kernel)))
    override("gelu_grad", "numpy")(_gelu_grad)
    override("matmul_v2_grad", "numpy")(_matmul)
    override("scale", "numpy")(_scale)
    override("scale_grad", "numpy")(_scale_grad)
    for op_type, gradients in BINARY.items():
        override(op_type + "_grad", "numpy")(_offer_equal_shapes(op_type, gradients))
    for op_type, chooses in EXTREMES.items():
        override(op_type + "_grad", "numpy")(_offer_chosen(op_type, *chooses))


def _tanh(out: Any, dout: Any) -> Any:
    kind = out.dtype
    one = _ONE_32 if kind is SINGLE else _ONE.get(kind)  # an identity is asked more quickly
    if one is None or dout.dtype is not kind or not out.ndim:
        return dout * np.subtract(1 if one is None else one, out * out)
    slope = np.multiply(out, out)
    np.subtract(one, slope, slope)
    return np.multiply(dout, slope, slope)


def _sigmoid(x: Any) -> Any:
    one = _ONE.get(x.dtype)
    if one is None or x.dtype.itemsize < 4 or not x.ndim:
        return get_by_type("sigmoid").kernel(backend("numpy"), x)
    grown = np.negative(x)
    np.exp(grown, out=grown)
    grown += one
    return np.divide(one, grown, out=grown)


def _sigmoid_grad(out: Any, dout: Any) -> Any:
    if not out.ndim:
        return dout * out * np.subtract(_ONE.get(out.dtype, 1), out)
    gradient = dout * out
    gradient *= np.subtract(_ONE.get(out.dtype, 1), out)
    return gradient


def _relu(x: Any) -> Any:
    zero = _ZERO.get(x.dtype, 0)
    return np.maximum(x, zero) if x.size < MANY else maximum(np, x, 0)


def _always(kernel: Kernel) -> Override:
    return lambda attrs, specs: kernel


ELEMENTWISE: dict[str, Kernel] = {
    "tanh_grad": _tanh,
    "sigmoid": _sigmoid,
    "sigmoid_grad": _sigmoid_grad,
    "relu": _relu,
}


def _gelu_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """The density that the distribution function is made with serves for its derivative as well."""
    general = rule_of("gelu", attrs)
    if general is None or attrs["approximate"]:
        return general and compute_in_pieces(general)
    whole = general

    def gradient(x: Any, dout: Any) -> Any:
        if x.dtype != np.float32 or not x.ndim:
            return whole(x, dout)
        density = _bell(np, x)
        slope = _normal_cdf(np, x, density)
        density *= DENSITY
        density *= x
        slope += density
        slope *= dout
        return slope

    return compute_in_pieces(gradient)


# -- matrices ---------------------------------------------------------------------------------------------------------


def _matmul(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """Pull through products where the batches are the same, or all of them share one matrix on the right."""
    general = rule_of("matmul_v2", attrs)
    if general is None:
        return None
    whole = general
    trans_x, trans_y = attrs["trans_x"], attrs["trans_y"]
    (dx,), (dy,) = attrs["wanted"]

    def gradient_of_left(x: Any, y: Any, dout: Any) -> Any:
        if trans_x:
            return np.matmul(y.mT if trans_y else y, dout.mT)
        return product(dout, y if trans_y else y.mT)

    def right(x: Any, y: Any, dout: Any) -> Any:
        if trans_y:
            return np.matmul(dout.mT, x.mT if trans_x else x)
        return np.matmul(x if trans_x else x.mT, dout)

    def gradients(x: Any, y: Any, dout: Any) -> Any:
        if y.ndim == 2 and x.ndim > 2 and not trans_x:
            flat, rows = _rows(x), _rows(dout)
            return gradient_of_left(x, y, dout) if dx else None, right(flat, y, rows) if dy else None
        if x.ndim < 2 or x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2]:
            return whole(x, y, dout)
        return gradient_of_left(x, y, dout) if dx else None, right(x, y, dout) if dy else None

    return gradients


def _rows(x: Any) -> Any:
    return x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


# -- scale ------------------------------------------------------------------------------------------------------------


def _scale(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    """Pull through a scale where nothing is added to the product."""
    if attrs["bias"] != 0.0:
        return None
    general = backend("numpy")
    kernel = get_by_type("scale").kernel
    factors = _factors(attrs["scale"])
    single = factors[SINGLE]

    def times(x: Any, bias: Any = None, scale: Any = None) -> Any:
        if x.dtype is SINGLE and bias is None and scale is None:
            return np.multiply(x, single)
        factor = factors.get(x.dtype) if bias is None and scale is None else None
        return kernel(general, x, bias, scale, **attrs) if factor is None else np.multiply(x, factor)

    return times


def _scale_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    bound = get_by_type("scale").kernel
    general = backend("numpy")
    factors = _factors(attrs["scale"])
    plain = {"scale": attrs["scale"], "bias": 0.0, "bias_after_scale": True}
    single = factors[SINGLE]

    def times(bias: Any, scale: Any, dout: Any) -> Any:
        if dout.dtype is SINGLE and scale is None:
            return np.multiply(dout, single)
        factor = factors.get(dout.dtype) if scale is None else None
        return bound(general, dout, None, scale, **plain) if factor is None else np.multiply(dout, factor)

    return times


def _factors(number: float) -> dict[np.dtype[Any], np.ndarray[Any, Any]]:
    with np.errstate(all="ignore"):
        return {d: np.asarray(number, d) for d in FLOATING}


# -- two operands of one shape ----------------------------------------------------------------------------------------


def _add(dx: bool, dy: bool, whole: Kernel) -> Kernel:
    def gradients(x: Any, y: Any, dout: Any) -> Any:
        if x.shape != y.shape:
            return whole(x, y, dout)
        return dout if dx else None, dout if dy else None

    return gradients


def _sub(dx: bool, dy: bool, whole: Kernel) -> Kernel:
    def gradients(x: Any, y: Any, dout: Any) -> Any:
        if x.shape != y.shape:
            return whole(x, y, dout)
        return dout if dx else None, -dout if dy else None

    return gradients


def _mul(dx: bool, dy: bool, whole: Kernel) -> Kernel:
    def gradients(x: Any, y: Any, dout: Any) -> Any:
        if x.shape != y.shape:
            return whole(x, y, dout)
        return dout * y if dx else None, dout * x if dy else None

    return gradients


def _div(dx: bool, dy: bool, whole: Kernel) -> Kernel:
    def gradients(x: Any, y: Any, out: Any, dout: Any) -> Any:
        if x.shape != y.shape:
            return whole(x, y, out, dout)
        part = dout / y
        return part if dx else None, -part * out if dy else None

    return gradients


BINARY: dict[str, Callable[[bool, bool, Kernel], Kernel]] = {
    "elementwise_add": _add,
    "elementwise_sub": _sub,
    "elementwise_mul": _mul,
    "elementwise_div": _div,
}
"""From which gradients are wanted, and the general rule, to a kernel that takes what the operator's rule reads."""


def _offer_equal_shapes(op_type: str, gradients: Callable[[bool, bool, Kernel], Kernel]) -> Any:
    def offer(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
        general = rule_of(op_type, attrs)
        dx, dy = (mask[0] for mask in attrs["wanted"])
        return None if general is None else gradients(dx, dy, general)

    return offer


EXTREMES: dict[str, tuple[np.ufunc, np.ufunc]] = {
    "elementwise_max": (np.greater, np.less),
    "elementwise_min": (np.less, np.greater),
}
"""How the first operand compares with the second where its elements are chosen, and where those of the second are."""

_BITS = {np.dtype("float32"): np.int32, np.dtype("float64"): np.int64}


def _offer_chosen(op_type: str, first: np.ufunc, second: np.ufunc) -> Any:
    """The gradient goes to the element that was chosen, and half of it to each of two that are equal.

    Where an element was not chosen its gradient is zero even if what arrives is infinite, so a mask is no factor; and
    branches on a mask that follows no pattern cost several times what its use on the bits does.
    """

    def offer(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
        general = rule_of(op_type, attrs)
        if general is None:
            return None
        whole = general
        wanted = [mask[0] for mask in attrs["wanted"]]

        def kernel(x: Any, y: Any, dout: Any) -> Any:
            bits = _BITS.get(dout.dtype)
            if bits is None or x.shape != y.shape or not x.ndim or not x.dtype == y.dtype == dout.dtype:
                return whole(x, y, dout)
            halves = _mask(np.equal(x, y), dout * _HALF[dout.dtype], bits)
            gradients: list[Any] = [None, None]
            for i, chosen in enumerate((first, second)):
                if wanted[i]:
                    parts = _mask(chosen(x, y), dout, bits)
                    parts |= halves
                    gradients[i] = parts.view(dout.dtype)
            return gradients

        return kernel

    return offer


def _mask(mask: Any, values: Any, bits: Any) -> Any:
    """The bits of *values* where *mask* holds, else those of zero."""
    selected = mask.astype(bits)
    np.negative(selected, out=selected)
    selected &= values.view(bits)
    return selected
