"""Sampling images at the places that a grid names (Jaderberg et al. 2015).

A place in [-1, 1] becomes a row and a column with a fraction, and the four pixels around it are weighted with the
fractions. Pixels are linear in the image and weights are linear in the fractions, which are linear in the grid but for
jumps: the small operators below say so one by one, and the rule, to any order, is made of them.
"""

from __future__ import annotations

import math

from ...core.errors import DtypeError, OperatorError, ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, Trait, op
from ..samples import between

GRID = {"mode": "bilinear", "padding_mode": "zeros", "align_corners": True}
PLACE = {"padding_mode": "zeros", "align_corners": True, "axis": 0}


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
    """Rows (axis 1) or columns (axis 0) of *x* with fractions, and their slopes by the grid: ``[batch, h, w]``."""
    xp, size = k.xp, x.shape[3 - axis]
    share = grid[..., axis].astype("float64")
    slope = xp.full(share.shape, (size - 1) / 2 if align_corners else size / 2)
    at = (share + 1) / 2 * (size - 1) if align_corners else ((share + 1) * size - 1) / 2
    if padding_mode == "reflection":
        at, sign = _reflected(xp, at, 0.0, size - 1.0) if align_corners else _reflected(xp, at, -0.5, size - 0.5)
        slope = slope * sign
    if padding_mode != "zeros":
        inside = (at >= 0) & (at <= size - 1)
        at, slope = xp.clip(at, 0, size - 1), slope * inside
    return at, slope


def _low(xp, at):
    # A place that is no number, or too far away to be counted, is outside of every image.
    return xp.floor(xp.where(xp.isfinite(at), xp.clip(at, -(2.0**31), 2.0**31), -2.0)).astype("int64")


def _pixels(k, grid, x, corner, mode, padding_mode, align_corners):
    """Flat places of one pixel around each place of the grid, and whether it lies within the image."""
    xp = k.xp
    coordinates = []
    for axis in (0, 1):
        at, _ = _places(k, grid, x, axis, padding_mode, align_corners)
        low = _low(xp, xp.round(at) if mode == "nearest" else at)
        coordinates.append(low + (corner >> axis & 1))
    columns, rows = coordinates
    inside = (columns >= 0) & (columns < x.shape[3]) & (rows >= 0) & (rows < x.shape[2])
    flat = xp.clip(rows, 0, x.shape[2] - 1) * x.shape[3] + xp.clip(columns, 0, x.shape[3] - 1)
    return flat, inside


@op("grid_pixel", "X Grid -> Out", attrs={**GRID, "corner": 0}, trait=Trait.INTERNAL)
def grid_pixel(k, x, grid, *, corner, mode, padding_mode, align_corners):
    """The pixel of *x* at one corner of each place of the grid; zeros outside."""
    xp = k.xp
    flat, inside = _pixels(k, grid, x, corner, mode, padding_mode, align_corners)
    (n, c, h, w), count = x.shape, math.prod(flat.shape[1:])
    pixels = xp.take_along_axis(x.reshape((n, c, h * w)), flat.reshape((n, 1, count)), 2).reshape(
        (n, c, *flat.shape[1:])
    )
    return pixels * inside[:, None].astype(x.dtype)


@op("grid_spread", "Y Grid X -> Out", attrs={**GRID, "corner": 0}, trait=Trait.INTERNAL)
def grid_spread(k, y, grid, x, *, corner, mode, padding_mode, align_corners):
    """Zeros in the shape of *x* with each *y* added to its pixel: the transpose of ``grid_pixel``."""
    xp = k.xp
    flat, inside = _pixels(k, grid, x, corner, mode, padding_mode, align_corners)
    (n, c, h, w), count = x.shape, math.prod(flat.shape[1:])
    out = xp.zeros((n * c, h * w), y.dtype)
    values = (y * inside[:, None].astype(y.dtype)).reshape((n * c, count))
    places = xp.repeat(flat.reshape((n, count)), c, axis=0)
    xp.add.at(out, (xp.arange(n * c)[:, None], places), values)
    return out.reshape(x.shape)


@grid_pixel.gradient(wrt="X")
def _(k, x: Like, grid, dout, **attrs):
    return k.grid_spread(dout, grid, x, **attrs)


@grid_spread.gradient(wrt="Y")
def _(k, grid, x: Like, dout, **attrs):
    return k.grid_pixel(dout, grid, **attrs)


