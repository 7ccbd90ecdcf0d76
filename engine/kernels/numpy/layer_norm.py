"""Layer norm and its gradient, some rows at a time, which stay in the processor's cache from pass to pass.

Sums of a row are products of two rows (``vecdot``), which take a third of what adding up takes. All that is computed
of a row is the same whichever rows are worked on with it, and sums over rows go on from block to block, so results do
not depend on the blocks. What stands for arrays (:mod:`..numba.trace`) goes the same way, as one block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .blocks import blocks, long_rows, many
from .general import definition, rule_of

_add: Any = np.add.reduce
_products: Any = np.vecdot


def register() -> None:
    """Offer the kernels."""
    override("layer_norm", "numpy")(_layer_norm)
    override("layer_norm_grad", "numpy")(_layer_norm_grad)


def _rows(x: Any, begin: int) -> Any:
    return x if x.ndim == 2 and begin == 1 else x.reshape((math.prod(x.shape[:begin]), math.prod(x.shape[begin:])))


def _uses_blocks(rows: Any) -> bool:
    """Return whether to go through blocks; of one column NumPy adds up all rows as one."""
    return many(rows) and rows.shape[1] > 1


def _tile(vector: Any, rows: Any) -> Any:
    """*vector* once for each row of a block: what is as long as its operands needs no row by row."""
    return None if vector is None else np.tile(vector.reshape(-1), (next(blocks(rows)).stop, 1))


# -- forward ----------------------------------------------------------------------------------------------------------


def _layer_norm(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    begin, epsilon, general = attrs["begin_norm_axis"], attrs["epsilon"], definition("layer_norm", attrs)

    def standardise(x: Any, scale: Any, bias: Any) -> Any:
        if x.dtype.char not in "fd" or not x.size:
            return general(x, scale, bias)
        rows = _rows(x, begin)
        ones = np.ones(rows.shape[1], x.dtype)
        if not _uses_blocks(rows):
            factor, shift = (None if v is None else v.reshape(-1) for v in (scale, bias))
            mean, variance, y = _standardise(rows, factor, shift, ones, epsilon)
        else:
            y = np.empty(rows.shape, x.dtype)
            mean, variance = np.empty((2, rows.shape[0], 1), x.dtype)
            factors, shifts = _tile(scale, rows), _tile(bias, rows)
            with long_rows(rows.shape[1]):
                for block in blocks(rows):
                    count = block.stop - block.start
                    factor, shift = (None if v is None else v[:count] for v in (factors, shifts))
                    part = _standardise(rows[block], factor, shift, ones, epsilon, y[block])
                    mean[block], variance[block], _ = part
        return mean.reshape(x.shape[:begin]), variance.reshape(x.shape[:begin]), y.reshape(x.shape)

    return standardise


def _standardise(rows: Any, scale: Any, bias: Any, ones: Any, epsilon: float, out: Any = None) -> tuple[Any, Any, Any]:
    """Mean, variance and result of each of the *rows*."""
    count = rows.shape[1]
    mean = _products(rows, ones)[:, None] / count
    y = np.subtract(rows, mean, out=out)
    variance = _products(y, y)[:, None] / count
    y *= (variance + epsilon) ** -0.5
    if scale is not None:
        y *= scale
    if bias is not None:
        y += bias
    return mean, variance, y


# -- its gradient -----------------------------------------------------------------------------------------------------


def _layer_norm_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = rule_of("layer_norm", attrs)
    if general is None:
        return None
    whole = general
    begin, epsilon = attrs["begin_norm_axis"], attrs["epsilon"]
    by_x, by_scale, by_bias = (mask[0] for mask in attrs["wanted"])

    def gradients(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, dy: Any) -> Any:
        if x.dtype.char not in "fd" or not x.size or dy.dtype != x.dtype:
            return whole(x, scale, bias, mean, variance, dy)
        dx = dscale = dbias = None
        rows, dys = _rows(x, begin), _rows(dy, begin)
        scaled = by_scale and scale is not None
        if by_x or scaled:
            dx, dscale = (_pull_blocks if _uses_blocks(rows) else _pull_whole)(rows, dys, scale, epsilon, by_x, scaled)
        if by_bias and bias is not None:
            dbias = _columns(dys, bias)
        return None if dx is None else dx.reshape(x.shape), dscale, dbias

    return gradients


def _columns(rows: Any, like: Any) -> Any:
    """The sums of the columns, in the shape of *like*: an array of its own, even of a single row."""
    return _add(rows, 0, None, None, False).reshape(like.shape)


class _Gradient:
    """State that all rows share.

    What arrives is multiplied with the inverse of the rows' deviations first, and rows are centred and not scaled: that
    leaves four passes with a number for each row, which take twice as long as others.

    Attributes:
        scale: the factors, or ones.
        share: of one element in the mean, as the rule has it: reckoned from the sizes of the whole.
    """

    def __init__(self, rows: Any, scale: Any, epsilon: float) -> None:
        self.ones = np.ones(rows.shape[1], rows.dtype)
        self.scale = self.ones if scale is None else scale.reshape(-1)
        self.epsilon = epsilon
        self.share = np.asarray(rows.shape[0], rows.dtype) / np.asarray(rows.size, rows.dtype)

    def centre(self, rows: Any, out: Any = None) -> tuple[Any, Any]:
        """The rows less their means, and the inverse of their standard deviations."""
        centred = np.subtract(rows, _products(rows, self.ones)[:, None] * self.share, out=out)
        return centred, np.power(_products(centred, centred)[:, None] * self.share + self.epsilon, -0.5)

    def gradient_of_rows(self, centred: Any, inverse: Any, arrived: Any, weighted: Any, part: Any, out: Any) -> Any:
        """Return *arrived* times *weighted*, less its mean and its share along the rows *centred*, which are written.

        Args:
            arrived: what arrives, times *inverse*.
            weighted: the factors in a shape that suits; None for ones.
            part: ``arrived * centred``.
        """
        along = _products(part, self.scale)[:, None] * self.share * inverse * inverse
        mean = _products(arrived, self.scale)[:, None] * self.share
        centred *= along
        if weighted is None:
            dx = np.subtract(arrived, centred, out=out)
        else:
            dx = np.multiply(arrived, weighted, out=out)
            dx -= centred
        dx -= mean
        return dx


def _pull_whole(rows: Any, dys: Any, scale: Any, epsilon: float, by_x: bool, by_scale: bool) -> tuple[Any, Any]:
    of = _Gradient(rows, scale, epsilon)
    centred, inverse = of.centre(rows)
    arrived = dys * inverse
    part = arrived * centred
    dscale = _columns(part, scale) if by_scale else None
    weighted = None if scale is None else of.scale
    return of.gradient_of_rows(centred, inverse, arrived, weighted, part, None) if by_x else None, dscale


def _pull_blocks(rows: Any, dys: Any, scale: Any, epsilon: float, by_x: bool, by_scale: bool) -> tuple[Any, Any]:
    of = _Gradient(rows, scale, epsilon)
    tiled = _tile(scale, rows)
    dx = np.empty(rows.shape, rows.dtype) if by_x else None
    size, width = next(blocks(rows)).stop, rows.shape[1]
    work, products = np.empty((2, size, width), rows.dtype)
    # what the columns have come to lies before the rows that are to be added, so they go on in one order
    sums = np.zeros((size + 1, width), rows.dtype)
    with long_rows(width):
        for block in blocks(rows):
            count = block.stop - block.start
            centred, inverse = of.centre(rows[block], work[:count])
            arrived = np.multiply(dys[block], inverse, out=products[:count])
            part = np.multiply(arrived, centred, out=sums[1 : count + 1])
            if by_scale:
                sums[0] = _add(sums[: count + 1], 0)
            if dx is not None:
                weighted = None if tiled is None else tiled[:count]
                of.gradient_of_rows(centred, inverse, arrived, weighted, part, dx[block])
    return dx, sums[0].reshape(scale.shape) if by_scale else None
