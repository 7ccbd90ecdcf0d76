"""Unpooling: elements put where the maxima of a pooling stood."""

from __future__ import annotations

import math
from functools import partial

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, op
from ..refusals import refuse
from ..samples import ints
from ..writing import put_along
from .window import SIDES


def _outside(name, size, least, most):
    return OperatorError(
        f"{name}: index should less than output tensor height * output tensor width: places lie from 0 to "
        f"{size - 1}, but Indices has {int(least)} to {int(most)}",
        hint="the places are those that max_pool returns with return_mask=True; check output_size",
    )


def _define(name, rank, attrs):
    """``unpool`` or ``unpool3d``."""

    @op(name, "X Indices -> Out", attrs=attrs)
    def definition(k, x, indices, *, output_size, **attrs):
        """Zeros with every element of *x* at its place of the plane, elements counted row by row."""
        xp = k.xp
        size = math.prod(output_size)
        if indices.size:
            least, most = indices.min(), indices.max()
            refuse((least < 0) | (most >= size), partial(_outside, name, size), least, most)
        planes = math.prod(x.shape[:2])
        places = indices.reshape((planes, math.prod(x.shape[2:]))).astype(xp.int64)
        out = put_along(xp.zeros((planes, size), x.dtype), places, x.reshape(places.shape), 1)
        return out.reshape((*x.shape[:2], *output_size))

    @definition.infer
    def _(x, indices, *, output_size, data_format="NCHW", **attrs):
        if x.ndim != rank + 2 or indices.ndim != rank + 2:
            raise ShapeError(
                f"{name}: X {list(x.shape)} and Indices {list(indices.shape)} must have {rank + 2} dimensions, "
                f"[batch, channels, {SIDES[rank]}]"
            )
        if any(a != b and UNKNOWN not in (a, b) for a, b in zip(x.shape, indices.shape, strict=True)):
            raise ShapeError(f"{name}: X {list(x.shape)} and Indices {list(indices.shape)} must have the same shape")
        if not indices.dtype.is_integer:
            raise DtypeError(f"{name}: Indices must be of a whole-number type, but is {indices.dtype.name}")
        if len(output_size) != rank or min(output_size) < 0:
            raise OperatorError(f"{name}: output_size must be {rank} numbers, not {list(output_size)}")
        if data_format.endswith("C"):
            raise OperatorError(f"{name}: data_format must have the channels first, not {data_format!r}")
        return x.replace_shape((*x.shape[:2], *output_size))

    @definition.gradient(wrt="X")
    def _(k, x: Like, indices, dout):
        # Where two elements have one place, each gets the gradient of that place, as in Paddle.
        return k.take_places(dout, indices)

    return definition


unpool = _define(
    "unpool",
    2,
    {
        "ksize": (1, 1),
        "unpooling_type": "",
        "strides": (1, 1),
        "paddings": (0, 0),
        "output_size": (0, 0),
        "data_format": "NCHW",
    },
)
unpool3d = _define(
    "unpool3d",
    3,
    {
        "ksize": (1, 1, 1),
        "strides": (1, 1, 1),
        "paddings": (0, 0, 0),
        "output_size": (0, 0, 0),
        "data_format": "NCDHW",
    },
)


def _places(shape, size):
    """For every plane of *shape* as many different places below *size*."""

    def fill(rng):
        import numpy as np

        planes = [rng.permutation(size)[: math.prod(shape[2:])] for _ in range(math.prod(shape[:2]))]
        return np.array(planes, "int32").reshape(shape)

    return fill


@unpool.samples
def _(make):
    windows = {"ksize": (2, 2), "unpooling_type": "max", "strides": (2, 2)}
    yield make(x=(2, 3, 2, 3), indices=_places((2, 3, 2, 3), 24), output_size=(4, 6), **windows)
    yield make(x=(1, 2, 3, 2), indices=_places((1, 2, 3, 2), 35), output_size=(7, 5), **windows)
    yield make(x=(0, 3, 2, 3), indices=ints((0, 3, 2, 3), 24, dtype="int32"), output_size=(4, 6), **windows)


@unpool3d.samples
def _(make):
    windows = {"ksize": (2, 2, 1), "strides": (2, 2, 1)}
    yield make(x=(2, 3, 2, 1, 3), indices=_places((2, 3, 2, 1, 3), 24), output_size=(4, 2, 3), **windows)
