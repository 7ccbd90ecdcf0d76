"""Normalisation: subtracting a mean and dividing by a standard deviation.

The four operators differ in the dimensions that mean and variance are taken over. Their gradients compute both again
from X instead of reading the saved ones, because only so is the gradient of the gradient complete.
"""

from __future__ import annotations

import math

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..infer import product
from ..opdef import Like, Trait, op
from ..samples import uniform

# -- shared -----------------------------------------------------------------------------------------------------------


def _moments(xp, x, dims):
    """Mean and (population) variance over *dims*, which stay as ones."""
    count = max(1, math.prod(x.shape[d] for d in dims))
    mean = x.sum(axis=dims, keepdims=True) / count
    centred = x - mean
    return mean, (centred * centred).sum(axis=dims, keepdims=True) / count


def _shifted(xp, x, scale, bias, axis):
    """``x · scale + bias``, both with their dimension at *axis* of *x*."""
    trailing = (1,) * (x.ndim - 1 - axis)
    if scale is not None:
        x = x * scale.reshape((-1, *trailing))
    return x if bias is None else x + bias.reshape((-1, *trailing))


def _mean(k, x, dims):
    """Mean over *dims*, which stay as ones; *x* itself over none (to ``reduce_sum``, no dimensions are all)."""
    if not dims:
        return x
    total = k.reduce_sum(x, dim=dims, keep_dim=True)
    return total * (k.size_of(total) / k.size_of(x))


def _standard(k, x, dims, epsilon):
    """*x* with mean 0 and variance 1 over *dims*, and the inverse of its standard deviation."""
    centred = x - _mean(k, x, dims)
    inverse = k.power(_mean(k, centred * centred, dims) + epsilon, factor=-0.5)
    return centred * inverse, inverse


def _by_input(k, x, dy, dims, epsilon):
    """The gradient by *x* of its standardised form, whose gradient is *dy*."""
    y, inverse = _standard(k, x, dims, epsilon)
    return inverse * (dy - _mean(k, dy, dims) - y * _mean(k, dy * y, dims))


def _gradients(k, x, scale, bias, dy, dims, axis, epsilon):
    """Gradients by X, Scale and Bias where X is standardised over *dims* and the others stand at *axis*."""
    return (
        lambda: _by_input(k, x, dy if scale is None else k.mul(dy, scale, axis=axis), dims, epsilon),
        None if scale is None else lambda: k.sum_to(dy * _standard(k, x, dims, epsilon)[0], scale, axis=axis),
        None if bias is None else lambda: k.sum_to(dy, bias, axis=axis),
    )


def _check(name, x, least):
    if x.ndim < least:
        raise ShapeError(f"{name}: X {list(x.shape)} must have at least {least} dimensions")
    if not x.dtype.is_floating:
        raise DtypeError(f"{name}: X must be of a floating-point type, but is {x.dtype.name}")


def _check_sizes(name, size, what, specs):
    """Raise :class:`ShapeError` unless each of *specs* (slot -> spec or None) is a vector of that *size*."""
    for slot, spec in specs.items():
        if spec is None or UNKNOWN in (size, product(spec.shape)):
            continue
        if product(spec.shape) != size:
            raise ShapeError(f"{name}: {slot} {list(spec.shape)} must have {size} elements, as many as {what}")


def _channel_axis(name, x, data_layout):
    if data_layout not in ("NCHW", "NHWC"):
        raise OperatorError(f"{name}: data_layout must be NCHW or NHWC, not {data_layout!r}")
    return 1 if data_layout == "NCHW" or x.ndim == 2 else x.ndim - 1


# -- over the batch ---------------------------------------------------------------------------------------------------

BATCH = {
    "momentum": 0.9,
    "epsilon": 1e-5,
    "data_layout": "NCHW",
    "is_test": False,
    "use_global_stats": False,
    "trainable_statistics": False,
}


def _uses_running(is_test, use_global_stats, trainable_statistics):
    """Return whether running statistics take the place of those of the batch."""
    return use_global_stats or (is_test and not trainable_statistics)


def _alone(x, axis):
    """Return whether every channel has one element, which is its own mean: Paddle hands it on, and learns nothing of
    it.
    """
    return math.prod(size for d, size in enumerate(x.shape) if d != axis) == 1


