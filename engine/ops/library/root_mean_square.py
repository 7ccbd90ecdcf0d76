"""Layers divided by the root of the mean of their squares (Zhang and Sennrich 2019)."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..infer import product
from ..opdef import op
from .placing import _alike


@compose("x bias residual norm_weight norm_bias inv_var out@GRAD", wrt="x bias residual norm_weight norm_bias")
@op(
    "rms_norm",
    "x bias? residual? norm_weight norm_bias? -> out residual_out? inv_var",
    attrs={
        "epsilon": 1e-5,
        "begin_norm_axis": 1,
        "quant_scale": -1.0,
        "quant_round_type": 0,
        "quant_max_bound": 0.0,
        "quant_min_bound": 0.0,
    },
)
def rms_norm(k, x, bias, residual, weight, norm_bias, *, epsilon, begin_norm_axis):
    """Everything from dimension *begin_norm_axis* on over its root mean square, times *norm_weight*, plus *norm_bias*.

    With *residual* the sum of *x*, *residual* and *bias* is taken, which also is *residual_out*; without it *bias*
    counts for nothing, as in Paddle. *inv_var* holds one over the roots.
    """
    total = x
    if residual is not None:
        # Through a copy: a gradient that is the same for several of them is an array of its own for each.
        total = k.ops.add(x, k.ops.scale(residual))
        total = total if bias is None else k.ops.add(total, k.ops.scale(bias))
    dims = tuple(range(begin_norm_axis, x.ndim))
    square = k.ops.reduce_mean(k.ops.mul(total, total), dim=dims, keep_dim=True)
    inverse = k.ops.rsqrt(k.ops.scale(square, bias=epsilon))
    inner = tuple(x.shape[begin_norm_axis:])
    out = k.ops.mul(k.ops.mul(total, inverse), k.ops.reshape(weight, shape=inner)[0])
    if norm_bias is not None:
        out = k.ops.add(out, k.ops.reshape(norm_bias, shape=inner)[0])
    return out, None if residual is None else k.ops.scale(total), k.ops.squeeze(inverse, axes=dims)[0]


@rms_norm.infer
def _(x, bias, residual, weight, norm_bias, *, begin_norm_axis, quant_scale):
    if quant_scale > 0:
        raise OperatorError("rms_norm: gradtool has no numbers of fewer bits, which quant_scale asks for")
    if not 0 <= begin_norm_axis < x.ndim:
        raise ShapeError(f"rms_norm: begin_norm_axis {begin_norm_axis} is out of range for x {list(x.shape)}")
    if residual is not None and not _alike(x.shape, residual.shape):
        raise ShapeError(f"rms_norm: residual {list(residual.shape)} must have the shape of x, {list(x.shape)}")
    inner = x.shape[begin_norm_axis:]
    if UNKNOWN in inner:
        raise ShapeError(f"rms_norm: the dimensions of x {list(x.shape)} from {begin_norm_axis} on must be known")
    for slot, spec in (("norm_weight", weight), ("norm_bias", norm_bias)):
        if spec is not None and spec.count not in (product(inner), UNKNOWN):
            raise ShapeError(f"rms_norm: {slot} {list(spec.shape)} must have {product(inner)} elements")
    return x, None if residual is None else x, x.replace_shape(x.shape[:begin_norm_axis])


@rms_norm.samples
def _(make):
    yield make(x=(2, 3, 4), weight=(12,), norm_bias=(12,))
    yield make(x=(2, 3, 4), bias=(4,), residual=(2, 3, 4), weight=(4,), begin_norm_axis=2)
    yield make(x=(2, 4), weight=(4,), epsilon=0.1)
