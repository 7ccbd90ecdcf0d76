"""``F.pad``, ``F.interpolate``, ``F.one_hot``: tensors made larger."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.paddle._arguments import INTEGERS, dims, integer, integers, tensor
from gradtool.paddle._creation import fill
from gradtool.paddle._dispatch import apply, layer_name
from gradtool.paddle._manipulation import concat, squeeze, unsqueeze
from gradtool.paddle._remembered import remembered

from ._pooling import adaptive_avg_pool2d
from ._pooling1d import adaptive_avg_pool1d
from ._pooling3d import adaptive_avg_pool3d

RANKS = {
    "nearest": (4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "trilinear": (5,),
    "bicubic": (4,),
    "area": (3, 4, 5),
}
"""How many dimensions each way of resizing takes."""

PAD_MODES = ("constant", "reflect", "replicate", "circular")


class PadModeError(UsageError, AssertionError):
    """A padding mode that does not exist (Paddle raises AssertionError)."""


def one_hot(x: Any, num_classes: Any, name: str | None = None) -> AnyTensor:
    """For each whole number in *x* a vector of *num_classes* zeros with a one at that place.

    Args:
        num_classes: a number, or a variable of one element; in dynamic mode -1 for one more than the largest of *x*.
    """
    where = "paddle.nn.functional.one_hot"
    x = tensor(x, "x", where, INTEGERS)
    if isinstance(num_classes, AnyTensor):
        out = apply("one_hot_v2", x, tensor(num_classes, "num_classes", where, INTEGERS), name=name)
    else:
        depth = integer(num_classes, "num_classes", where)
        if depth == -1 and hasattr(x, "array") and x.array.size:
            depth = int(x.array.max()) + 1
        if depth < 1:
            raise UsageError(f"{where}: num_classes must be positive, but received {depth}.")
        out = apply("one_hot_v2", x, None, attrs={"depth": depth}, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> AnyTensor:
    """*x* with a border.

    Args:
        pad: for the inner dimensions of a tensor of 3, 4 or 5 dimensions, the last one first: ``[left, right, top,
            bottom, front, back]``, as many pairs as there are; a list or a variable. With ``mode="constant"`` fewer
            pairs or more also do, for the last dimensions of *x*, and two numbers for every dimension, the first
            dimension first.
        mode: ``constant``, ``reflect`` (mirrored without the edge), ``replicate`` (the edge repeated) or ``circular``.
        value: what a constant border holds.
        data_format: ``NCHW`` and the like, or ``NHWC`` with the channels last.
        pad_from_left_axis: whether two numbers for every dimension begin with the first or with the last dimension.
    """
    where = "paddle.nn.functional.pad"
    x = tensor(x, "x", where)
    if mode not in PAD_MODES:
        raise PadModeError(f"{where}: mode must be one of {', '.join(PAD_MODES)}, but received {mode!r}.")
    if isinstance(pad, AnyTensor):
        tensor(pad, "pad", where, INTEGERS)
    else:
        pad = integers(pad, "pad", where)
        if mode == "constant" and len(pad) not in (2 * x.ndim, 2 * (x.ndim - 2)) and _is_of_last(pad, x):
            # For some of the last dimensions, of which the last one comes first.
            pairs = [pad[i : i + 2] for i in range(len(pad) - 2, -1, -2)]
            whole = [0, 0] * (x.ndim - len(pairs)) + [n for pair in pairs for n in pair]
            return apply("pad", x, attrs={"paddings": whole, "pad_value": float(value)}, name=name)  # type: ignore[no-any-return]
        if mode == "constant" and len(pad) == 2 * x.ndim:
            if not pad_from_left_axis:
                pad = [n for i in range(len(pad) - 2, -1, -2) for n in pad[i : i + 2]]
            attrs = {"paddings": pad, "pad_value": float(value)}
            return apply("pad", x, attrs=attrs, name=name)  # type: ignore[no-any-return]
    if x.ndim not in (3, 4, 5):
        raise ShapeError(
            f"{where}: '{x.name}' must have 3, 4 or 5 dimensions, but its shape is {list(x.shape)}.",
            hint="give two numbers for every dimension and mode='constant'",
        )
    if isinstance(pad, list) and len(pad) != 2 * (x.ndim - 2):
        raise UsageError(f"{where}: pad must hold {2 * (x.ndim - 2)} numbers for '{x.name}', but received {pad}.")
    last = data_format is not None and data_format.endswith("C")
    # A tensor of fewer dimensions becomes one of five, with dimensions of 1 that are not padded.
    extra = {3: [2, 3] if last else [3, 4], 4: [1] if last else [2], 5: []}[x.ndim]
    attrs = {"mode": mode, "value": float(value), "data_format": "NDHWC" if last else "NCDHW"}
    paddings = None
    if isinstance(pad, AnyTensor):
        paddings = _with_zeros(pad, 2 * len(extra), after=x.ndim != 3)
    else:
        zeros = [0] * (2 * len(extra))
        attrs["paddings"] = zeros + pad if x.ndim == 3 else pad + zeros
    wide = unsqueeze(x, extra) if extra else x
    padded = apply("pad3d", wide, paddings, attrs=attrs, name=name)
    return squeeze(padded, extra) if extra else padded


def _is_of_last(pad: list[int], x: AnyTensor) -> bool:
    return len(pad) % 2 == 0 and 0 < len(pad) < 2 * x.ndim


def _with_zeros(pad: AnyTensor, count: int, *, after: bool) -> AnyTensor:
    """*pad* with *count* zeros after it, or before."""
    if not count:
        return pad
    zeros = fill([count], 0, pad.dtype)
    return concat([pad, zeros] if after else [zeros, pad])


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> AnyTensor:
    """*x* with a border of zeros: ``[left, right, top, bottom]``."""
    return pad(x, padding, "constant", 0.0, data_format, name=name)


@remembered
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    name: str | None = None,
) -> AnyTensor:
    """The inner dimensions of *x* resized.

    Args:
        size: the new sizes: a list of numbers and variables, or a variable. Either this or *scale_factor*.
        scale_factor: new size over old size: a number, a list, or a variable.
        mode: ``nearest`` for images and volumes; ``linear`` for sequences, ``bilinear`` for images, ``trilinear`` for
            volumes; ``bicubic`` for images; ``area`` for the means of the parts that *size* divides *x* into.
        align_corners: whether the middles of the outermost elements stay where they are, not their edges.
        align_mode: 0 reckons places from the middles of elements, 1 from their beginnings.
        data_format: ``NCHW`` and the like, or ``NHWC`` with the channels last.
        recompute_scale_factor: whether the ratio that elements are looked up with is that of the rounded sizes.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: a mode for another number of dimensions (a ValueError).
    """
    where = "paddle.nn.functional.interpolate"
    x = tensor(x, "x", where)
    mode = mode.lower()
    _check_mode(x, mode, align_corners, align_mode, where)
    if size is None and scale_factor is None:
        raise UsageError(f"{where}: one of size and scale_factor must be given.")
    if mode == "area":
        return _areas(x, size, data_format, where)
    if size is not None and scale_factor is not None:
        raise UsageError(f"{where}: only one of size and scale_factor can be given.")
    inner = x.ndim - 2
    last = data_format is not None and data_format.endswith("C")
    if scale_factor is not None and recompute_scale_factor:
        dims_ = x.shape[1:-1] if last else x.shape[2:]
        size = [int(d * s) for d, s in zip(dims_, _scales(scale_factor, inner, where), strict=True)]
        scale_factor = None
    type_ = f"{mode}_interp_v2"
    layer = layer_name(name, type_)
    attrs: dict[str, Any] = {
        "data_layout": "NHWC" if last else "NCHW",
        "align_mode": align_mode,
        "align_corners": bool(align_corners),
        "interp_method": mode,
        **dict.fromkeys(("out_d", "out_h", "out_w"), -1),
    }
    if isinstance(scale_factor, AnyTensor):
        sizes: tuple[Any, Any, Any] = (None, (), tensor(scale_factor, "scale_factor", where))
    elif scale_factor is not None:
        attrs["scale"] = _scales(scale_factor, inner, where)
        sizes = (None, (), None)
    else:
        wanted = dims(size, "size", where, name=layer)
        sizes = (wanted.whole, tuple(wanted.parts), None)
        if wanted.whole is None:
            if len(wanted.numbers) != inner:
                raise UsageError(f"{where}: size must hold {inner} numbers for '{x.name}', but received {size}.")
            attrs.update(zip(("out_d", "out_h", "out_w")[-inner:], wanted.numbers, strict=True))
    return apply(type_, x, *sizes, attrs=attrs, name=layer)  # type: ignore[no-any-return]


def _check_mode(x: AnyTensor, mode: str, align_corners: bool, align_mode: int, where: str) -> None:
    """Raise an error unless *mode* exists for tensors like *x*, and elements can be aligned like that."""
    if mode not in RANKS:
        raise UsageError(f"{where}: mode must be one of {', '.join(RANKS)}, but received {mode!r}.")
    if x.ndim not in RANKS[mode]:
        ranks = " or ".join(map(str, RANKS[mode]))
        raise ShapeError(f"{where}: mode {mode!r} takes {ranks} dimensions, but the shape of '{x.name}' is {x.shape}.")
    if align_corners and mode == "nearest":
        raise UsageError(f"{where}: align_corners has no meaning with mode 'nearest'.")
    if align_mode not in (0, 1):
        raise UsageError(f"{where}: align_mode must be 0 or 1, but received {align_mode!r}.")


def _areas(x: AnyTensor, size: Any, data_format: str | None, where: str) -> AnyTensor:
    """*x* divided into parts of nearly equal size, each of which becomes its mean."""
    if size is None:
        raise UsageError(f"{where}: mode 'area' takes a size, not a scale_factor.")
    if x.ndim == 5:
        return adaptive_avg_pool3d(x, size, data_format or "NCDHW")  # type: ignore[no-any-return]
    if x.ndim == 3:
        sizes = size if isinstance(size, (list, tuple)) else [size]
        return adaptive_avg_pool1d(x, *sizes)  # type: ignore[no-any-return]
    return adaptive_avg_pool2d(x, size, data_format or "NCHW")  # type: ignore[no-any-return]


def _scales(scale_factor: Any, count: int, where: str) -> list[float]:
    factors = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * count
    if len(factors) != count or any(not isinstance(s, (int, float)) or s <= 0 for s in factors):
        raise UsageError(
            f"{where}: scale_factor must be positive, one or {count} numbers, but received {scale_factor}."
        )
    return [float(s) for s in factors]


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> AnyTensor:
    """As :func:`interpolate`."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format, name=name)
