"""The three products of convolutions by oneDNN: of float32, in two spatial dimensions or three, in groups or not.

What oneDNN does not compute (other types, small products, windows beyond its arithmetic of sizes) is left to the
reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...core.attribute_keys import REMEMBERED
from ...ops.library import convolve
from ..backend import primitive
from ..choice import reference
from .loading import ONEDNN

LEAST = 1 << 18
"""How many multiplications a product has that is worth making one: NumPy computes smaller ones meanwhile."""

ALONE = 4
"""How many multiplications with filters of one element take NumPy as long as one in windows, which it unrolls."""

UNROLLING = 8
"""How many multiplications of a matrix product cost NumPy as much as reading one element of unrolled windows."""


class ProductCase(NamedTuple):
    """A product of arrays of certain sizes.

    Attributes:
        kind: of the three products, a row of ``compiling.KINDS``.
        image: the sizes of the image, with batch and channels first.
        filter: those of the filter.
        result: those of the result.
        geometry: how the windows lie.
    """

    kind: str
    image: tuple[int, ...]
    filter: tuple[int, ...]
    result: tuple[int, ...]
    geometry: convolve.Geometry

    @property
    def groups(self) -> int:
        """Number of groups that the channels are in."""
        return self.image[1] // self.filter[1]

    def grouped(self) -> tuple[int, ...]:
        """The sizes of the filter as oneDNN has them: groups are a dimension of their own."""
        if self.groups == 1:
            return self.filter
        return (self.groups, self.filter[0] // self.groups, *self.filter[1:])

    @property
    def has_padding(self) -> bool:
        """True if windows may reach beyond the image."""
        algorithm = self.geometry.padding_algorithm
        return algorithm == "SAME" or (algorithm == "EXPLICIT" and any(self.geometry.paddings))

    @property
    def may_miss(self) -> bool:
        """True if a window may lie beside the image as a whole."""
        spans = ((n - 1) * d + 1 for n, d in zip(self.filter[2:], self.geometry.dilations, strict=True))
        return self.geometry.padding_algorithm == "EXPLICIT" and max(self.geometry.paddings, default=0) >= min(spans)

    @property
    def cost(self) -> int:
        """Number of its multiplications, or those of NumPy's equal time; 0 where groups are not as oneDNN has them."""
        if self.image[1] != self.filter[1] * self.geometry.groups:
            return 0
        windows = self.result[0] * math.prod(self.result[2:]) * math.prod(self.filter[1:])
        cost = windows * max(self.filter[0], UNROLLING * self.geometry.groups)
        return cost // ALONE if math.prod(self.filter[2:]) == 1 else cost


class Settled(NamedTuple):
    """A case, and what is asked about it in every call."""

    case: ProductCase
    cost: int
    padded: bool
    beside: bool


@lru_cache(REMEMBERED)
def settle(*sizes: Any) -> Settled:
    """Return what follows from sizes; the arguments are those of a `Case`."""
    case = ProductCase(*sizes)
    return Settled(case, case.cost, case.has_padding, case.may_miss)


def register() -> None:
    """Offer the three products."""

    def compute(case: ProductCase, *arrays: Any) -> Any | None:
        """Return what oneDNN gives; None where it does not compute that."""
        arrays = tuple(map(_make_strided, arrays))
        part = ONEDNN.compiled(case, arrays)
        return None if part is None else part(*arrays)

    plain = {own: reference().primitive(own) for own in (convolve.product, convolve.spread, convolve.weigh)}

    @primitive(convolve.product, "onednn")
    def product(xp: Any, x: Any, w: Any, result: Sequence[int], geometry: Any) -> Any:
        """The convolution of *x* with *w*, of the spatial size *result*."""
        out = None
        if x.dtype == w.dtype == np.float32:
            about = settle("product", x.shape, w.shape, (x.shape[0], w.shape[0], *result), geometry)
            if about.cost >= LEAST and (not about.padded or finite(w)):
                out = compute(about.case, x, w)
        return plain[convolve.product](xp, x, w, result, geometry) if out is None else out

    @primitive(convolve.spread, "onednn")
    def spread(xp: Any, w: Any, y: Any, image: Sequence[int], geometry: Any) -> Any:
        """The derivative by the image, of the spatial size *image*."""
        out = None
        if w.dtype == y.dtype == np.float32:
            sizes = (y.shape[0], w.shape[1] * geometry.groups, *image)
            about = settle("spread", sizes, w.shape, y.shape, geometry)
            if about.cost >= LEAST:
                out = compute(about.case, w, y)
        return plain[convolve.spread](xp, w, y, image, geometry) if out is None else out

    @primitive(convolve.weigh, "onednn")
    def weigh(xp: Any, x: Any, y: Any, shape: Sequence[int], geometry: Any) -> Any:
        """The derivative by the filter, of that *shape*."""
        out = None
        if x.dtype == y.dtype == np.float32:
            about = settle("weigh", x.shape, tuple(shape), y.shape, geometry)
            if about.cost >= LEAST and (not about.beside or finite(y)):
                out = compute(about.case, x, y)
            if out is not None and about.padded and not finite(out):
                out = None  # a window that meets the image at all hands on what is not finite in its y
        return plain[convolve.weigh](xp, x, y, shape, geometry) if out is None else out


def finite(factor: Any) -> bool:
    """Return whether *factor* is finite, where NumPy would multiply it with zeros of a padding, which gives NaN as in
    Paddle.

    oneDNN leaves padding out. A finite sum has finite summands; one that overflows does no harm.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(factor.sum()))


def _make_strided(array: Any) -> Any:
    """*array*, or a copy where oneDNN cannot read it as it lies: backwards, or one element many times."""
    if all(step > 0 and not step % 4 for step in array.strides):
        return array
    return np.ascontiguousarray(array)
