"""Sampling images at the places that a grid names (Jaderberg et al. 2015).

A place in [-1, 1] becomes a row and a column (and a layer, of a volume) with a fraction, and the pixels around it, four
or eight, are weighted with the fractions. Pixels are linear in the image and weights are linear in the fractions, which
are linear in the grid but for jumps: the small operators below say so one by one, and the rule, to any order, is made
of them.
"""

from __future__ import annotations

import functools
import math
import operator

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import uniform
from ..writing import add_at

GRID = {"mode": "bilinear", "padding_mode": "zeros", "align_corners": True}
PLACE = {"padding_mode": "zeros", "align_corners": True, "axis": 0}
"""A place in a grid is written backwards: number 0 says the column, 1 the row, 2 the layer."""


def _reflected(xp, at, low, high):
    """*at* mirrored at *low* and *high* until it lies between them, and the sign of its slope."""
    if high <= low:
        return xp.zeros_like(at) + low, xp.zeros_like(at)
    span = high - low
    way = xp.abs(at - low)
    turns, rest = xp.floor(way / span), way % span
    odd = turns % 2 != 0
    slope = xp.where(at < low, -1.0, 1.0) * xp.where(odd, -1.0, 1.0)
    return xp.where(odd, span - rest, rest) + low, slope


def _places(k, grid, x, axis, padding_mode, align_corners):
    """Columns, rows or layers of *x* with fractions, and their slopes by the grid: ``[batch, *places]``."""
    xp, size = k.xp, x.shape[-1 - axis]
    share = grid[..., axis].astype("float64")
    slope = xp.full(share.shape, (size - 1) / 2 if align_corners else size / 2)
    at = (share + 1) / 2 * (size - 1) if align_corners else ((share + 1) * size - 1) / 2
    if padding_mode == "reflection":
        at, sign = _reflected(xp, at, 0.0, size - 1.0) if align_corners else _reflected(xp, at, -0.5, size - 0.5)
        slope = slope * sign
    if padding_mode != "zeros":
        inside = (at > 0) & (at < size - 1)  # at the border, and where it turns back, there are two slopes: none counts
        at, slope = xp.clip(at, 0, size - 1), slope * inside
    return at, slope


def _low(xp, at):
    # A place that is no number, or too far away to be counted, is outside of every image.
    return xp.floor(xp.where(xp.isfinite(at), xp.clip(at, -(2.0**31), 2.0**31), -2.0)).astype("int64")


def _pixels(k, grid, x, corner, mode, padding_mode, align_corners):
    """Flat places of one pixel around each place of the grid, and whether it lies within the image."""
    xp = k.xp
    flat, inside, stride = 0, True, 1
    for axis in range(grid.shape[-1]):
        size = x.shape[-1 - axis]
        at, _ = _places(k, grid, x, axis, padding_mode, align_corners)
        low = _low(xp, xp.round(at) if mode == "nearest" else at) + (corner >> axis & 1)
        inside = inside & (low >= 0) & (low < size)
        flat = flat + xp.clip(low, 0, size - 1) * stride
        stride *= size
    return flat, inside


@op("grid_pixel", "X Grid -> Out", attrs={**GRID, "corner": 0}, trait=Trait.INTERNAL)
def grid_pixel(k, x, grid, *, corner, mode, padding_mode, align_corners):
    """The pixel of *x* at one corner of each place of the grid; zeros outside."""
    xp = k.xp
    flat, inside = _pixels(k, grid, x, corner, mode, padding_mode, align_corners)
    (n, c, *image), count = x.shape, math.prod(flat.shape[1:])
    rows = x.reshape((n, c, math.prod(image)))
    pixels = xp.take_along_axis(rows, flat.reshape((n, 1, count)), 2).reshape((n, c, *flat.shape[1:]))
    return pixels * inside[:, None].astype(x.dtype)


