"""Pooling of sequences: that of images of one row (as in Paddle 3.1)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.paddle._arguments import tensor
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import FLOATS, numbers, sequence_windows
from gradtool.paddle._manipulation import squeeze, unsqueeze


def _pooled(x: Any, where: str, type_: str, attrs: dict[str, Any], name: str | None, return_mask: bool = False) -> Any:
    """The pooling *type_* of *x* as an image of one row; a pair with *return_mask*."""
    tensor(x, "x", where, FLOATS)
    if x.ndim != 3:
        raise UsageError(f"{where}: x must be [batch, channels, length], but has the shape {list(x.shape)}.")
    result = apply(type_, unsqueeze(x, 2), attrs=attrs, name=name)
    if return_mask:
        return tuple(squeeze(v, 2) for v in result)
    return squeeze(result[0] if isinstance(result, tuple) else result, 2)


def _window(where: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> dict[str, Any]:
    (size,) = numbers(kernel_size, 1, "kernel_size")
    (step,) = (size,) if stride is None else numbers(stride, 1, "stride")
    if min(size, step) < 1:
        raise UsageError(f"kernel_size and stride of {where} must be at least 1, but received {size} and {step}.")
    pads, algorithm = sequence_windows(padding, channel_last=False)
    if algorithm == "VALID" and ceil_mode:
        raise UsageError('When Attr(padding) is "VALID", Attr(ceil_mode) must be False. Received ceil_mode: True.')
    return {
        "ksize": (1, size),
        "strides": (1, step),
        "paddings": (0, 0, *pads) if len(pads) == 2 else (0, *pads),
        "padding_algorithm": algorithm,
        "ceil_mode": ceil_mode,
    }


def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Mean of every window of a sequence ``[batch, channels, length]``.

    Args:
        stride: the distance of the windows; kernel_size when None.
        padding: ``'SAME'``, ``'VALID'``, one number, or two for the two ends.
        exclusive: leave padding out of the mean.
        ceil_mode: whether a window that lies only partly within the sequence counts.
    """
    attrs = _window("avg_pool1d", kernel_size, stride, padding, ceil_mode)
    return _pooled(x, "avg_pool1d", "pool2d", {**attrs, "pooling_type": "avg", "exclusive": exclusive}, name)


def max_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Maximum of every window of a sequence ``[batch, channels, length]``.

    Args:
        return_mask: also return where each maximum stands.

    Returns:
        The maxima, or a pair of them and their places.
    """
    attrs = _window("max_pool1d", kernel_size, stride, padding, ceil_mode)
    type_ = "max_pool2d_with_index" if return_mask else "pool2d"
    return _pooled(x, "max_pool1d", type_, {**attrs, "pooling_type": "max"}, name, return_mask)


def _parts(output_size: Any) -> tuple[int, int]:
    (size,) = numbers(output_size, 1, "output_size")
    return 1, size


def adaptive_avg_pool1d(x: Any, output_size: Any, name: str | None = None) -> Any:
    """Means of the *output_size* windows that divide a sequence."""
    attrs = {"pooling_type": "avg", "ksize": _parts(output_size), "adaptive": True}
    return _pooled(x, "adaptive_avg_pool1d", "pool2d", attrs, name)


def adaptive_max_pool1d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima of the *output_size* windows that divide a sequence, and with return_mask their places."""
    attrs = {"ksize": _parts(output_size), "adaptive": True}
    return _pooled(x, "adaptive_max_pool1d", "max_pool2d_with_index", attrs, name, return_mask)
