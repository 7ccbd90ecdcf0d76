"""Pooling of images."""

from __future__ import annotations

from typing import Any

from gradtool._arguments import tensor
from gradtool._dispatch import apply
from gradtool._images import FLOATS, channel_last, numbers, windows
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import UNKNOWN


def _window(
    where: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> dict[str, Any]:
    """The attributes that both kinds of pooling share."""
    last = channel_last(data_format, where)
    size = numbers(kernel_size, 2, "kernel_size")
    step = size if stride is None else numbers(stride, 2, "stride")
    for what, pair in (("kernel_size", size), ("stride", step)):
        if min(pair) < 1:
            raise UsageError(f"{what} of {where} must be at least 1, but received {list(pair)}.")
    pads, algorithm = windows(padding, last)
    if algorithm == "VALID" and ceil_mode:
        raise UsageError('When Attr(padding) is "VALID", Attr(ceil_mode) must be False. Received ceil_mode: True.')
    return {
        "ksize": size,
        "strides": step,
        "paddings": pads,
        "padding_algorithm": algorithm,
        "ceil_mode": ceil_mode,
        "data_format": data_format,
    }


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Mean of every window of an image.

    Args:
        stride: the distance of the windows; kernel_size when None.
        padding: in the forms that :func:`conv2d` takes.
        ceil_mode: whether a window that lies only partly within the image counts.
        exclusive: leave padding out of the mean.
        divisor_override: divide the sums by this number instead.
    """
    attrs = _window("avg_pool2d", kernel_size, stride, padding, ceil_mode, data_format)
    tensor(x, "x", "avg_pool2d", FLOATS)
    if divisor_override is not None and not isinstance(divisor_override, (int, float)):
        raise ArgumentTypeError(
            f"divisor_override of avg_pool2d must be a number, but received {type(divisor_override).__name__}."
        )
    if divisor_override == 0:
        raise UsageError("divisor_override of avg_pool2d must not be 0.")
    out = apply("pool2d", x, attrs={**attrs, "pooling_type": "avg", "exclusive": exclusive}, name=name)
    if divisor_override is None:
        return out
    size = attrs["ksize"][0] * attrs["ksize"][1]
    out = apply("scale", out, attrs={"scale": float(size)}, key="tmp", direct=True)
    return apply("scale", out, attrs={"scale": 1 / divisor_override}, key="tmp", direct=True)


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Maximum of every window of an image.

    Args:
        return_mask: also return where each maximum stands, ``row · width + column``.

    Returns:
        The maxima, or a pair of them and their places.
    """
    attrs = _window("max_pool2d", kernel_size, stride, padding, ceil_mode, data_format)
    tensor(x, "x", "max_pool2d", FLOATS)
    if not return_mask:
        return apply("pool2d", x, attrs={**attrs, "pooling_type": "max"}, name=name)
    if data_format == "NHWC":
        raise UsageError("When setting return_mask to true, data_format must be set to NCHW in API:max_pool2d")
    if attrs["padding_algorithm"] == "SAME":
        raise UnsupportedError("max_pool2d: return_mask needs a padding in numbers, not 'SAME'.")
    return apply("max_pool2d_with_index", x, attrs=attrs, name=name)


def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Means of the windows that divide an image into ``output_size`` parts.

    Args:
        output_size: one number or one for each dimension; None keeps the size of the image.
    """
    last = channel_last(data_format, "adaptive_avg_pool2d")
    tensor(x, "x", "adaptive_avg_pool2d", FLOATS)
    sizes = _output_size("adaptive_avg_pool2d", x, output_size, last)
    attrs = {"pooling_type": "avg", "ksize": sizes, "adaptive": True, "data_format": data_format}
    return apply("pool2d", x, attrs=attrs, name=name)


def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima of the windows that divide an image into ``output_size`` parts, and with return_mask their places."""
    tensor(x, "x", "adaptive_max_pool2d", FLOATS)
    sizes = _output_size("adaptive_max_pool2d", x, output_size, last=False)
    outs = apply("max_pool2d_with_index", x, attrs={"ksize": sizes, "adaptive": True}, name=name)
    return outs if return_mask else outs[0]


def _output_size(where: str, x: Any, output_size: Any, last: bool) -> tuple[int, ...]:
    if x.ndim != 4:
        raise UsageError(f"{where}: x must have 4 dimensions, but has the shape {list(x.shape)}.")
    image = x.shape[1:3] if last else x.shape[2:4]
    wanted = output_size if isinstance(output_size, (list, tuple)) else [output_size] * 2
    if len(wanted) != 2:
        raise UsageError(f"The output_size's length must be 2. Received: {list(wanted)}")
    sizes = numbers([n if w is None else w for w, n in zip(wanted, image, strict=True)], 2, "output_size")
    if UNKNOWN in sizes:
        raise UsageError(
            f"{where}: output_size None keeps the size of the image, and that of '{x.name}' {list(x.shape)} is not "
            "known."
        )
    return sizes