@op("grid_spread", "Y Grid X -> Out", attrs={**GRID, "corner": 0}, trait=Trait.INTERNAL)
def grid_spread(k, y, grid, x, *, corner, mode, padding_mode, align_corners):
    """Zeros in the shape of *x* with each *y* added to its pixel: the transpose of ``grid_pixel``."""
    xp = k.xp
    flat, inside = _pixels(k, grid, x, corner, mode, padding_mode, align_corners)
    (n, c, *image), count = x.shape, math.prod(flat.shape[1:])
    out = xp.zeros((n * c, math.prod(image)), y.dtype)
    values = (y * inside[:, None].astype(y.dtype)).reshape((n * c, count))
    places = xp.repeat(flat.reshape((n, count)), c, axis=0)
    return add_at(out, (xp.arange(n * c)[:, None], places), values).reshape(x.shape)


@grid_pixel.gradient(wrt="X")
def _(k, x: Like, grid, dout, **attrs):
    return k.grid_spread(dout, grid, x, **attrs)


@grid_spread.gradient(wrt="Y")
def _(k, grid, x: Like, dout, **attrs):
    return k.grid_pixel(dout, grid, **attrs)


@op("grid_fraction", "Grid X -> Out", attrs=PLACE, trait=Trait.INTERNAL)
def grid_fraction(k, grid, x, *, padding_mode, align_corners, axis):
    """Distance of each place beyond the pixel before it, ``[batch, 1, *places]``."""
    at, _ = _places(k, grid, x, axis, padding_mode, align_corners)
    return (at - _low(k.xp, at)).astype(grid.dtype)[:, None]


@op("grid_slope", "Grid X -> Out", attrs=PLACE, trait=Trait.INTERNAL, differentiable=False)
def grid_slope(k, grid, x, *, padding_mode, align_corners, axis):
    """The derivative of a row or column by the grid, ``[batch, 1, *places]``."""
    _, slope = _places(k, grid, x, axis, padding_mode, align_corners)
    return slope.astype(grid.dtype)[:, None]


@op("grid_part", "Grid -> Out", attrs={"axis": 0, "rank": 2}, trait=Trait.INTERNAL)
def grid_part(k, grid, *, axis, rank):
    """One of the numbers of each place, ``[batch, 1, *places]``."""
    return grid[..., axis][:, None]


@op("grid_whole", "Part -> Out", attrs={"axis": 0, "rank": 2}, trait=Trait.INTERNAL)
def grid_whole(k, part, *, axis, rank):
    """A grid with that number, and 0 for the others: the transpose of ``grid_part``."""
    zero = k.xp.zeros_like(part[:, 0])
    return k.xp.stack([part[:, 0] if i == axis else zero for i in range(rank)], axis=-1)


@grid_part.gradient
def _(k, dout, *, axis, rank):
    return k.grid_whole(dout, axis=axis, rank=rank)


@grid_whole.gradient
def _(k, dout, *, axis, rank):
    return k.grid_part(dout, axis=axis, rank=rank)


@grid_fraction.gradient(wrt="Grid")
def _(k, grid, x: Like, dout, *, axis, **attrs):
    slope = k.grid_slope(grid, x, axis=axis, **attrs)
    return k.grid_whole(dout * slope, axis=axis, rank=grid.ndim - 2)


# -- what programs hold -----------------------------------------------------------------------------------------------


def _fractions(k, grid, x, attrs):
    """The fraction of columns, rows and layers."""
    places = {n: attrs[n] for n in ("padding_mode", "align_corners")}
    return [k.grid_fraction(grid, x, axis=axis, **places) for axis in range(grid.ndim - 2)]


def _weight(fractions, corner, without=None):
    """Return how much the pixel at a corner counts, but for the fraction along one axis."""
    parts = [f if corner >> axis & 1 else 1 - f for axis, f in enumerate(fractions) if axis != without]
    return functools.reduce(operator.mul, parts)


def _sum(terms):
    return functools.reduce(operator.add, terms)


@op("grid_sampler", "X Grid -> Output", attrs=GRID)
def grid_sampler(k, x, grid, **attrs):
    """Images sampled at the places (x, y) in *grid*, volumes at (x, y, z); -1 and 1 are the first and last of each.

    ``align_corners`` says whether these are the middles of the outermost pixels or their outer edges.
    """
    if attrs["mode"] == "nearest":
        return k.ops.grid_pixel(x, grid, corner=0, **attrs)
    fractions = _fractions(k.ops, grid, x, attrs)
    corners = range(2 ** len(fractions))
    return _sum(k.ops.grid_pixel(x, grid, corner=i, **attrs) * _weight(fractions, i) for i in corners)


