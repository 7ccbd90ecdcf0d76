"""Where the windows of convolutions and poolings stand."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import OperatorError

Pads = tuple[tuple[int, int], tuple[int, int]]
"""Rows added above and below, columns added left and right."""


def padding_of(
    op: str,
    algorithm: str,
    paddings: Sequence[int],
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
) -> Pads:
    """The padding of both spatial dimensions.

    Args:
        algorithm: ``EXPLICIT`` takes *paddings* (one number for each dimension, or two); ``VALID`` pads nothing;
            ``SAME`` pads so that the result has ``ceil(size / stride)`` elements, the odd one at the end.
        sizes: the dimensions that are padded.
    """
    if algorithm == "VALID":
        return (0, 0), (0, 0)
    if algorithm == "SAME":
        found = []
        for n, k, s in zip(sizes, window, strides, strict=True):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            found.append((total // 2, total - total // 2))
        return found[0], found[1]
    if algorithm != "EXPLICIT":
        raise OperatorError(f"{op}: padding_algorithm must be EXPLICIT, SAME or VALID, not {algorithm!r}")
    if len(paddings) == 2:
        return (paddings[0], paddings[0]), (paddings[1], paddings[1])
    if len(paddings) == 4:
        return (paddings[0], paddings[1]), (paddings[2], paddings[3])
    raise OperatorError(f"{op}: paddings must be 2 or 4 numbers, not {list(paddings)}")


def check_numbers(op: str, name: str, values: Sequence[int], least: int) -> None:
    """Raise :class:`OperatorError` unless *values* are two (or, for paddings, four) numbers of at least *least*."""
    if len(values) not in ((2, 4) if name == "paddings" else (2,)) or any(v < least for v in values):
        raise OperatorError(
            f"{op}: {name} must be numbers of at least {least}, one for each spatial dimension, not {list(values)}"
        )