@op("grid_fraction", "Grid X -> Out", attrs=PLACE, trait=Trait.INTERNAL)
def grid_fraction(k, grid, x, *, padding_mode, align_corners, axis):
    """How far each place lies beyond the pixel before it, ``[batch, 1, h, w]``."""
    at, _ = _places(k, grid, x, axis, padding_mode, align_corners)
    return (at - _low(k.xp, at)).astype(grid.dtype)[:, None]


@op("grid_slope", "Grid X -> Out", attrs=PLACE, trait=Trait.INTERNAL, differentiable=False)
def grid_slope(k, grid, x, *, padding_mode, align_corners, axis):
    """The derivative of a row or column by the grid, ``[batch, 1, h, w]``."""
    _, slope = _places(k, grid, x, axis, padding_mode, align_corners)
    return slope.astype(grid.dtype)[:, None]


@op("grid_part", "Grid -> Out", attrs={"axis": 0}, trait=Trait.INTERNAL)
def grid_part(k, grid, *, axis):
    """One of the two numbers of each place, ``[batch, 1, h, w]``."""
    return grid[..., axis][:, None]


@op("grid_whole", "Part -> Out", attrs={"axis": 0}, trait=Trait.INTERNAL)
def grid_whole(k, part, *, axis):
    """A grid with that number, and 0 for the other one: the transpose of ``grid_part``."""
    zero = k.xp.zeros_like(part[:, 0])
    return k.xp.stack([zero, part[:, 0]] if axis else [part[:, 0], zero], axis=-1)


@grid_part.gradient
def _(k, dout, *, axis):
    return k.grid_whole(dout, axis=axis)


@grid_whole.gradient
def _(k, dout, *, axis):
    return k.grid_part(dout, axis=axis)


@grid_fraction.gradient(wrt="Grid")
def _(k, grid, x: Like, dout, *, axis, **attrs):
    return k.grid_whole(dout * k.grid_slope(grid, x, axis=axis, **attrs), axis=axis)


# -- what programs hold -----------------------------------------------------------------------------------------------


def _weights(k, grid, x, attrs):
    """The fractions of columns and rows, and the weight of each corner."""
    places = {n: attrs[n] for n in ("padding_mode", "align_corners")}
    u, v = (k.grid_fraction(grid, x, axis=axis, **places) for axis in (0, 1))
    return places, u, v, ((1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v)


@op("grid_sampler", "X Grid -> Output", attrs=GRID)
def grid_sampler(k, x, grid, **attrs):
    """Images sampled at the places (x, y) in *grid*; -1 and 1 are the first and last column or row.

    ``align_corners`` says whether these are the middles of the outermost pixels or their outer edges.
    """
    if attrs["mode"] == "nearest":
        return k.ops.grid_pixel(x, grid, corner=0, **attrs)
    _, _, _, weights = _weights(k.ops, grid, x, attrs)
    parts = [k.ops.grid_pixel(x, grid, corner=i, **attrs) * w for i, w in enumerate(weights)]
    return parts[0] + parts[1] + parts[2] + parts[3]


@grid_sampler.infer
def _(x, grid, *, mode, padding_mode):
    for slot, spec in (("X", x), ("Grid", grid)):
        if spec.ndim != 4:
            raise ShapeError(f"grid_sampler: {slot} {list(spec.shape)} must have 4 dimensions")
    if not x.dtype.is_floating or x.dtype is not grid.dtype:
        raise DtypeError(f"grid_sampler: X is {x.dtype.name} and Grid {grid.dtype.name}; both must be one real type")
    if grid.shape[3] not in (2, UNKNOWN):
        raise ShapeError(f"grid_sampler: the last dimension of Grid {list(grid.shape)} must be 2, for x and y")
    if UNKNOWN not in (x.shape[0], grid.shape[0]) and x.shape[0] != grid.shape[0]:
        raise ShapeError(f"grid_sampler: X {list(x.shape)} and Grid {list(grid.shape)} are batches of different size")
    if mode not in ("bilinear", "nearest"):
        raise OperatorError(f"grid_sampler: mode must be 'bilinear' or 'nearest', not {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise OperatorError(
            f"grid_sampler: padding_mode must be 'zeros', 'border' or 'reflection', not {padding_mode!r}"
        )
    batch = grid.shape[0] if x.shape[0] == UNKNOWN else x.shape[0]
    return x.with_shape((batch, x.shape[1], *grid.shape[1:3]))


@grid_sampler.gradient
def _(k, x, grid, doutput, **attrs):
    if attrs["mode"] == "nearest":
        return lambda: k.grid_spread(doutput, grid, x, corner=0, **attrs), lambda: k.zeros_like(grid)
    places, u, v, weights = _weights(k, grid, x, attrs)

    def by_image():
        parts = [k.grid_spread(doutput * w, grid, x, corner=i, **attrs) for i, w in enumerate(weights)]
        return parts[0] + parts[1] + parts[2] + parts[3]

    def by_grid():
        a, b, c, d = (k.grid_pixel(x, grid, corner=i, **attrs) for i in range(4))
        across, down = (b - a) * (1 - v) + (d - c) * v, (c - a) * (1 - u) + (d - b) * u
        terms = [
            k.grid_whole(k.sum_to(doutput * rise, u) * k.grid_slope(grid, x, axis=axis, **places), axis=axis)
            for axis, rise in enumerate((across, down))
        ]
        return terms[0] + terms[1]

    return by_image, by_grid


@grid_sampler.samples
def _(make):
    def places(*shape):
        return between(-0.9, 0.9, (*shape, 2))

    def around(*shape):
        return between(-1.7, 1.6, (*shape, 2))

    yield make(x=(2, 3, 5, 6), grid=places(2, 4, 3))
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), align_corners=False)
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="border")
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="reflection", align_corners=False)
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), padding_mode="reflection")
    yield make(x=(1, 2, 5, 6), grid=around(1, 4, 3), mode="nearest", align_corners=False)
    yield make(x=(0, 2, 5, 6), grid=places(0, 4, 3))