@grid_sampler.infer
def _(x, grid, *, mode, padding_mode):
    for slot, spec in (("X", x), ("Grid", grid)):
        if spec.ndim not in (4, 5) or spec.ndim != x.ndim:
            raise ShapeError(f"grid_sampler: {slot} {list(spec.shape)} must have 4 dimensions, or 5 for volumes")
    if not x.dtype.is_floating or x.dtype is not grid.dtype:
        raise DtypeError(f"grid_sampler: X is {x.dtype.name} and Grid {grid.dtype.name}; both must be one real type")
    if grid.shape[-1] not in (grid.ndim - 2, UNKNOWN):
        raise ShapeError(
            f"grid_sampler: the last dimension of Grid {list(grid.shape)} must be {grid.ndim - 2}, for x and y (and z)"
        )
    if UNKNOWN not in (x.shape[0], grid.shape[0]) and x.shape[0] != grid.shape[0]:
        raise ShapeError(f"grid_sampler: X {list(x.shape)} and Grid {list(grid.shape)} are batches of different size")
    if mode not in ("bilinear", "nearest"):
        raise OperatorError(f"grid_sampler: mode must be 'bilinear' or 'nearest', not {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise OperatorError(
            f"grid_sampler: padding_mode must be 'zeros', 'border' or 'reflection', not {padding_mode!r}"
        )
    batch = grid.shape[0] if x.shape[0] == UNKNOWN else x.shape[0]
    return x.replace_shape((batch, x.shape[1], *grid.shape[1:-1]))


@grid_sampler.gradient
def _(k, x, grid, doutput, **attrs):
    if attrs["mode"] == "nearest":
        return lambda: k.grid_spread(doutput, grid, x, corner=0, **attrs), lambda: k.zeros_like(grid)
    places = {n: attrs[n] for n in ("padding_mode", "align_corners")}
    fractions = _fractions(k, grid, x, attrs)
    rank = len(fractions)

    def by_image():
        corners = range(2**rank)
        return _sum(k.grid_spread(doutput * _weight(fractions, i), grid, x, corner=i, **attrs) for i in corners)

    def by_grid():
        pixels = [k.grid_pixel(x, grid, corner=i, **attrs) for i in range(2**rank)]
        terms = []
        for axis in range(rank):
            edges = [i for i in range(2**rank) if not i >> axis & 1]  # from these corners along the axis
            rise = _sum((pixels[i + 2**axis] - pixels[i]) * _weight(fractions, i, axis) for i in edges)
            slope = k.grid_slope(grid, x, axis=axis, **places)
            terms.append(k.grid_whole(k.sum_to(doutput * rise, fractions[0]) * slope, axis=axis, rank=rank))
        return _sum(terms)

    return by_image, by_grid


@grid_sampler.samples
def _(make):
    def places(*shape):
        return uniform(-0.9, 0.9, (*shape, 2))

    def around(*shape):
        return uniform(-1.7, 1.6, (*shape, 2))

    yield make(x=(2, 3, 5, 6), grid=places(2, 4, 3))
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), align_corners=False)
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="border")
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="reflection", align_corners=False)
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="reflection")
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), mode="nearest", align_corners=False)
    yield make(x=(0, 2, 5, 6), grid=places(0, 4, 3))
    yield make(x=(2, 2, 3, 4, 5), grid=uniform(-0.9, 0.9, (2, 2, 3, 2, 3)))
    yield make(x=(1, 2, 3, 4, 5), grid=uniform(-1.7, 1.6, (1, 2, 1, 2, 3)), padding_mode="border", align_corners=False)
    yield make(x=(1, 2, 3, 4, 5), grid=uniform(-1.7, 1.6, (1, 2, 1, 2, 3)), padding_mode="reflection")
    yield make(x=(1, 2, 3, 4, 5), grid=uniform(-1.7, 1.6, (1, 2, 1, 2, 3)), mode="nearest")


