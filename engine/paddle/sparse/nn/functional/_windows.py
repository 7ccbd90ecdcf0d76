"""Table of the stored places that each window of a convolution or a pooling reads: whole numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._gather import gather
from gradtool.paddle._images import numbers, windows
from gradtool.paddle._manipulation import concat, reshape
from gradtool.paddle.sparse import _places, _shaping
from gradtool.paddle.sparse._operands import of_floats, sparse
from gradtool.paddle.sparse._places import Array
from gradtool.paddle.sparse._tensor import COO, SparseTensor

LAYOUTS = {2: "NHWC", 3: "NDHWC"}


class SparseWindows(NamedTuple):
    """Geometry of windows over the spatial dimensions."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    dilation: tuple[int, ...]


class WindowTable(NamedTuple):
    """Table of the places that each window reads.

    Attributes:
        places: of the windows that read something, ``[1 + rank, windows]``.
        sizes: batch and spatial dimensions of the result.
        reads: ``[windows, elements of the kernel]``, which stored row; their number where there is none.
    """

    places: Array
    sizes: tuple[int, ...]
    reads: Array


def images(x: Any, rank: int, data_format: str, where: str) -> SparseTensor:
    """*x*, if it is sparse in COO, ``[batch, …, channels]`` with values of channels; each place once.

    Raises:
        UsageError: another *data_format* (a ValueError).
        ShapeError: *x* has another form (a ValueError).
    """
    x = sparse(x, "x", where, COO)
    if data_format != LAYOUTS[rank]:
        raise UsageError(f"{where}: data_format must be '{LAYOUTS[rank]}', but received {data_format!r}.")
    of_floats(x, "x", where)
    if x.ndim != rank + 2 or x.dense_dim() != 1:
        raise ShapeError(
            f"{where}: x must have {rank + 2} dimensions, {LAYOUTS[rank]}, and places of all but the last; it has the "
            f"shape {x.shape} and places of {x.sparse_dim()}."
        )
    if not x.coalesced and len(np.unique(x.numbers)) < x.nnz():
        return _shaping.once(x)
    return x  # type: ignore[no-any-return]


def laid(x: SparseTensor, kernel: Sequence[int], stride: Any, padding: Any, dilation: Any, where: str) -> SparseWindows:
    """The windows that these arguments describe."""
    rank = len(kernel)
    step, spread = numbers(stride, rank, "stride"), numbers(dilation, rank, "dilation")
    if min(*step, *spread, *kernel) < 1:
        raise UsageError(f"{where}: kernel size, stride and dilation must be at least 1.")
    pads, algorithm = windows(padding, True, rank)
    if algorithm == "VALID":
        pads = (0,) * rank
    if algorithm == "SAME":
        total = [
            max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0)
            for n, s, k, d in zip(x.shape[1:-1], step, kernel, spread, strict=True)
        ]
        pads = tuple(p for t in total for p in (t // 2, t - t // 2))
    if len(pads) == rank:
        pads = tuple(p for pad in pads for p in (pad, pad))
    return SparseWindows(tuple(kernel), step, pads[::2], pads[1::2], spread)


def read_by(x: SparseTensor, over: SparseWindows, ceil_mode: bool, where: str) -> WindowTable:
    """Return the table of windows that begin at every stride."""
    spatial = x.shape[1:-1]
    sizes: list[int] = []
    for n, k, s, p, q, d in zip(spatial, *over, strict=True):
        room = n + p + q - (k - 1) * d - 1
        if room < 0:
            raise ShapeError(
                f"{where}: a window of {(k - 1) * d + 1} is larger than the {n + p + q} that it moves over."
            )
        size = -(-room // s) + 1 if ceil_mode else room // s + 1
        # No window begins behind the last element.
        sizes.append(size - 1 if ceil_mode and (size - 1) * s >= n + p else size)
    result = (x.shape[0], *sizes)
    hits = [_hit(x.coordinates, offset, over, result) for offset in _offsets(over.kernel)]
    found = np.unique(np.concatenate([targets for _, targets in hits]))
    reads = np.full((len(found), len(hits)), x.nnz())
    for i, (sources, targets) in enumerate(hits):
        reads[np.searchsorted(found, targets), i] = sources
    return WindowTable(_places.located(found, result, x.places[0].dtype), result, reads)


def read_around(x: SparseTensor, kernel: Sequence[int], dilation: Any, where: str) -> WindowTable:
    """Return the table of windows around each stored place; the result is stored at the same places.

    Raises:
        UsageError: a kernel without a middle (a ValueError).
    """
    rank = len(kernel)
    spread = numbers(dilation, rank, "dilation")
    if any(k % 2 == 0 for k in kernel):
        raise UsageError(
            f"{where}: the kernel of a submanifold convolution has a middle, so its sizes are odd, but they are "
            f"{[*kernel]}."
        )
    pads = tuple(d * (k // 2) for k, d in zip(kernel, spread, strict=True))
    over = SparseWindows(tuple(kernel), (1,) * rank, pads, pads, spread)
    result = x.placed_sizes
    own = x.numbers
    reads = np.full((len(own), math.prod(kernel)), x.nnz())
    for i, offset in enumerate(_offsets(kernel)):
        sources, targets = _hit(x.coordinates, offset, over, result)
        at = _places.found(targets, own)
        reads[at[at < len(own)], i] = sources[at < len(own)]
    return WindowTable(x.places[0], result, reads)


def _offsets(kernel: Sequence[int]) -> list[tuple[int, ...]]:
    return [*itertools.product(*map(range, kernel))]


def _hit(places: Array, offset: tuple[int, ...], over: SparseWindows, sizes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the stored places that are read at *offset* of a window, and the number of the window that does."""
    moved = [places[0].astype(np.int64)]
    inside = np.ones(places.shape[1], bool)
    rows = zip(places[1:], offset, over.stride, over.before, over.dilation, sizes[1:], strict=True)
    for row, at, step, pad, spread, size in rows:
        distance = row.astype(np.int64) + pad - at * spread
        inside &= (distance % step == 0) & (distance >= 0) & (distance < size * step)
        moved.append(distance // step)
    sources = np.flatnonzero(inside)
    return sources, _places.numbered(np.stack(moved)[:, sources], sizes)


def joined(x: SparseTensor, table: WindowTable, fill: float) -> Tensor:
    """``[windows, elements of the kernel, channels]``: what each window reads, *fill* where nothing is stored."""
    channels = x.shape[-1]
    nothing = Tensor(np.full((1, channels), fill, x.carrier.array.dtype))
    rows = gather(concat([x.carrier, nothing]), Tensor(table.reads.reshape(-1)))
    return reshape(rows, [*table.reads.shape, channels])  # type: ignore[return-value]