@op("affine_grid", "Theta OutputShape? -> Output", attrs={"align_corners": True, "output_shape": ()})
def affine_grid(k, theta, shape_tensor, *, align_corners, output_shape):
    """The grid that an affine map *theta* ``[batch, 2, 3]`` makes of every place of an image of that shape."""
    base = _base(k, theta, output_shape, shape_tensor, align_corners)
    return k.xp.matmul(base, theta.swapaxes(1, 2)).reshape((theta.shape[0], *_image(output_shape, shape_tensor), 2))


def _image(output_shape, shape_tensor):
    sizes = output_shape if shape_tensor is None else [int(n) for n in shape_tensor.reshape(-1)]
    return tuple(sizes[2:])


def _base(k, theta, output_shape, shape_tensor, align_corners):
    """The places (x, y, 1) of an image, ``[rows · columns, 3]``."""
    xp = k.xp
    rows, columns = _image(output_shape, shape_tensor)
    ends = [1.0 if align_corners else 1 - 1 / max(n, 1) for n in (rows, columns)]
    y, x = (xp.linspace(-end, end, n) if n != 1 else xp.zeros(1) for end, n in zip(ends, (rows, columns), strict=True))
    grid = xp.stack([xp.tile(x, rows), xp.repeat(y, columns), xp.ones(rows * columns)], axis=-1)
    return grid.astype(theta.dtype)


@affine_grid.infer
def _(theta, shape_tensor, *, output_shape):
    if theta.ndim != 3 or theta.shape[1] not in (2, UNKNOWN) or theta.shape[2] not in (3, UNKNOWN):
        raise ShapeError(f"affine_grid: Theta {list(theta.shape)} must be [batch, 2, 3]")
    if shape_tensor is None and len(output_shape) != 4:
        raise ShapeError(f"affine_grid: output_shape {list(output_shape)} must be four numbers")
    sizes = (UNKNOWN, UNKNOWN) if shape_tensor is not None else tuple(output_shape[2:])
    return theta.with_shape((theta.shape[0], *sizes, 2))


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
    """The transpose of ``affine_grid``: ``[batch, 2, 3]``."""
    base = _base(k, grid, output_shape, shape_tensor, align_corners)
    flat = grid.reshape((grid.shape[0], base.shape[0], 2))
    return k.xp.matmul(flat.swapaxes(1, 2), base)


@affine_sum.gradient(wrt="Grid")
def _(k, shape_tensor, dout, **attrs):
    return k.affine_grid(dout, shape_tensor, **attrs)


@affine_grid.samples
def _(make):
    yield make(theta=(2, 2, 3), output_shape=(2, 3, 4, 5))
    yield make(theta=(1, 2, 3), output_shape=(1, 3, 4, 5), align_corners=False)
    yield make(theta=(0, 2, 3), output_shape=(0, 3, 4, 5))
