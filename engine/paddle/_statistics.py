"""``paddle.quantile``, ``paddle.nanmean``, ``paddle.histogram``, ``paddle.kthvalue``, …: counts, ranks and middles."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.differences import meet_in_programs
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, RefusedValue, integer, integers, tensor
from ._creation import cast, full_like, linspace, to_tensor, zeros_like
from ._dispatch import apply, stop_in_programs
from ._gather import take_along_axis
from ._logic import isnan, logical_not
from ._manipulation import flatten, moveaxis, reshape, squeeze, stack, unbind, unsqueeze
from ._math import ceil, floor, maximum, round
from ._reduction import any, max, min, sum
from ._search import sort, where

REAL = ("float16", "bfloat16", "float32", "float64")
NUMBERS = (*INTEGERS, *REAL, "complex64", "complex128")


def nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """The sum over *axis* of what is not NaN."""
    x = tensor(x, "x", "paddle.nansum", NUMBERS)
    return sum(where(isnan(x), zeros_like(x), x), axis, dtype, keepdim, name)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> AnyTensor:
    """The mean over *axis* of what is not NaN."""
    x = tensor(x, "x", "paddle.nanmean", NUMBERS)
    if isinstance(axis, int):
        axis = [axis]
    there = sum(cast(logical_not(isnan(x)), "int64"), axis, keepdim=keepdim)
    kind = x.dtype if x.dtype.is_differentiable else dtype_of("float32")
    total = nansum(x, axis, keepdim=keepdim, name=name)
    return cast(total, kind) / cast(there, kind)  # type: ignore[no-any-return]


def nanmedian(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Any:
    """The element in the middle of those over *axis* that are not NaN.

    Args:
        axis: a number, several, or None for everything.
        mode: of two in the middle, ``"avg"`` gives the mean, ``"min"`` the smaller one.

    Returns:
        It; with mode ``"min"`` and an axis that is a number, also where it stands.

    Raises:
        UsageError: no axis in a list, another mode (a ValueError).
    """
    where_ = "paddle.nanmedian"
    x = tensor(x, "x", where_)
    if isinstance(axis, (list, tuple)) and not axis:
        raise UsageError(f"{where_}: Axis list should not be empty.")
    if mode not in ("avg", "min"):
        raise UsageError(f"{where_}: Mode {mode} is not supported. Must be avg or min.")
    axes = [] if axis is None else integers(axis, "axis", where_)
    if not x.ndim and not {*axes} <= {0, -1}:
        raise UsageError(f"{where_}: axis must be 0 or -1 for a number, but received {axis}.")
    attrs = {"axis": axes if x.ndim else [], "keepdim": keepdim, "mode": mode}
    out, places = apply("nanmedian", x, attrs=attrs, name=name)
    places.stop_gradient = True
    return (out, places) if mode == "min" and isinstance(axis, int) else out


# -- quantiles --------------------------------------------------------------------------------------------------------

WAYS = ("linear", "lower", "higher", "nearest", "midpoint")


def quantile(
    x: Any,
    q: Any,
    axis: Any = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
    *,
    out: Any = None,
) -> AnyTensor:
    """The number that a share *q* of the elements over *axis* lies below; NaN where one of them is.

    Args:
        q: a number from 0 to 1, a tensor of them or a list, whose results come along a new first dimension.
        axis: a number, several, or None for everything.
        interpolation: between two elements: ``"linear"``, ``"lower"``, ``"higher"``, ``"nearest"`` or ``"midpoint"``.
    """
    return _quantiles(x, q, axis, keepdim, interpolation, skips=False, place="paddle.quantile")


def nanquantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> AnyTensor:
    """:func:`quantile` of what is not NaN."""
    return _quantiles(x, q, axis, keepdim, interpolation, skips=True, place="paddle.nanquantile")


def _quantiles(x: Any, q: Any, axis: Any, keepdim: bool, interpolation: str, skips: bool, place: str) -> AnyTensor:
    x = tensor(x, "x", place, REAL)
    if interpolation not in WAYS:
        raise UsageError(
            "interpolation must be one of 'linear', 'lower', 'higher', 'nearest' or 'midpoint', but got "
            f"{interpolation} in {place}"
        )
    shares = _shares(q, place)
    folded, axes = _folded(x, axis, place)
    missing = isnan(folded)
    ordered = sort(folded, -1)
    there = sum(cast(logical_not(missing), "int64"), -1, keepdim=True)
    count, behind = cast(there, "float64"), any(missing, -1, True)
    results = []
    for share in shares:
        position = maximum((count - 1) * share, zeros_like(count))
        if not skips:  # NaN stands behind the others, and the gradient goes to the first
            position = where(behind, count, position)
        element = _between(ordered, position, interpolation)
        results.append(_shaped(element, x, axes, keepdim))
    return stack(results, 0) if isinstance(q, (list, tuple)) or _many(q) else results[0]


def _many(q: Any) -> bool:
    return isinstance(q, AnyTensor) and q.ndim > 0


def _shares(q: Any, place: str) -> list[Any]:
    """Numbers, or scalars of a tensor."""
    if isinstance(q, AnyTensor):
        return [cast(q, "float64")] if not q.ndim else [cast(v, "float64") for v in unbind(q)]
    if isinstance(q, bool) or not isinstance(q, (int, float, list, tuple)):
        raise ArgumentTypeError(f"Type of q should be int, float, list or tuple, or tensor in {place}")
    numbers = [*q] if isinstance(q, (list, tuple)) else [q]
    if not numbers:
        raise UsageError(f"q should not be empty in {place}")
    for share in numbers:
        if not 0 <= share <= 1:
            raise UsageError(f"q should be in range [0, 1] in {place}, but received {share}")
    return numbers


def _folded(x: AnyTensor, axis: Any, place: str) -> tuple[AnyTensor, list[int]]:
    """*x* with the dimensions *axis* as one, the last, and which they are."""
    every = axis is None or (isinstance(axis, (list, tuple)) and not axis)
    axes = [*range(x.ndim)] if every else integers(axis, "axis", place)
    if not {*axes} <= {*range(-x.ndim, x.ndim)}:
        raise UsageError(f"{place}: axis must be within [-{x.ndim}, {x.ndim}), but received {axis}.")
    axes = [a % x.ndim for a in axes]
    if not x.ndim:
        return reshape(x, [1]), []
    moved = moveaxis(x, axes, [*range(x.ndim - len(axes), x.ndim)])
    return (flatten(moved, x.ndim - len(axes)) if len(axes) > 1 else moved), axes


def _between(ordered: AnyTensor, position: AnyTensor, way: str) -> AnyTensor:
    """The elements at *position* along the last dimension."""
    if way == "nearest":
        return take_along_axis(ordered, cast(round(position), "int64"), -1)
    low = take_along_axis(ordered, cast(floor(position), "int64"), -1)
    if way == "lower":
        return low
    high = take_along_axis(ordered, cast(ceil(position), "int64"), -1)
    if way == "higher":
        return high
    if way == "midpoint":
        return (low + high) / 2  # type: ignore[no-any-return]
    part = position - floor(position)
    part.stop_gradient = True
    return apply("lerp", low, high, cast(part, ordered.dtype))  # type: ignore[no-any-return]


def _shaped(results: AnyTensor, x: AnyTensor, axes: list[int], keepdim: bool) -> AnyTensor:
    """The results, with or without dimensions of 1 in the place of *axes*."""
    flat = squeeze(results, -1)
    return unsqueeze(flat, sorted(axes)) if keepdim and axes else flat


# -- ranks ------------------------------------------------------------------------------------------------------------


def kthvalue(x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The *k*-th smallest element along *axis* (the last when None), and its place."""
    attrs = {"k": integer(k, "k", "paddle.kthvalue"), "keepdim": keepdim}
    return _ranked("kthvalue", x, -1 if axis is None else axis, attrs, name)


