"""Layers that treat channels: scaling, shuffling, the largest of several, norms over their neighbours."""

from __future__ import annotations

import math

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..composed import compose
from ..infer import axis_in
from ..opdef import op
from ..samples import distinct


@compose()
@op("affine_channel", "X Scale Bias -> Out", attrs={"data_layout": "AnyLayout"})
def affine_channel(k, x, scale, bias, *, data_layout):
    """Each channel times its scale, plus its bias."""
    return _affine(k.ops, x, scale, bias, data_layout)


def _affine(ops, x, scale, bias, layout):
    axis = -1 if layout == "NHWC" else 1
    return ops.add(ops.mul(x, scale, axis=axis), bias, axis=axis)


@affine_channel.infer
def _(x, scale, bias, *, data_layout):
    channels = x.shape[-1] if data_layout == "NHWC" else x.shape[1]
    for slot, spec in (("Scale", scale), ("Bias", bias)):
        if spec.ndim != 1 or (UNKNOWN not in (spec.shape[0], channels) and spec.shape[0] != channels):
            raise ShapeError(f"affine_channel: {slot} {list(spec.shape)} must have a number for {channels} channels")
    return x


@affine_channel.gradient
def _(k, x, scale, bias, dout, *, data_layout):
    axis = -1 if data_layout == "NHWC" else 1
    return (
        lambda: k.mul(dout, scale, axis=axis),
        lambda: k.sum_to(x * dout, scale, axis=axis),
        lambda: k.sum_to(dout, bias, axis=axis),
    )


@compose()
@op("shuffle_channel", "X -> Out", attrs={"group": 1})
def shuffle_channel(k, x, *, group):
    """The channels of the groups in turn."""
    return k.ops.channel_shuffle(x, groups=group)


@shuffle_channel.gradient
def _(k, dout, *, group):
    return k.channel_unshuffle(dout, groups=group)


