"""Resizing the inner dimensions: each element of the result is a weighted sum of a few elements, axis by axis."""

from __future__ import annotations

import numpy as np

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import exactly
from ..writing import add_sorted
from .shape_tensors import whole, wholes

RESIZE = {
    "data_layout": "NCHW",
    "out_d": 0,
    "out_h": 0,
    "out_w": 0,
    "scale": (),
    "interp_method": "bilinear",
    "align_corners": True,
    "align_mode": 1,
}
SIZES = "OutSize? SizeTensor* Scale?"
SIZED = "OutSize SizeTensor Scale"


def _inner(ndim, data_layout):
    """The axes that are resized."""
    return range(1, ndim - 1) if data_layout in ("NHWC", "NDHWC") else range(2, ndim)


def _sizes(shape, axes, attrs, out_size, size_list, scale_tensor):
    """New size of each of *axes*, and its scale as given, if it was given as such."""
    sizes = [attrs["out_d"], attrs["out_h"], attrs["out_w"]][-len(axes) :]
    scales = list(attrs["scale"])
    if size_list:
        sizes, scales = list(wholes(size_list)), []
    elif out_size is not None:
        sizes, scales = list(whole(out_size)), []
    elif scale_tensor is not None:
        scales = [float(s) for s in scale_tensor.reshape(-1)]
    if scales:
        scales = scales * len(axes) if len(scales) == 1 else scales
        sizes = [UNKNOWN if shape[a] == UNKNOWN else int(shape[a] * s) for a, s in zip(axes, scales, strict=True)]
    return sizes, scales


# -- where the elements of one axis come from -------------------------------------------------------------------------
#
# Each function gives pairs of source places and weights, both one per place of the resized axis; weights are None
# where there is but one source.


def _nearest(xp, places, size, ratio, attrs):
    if attrs["align_corners"]:
        return [(xp.minimum((places * ratio + 0.5).astype("int64"), size - 1), None)]
    return [(xp.minimum(xp.floor(places * ratio).astype("int64"), size - 1), None)]


def _linear(xp, places, size, ratio, attrs):
    centered = attrs["align_mode"] == 0 and not attrs["align_corners"]
    at = xp.maximum((places + 0.5) * ratio - 0.5, 0) if centered else places * ratio
    low = xp.minimum(xp.floor(at).astype("int64"), size - 1)
    share = xp.clip(at - low, 0, 1)
    return [(low, 1 - share), (xp.minimum(low + 1, size - 1), share)]


def _cubic(xp, places, size, ratio, attrs):
    """Convolution with a piecewise cubic kernel whose parameter is -0.75 (Keys 1981)."""
    at = places * ratio if attrs["align_corners"] else (places + 0.5) * ratio - 0.5
    low = xp.floor(at).astype("int64")
    a, t = -0.75, at - low

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weights = far(t + 1), near(t), near(1 - t), far(2 - t)
    return [(xp.clip(low + i - 1, 0, size - 1), w) for i, w in enumerate(weights)]


METHODS = {"nearest": _nearest, "linear": _linear, "bilinear": _linear, "trilinear": _linear, "bicubic": _cubic}
RANKS = {"nearest": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,)}
"""By method the numbers of dimensions of what it resizes."""


def _axes(k, shape, out_size, size_list, scale_tensor, attrs):
    """(axis, sources) for each axis that is resized."""
    axes = _inner(len(shape), attrs["data_layout"])
    sizes, scales = _sizes(shape, axes, attrs, out_size, size_list, scale_tensor)
    for i, (axis, new) in enumerate(zip(axes, sizes, strict=True)):
        if attrs["align_corners"]:
            ratio = (shape[axis] - 1) / (new - 1) if new > 1 else 0.0
        else:
            ratio = 1 / scales[i] if scales and scales[i] else shape[axis] / new
        yield axis, METHODS[attrs["interp_method"]](k.xp, k.xp.arange(new), shape[axis], ratio, attrs)


def _along(xp, weights, x, axis):
    """*weights* in the dtype of *x*, to be multiplied along *axis*."""
    return weights.astype(x.dtype).reshape((-1,) + (1,) * (x.ndim - 1 - axis))


BLOCK = 1 << 17
"""Elements that are worked on at a time."""


