"""Pooling by a norm: the sum of the p-th powers of every window, and its p-th root."""

from __future__ import annotations

import math

from ...core.errors import OperatorError
from ..opdef import Like, Trait, op
from ..samples import distinct, uniform
from .pool import back, first, lines_of, maximum, pooled, spread, total
from .window import Window


@op("window_sum", "X -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def window_sum(k, x, *, window):
    """Sum of every window of an image: the transpose of ``window_spread``."""
    x = first(k, x, window)
    lines = lines_of("window_sum", x.shape[2:], window)
    for axis, line in enumerate(lines, 2):
        x = total(k.xp, x, axis, line)
    return back(k, x, window)


@op("window_spread", "X Y -> Out", attrs={"window": None}, trait=Trait.INTERNAL)
def window_spread(k, x, like, *, window):
    """Every element of *x* added to each element of its window of an image in the shape of *like*."""
    x, image = first(k, x, window), first(k, like, window).shape[2:]
    for axis, line in reversed([*enumerate(lines_of("window_spread", image, window), 2)]):
        x = spread(k.xp, x, axis, line)
    return back(k, x, window)


@window_sum.gradient
def _(k, x: Like, dout, *, window):
    return k.window_spread(dout, x, window=window)


@window_spread.gradient(wrt="X")
def _(k, dout, *, window):
    return k.window_sum(dout, window=window)


ATTRS = {
    "kernel_size": (1, 1),
    "strides": (1, 1),
    "paddings": (0, 0),
    "ceil_mode": False,
    "exclusive": True,
    "data_format": "NCHW",
    "pooling_type": "",
    "global_pooling": False,
    "adaptive": False,
    "padding_algorithm": "EXPLICIT",
    "norm_type": 0.0,
}


def _window(attrs):
    return Window.of({**attrs, "ksize": attrs["kernel_size"]})


@op("lp_pool2d", "x KernelSizeTensor? KernelSizeTensorList* -> out", attrs=ATTRS)
def lp_pool2d(k, x, size, sizes, *, norm_type, **attrs):
    """``(Σ x^p)^(1/p)`` of every window of an image, p being ``norm_type``; with infinity the maximum."""
    window = _window(attrs)
    if norm_type == math.inf:
        return maximum(k, x, window)
    return window_sum.kernel(k, x**norm_type, window=window) ** (1 / norm_type)


@lp_pool2d.infer
def _(x, size, sizes, *, norm_type, **attrs):
    if norm_type == 0:
        raise OperatorError("lp_pool2d: norm_type must not be 0")
    if size is not None or sizes:
        raise OperatorError("lp_pool2d: the size of the windows is an attribute, kernel_size, not a tensor")
    return pooled("lp_pool2d", x, _window(attrs))


@lp_pool2d.gradient(wrt="x")
def _(k, x, size: Like, sizes: Like, out, dout, *, norm_type, **attrs):
    window = _window(attrs)
    if norm_type == math.inf:
        return k.put_largest(dout, x, out, window=window)
    if norm_type == 1:
        return k.window_spread(dout, x, window=window)
    return k.window_spread(dout * out ** (1 - norm_type), x, window=window) * x ** (norm_type - 1)


@lp_pool2d.samples
def _(make):
    image = uniform(0.5, 2.0, (2, 3, 5, 4))
    yield make(x=image, sizes=[], kernel_size=(2, 3), strides=(2, 1), norm_type=2.0)
    yield make(x=image, sizes=[], kernel_size=(3, 2), strides=(1, 2), paddings=(1, 0), norm_type=3.0)
    yield make(x=image, sizes=[], kernel_size=(3, 2), strides=(2, 2), ceil_mode=True, norm_type=1.5)
    yield make(x=image, sizes=[], kernel_size=(2, 2), norm_type=1.0)
    yield make(x=distinct((2, 3, 5, 4)), sizes=[], kernel_size=(2, 2), strides=(2, 1), norm_type=math.inf)
    yield make(x=uniform(0.5, 2.0, (1, 4, 5, 2)), sizes=[], kernel_size=(2, 2), norm_type=2.0, data_format="NHWC")
    yield make(x=(0, 3, 5, 4), sizes=[], kernel_size=(2, 2), norm_type=2.0)