@op(
    "batch_norm",
    "X Scale? Bias? Mean Variance MomentumTensor? -> SavedMean SavedVariance ReserveSpace? Y MeanOut VarianceOut",
    attrs=BATCH,
)
def batch_norm(
    k,
    x,
    scale,
    bias,
    mean,
    variance,
    momentum_tensor,
    *,
    momentum,
    epsilon,
    data_layout,
    is_test,
    use_global_stats,
    trainable_statistics,
):
    """Standardise every channel over the batch, or with running statistics, then multiply by Scale and add Bias.

    In training the running statistics become ``momentum · old + (1 - momentum) · batch``, with the population variance.
    ``SavedVariance`` is the inverse of the standard deviation (Ioffe and Szegedy 2015). Of one element a channel there
    is no deviation: Y is X then, and running statistics stay, as Paddle 3.1.1 does it.
    """
    xp = k.xp
    axis = _channel_axis("batch_norm", x, data_layout)
    shape = (-1, *(1,) * (x.ndim - 1 - axis))
    reserve = xp.zeros((0,), x.dtype)
    if _uses_running(is_test, use_global_stats, trainable_statistics):
        inverse = (variance + epsilon) ** -0.5
        y = _shifted(xp, (x - mean.reshape(shape)) * inverse.reshape(shape), scale, bias, axis)
        return mean, inverse, reserve, y, mean, variance
    if _alone(x, axis):
        return x.reshape(mean.shape), xp.ones_like(variance), reserve, x, mean, variance
    center, spread = _moments(xp, x, tuple(d for d in range(x.ndim) if d != axis))
    y = _shifted(xp, (x - center) * (spread + epsilon) ** -0.5, scale, bias, axis)
    if momentum_tensor is not None:
        momentum = momentum_tensor.reshape(()).astype(x.dtype)
    center, spread = center.reshape(mean.shape), spread.reshape(mean.shape)
    if not x.size:
        momentum = 1  # nothing was seen: the running statistics stay
    return (
        center,
        (spread + epsilon) ** -0.5,
        reserve,
        y,
        mean * momentum + center * (1 - momentum),
        variance * momentum + spread * (1 - momentum),
    )


