"""Numbers in eight or sixteen bits.

A pair of ``QuantizeLinear`` and ``DequantizeLinear`` passes gradients as if it were not there: that is how networks
with it are trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle

from ..errors import Lacking
from ..narrow_types import CARRIERS, LIMITS, SMALL, become, round_to_even
from ..node import GraphName, OnnxNode
from ..tensors import declared_type, kind_of, type_name
from .convolutions import convolution
from .elementwise import straight
from .products import product
from .rows import row

STRAIGHT = (
    "QuantizeLinear and DequantizeLinear are rounded as they say, and gradients pass them unchanged (straight through)"
)
WEIGHTS = "weights that are kept in eight bits are parameters with the real numbers that they stand for"


def _spread(v: Any, x: Any, axis: int, block: int) -> Any:
    """Scales or zero points as *x* is multiplied with them: one, one along an axis, or one for each block."""
    if not v.shape or (len(v.shape) == 1 and v.shape[0] == 1 and len(x.shape) != 1):
        return paddle.reshape(v, [])
    axis = axis % max(len(x.shape), 1)
    if block:
        wide = paddle.repeat_interleave(v, block, axis=axis)
        return wide if wide.shape[axis] == x.shape[axis] else paddle.slice(wide, [axis], [0], [x.shape[axis]])
    if len(v.shape) == 1:
        return paddle.reshape(v, [-1 if i == axis else 1 for i in range(len(x.shape))])
    return v


def quantize(x: Any, scale: Any, zero: Any, kind: str) -> Any:
    """*x* in whole numbers of the type *kind*; halves go to the even number."""
    if kind in SMALL:
        return become(x / scale if kind_of(x) == kind_of(scale) else x / paddle.cast(scale, kind_of(x)), kind)
    if kind not in LIMITS:
        raise Lacking(f"numbers of the type {kind}")
    low, high = LIMITS[kind]
    whole = paddle.cast(x / scale if kind_of(x) == kind_of(scale) else x / paddle.cast(scale, kind_of(x)), "float64")
    even = round_to_even(whole)
    moved = even if zero is None else even + paddle.cast(zero, "float64")
    return paddle.cast(paddle.clip(moved, float(low), float(high)), CARRIERS.get(kind, kind))


def dequantize(x: Any, scale: Any, zero: Any) -> Any:
    """The real numbers that whole numbers stand for."""
    kind = kind_of(scale)
    wide = paddle.cast(x, "float64")
    wide = wide if zero is None else wide - paddle.cast(zero, "float64")
    return paddle.cast(wide * paddle.cast(scale, "float64"), kind)


def _operands(n: OnnxNode, x: Any) -> tuple[Any, Any]:
    axis, block = n.whole("axis", 1), n.whole("block_size", 0)
    scale = _spread(n[1], x, axis, block)
    return scale, _spread(n[2], x, axis, block) if n.has(2) else None


@row("QuantizeLinear", fixed=(1, 2))
def _quantize(n: OnnxNode) -> Any:
    x = n[0]
    number = n.whole("output_dtype", 0) or 2
    kind = n.declared_type(2) if n.has(2) else declared_type(number) or type_name(number)
    scale, zero = _operands(n, x)
    return n.made(quantize(x, scale, zero, kind), kind, x)


@row("DequantizeLinear", fixed=(1, 2))
def _dequantize(n: OnnxNode) -> Any:
    entry = n.entry(0)
    x = n[0]
    scale, zero = _operands(n, x)
    y = dequantize(x, scale, zero)
    if n.folding:
        n.builder.note(WEIGHTS)
        return GraphName(entry.name or n.outputs[0], array=np.asarray(y.numpy()), learnt=y.ndim > 0)
    if entry.real is None or kind_of(entry.real) != kind_of(y):
        return y
    n.builder.note(STRAIGHT)
    return straight(y, entry.real)


def _subtract_zero_point(n: OnnxNode, x: int, zero: int, axis: int | None = None) -> Any:
    """Operand *x* without its zero point, in whole numbers of 32 bits."""
    wide = paddle.cast(n[x], "int32")
    if not n.has(zero):
        return wide
    point = paddle.cast(n[zero], "int32")
    if axis is not None and len(point.shape) == 1 and point.shape[0] != 1:
        point = paddle.reshape(point, [-1 if i == axis % len(wide.shape) else 1 for i in range(len(wide.shape))])
    return wide - (paddle.reshape(point, []) if len(point.shape) == 1 and point.shape[0] == 1 else point)


def _read(n: OnnxNode, i: int, axis: int) -> Any:
    """The real numbers that operand *i* stands for by the scale and the zero point behind it."""
    x, real = n[i], n.entry(i).real
    y = dequantize(x, _spread(n[i + 1], x, axis, 0), _spread(n[i + 2], x, axis, 0))
    if real is None or kind_of(real) != kind_of(y):
        return y
    n.builder.note(STRAIGHT)
    return straight(y, real)


@row("MatMulInteger")
def _whole_product(n: OnnxNode) -> Any:
    return product(_subtract_zero_point(n, 0, 2, -2), _subtract_zero_point(n, 1, 3, -1))


@row("ConvInteger")
def _whole_convolution(n: OnnxNode) -> Any:
    x, weight = (paddle.cast(_subtract_zero_point(n, i, i + 2, 0 if i else None), "float64") for i in (0, 1))
    return paddle.cast(convolution(n, x, weight, None), "int32")


@row("QLinearMatMul")
def _multiply_quantized(n: OnnxNode) -> Any:
    a, b = _read(n, 0, -2), _read(n, 3, -1)
    wide = paddle.matmul(paddle.cast(a, "float64"), paddle.cast(b, "float64"))
    return n.made(quantize(wide, n[6], n[7], kind_of(n[7])), real=paddle.cast(wide, kind_of(n[6])))


@row("QLinearConv")
def _convolve_quantized(n: OnnxNode) -> Any:
    x, weight = _read(n, 0, 1), _read(n, 3, 0)
    y = convolution(n, x, weight, None)
    if n.has(8):
        scale = paddle.reshape(n[1], []) * n[4]
        y = y + paddle.reshape(paddle.cast(n[8], kind_of(y)) * scale, [1, -1] + [1] * (len(y.shape) - 2))
    return n.made(quantize(y, paddle.reshape(n[6], []), paddle.reshape(n[7], []), kind_of(n[7])), real=y)