@op(
    "affine_grid",
    "Theta OutputShape? -> Output",
    attrs={"align_corners": True, "output_shape": ()},
    sized="OutputShape",
)
def affine_grid(k, theta, shape_tensor, *, align_corners, output_shape):
    """The grid that an affine map *theta* makes of every place of an image of that shape.

    It is ``[batch, 2, 3]``, or for volumes ``[batch, 3, 4]``.
    """
    base = _base(k, theta, output_shape, shape_tensor, align_corners)
    sizes = _image(output_shape, shape_tensor)
    return k.xp.matmul(base, theta.swapaxes(1, 2)).reshape((theta.shape[0], *sizes, len(sizes)))


def _image(output_shape, shape_tensor):
    sizes = output_shape if shape_tensor is None else [int(n) for n in shape_tensor.reshape(-1)]
    return tuple(sizes[2:])


def _base(k, theta, output_shape, shape_tensor, align_corners):
    """The places (x, y, 1) of an image, ``[rows · columns, 3]``, or (x, y, z, 1) of a volume."""
    xp = k.xp
    sizes = _image(output_shape, shape_tensor)
    ends = [1.0 if align_corners else 1 - 1 / max(n, 1) for n in sizes]
    sides = [xp.linspace(-end, end, n) if n != 1 else xp.zeros(1) for end, n in zip(ends, sizes, strict=True)]
    parts = [side.reshape([-1 if i == at else 1 for i in range(len(sizes))]) for at, side in enumerate(sides)]
    grid = xp.stack([xp.broadcast_to(part, sizes) for part in (*reversed(parts), xp.ones(()))], axis=-1)
    return grid.reshape((-1 if grid.size else 0, len(sizes) + 1)).astype(theta.dtype)


@affine_grid.infer
def _(theta, shape_tensor, *, output_shape):
    rank = 3 if 3 in theta.shape[1:2] or 4 in theta.shape[2:] or len(output_shape) == 5 else 2
    if theta.ndim != 3 or theta.shape[1] not in (rank, UNKNOWN) or theta.shape[2] not in (rank + 1, UNKNOWN):
        raise ShapeError(f"affine_grid: Theta {list(theta.shape)} must be [batch, 2, 3], or [batch, 3, 4] for volumes")
    if shape_tensor is None and len(output_shape) != rank + 2:
        raise ShapeError(
            f"affine_grid: output_shape {list(output_shape)} must be four numbers, or five for volumes, as Theta "
            f"{list(theta.shape)} says"
        )
    sizes = (UNKNOWN,) * rank if shape_tensor is not None else tuple(output_shape[2:])
    return theta.replace_shape((theta.shape[0], *sizes, rank))


@affine_grid.gradient(wrt="Theta")
def _(k, theta: Like, shape_tensor, doutput, **attrs):
    return k.affine_sum(doutput, shape_tensor, **attrs)


@op(
    "affine_sum",
    "Grid OutputShape? -> Out",
    attrs={"align_corners": True, "output_shape": ()},
    trait=Trait.INTERNAL,
)
def affine_sum(k, grid, shape_tensor, *, align_corners, output_shape):
    """The transpose of ``affine_grid``: ``[batch, 2, 3]`` or ``[batch, 3, 4]``."""
    base = _base(k, grid, output_shape, shape_tensor, align_corners)
    flat = grid.reshape((grid.shape[0], base.shape[0], grid.shape[-1]))
    return k.xp.matmul(flat.swapaxes(1, 2), base)


@affine_sum.gradient(wrt="Grid")
def _(k, shape_tensor, dout, **attrs):
    return k.affine_grid(dout, shape_tensor, **attrs)


@affine_grid.samples
def _(make):
    yield make(theta=(2, 2, 3), output_shape=(2, 3, 4, 5))
    yield make(theta=(1, 2, 3), output_shape=(1, 3, 4, 5), align_corners=False)
    yield make(theta=(0, 2, 3), output_shape=(0, 3, 4, 5))
    yield make(theta=(2, 3, 4), output_shape=(2, 2, 3, 4, 5))
    yield make(theta=(1, 3, 4), output_shape=(1, 2, 3, 1, 4), align_corners=False)
