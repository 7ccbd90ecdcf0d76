"""Positions of the windows of convolutions and poolings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.attribute_keys import own_key
from ...core.errors import OperatorError, ShapeError

LAYOUTS = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
"""The data formats for that many spatial dimensions; the first has channels before them."""

SIDES = {2: "height, width", 3: "depth, height, width"}

Pads = tuple[tuple[int, int], ...]
"""What is added before and after each spatial dimension."""


def padding_of(
    op: str,
    algorithm: str,
    paddings: Sequence[int],
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
) -> Pads:
    """The padding of every spatial dimension.

    Args:
        algorithm: ``EXPLICIT`` takes *paddings* (one number for each dimension, or two); ``VALID`` pads nothing;
            ``SAME`` pads so that the result has ``ceil(size / stride)`` elements, the odd one at the end.
        sizes: the dimensions that are padded.
    """
    if algorithm == "VALID":
        return ((0, 0),) * len(sizes)
    if algorithm == "SAME":
        totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(sizes, window, strides, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    if algorithm != "EXPLICIT":
        raise OperatorError(f"{op}: padding_algorithm must be EXPLICIT, SAME or VALID, not {algorithm!r}")
    rank = len(window)
    if len(paddings) == rank:
        return tuple((n, n) for n in paddings)
    if len(paddings) == 2 * rank:
        return tuple(zip(paddings[::2], paddings[1::2], strict=True))
    raise OperatorError(f"{op}: paddings must be {rank} or {2 * rank} numbers, not {list(paddings)}")


def count_of_windows(op: str, size: int, pads: tuple[int, int], window: int, step: int, ceil: bool = False) -> int:
    """Return the number of windows along a dimension of that size.

    A division cuts off towards zero, as in Paddle: one window that reaches beyond the padding by less than a step
    counts; there is none where it is up to a step more.

    Raises:
        ShapeError: the window is larger still.
    """
    span = size + sum(pads) - window + (step - 1 if ceil else 0)
    count = 1 + (span // step if span >= 0 else -(-span // step))
    if count < 0:
        raise ShapeError(
            f"{op}: a window of {window} does not fit into {size} rows or columns padded by {pads[0]} and {pads[1]}",
            hint="use a smaller window or dilation, or more padding",
        )
    return count


def check_numbers(op: str, name: str, values: Sequence[int], least: int, rank: int) -> None:
    """Refuse *values* unless they are *rank* numbers (or, for paddings, twice that) of at least *least*."""
    if len(values) not in ((rank, 2 * rank) if name == "paddings" else (rank,)) or any(v < least for v in values):
        raise OperatorError(
            f"{op}: {name} must be numbers of at least {least}, one for each spatial dimension, not {list(values)}"
        )


@own_key
class Window(NamedTuple):
    """Positions of the windows of a pooling on an image; the fields are Paddle's attributes."""

    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    paddings: tuple[int, ...]
    global_pooling: bool
    adaptive: bool
    ceil_mode: bool
    exclusive: bool = True
    padding_algorithm: str = "EXPLICIT"
    data_format: str = "NCHW"

    @classmethod
    def of(cls, attrs: Mapping[str, Any]) -> Window:
        """The window that an operator with these attributes has."""
        lie = {name: attrs[name] for name in cls._fields if name in attrs}
        settled: dict[str, Any] = {n: tuple(v) if type(v) is list else v for n, v in lie.items()}
        return cls(**settled)


class WindowLine:
    """The windows along one dimension.

    Attributes:
        starts, ends: the part of each window that lies within the image; of one in the padding, no end is behind its
            start.
        counts: what each window's sum is divided by. That of a window in the padding may be 0 or negative, as in
            Paddle.
        void: the windows that lie in the padding.
        step: the distance of their starts where it is the same everywhere, else 0.
    """

    def __init__(self, size: int, spans: Sequence[tuple[int, int]], counts: Sequence[int] | None = None) -> None:
        """Windows with these starts and ends along *size* elements; *counts* if these are not their lengths within."""
        self.size = size
        self.starts = [max(a, 0) for a, _ in spans]
        self.ends = [min(b, size) for _, b in spans]
        self.counts = [b - a for a, b in zip(self.starts, self.ends, strict=True)] if counts is None else [*counts]
        self.void = [i for i, (a, b) in enumerate(zip(self.starts, self.ends, strict=True)) if a >= b]
        self.first, self.reach = (spans[0][0], spans[0][1] - spans[0][0]) if spans else (0, 0)
        step = spans[1][0] - self.first if len(spans) > 1 else 0
        regular = all(span == (self.first + i * step, spans[0][1] + i * step) for i, span in enumerate(spans))
        self.step = step if regular else 0

    def elements(self) -> Iterator[tuple[slice, slice]]:
        """For every place in the window: that element of all windows that have it, and their results, as slices.

        Only for windows that follow each other at the same distance (``step``).
        """
        for r in range(self.reach):
            at = self.first + r
            low = max(0, -(at // self.step))
            high = min(len(self.starts), -((at - self.size) // self.step))
            if high > low:
                yield slice(at + low * self.step, at + (high - 1) * self.step + 1, self.step), slice(low, high)

    def taps(self) -> Iterator[tuple[slice, slice]]:
        """Pairs of slices that together hold every element of every window once, each with the results it goes to.

        These are :meth:`elements`, or whole windows where that takes fewer steps.
        """
        if self.step and len(self.starts) > self.reach:
            yield from self.elements()
            return
        for i, (a, b) in enumerate(zip(self.starts, self.ends, strict=True)):
            if a < b:
                yield slice(a, b), slice(i, i + 1)

    def is_whole(self, elements: slice) -> bool:
        """Return whether a slice from :meth:`taps` is a whole window."""
        return elements.step is None


def windows_along(name: str, index: int, window: Window, image: Sequence[int]) -> int:
    """Return the number of windows along dimension *index* of an image of that size; ``len(line_of(…).starts)``."""
    if window.global_pooling:
        return 1
    if window.adaptive:
        return max(window.ksize[index], 0)
    pads = _pads(name, index, window, image)
    return count_of_windows(name, image[index], pads, window.ksize[index], window.strides[index], window.ceil_mode)


def line_of(name: str, index: int, window: Window, image: Sequence[int]) -> WindowLine:
    """The windows along dimension *index* of an image of that size."""
    size, counts = image[index], None
    number = windows_along(name, index, window, image)
    if window.global_pooling:
        spans = [(0, size)]
    elif window.adaptive:
        spans = [(i * size // number, -(-(i + 1) * size // number)) for i in range(number)]
    else:
        k, step, pads = window.ksize[index], window.strides[index], _pads(name, index, window, image)
        spans = [(i * step - pads[0], i * step - pads[0] + k) for i in range(number)]
        if not window.exclusive:
            counts = [min(b, size + pads[0]) - a for a, b in spans]
    return WindowLine(size, spans, counts)


def _pads(name: str, index: int, window: Window, image: Sequence[int]) -> tuple[int, int]:
    """Return what is added before and after dimension *index* of an image of that size."""
    padding = padding_of(name, window.padding_algorithm, window.paddings, image, window.ksize, window.strides)
    return padding[index]
