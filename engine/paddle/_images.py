"""Arguments of layers on images: sizes, paddings, data formats."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError

FLOATS = ("float16", "bfloat16", "float32", "float64")


def numbers(value: Any, count: int, what: str) -> tuple[int, ...]:
    """*value* as a tuple of *count* integers; a single one stands for all of them.

    Raises:
        UsageError: something else (a ValueError).
    """
    if not isinstance(value, (list, tuple)):
        value = (value,) * count
    if len(value) != count:
        raise UsageError(f"The {what}'s length must be {count}. Received: {list(value)}")
    try:
        return tuple(int(v) for v in value)
    except (TypeError, ValueError):
        raise UsageError(f"The {what} must consist of integers. Received: {list(value)}") from None


def windows(padding: Any, channel_last: bool, rank: int = 2) -> tuple[tuple[int, ...], str]:
    """Paddle's forms of ``padding`` for *rank* spatial dimensions, as ``paddings`` and ``padding_algorithm``.

    Args:
        padding: ``'SAME'``, ``'VALID'``, one number, one for each dimension, two for each, or a pair for each
            dimension of the tensor, batch and channels included.

    Raises:
        UsageError: something else, or numbers below 0 (a ValueError).
    """
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise UsageError(f"Unknown padding: '{padding}'. It can only be 'SAME' or 'VALID'.")
        return (0,) * rank, padding.upper()
    flat = _spatial(padding, range(1, rank + 1) if channel_last else range(2, rank + 2))
    if isinstance(flat, (list, tuple)) and len(flat) == 2 * rank:
        pads = numbers(flat, 2 * rank, "padding")
        if pads[::2] == pads[1::2]:
            pads = pads[::2]
    else:
        pads = numbers(flat, rank, "padding")
    if any(p < 0 for p in pads):
        raise UsageError(f"Invalid padding: every number must be at least 0, but received {padding}.")
    return pads, "EXPLICIT"


def _spatial(padding: Any, dims: range) -> Any:
    """Of a pair for each dimension of the tensor those of *dims*, one after another; other forms as they are."""
    rank = len(dims) + 2
    if not isinstance(padding, (list, tuple)) or len(padding) != rank or not isinstance(padding[0], (list, tuple)):
        return padding
    if any(any(p) for i, p in enumerate(padding) if i not in dims):
        raise UsageError(f"Non-zero padding ({padding}) in the batch or channel dimensions is not supported.")
    return [n for i in dims for n in padding[i]]


_FORMATS = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def channel_last(data_format: str, where: str, rank: int = 2) -> bool:
    """Return whether channels come last in *data_format*, which must be one of those for *rank* spatial dimensions.

    Raises:
        UsageError: another format (a ValueError).
    """
    first, last = _FORMATS[rank]
    if data_format not in (first, last):
        raise UsageError(f"Attr(data_format) of {where} should be '{first}' or '{last}', but received {data_format!r}.")
    return data_format == last


def sequence_windows(padding: Any, channel_last: bool) -> tuple[tuple[int, ...], str]:
    """As :func:`windows`, for sequences: one number for both ends or two, and ``padding_algorithm``."""
    widths = padding
    if isinstance(padding, (list, tuple)) and len(padding) == 3 and isinstance(padding[0], (list, tuple)):
        at = 1 if channel_last else 2
        if any(any(p) for i, p in enumerate(padding) if i != at):
            raise UsageError(f"Non-zero padding ({padding}) in the batch or channel dimensions is not supported.")
        widths = padding[at]
    if isinstance(widths, str):
        pads, algorithm = windows(widths, channel_last)
        return pads[:1], algorithm
    both = numbers(widths, 2 if isinstance(widths, (list, tuple)) and len(widths) == 2 else 1, "padding")
    if min(both) < 0:
        raise UsageError(f"Invalid padding: every number must be at least 0, but received {padding}.")
    return both[:1] if both[0] == both[-1] else both, "EXPLICIT"


def sequence_last(data_format: str, where: str) -> bool:
    """Return whether *data_format* is NLC; raises :class:`UsageError` unless it is that or NCL."""
    if data_format not in ("NCL", "NLC"):
        raise UsageError(f"Attr(data_format) of {where} should be 'NCL' or 'NLC', but received {data_format!r}.")
    return data_format == "NLC"


LAYOUTS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def layout(data_format: str, where: str) -> str:
    """NCHW or NHWC for a format of any rank; raises :class:`UsageError` for anything else."""
    if data_format not in LAYOUTS:
        raise UsageError(f"data_format of {where} must be one of {', '.join(LAYOUTS)}, but received {data_format!r}.")
    return "NCHW" if data_format[1] == "C" else "NHWC"
