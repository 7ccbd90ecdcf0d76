"""Images as rows of elements, on which windows are stretches.

Rows of an image are short, and what NumPy does between two rows takes longer than the row. So an image, within its
padding, is one row of elements here, and what one element of all windows meets is the image from some place on. What
then lies between the rows of the result is computed as well, and left out. With windows that are s apart an image is
s times s such rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

BLOCK = 1 << 16
"""Elements that are worked on at a time."""

Rows = dict[tuple[int, int], Any]


class Planes:
    """Layout of the elements of images when each image is some rows.

    Args:
        image, padded: its sizes without and with its padding.
        before: the padding before it.
        result: how many windows stand along each axis.
        window, strides, dilations: their sizes, and how far apart they and their elements are.

    Attributes:
        high, wide: how many rows of an image a row holds, and how long these are with their padding.
        length: from the first element of the result to its last one.
        taps: for each element of the window, its place, the row that it meets, and where it begins there.
    """

    def __init__(
        self,
        image: Sequence[int],
        padded: Sequence[int],
        before: Sequence[int],
        result: Sequence[int],
        window: Sequence[int],
        strides: Sequence[int],
        dilations: Sequence[int],
    ) -> None:
        self.image, self.result, (self._down, self._across) = tuple(image), tuple(result), strides
        self._inside: tuple[Any, ...] = (..., *(slice(at, at + size) for at, size in zip(before, image, strict=True)))
        self.high, self.wide = (-(-size // s) for size, s in zip(padded, strides, strict=True))
        self.length = (result[0] - 1) * self.wide + result[1]
        self.taps = []
        for place in np.ndindex(*window):
            i, j = (at * d for at, d in zip(place, dilations, strict=True))
            begin = i // self._down * self.wide + j // self._across
            self.taps.append((place, (i % self._down, j % self._across), begin))
        self._rows = list(dict.fromkeys(row for _, row, _ in self.taps))

    def blocks(self, batch: int, channels: int) -> Iterator[tuple[slice, slice]]:
        """Slices of the batch, and of the channels."""
        size = self.high * self.wide
        width = min(channels, max(1, BLOCK // size))
        step = max(1, BLOCK // (width * size))
        for image in range(0, batch, step):
            for channel in range(0, channels, width):
                yield slice(image, min(image + step, batch)), slice(channel, min(channel + width, channels))

    def cut(self, x: Any, padding: float = 0.0) -> Rows:
        """The rows of images: ``[image, channel, element]`` for each of them."""
        whole = self.high * self._down, self.wide * self._across
        padded = x
        if whole != self.image:
            padded = np.full((*x.shape[:2], *whole), padding, x.dtype)
            padded[self._inside] = x
        flat = (*x.shape[:2], self.high * self.wide)
        return {(i, j): padded[:, :, i :: self._down, j :: self._across].reshape(flat) for i, j in self._rows}

    def empty(self, images: tuple[int, ...], dtype: Any) -> Rows:
        """Rows of zeros."""
        return {row: np.zeros((*images, self.high * self.wide), dtype) for row in self._rows}

    def join(self, rows: Rows, out: Any) -> None:
        """The images of *rows*, in *out*; zeros where no window reaches."""
        padded = np.zeros((*out.shape[:2], self.high * self._down, self.wide * self._across), out.dtype)
        for (i, j), row in rows.items():
            padded[:, :, i :: self._down, j :: self._across] = row.reshape(*out.shape[:2], self.high, self.wide)
        out[...] = padded[self._inside]

    def space(self, y: Any, between: float = 0.0) -> Any:
        """Results as rows, with *between* between theirs."""
        high, wide = self.result
        rows = np.full((*y.shape[:2], high, self.wide), between, y.dtype)
        rows[..., :wide] = y
        return rows.reshape(*y.shape[:2], high * self.wide)[..., : self.length]