def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> Any:
    """The most frequent element along *axis*, and the last place where it stands."""
    return _ranked("mode", x, axis, {"keepdim": keepdim}, name)


def _ranked(op_type: str, x: Any, axis: Any, attrs: dict[str, Any], name: str | None) -> Any:
    place = f"paddle.{op_type}"
    at = integer(axis, "axis", place)
    values, places = apply(op_type, tensor(x, "x", place), attrs={**attrs, "axis": at}, name=name)
    return values, stop_in_programs(places)


# -- counts -----------------------------------------------------------------------------------------------------------


def histogram(
    input: Any,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Any = None,
    density: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Count the elements in each of *bins* equal parts from *min* to *max* (of their range if both are equal).

    Args:
        weight: what each element counts, a tensor like *input*.
        density: make the area of all parts 1; the result is float32.
    """
    x = tensor(input, "input", "paddle.histogram", [*INTEGERS, "float32", "float64"])
    attrs = {
        "bins": integer(bins, "bins", "paddle.histogram"),
        "min": float(min),
        "max": float(max),
        "density": bool(density),
    }
    return apply("histogram", x, weight, attrs=attrs, name=name)  # type: ignore[no-any-return]


def histogram_bin_edges(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None
) -> AnyTensor:
    """The ends of the parts that :func:`histogram` counts in, float32."""
    place = "paddle.histogram_bin_edges"
    x = tensor(input, "input", place, [*INTEGERS, "float32", "float64"])
    if max < min:
        raise UsageError(f"{place}: max must be larger than min, but received min={min}, max={max}.")
    if min == max == 0:
        meet_in_programs("values of programs")
        return linspace(*_range(x), bins + 1, "float32")
    low, high = (min, max) if min != max else (min - 0.5, max + 0.5)
    return linspace(low, high, bins + 1, "float32")


def _range(x: AnyTensor) -> tuple[AnyTensor, AnyTensor]:
    """The smallest and the largest element, further apart by a half each where they are equal."""
    low, high = cast(min(x), "float32"), cast(max(x), "float32")
    same = low == high
    return where(same, low - 0.5, low), where(same, high + 0.5, high)


def bincount(x: Any, weights: Any = None, minlength: int = 0, name: str | None = None) -> AnyTensor:
    """Count each whole number from 0 on in the vector *x*; with *weights*, add up its elements of those."""
    x = tensor(x, "x", "paddle.bincount")
    if x.dtype.name not in INTEGERS:
        raise DtypeError(f"paddle.bincount: Elements in Input(x) should all be integers, but are {x.dtype.name}.")
    if weights is not None:
        tensor(weights, "weights", "paddle.bincount", [*INTEGERS, "float32", "float64"])
    attrs = {"minlength": integer(minlength, "minlength", "paddle.bincount")}
    return apply("bincount", x, weights, attrs=attrs, name=name)  # type: ignore[no-any-return]


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    out: Any = None,
    sorter: Any = None,
) -> AnyTensor:
    """Return the place where each value would be put into a sorted sequence.

    Args:
        sorted_sequence: a vector, or one for each row of *values* in its last dimension.
        out_int32: give the places as int32.
        right: behind elements that are equal, instead of before them.
        side: the same as ``"left"`` or ``"right"``.
        sorter: the places that would sort the sequence, where it is not sorted.
    """
    place = "paddle.searchsorted"
    kinds = [*INTEGERS, *REAL]
    sequence, wanted = tensor(sorted_sequence, "sorted_sequence", place, kinds), tensor(values, "values", place, kinds)
    if side is not None:
        if side not in ("left", "right") or (side == "left" and right):
            raise UsageError(f"{place}: side={side!r} and right={right} say different things.")
        right = side == "right"
    if sorter is not None:
        sequence = take_along_axis(sequence, sorter, -1)
    attrs = {"out_int32": bool(out_int32), "right": bool(right)}
    result = apply("searchsorted", sequence, wanted, attrs=attrs, name=name)
    return _written(result, out)


def _written(result: Any, out: Any) -> AnyTensor:
    from ._short_names import delivered

    return delivered(result, out)  # type: ignore[no-any-return]


def bucketize(
    x: Any,
    sorted_sequence: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    out: Any = None,
) -> AnyTensor:
    """Return the part of the line, cut at the elements of a sorted vector, that each element lies in."""
    sequence = tensor(sorted_sequence, "sorted_sequence", "paddle.bucketize")
    if sequence.ndim != 1:
        raise UsageError(
            f"paddle.bucketize: sorted_sequence must be a vector, but its shape is {list(sequence.shape)}."
        )
    return searchsorted(sequence, x, out_int32, right, name, out=out)


def isin(x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: str | None = None) -> AnyTensor:
    """Return whether each element of *x* is among those of *test_x*.

    Args:
        assume_unique: accepted for compatibility.
        invert: whether it is not.
    """
    pair = [_tested(v, what) for v, what in ((x, "x"), (test_x, "test_x"))]
    return apply("isin", *pair, attrs={"invert": bool(invert)}, name=name)  # type: ignore[no-any-return]


def _tested(value: Any, what: str) -> AnyTensor:
    if not isinstance(value, AnyTensor):
        raise ArgumentTypeError(f"{what} must be tensor type, but got {type(value)} in paddle.isin")
    return value


def unique_consecutive(
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The elements (slices along *axis*) without those that are equal to the one before.

    Args:
        return_inverse: also which of them each element is.
        return_counts: also how many each stands for.
        dtype: of these two.
    """
    place = "paddle.unique_consecutive"
    attrs = {
        "return_inverse": bool(return_inverse),
        "return_counts": bool(return_counts),
        "axis": [] if axis is None else [integer(axis, "axis", place)],
        "dtype": dtype_of(dtype).code,
    }
    values, which, counts = apply("unique_consecutive", tensor(x, "x", place), attrs=attrs, name=name)
    for v in (values, which, counts):
        v.stop_gradient = True
    results = [values, *([which] if return_inverse else []), *([counts] if return_counts else [])]
    return tuple(results) if len(results) > 1 else values


def histogramdd(
    x: Any, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Any = None, name: str | None = None
) -> tuple[AnyTensor, list[AnyTensor]]:
    """Count the rows of the matrix *x* in each cell of a grid.

    Args:
        bins: the number of equal parts along each dimension, one for each, or tensors with their ends.
        ranges: the two ends for each dimension, one after another; the range of the elements when None.
        density: divide by the cells' volumes and the sum of all.
        weights: what each row counts.

    Returns:
        The counts, and for each dimension the ends of its parts.

    Raises:
        RefusedValue: shapes that do not fit (an AssertionError).
    """
    place = "paddle.histogramdd"
    x = tensor(x, "x", place, ["float32", "float64"])
    if x.ndim < 2:
        raise RefusedValue(f"{place}: input x must be a tensor with at least 2 dimensions.")
    points = flatten(x, 0, -2) if x.ndim > 2 else x
    edges = _grid(points, bins, ranges, points.shape[-1], place)
    counts = _cells(points, edges, weights, place)
    if density:
        counts = counts / sum(counts)
        for i, ends in enumerate(edges):
            widths = ends[1:] - ends[:-1]
            counts = counts / reshape(widths, [-1 if i == j else 1 for j in range(len(edges))])
    return counts, edges


def _cells(points: AnyTensor, edges: list[AnyTensor], weights: Any, place: str) -> Any:
    """Count the *points* in each cell between *edges*, or add up their weights."""
    inside, cell, total = None, None, 1
    # the number of each point's cell, counted through the grid
    for i, ends in enumerate(edges):
        column = points[:, i]
        parts = ends.shape[0] - 1
        place_in = searchsorted(ends, column, right=True) - 1
        last = column == ends[-1]
        place_in = where(last, full_like(place_in, parts - 1), place_in)
        there = (column >= ends[0]).logical_and(column <= ends[-1])
        inside = there if inside is None else inside.logical_and(there)
        cell = place_in if cell is None else cell * parts + place_in
        total *= parts
    # points outside count nothing, in the first cell
    assert inside is not None
    counted = cast(inside, points.dtype)
    if weights is not None:
        counted = counted * cast(flatten(tensor(weights, "weights", place)), points.dtype)
    counts = bincount(where(inside, cell, zeros_like(cell)), counted, total)
    return reshape(cast(counts, points.dtype), [ends.shape[0] - 1 for ends in edges])


def _grid(points: AnyTensor, bins: Any, ranges: Any, count: int, place: str) -> list[AnyTensor]:
    """The ends of the parts of each dimension."""
    parts = [bins] * count if isinstance(bins, int) else [*bins]
    if len(parts) != count:
        raise RefusedValue(f"{place}: bins must say something of each of {count} dimensions, but has {len(parts)}.")
    if ranges is not None and len(ranges) != 2 * count:
        raise RefusedValue(f"{place}: ranges must have two ends for each of {count} dimensions, but has {len(ranges)}.")
    edges = []
    for i, part in enumerate(parts):
        if isinstance(part, AnyTensor):
            edges.append(part)
            continue
        if ranges is not None:
            low, high = (to_tensor(v, points.dtype) for v in ranges[2 * i : 2 * i + 2])
        else:
            if points.shape[0] == 0:
                raise RefusedValue(f"{place}: of no points there is no range.", hint="give ranges")
            low, high = min(points[:, i]), max(points[:, i])
        edges.append(linspace(low, high, integer(part, "bins", place) + 1, points.dtype))
    return edges