def _by_images(function, x, axes):
    """*function* of *x*: on NumPy, of some images after the other, which stay in the processor's cache between passes.

    Args:
        axes: those that are resized, with their sources; where there are no weights there is one pass each.
    """
    weighted = any(sources[0][1] is not None for _, sources in axes)
    if not weighted or not isinstance(x, np.ndarray) or x.size <= BLOCK:
        return function(x)
    step = max(1, BLOCK * x.shape[0] // x.size)
    first = function(x[:step])
    out = np.empty((x.shape[0], *first.shape[1:]), first.dtype)
    out[:step] = first
    for start in range(step, x.shape[0], step):
        out[start : start + step] = function(x[start : start + step])
    return out


@op("resize", f"X {SIZES} -> Out", attrs=RESIZE, trait=Trait.INTERNAL)
def resize(k, x, out_size, size_list, scale_tensor, **attrs):
    """The inner dimensions of *x* resized."""
    axes = list(_axes(k, x.shape, out_size, size_list, scale_tensor, attrs))

    def resized(x):
        for axis, sources in axes:
            total = None
            for source, w in sources:
                part = k.xp.take(x, source, axis=axis)
                if w is not None:
                    part *= _along(k.xp, w, x, axis)
                if total is None:
                    total = part
                else:
                    total += part
            x = total
        return x

    return _by_images(resized, x, axes)


@op("unresize", f"X Y {SIZES} -> Out", attrs=RESIZE, trait=Trait.INTERNAL)
def unresize(k, x, like, out_size, size_list, scale_tensor, **attrs):
    """Every element of *x* shared among its sources in the shape of *like*: the transpose of ``resize``."""
    axes = list(_axes(k, like.shape, out_size, size_list, scale_tensor, attrs))

    def shared(x):
        for axis, sources in axes:
            out = k.xp.zeros((*x.shape[:axis], like.shape[axis], *x.shape[axis + 1 :]), x.dtype)
            for source, w in sources:
                out = add_sorted(out, axis, source, x if w is None else x * _along(k.xp, w, x, axis))
            x = out
        return x

    return _by_images(shared, x, axes)


@resize.gradient(wrt="X")
def _(k, x: Like, out_size, size_list, scale_tensor, dout, **attrs):
    return k.unresize(dout, x, out_size, size_list, scale_tensor, **attrs)


@unresize.gradient(wrt="X")
def _(k, out_size, size_list, scale_tensor, dout, **attrs):
    return k.resize(dout, out_size, size_list, scale_tensor, **attrs)


# -- what programs hold -----------------------------------------------------------------------------------------------


def _first(attrs):
    """The attributes of an operator of Paddle's first version, as the others have them."""
    return {**attrs, "scale": (attrs["scale"],) if attrs["scale"] > 0 else ()}


def _define(name, doc, first=False):
    """An operator that resizes; its attribute says how, whatever the type is called.

    Args:
        first: the operator of Paddle's first version.
    """
    type_ = f"{name}_interp" if first else f"{name}_interp_v2"
    read = _first if first else dict

    def kernel(k, x, out_size, size_list, scale_tensor, **attrs):
        return resize.kernel(k, x, out_size, size_list, scale_tensor, **read(attrs))

    kernel.__doc__ = doc
    defaults = {**RESIZE, "scale": 0.0} if first else RESIZE
    definition = op(type_ if first else name, f"X {SIZES} -> Out", type=type_, attrs=defaults, sized=SIZED)(kernel)

    @definition.infer
    def _(x, out_size, size_list, scale_tensor, **attrs):
        attrs = read(attrs)
        method = attrs["interp_method"]
        if method not in RANKS:
            raise OperatorError(f"{type_}: interp_method must be one of {', '.join(RANKS)}, not {method!r}")
        if x.ndim not in RANKS[method]:
            wanted = " or ".join(map(str, RANKS[method]))
            raise ShapeError(f"{type_}: X {list(x.shape)} must have {wanted} dimensions for interp_method {method!r}")
        axes = _inner(x.ndim, attrs["data_layout"])
        sizes, _ = _sizes(x.shape, axes, attrs, None, (), None)
        if out_size is not None or scale_tensor is not None or size_list:
            numbers = sizes if size_list and not attrs["scale"] else [UNKNOWN] * len(axes)
            sizes = [n if n > 0 else UNKNOWN for n in numbers]
        elif any(n == 0 or (n < 0 and x.shape[a] != UNKNOWN) for a, n in zip(axes, sizes, strict=True)):
            raise ShapeError(f"{type_}: X {list(x.shape)} cannot be resized to {sizes}")
        dims = dict(zip(axes, sizes, strict=True))
        return x.replace_shape(dims.get(i, d) for i, d in enumerate(x.shape))

    @definition.gradient(wrt="X")
    def _(k, x: Like, out_size, size_list, scale_tensor, dout, **attrs):
        return k.unresize(dout, x, out_size, size_list, scale_tensor, **read(attrs))

    return definition


nearest = _define("nearest", "The inner dimensions resized; each element is the nearest one of *x*.")
linear = _define("linear", "The length of sequences resized, linearly between two neighbours.")
bilinear = _define("bilinear", "Images resized, linearly along rows and columns.")
trilinear = _define("trilinear", "Volumes resized, linearly along each of the three inner dimensions.")
bicubic = _define("bicubic", "Images resized by cubic convolution along rows and columns.")
nearest_interp = _define("nearest", "Images resized; each element is the nearest one of *x*.", first=True)
bilinear_interp = _define("bilinear", "Images resized, linearly along rows and columns.", first=True)


def _ways(method, **attrs):
    """Attributes of a sample: what they are with Paddle's functions, where *attrs* say nothing else."""
    return {"size_list": [], "interp_method": method, "align_corners": False, **attrs}


@nearest.samples
def _(make):
    yield make(x=(2, 3, 4, 5), **_ways("nearest", scale=(2.0, 3.0)))
    yield make(x=(1, 2, 4, 5), **_ways("nearest", out_h=6, out_w=3))
    yield make(x=(1, 4, 5, 2), **_ways("nearest", out_h=7, out_w=3, data_layout="NHWC", align_corners=True))
    yield make(x=(1, 2, 2, 3, 2), **_ways("nearest", out_d=3, out_h=2, out_w=5, data_layout="NCDHW"))
    yield make(x=(1, 2, 4), **_ways("nearest", out_w=6, data_layout="NCW"))
    yield make(x=(1, 2, 3, 4), **_ways("nearest", scale_tensor=exactly([2], "int32")))
    yield make(x=(1, 2, 3, 4), **_ways("nearest", out_size=exactly([2, 5], "int32")))
    yield make(x=(1, 2, 3, 4), **_ways("nearest", size_list=[exactly([5], "int32"), exactly([2], "int32")]))
    yield make(x=(0, 2, 3, 4), **_ways("nearest", scale=(2.0,)))


@linear.samples
def _(make):
    yield make(x=(2, 3, 4), **_ways("linear", out_w=7))
    yield make(x=(2, 4, 3), **_ways("linear", scale=(0.5,), data_layout="NHWC", align_mode=0))


@bilinear.samples
def _(make):
    yield make(x=(2, 3, 4, 5), **_ways("bilinear", scale=(2.0, 1.5), align_mode=0))
    yield make(x=(2, 3, 4, 5), **_ways("bilinear", out_h=7, out_w=3))
    yield make(x=(1, 2, 4, 5), **_ways("bilinear", out_h=1, out_w=8, align_corners=True))
    yield make(x=(1, 4, 5, 2), **_ways("bilinear", out_h=6, out_w=3, data_layout="NHWC", align_mode=0))
    yield make(x=(1, 2, 3, 4), **_ways("bilinear", out_size=exactly([2, 5], "int32")))
    yield make(x=(0, 2, 3, 4), **_ways("bilinear", scale=(2.0,)))


@trilinear.samples
def _(make):
    yield make(x=(1, 2, 2, 3, 4), **_ways("trilinear", out_d=3, out_h=2, out_w=5, data_layout="NCDHW", align_mode=0))


@bicubic.samples
def _(make):
    yield make(x=(2, 3, 4, 5), **_ways("bicubic", out_h=7, out_w=3))
    yield make(x=(1, 2, 4, 5), **_ways("bicubic", out_h=1, out_w=8, align_corners=True))
    yield make(x=(1, 4, 3, 2), **_ways("bicubic", scale=(2.0, 1.5), data_layout="NHWC"))


def _first_samples(definition, method):
    @definition.samples
    def _(make):
        yield make(x=(1, 2, 3, 4), size_list=[], interp_method=method, out_h=5, out_w=3)
        yield make(x=(1, 2, 3, 4), **_ways(method, scale=1.7))
        yield make(x=(1, 3, 4, 2), **_ways(method, out_h=5, out_w=3, align_mode=0, data_layout="NHWC"))
        yield make(x=(1, 2, 3, 4), **_ways(method, out_size=exactly([2, 5], "int32")))


_first_samples(nearest_interp, "nearest")
_first_samples(bilinear_interp, "bilinear")
