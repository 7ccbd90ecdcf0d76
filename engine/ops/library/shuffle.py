"""Moving elements between channels and places: pixel and channel shuffle, shift along time."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Trait, op
from ..writing import put


def _image(name, x, data_format):
    """Batch, channels, rows and columns of *x*; which of its axes are channels, rows and columns."""
    if x.ndim != 4:
        raise ShapeError(f"{name}: X {list(x.shape)} must have 4 dimensions")
    if data_format not in ("NCHW", "NHWC"):
        raise OperatorError(f"{name}: data_format must be NCHW or NHWC, not {data_format!r}")
    n, *rest = x.shape
    (h, w, c) = rest if data_format == "NHWC" else (rest[1], rest[2], rest[0])
    return n, c, h, w


def _shape(n, c, h, w, data_format):
    return (n, h, w, c) if data_format == "NHWC" else (n, c, h, w)


def _divided(name, size, by, what, shape):
    """*size* / *by*; raises :class:`ShapeError` where that is not whole."""
    if by < 1:
        raise OperatorError(f"{name}: what {what} are divided by must be at least 1, not {by}")
    if size == UNKNOWN:
        return UNKNOWN
    if size % by:
        raise ShapeError(f"{name}: the {size} {what} of X {list(shape)} cannot be divided by {by}")
    return size // by


def _times(size, by):
    return UNKNOWN if size == UNKNOWN else size * by


@op("pixel_shuffle", attrs={"upscale_factor": 1, "data_format": "NCHW"})
def pixel_shuffle(k, x, *, upscale_factor, data_format):
    """Images enlarged by a factor r, each square of r · r elements from r · r channels (Shi et al. 2016)."""
    r = upscale_factor
    n, c, h, w = _image("pixel_shuffle", x, data_format)
    c //= r * r
    if data_format == "NHWC":
        return x.reshape((n, h, w, c, r, r)).transpose((0, 1, 4, 2, 5, 3)).reshape((n, h * r, w * r, c))
    return x.reshape((n, c, r, r, h, w)).transpose((0, 1, 4, 2, 5, 3)).reshape((n, c, h * r, w * r))


@pixel_shuffle.infer
def _(x, *, upscale_factor, data_format):
    r = upscale_factor
    n, c, h, w = _image("pixel_shuffle", x, data_format)
    c = _divided("pixel_shuffle", c, r * r, "channels", x.shape)
    return x.replace_shape(_shape(n, c, _times(h, r), _times(w, r), data_format))


@pixel_shuffle.gradient
def _(k, dout, *, upscale_factor, data_format):
    return k.pixel_unshuffle(dout, downscale_factor=upscale_factor, data_format=data_format)


@op("pixel_unshuffle", attrs={"downscale_factor": 1, "data_format": "NCHW"})
def pixel_unshuffle(k, x, *, downscale_factor, data_format):
    """The reverse of ``pixel_shuffle``: images made smaller by a factor r, with r · r times as many channels."""
    r = downscale_factor
    n, c, h, w = _image("pixel_unshuffle", x, data_format)
    h, w = h // r, w // r
    if data_format == "NHWC":
        return x.reshape((n, h, r, w, r, c)).transpose((0, 1, 3, 5, 2, 4)).reshape((n, h, w, c * r * r))
    return x.reshape((n, c, h, r, w, r)).transpose((0, 1, 3, 5, 2, 4)).reshape((n, c * r * r, h, w))


@pixel_unshuffle.infer
def _(x, *, downscale_factor, data_format):
    r = downscale_factor
    n, c, h, w = _image("pixel_unshuffle", x, data_format)
    h, w = (_divided("pixel_unshuffle", size, r, "rows or columns", x.shape) for size in (h, w))
    return x.replace_shape(_shape(n, _times(c, r * r), h, w, data_format))


@pixel_unshuffle.gradient
def _(k, dout, *, downscale_factor, data_format):
    return k.pixel_shuffle(dout, upscale_factor=downscale_factor, data_format=data_format)


def _dealt(x, groups, data_format, back):
    """Channels in the order in which the members of *groups* groups take turns, or back again."""
    n, c, h, w = _image("channel_shuffle", x, data_format)
    pair = (c // groups, groups) if back else (groups, c // groups)
    if data_format == "NHWC":
        return x.reshape((n, h, w, *pair)).swapaxes(3, 4).reshape(x.shape)
    return x.reshape((n, *pair, h, w)).swapaxes(1, 2).reshape(x.shape)


@op("channel_shuffle", attrs={"groups": 1, "data_format": "NCHW"})
def channel_shuffle(k, x, *, groups, data_format):
    """Channels rearranged so that those of different groups take turns (Zhang et al. 2018)."""
    return _dealt(x, groups, data_format, back=False)


@channel_shuffle.infer
def _(x, *, groups, data_format):
    _, c, _, _ = _image("channel_shuffle", x, data_format)
    _divided("channel_shuffle", c, groups, "channels", x.shape)
    return x


@channel_shuffle.gradient
def _(k, dout, **attrs):
    return k.channel_unshuffle(dout, **attrs)


@op("channel_unshuffle", attrs={"groups": 1, "data_format": "NCHW"}, trait=Trait.INTERNAL)
def channel_unshuffle(k, x, *, groups, data_format):
    """The reverse of ``channel_shuffle``."""
    return _dealt(x, groups, data_format, back=True)


@channel_unshuffle.gradient
def _(k, dout, **attrs):
    return k.channel_shuffle(dout, **attrs)


SHIFT = {"seg_num": 1, "shift_ratio": 0.25, "data_format": "NCHW"}


def _shifted(k, x, seg_num, shift_ratio, data_format, forward):
    """A part of the channels moved by one step of time in either direction, zeros at the ends."""
    _, c, _, _ = _image("temporal_shift", x, data_format)
    y = x if data_format == "NCHW" else k.xp.moveaxis(x, -1, 1)
    frames = y.reshape((-1, seg_num, *y.shape[1:]))
    out = k.xp.array(frames)
    first, second = int(c * shift_ratio), int(c * 2 * shift_ratio)
    for low, high, earlier in ((0, first, forward), (first, second, not forward)):
        channels = slice(low, high)
        out = put(out, (slice(None), slice(None), channels), 0)
        if earlier:
            out = put(out, (slice(None), slice(1, None), channels), frames[:, :-1, channels])
        else:
            out = put(out, (slice(None), slice(-1), channels), frames[:, 1:, channels])
    out = out.reshape(y.shape)
    return out if data_format == "NCHW" else k.xp.moveaxis(out, 1, -1)


@op("temporal_shift", attrs=SHIFT)
def temporal_shift(k, x, *, seg_num, shift_ratio, data_format):
    """Some channels of each frame from the frame before, as many from the frame after (Lin et al. 2019)."""
    return _shifted(k, x, seg_num, shift_ratio, data_format, forward=True)


@temporal_shift.infer
def _(x, *, seg_num, shift_ratio, data_format):
    n, _, _, _ = _image("temporal_shift", x, data_format)
    _divided("temporal_shift", n, seg_num, "frames", x.shape)
    if not 0 <= shift_ratio <= 0.5:
        raise OperatorError(f"temporal_shift: shift_ratio must lie between 0 and 0.5, but is {shift_ratio}")
    return x


@temporal_shift.gradient
def _(k, dout, **attrs):
    return k.temporal_unshift(dout, **attrs)


@op("temporal_unshift", attrs=SHIFT, trait=Trait.INTERNAL)
def temporal_unshift(k, x, *, seg_num, shift_ratio, data_format):
    """The transpose of ``temporal_shift``: it moves the other way."""
    return _shifted(k, x, seg_num, shift_ratio, data_format, forward=False)


@temporal_unshift.gradient
def _(k, dout, **attrs):
    return k.temporal_shift(dout, **attrs)


@pixel_shuffle.samples
def _(make):
    yield make(x=(2, 8, 3, 5), upscale_factor=2)
    yield make(x=(1, 3, 5, 9), upscale_factor=3, data_format="NHWC")
    yield make(x=(0, 4, 3, 5), upscale_factor=2)


@pixel_unshuffle.samples
def _(make):
    yield make(x=(2, 3, 4, 6), downscale_factor=2)
    yield make(x=(1, 6, 9, 2), downscale_factor=3, data_format="NHWC")
    yield make(x=(0, 3, 4, 6), downscale_factor=2)


@channel_shuffle.samples
def _(make):
    yield make(x=(2, 6, 3, 5), groups=2)
    yield make(x=(2, 3, 5, 6), groups=3, data_format="NHWC")
    yield make(x=(0, 6, 3, 5), groups=2)


@temporal_shift.samples
def _(make):
    yield make(x=(6, 8, 3, 5), seg_num=3)
    yield make(x=(4, 3, 5, 9), seg_num=2, shift_ratio=0.4, data_format="NHWC")
    yield make(x=(0, 4, 3, 5), seg_num=2)