@batch_norm.infer
def _(x, scale, bias, mean, variance, momentum_tensor, *, data_layout):
    _check("batch_norm", x, 2)
    channels = x.shape[_channel_axis("batch_norm", x, data_layout)]
    specs = {"Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance}
    _check_sizes("batch_norm", channels, f"X {list(x.shape)} has channels", specs)
    return mean, variance, x.replace_shape((0,)), x, mean, variance


def _test_form(attrs):
    return attrs["is_test"] or attrs["use_global_stats"]


@batch_norm.gradient(wrt="X Scale Bias", needs={"mean": _test_form, "variance": _test_form})
def _(
    k,
    x,
    scale,
    bias: Like,
    mean: Like,
    variance: Like,
    meanout: Like,
    varianceout: Like,
    savedmean,
    savedvariance,
    reservespace: Like,
    dy,
    *,
    epsilon,
    data_layout,
    is_test,
    use_global_stats,
    trainable_statistics,
):
    axis = 1 if data_layout == "NCHW" or x.ndim == 2 else x.ndim - 1
    if not _uses_running(is_test, use_global_stats, trainable_statistics):
        if _alone(x, axis):
            return (
                lambda: k.assign(dy),
                None if scale is None else lambda: k.zeros_like(scale),
                None if bias is None else lambda: k.zeros_like(bias),
            )
        return _gradients(k, x, scale, bias, dy, tuple(d for d in range(x.ndim) if d != axis), axis, epsilon)

    # Running statistics are constants: no gradient passes through them, in whatever order.
    mean, inverse = k.share_data(savedmean), k.share_data(savedvariance)

    def by_scale():
        centred = k.sub(x, mean, axis=axis)
        return k.sum_to(dy * k.mul(centred, inverse, axis=axis), scale, axis=axis)

    weighted = dy if scale is None else k.mul(dy, scale, axis=axis)
    return (
        lambda: k.mul(weighted, inverse, axis=axis),
        None if scale is None else by_scale,
        None if bias is None else lambda: k.sum_to(dy, bias, axis=axis),
    )


# -- over the last dimensions -----------------------------------------------------------------------------------------


@op("layer_norm", "X Scale? Bias? -> Mean Variance Y", attrs={"begin_norm_axis": 1, "epsilon": 1e-5})
def layer_norm(k, x, scale, bias, *, begin_norm_axis, epsilon):
    """Standardise over the dimensions from ``begin_norm_axis`` on, then multiply by Scale and add Bias (Ba 2016)."""
    shape = x.shape[:begin_norm_axis]
    rows = x.reshape((math.prod(shape), math.prod(x.shape[begin_norm_axis:])))
    mean, variance = _moments(k.xp, rows, (1,))
    y = _shifted(k.xp, (rows - mean) * (variance + epsilon) ** -0.5, scale, bias, 1)
    return mean.reshape(shape), variance.reshape(shape), y.reshape(x.shape)


@layer_norm.infer
def _(x, scale, bias, *, begin_norm_axis):
    _check("layer_norm", x, 1)
    if not 0 <= begin_norm_axis < x.ndim:
        raise ShapeError(
            f"layer_norm: begin_norm_axis {begin_norm_axis} is out of range for X {list(x.shape)}",
            hint=f"it must lie between 0 and {x.ndim - 1}",
        )
    width = product(x.shape[begin_norm_axis:])
    _check_sizes(
        "layer_norm",
        width,
        f"X {list(x.shape)} has from dimension {begin_norm_axis} on",
        {"Scale": scale, "Bias": bias},
    )
    row = x.replace_shape(x.shape[:begin_norm_axis])
    return row, row, x


@layer_norm.gradient(wrt="X Scale Bias")
def _(k, x, scale, bias: Like, mean: Like, variance: Like, dy, *, begin_norm_axis, epsilon):
    rows, dys = k.as_matrix(x, dims=begin_norm_axis), k.as_matrix(dy, dims=begin_norm_axis)
    by_x, by_scale, by_bias = _gradients(k, rows, scale, bias, dys, (1,), 1, epsilon)
    return (lambda: k.reshape_like(by_x(), x)), by_scale, by_bias


# -- over groups of channels ------------------------------------------------------------------------------------------


@op("grouped", attrs={"groups": 1, "data_layout": "NCHW"}, trait=Trait.INTERNAL | Trait.MOVES)
def grouped(k, x, *, groups, data_layout):
    """*x* as ``[batch, groups, elements]``, channel after channel."""
    x = k.xp.moveaxis(x, -1, 1) if data_layout == "NHWC" else x
    return x.reshape((x.shape[0], groups, math.prod(x.shape[1:]) // groups))


@op("ungrouped", "X Y -> Out", attrs={"data_layout": "NCHW"}, trait=Trait.INTERNAL | Trait.MOVES)
def ungrouped(k, x, like, *, data_layout):
    """The inverse of ``grouped``: *x* in the shape of *like*."""
    if data_layout != "NHWC":
        return x.reshape(like.shape)
    return k.xp.moveaxis(x.reshape((like.shape[0], like.shape[-1], *like.shape[1:-1])), 1, -1)


@grouped.gradient
def _(k, x: Like, dout, *, data_layout):
    return k.ungrouped(dout, x, data_layout=data_layout)


@ungrouped.gradient(wrt="X")
def _(k, x, dout, *, data_layout):
    return k.reshape_like(k.grouped(dout, data_layout=data_layout), x)


def _group_standard(k, x, groups, epsilon, data_layout):
    rows = k.grouped(x, groups=groups, data_layout=data_layout)
    return k.ungrouped(_standard(k, rows, (2,), epsilon)[0], x, data_layout=data_layout)


@op("group_norm", "X Scale? Bias? -> Mean Variance Y", attrs={"groups": -1, "epsilon": 1e-5, "data_layout": "NCHW"})
def group_norm(k, x, scale, bias, *, groups, epsilon, data_layout):
    """Standardise every group of channels of every image, then multiply by Scale and add Bias (Wu and He 2018)."""
    rows = grouped.kernel(k, x, groups=groups, data_layout=data_layout)
    mean, variance = _moments(k.xp, rows, (2,))
    y = ungrouped.kernel(k, (rows - mean) * (variance + epsilon) ** -0.5, x, data_layout=data_layout)
    axis = _channel_axis("group_norm", x, data_layout)
    return mean.reshape(mean.shape[:2]), variance.reshape(mean.shape[:2]), _shifted(k.xp, y, scale, bias, axis)


@group_norm.infer
def _(x, scale, bias, *, groups, data_layout):
    _check("group_norm", x, 2)
    channels = x.shape[_channel_axis("group_norm", x, data_layout)]
    if groups < 1 or (channels != UNKNOWN and channels % groups):
        raise ShapeError(
            f"group_norm: the {channels} channels of X {list(x.shape)} cannot be divided into {groups} groups"
        )
    _check_sizes("group_norm", channels, f"X {list(x.shape)} has channels", {"Scale": scale, "Bias": bias})
    moments = x.replace_shape((x.shape[0], groups))
    return moments, moments, x


@group_norm.gradient(wrt="X Scale Bias")
def _(k, x, scale, bias: Like, mean: Like, variance: Like, y: Like, dy, *, groups, epsilon, data_layout):
    axis = 1 if data_layout == "NCHW" or x.ndim == 2 else x.ndim - 1

    def by_x():
        weighted = dy if scale is None else k.mul(dy, scale, axis=axis)
        rows = k.grouped(x, groups=groups, data_layout=data_layout)
        dys = k.grouped(weighted, groups=groups, data_layout=data_layout)
        return k.ungrouped(_by_input(k, rows, dys, (2,), epsilon), x, data_layout=data_layout)

    def by_scale():
        return k.sum_to(dy * _group_standard(k, x, groups, epsilon, data_layout), scale, axis=axis)

    return (
        by_x,
        None if scale is None else by_scale,
        None if bias is None else lambda: k.sum_to(dy, bias, axis=axis),
    )


# -- over every channel of every image --------------------------------------------------------------------------------


@op("instance_norm", "X Scale? Bias? -> SavedMean SavedVariance Y", attrs={"epsilon": 1e-5})
def instance_norm(k, x, scale, bias, *, epsilon):
    """Standardise every channel of every image, then multiply by Scale and add Bias (Ulyanov 2016).

    ``SavedVariance`` is the inverse of the standard deviation.
    """
    mean, variance = _moments(k.xp, x, tuple(range(2, x.ndim)))
    inverse = (variance + epsilon) ** -0.5
    return mean.reshape(-1), inverse.reshape(-1), _shifted(k.xp, (x - mean) * inverse, scale, bias, 1)


@instance_norm.infer
def _(x, scale, bias):
    _check("instance_norm", x, 2)
    _check_sizes("instance_norm", x.shape[1], f"X {list(x.shape)} has channels", {"Scale": scale, "Bias": bias})
    moments = x.replace_shape((product(x.shape[:2]),))
    return moments, moments, x


@instance_norm.gradient(wrt="X Scale Bias")
def _(k, x, scale, bias: Like, savedmean: Like, savedvariance: Like, dy, *, epsilon):
    return _gradients(k, x, scale, bias, dy, tuple(range(2, x.ndim)), 1, epsilon)


# -- samples ----------------------------------------------------------------------------------------------------------


@batch_norm.samples
def _(make):
    for attrs in (
        {},
        {"is_test": True},
        {"use_global_stats": True},
        {"is_test": True, "trainable_statistics": True, "momentum": 0.7},
    ):
        yield make(x=(4, 3, 2, 5), scale=(3,), bias=(3,), mean=(3,), variance=uniform(0.5, 2, (3,)), **attrs)
    vectors = {"mean": (3,), "variance": uniform(0.5, 2, (3,))}
    yield make(x=(5, 3), scale=(3,), bias=(3,), epsilon=0.1, **vectors)
    yield make(x=(4, 2, 5, 3), scale=(3,), bias=(3,), data_layout="NHWC", **vectors)
    yield make(x=(4, 3, 6), **vectors)
    yield make(x=(4, 3, 6), is_test=True, **vectors)
    yield make(x=(1, 3, 1, 1), scale=(3,), bias=(3,), **vectors)


@layer_norm.samples
def _(make):
    yield make(x=(4, 6), scale=(6,), bias=(6,))
    yield make(x=(3, 4, 5), scale=(5,), bias=(5,), begin_norm_axis=2, epsilon=0.1)
    yield make(x=(3, 4, 5), scale=(20,))
    yield make(x=(3, 4, 5), bias=(20,))
    yield make(x=(3, 4, 5), begin_norm_axis=2)
    yield make(x=(0, 4), scale=(4,), bias=(4,))


@group_norm.samples
def _(make):
    yield make(x=(2, 6, 3, 4), scale=(6,), bias=(6,), groups=2)
    yield make(x=(2, 6, 5), groups=3, epsilon=0.1)
    yield make(x=(2, 4, 3), scale=(4,), groups=1)
    yield make(x=(2, 3, 5, 4), scale=(4,), bias=(4,), groups=2, data_layout="NHWC")
    yield make(x=(0, 4, 3), groups=2)


@instance_norm.samples
def _(make):
    yield make(x=(2, 3, 4, 5), scale=(3,), bias=(3,))
    yield make(x=(2, 3, 6), epsilon=0.1)
    yield make(x=(2, 3, 4), scale=(3,))
    yield make(x=(2, 3, 4), bias=(3,))
    yield make(x=(2, 3), scale=(3,), bias=(3,))
    yield make(x=(0, 3, 4), scale=(3,), bias=(3,))