@compose("X Out Out@GRAD")
@op("maxout", "X -> Out", attrs={"groups": 1, "axis": 1})
def maxout(k, x, *, groups, axis):
    """The largest of each *groups* channels that follow one another."""
    axis = axis % x.ndim
    shape = (*x.shape[:axis], x.shape[axis] // groups, groups, *x.shape[axis + 1 :])
    return k.ops.reduce_max(k.ops.reshape(x, shape=shape)[0], dim=(axis + 1,))


@maxout.infer
def _(x, *, groups, axis):
    axis = axis_in(axis, x.ndim, "maxout")
    channels = x.shape[axis]
    if x.ndim != 4 or groups < 2 or (channels != UNKNOWN and channels % groups):
        raise ShapeError(f"maxout: X {list(x.shape)} must have 4 dimensions, and {channels} channels go by {groups}")
    return x.replace_shape(
        (*x.shape[:axis], UNKNOWN if channels == UNKNOWN else channels // groups, *x.shape[axis + 1 :])
    )


@compose("X MidOut Out Out@GRAD")
@op("lrn", "X -> Out MidOut", attrs={"n": 5, "k": 2.0, "alpha": 1e-4, "beta": 0.75, "data_format": "AnyLayout"})
def lrn(backend, x, *, n, k, alpha, beta, data_format):
    """Each element over a power of the squares of *n* channels around it (local response normalisation)."""
    ops = backend.ops
    axis = 3 if data_format == "NHWC" else 1
    before = (n - 1) // 2
    paddings = [0] * 8
    paddings[2 * axis : 2 * axis + 2] = before, n - 1 - before
    squares = ops.pad(ops.square(x), paddings=tuple(paddings))
    parts = [ops.slice(squares, axes=(axis,), starts=(i,), ends=(i + x.shape[axis],)) for i in range(n)]
    around = ops.scale(ops.add_n(parts), scale=alpha, bias=k)
    return x * around**-beta, around


@lrn.infer
def _(x):
    if x.ndim != 4:
        raise ShapeError(f"lrn: X {list(x.shape)} must have 4 dimensions")
    return x, x


@compose("X Norm Out@GRAD")
@op("norm", "X -> Out Norm", attrs={"axis": 0, "epsilon": 1e-10, "is_test": False})
def norm(k, x, *, axis, epsilon):
    """Vectors along *axis*, made to have the length one, and their lengths."""
    length = k.ops.sqrt(k.ops.reduce_sum(k.ops.square(x), dim=(axis,), keep_dim=True) + epsilon)
    return x / length, length


@compose("X Out@GRAD")
@op("add_position_encoding", "X -> Out", attrs={"alpha": 1.0, "beta": 1.0})
def add_position_encoding(k, x, *, alpha, beta):
    """*alpha* times *X* plus *beta* times sines and cosines of each place in a sequence (Vaswani et al. 2017)."""
    count, size = x.shape[1:]
    half = size // 2
    values = []
    for place in range(count):
        angles = [place / 10000.0 ** (i / (half - 1) if half > 1 else 1.0) for i in range(half)]
        values += [*map(math.sin, angles), *map(math.cos, angles)]
    places = k.ops.assign_value(shape=(1, count, size), values=tuple(values))
    return k.ops.add(x * alpha, k.ops.cast_like(places, x) * beta)


@add_position_encoding.infer
def _(x):
    if x.ndim != 3 or (x.shape[2] != UNKNOWN and x.shape[2] % 2):
        raise ShapeError(f"add_position_encoding: X {list(x.shape)} must have 3 dimensions, the last of an even size")
    return x


@compose("x y out@GRAD", wrt="x y")
@op("swiglu", "x y? -> out")
def swiglu(k, x, y):
    """``silu(x)·y``; without *y*, of the two halves of the last dimension."""
    if y is None:
        x, y = k.ops.split(x, num=2, axis=-1)
    return k.ops.silu(x) * y


@compose("X Out@GRAD")
@op("renorm", "X -> Out", attrs={"p": 2.0, "axis": 0, "max_norm": 1.0})
def renorm(k, x, *, p, axis, max_norm):
    """Slices along *axis* whose *p*-norm is more than *max_norm*, made that small."""
    ops = k.ops
    axis = axis % x.ndim
    others = tuple(i for i in range(x.ndim) if i != axis)
    squares = p == 2  # which are smooth at 0, where the size of x is not
    sizes = ops.square(x) if squares else ops.power(ops.abs(x), factor=p)
    powers = ops.reduce_sum(sizes, dim=others, keep_dim=True)
    length = ops.power(powers, factor=1.0 / p)
    factor = ops.reciprocal(length + 1e-7) * max_norm
    return x * ops.select(length <= max_norm, ops.ones_like(factor), factor)


@renorm.infer
def _(x, *, axis):
    axis_in(axis, x.ndim, "renorm")
    return x


@affine_channel.samples
def _(make):
    yield make(x=(2, 3, 2, 2), scale=(3,), bias=(3,))
    yield make(x=(2, 2, 2, 3), scale=(3,), bias=(3,), data_layout="NHWC")


@shuffle_channel.samples
def _(make):
    yield make(x=(2, 6, 2, 3), group=3)


@maxout.samples
def _(make):
    yield make(x=distinct((2, 6, 2, 3)), groups=3)
    yield make(x=distinct((2, 2, 3, 4)), groups=2, axis=-1)


@lrn.samples
def _(make):
    yield make(x=(2, 5, 2, 3), n=3, alpha=0.1)


@norm.samples
def _(make):
    yield make(x=(2, 3, 4), axis=1)
    yield make(x=(2, 3), axis=-1, epsilon=1e-3)


@add_position_encoding.samples
def _(make):
    yield make(x=(2, 3, 4), alpha=0.5, beta=2.0)


@swiglu.samples
def _(make):
    yield make(x=(2, 3), y=(2, 3))
    yield make(x=(2, 4))


@renorm.samples
def _(make):
    yield make(x=(3, 2, 2), axis=0, max_norm=0.8)
    yield make(x=(2, 3), axis=1, p=3.0, max_norm=0.5)
