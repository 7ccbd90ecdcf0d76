"""``paddle.reshape``, ``paddle.concat``, ``paddle.split``, …: tensors in other shapes, joined and taken apart."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import DtypeError, ShapeError, UsageError, expect_type
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager import mode
from gradtool.engine.ir.variable import ARRAY
from gradtool.engine.ops.infer import axis_in

from ._arguments import INTEGERS, Dims, dims, integer, integers, tensor, tensors
from ._dispatch import apply
from ._remembered import remembered


class ShapeArgumentError(ShapeError, AssertionError):
    """Numbers that are no shape, or not one for this tensor (Paddle raises AssertionError)."""


def _first(result: Any) -> AnyTensor:
    """The output of an operator that also gives the shape of its input."""
    return result[0]  # type: ignore[no-any-return]


@remembered
def reshape(x: Any, shape: Any, name: str | None = None) -> AnyTensor:
    """The elements of *x* in another shape.

    Args:
        shape: a list of numbers and variables, or a variable. 0 keeps that dimension (and means no elements where *x*
            has none); one -1 takes what is left.

    Raises:
        ShapeError: the numbers of elements differ (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> paddle.reshape(paddle.zeros([2, 3, 4]), [0, -1]).shape
    (2, 12)
    """
    where = "paddle.reshape"
    x = tensor(x, "x", where)
    size = dims(shape, "shape", where)
    if not size.parts:
        if size.numbers.count(-1) > 1 or min(size.numbers, default=0) < -1:
            raise ShapeArgumentError(f"{where}: at most one number of shape can be -1, but received {size.numbers}.")
        if 0 in size.numbers[x.ndim :] and 0 not in x.shape:
            raise ShapeArgumentError(
                f"{where}: shape {size.numbers} has a 0 where '{x.name}' {list(x.shape)} has no dimension to keep."
            )
    attrs = {"shape": size.numbers}
    return _first(apply("reshape2", x, size.whole, size.parts, attrs=attrs, name=name))


@remembered
def transpose(x: Any, perm: Any, name: str | None = None) -> AnyTensor:
    """The dimensions of *x* in the order *perm*."""
    where = "paddle.transpose"
    x = tensor(x, "x", where)
    expect_type(perm, (list, tuple), "perm", where)
    return _first(apply("transpose2", x, attrs={"axis": integers(perm, "perm", where)}, key="transpose", name=name))


@remembered
def t(input: Any, name: str | None = None) -> AnyTensor:
    """The transpose of a matrix; a vector or scalar is its own."""
    x = tensor(input, "input", "paddle.t")
    if x.ndim > 2:
        raise ShapeError(
            f"paddle.t takes at most two dimensions, but '{x.name}' has shape {list(x.shape)}.",
            hint="use paddle.transpose",
        )
    return x if x.ndim < 2 else _first(apply("transpose2", x, attrs={"axis": [1, 0]}, key="t", name=name))


@remembered
def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> AnyTensor:
    """The dimensions *source* of *x* moved to *destination*, the others in their order."""
    where = "paddle.moveaxis"
    x = tensor(x, "x", where)
    moves = integers(source, "source", where), integers(destination, "destination", where)
    for a in (*moves[0], *moves[1]):
        if not -x.ndim <= a < x.ndim:
            raise ShapeError(f"{where}: dimension {a} is out of range for x {list(x.shape)}.")
    before, after = ([a % x.ndim for a in move] for move in moves)
    if len(set(before)) != len(before) or len(set(after)) != len(before):
        raise ShapeError(f"{where}: source {before} and destination {after} must name as many dimensions, each once.")
    rest = iter(i for i in range(x.ndim) if i not in before)
    axis = [before[after.index(i)] if i in after else next(rest) for i in range(x.ndim)]
    return _first(apply("transpose2", x, attrs={"axis": axis}, key="moveaxis", name=name))


@remembered
def unsqueeze(x: Any, axis: Any, name: str | None = None) -> AnyTensor:
    """*x* with dimensions of 1 put in at *axis*: a number, a list of numbers and variables, or a variable."""
    where = "paddle.unsqueeze"
    x = tensor(x, "x", where)
    if not isinstance(axis, (list, tuple, AnyTensor)):
        axis = [integer(axis, "axis", where)]
    size = dims(axis, "axis", where)
    attrs = {"axes": [] if size.parts else size.numbers}
    return _first(apply("unsqueeze2", x, size.whole, size.parts, attrs=attrs, name=name))


@remembered
def squeeze(x: Any, axis: Any = None, name: str | None = None) -> AnyTensor:
    """*x* without the dimensions *axis* that are 1; without all dimensions that are 1 when None."""
    where = "paddle.squeeze"
    x = tensor(x, "x", where)
    axes = [] if axis is None else integers(axis, "axis", where)
    return _first(apply("squeeze2", x, attrs={"axes": axes}, key="squeeze", name=name))


@remembered
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> AnyTensor:
    """*x* with the dimensions *start_axis* to *stop_axis* (included) joined into one."""
    where = "paddle.flatten"
    x = tensor(x, "x", where)
    ends = []
    for what, axis in (("start_axis", start_axis), ("stop_axis", stop_axis)):
        at = integer(axis, what, where)
        if not -x.ndim <= at < max(x.ndim, 1) and (x.ndim or at not in (0, -1)):
            raise ShapeError(f"{where}: {what} {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
        ends.append(at % max(x.ndim, 1))
    if ends[0] > ends[1]:
        raise ShapeError(f"{where}: stop_axis {stop_axis} must not be before start_axis {start_axis}.")
    attrs = {"start_axis": ends[0], "stop_axis": ends[1]}
    return _first(apply("flatten_contiguous_range", x, attrs=attrs, key="flatten", name=name))


@remembered
def concat(x: Any, axis: Any = 0, name: str | None = None) -> AnyTensor:
    """The tensors in the list *x* one after another along *axis* (a number or a variable of one element).

    Raises:
        DtypeError: they differ in dtype (a TypeError).
        ShapeError: they differ in another dimension (a ValueError).
    """
    where = "paddle.concat"
    if getattr(x, "kind", None) == ARRAY:
        from ._arrays import joined

        return joined(x, integer(axis, "axis", where), False, name)
    parts = [x] if isinstance(x, AnyTensor) else tensors(x, "x", where)
    if mode.casting is None:
        _same_dtypes(parts, where)
    if isinstance(axis, AnyTensor):
        return apply("concat", parts, tensor(axis, "axis", where, INTEGERS), name=name)  # type: ignore[no-any-return]
    attrs = {"axis": integer(axis, "axis", where)}
    return apply("concat", parts, None, attrs=attrs, name=name)  # type: ignore[no-any-return]


def _same_dtypes(parts: list[AnyTensor], where: str) -> None:
    kinds = {v.dtype.name for v in parts}
    if len(kinds) > 1:
        raise DtypeError(f"{where}: all tensors must have one data type, but they are {', '.join(sorted(kinds))}.")


@remembered
def stack(x: Any, axis: int = 0, name: str | None = None) -> AnyTensor:
    """The tensors in the list *x*, all of one shape, along a new dimension *axis*."""
    where = "paddle.stack"
    if getattr(x, "kind", None) == ARRAY:
        from ._arrays import joined

        return joined(x, integer(axis, "axis", where), True, name)
    parts = tensors(x, "x", where)
    if mode.casting is None:
        _same_dtypes(parts, where)
    return apply(  # type: ignore[no-any-return]
        "stack", parts, attrs={"axis": integer(axis, "axis", where)}, name=name
    )


@remembered
def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[AnyTensor]:
    """Consecutive parts of *x* along *axis*.

    Args:
        num_or_sections: into how many equal parts, or the length of each; one length may be -1, and lengths may be
            variables.
        axis: a number, or a variable of one element.

    Raises:
        ShapeError: the dimension cannot be cut so (a ValueError; for equal parts an AssertionError as well).
    """
    where = "paddle.split"
    x = tensor(x, "x", where)
    axis_tensor = tensor(axis, "axis", where, INTEGERS) if isinstance(axis, AnyTensor) else None
    at = 0 if axis_tensor is not None else _axis(axis, x, where)
    attrs: dict[str, Any] = {"axis": at}
    lengths = Dims([])
    if isinstance(num_or_sections, (list, tuple)):
        lengths = dims(num_or_sections, "num_or_sections", where)
        attrs["sections"] = lengths.numbers
        count = len(lengths.numbers)
    else:
        attrs["num"] = count = integer(num_or_sections, "num_or_sections", where)
        if count < 1:
            raise ShapeArgumentError(f"{where}: num_or_sections must be positive, but received {count}.")
        if axis_tensor is None and x.ndim and x.shape[at] >= 0 and x.shape[at] % count:
            raise ShapeArgumentError(
                f"{where}: dimension {at} of '{x.name}' {list(x.shape)} cannot be cut into {count} equal parts."
            )
    return apply(  # type: ignore[no-any-return]
        "split", x, axis_tensor, lengths.parts, attrs=attrs, name=name, counts=[count]
    )


def _axis(axis: Any, x: AnyTensor, where: str) -> int:
    """*axis* counted from the front."""
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < max(x.ndim, 1):
        raise ShapeError(f"{where}: axis {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
    return at % max(x.ndim, 1)


@remembered
def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[AnyTensor]:
    """*x* cut into *chunks* equal parts along *axis*."""
    return split(x, integer(chunks, "chunks", "paddle.chunk"), axis, name)


@remembered
def unbind(input: Any, axis: int = 0) -> list[AnyTensor]:
    """The parts of *input* along *axis*, without that dimension, which must be known."""
    x = tensor(input, "input", "paddle.unbind")
    return _parts("unbind", x, _axis(axis, x, "paddle.unbind"), {}, None)


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[AnyTensor]:
    """The parts of *x* along *axis*, without that dimension; *num* is their number if it is not known."""
    x = tensor(x, "x", "paddle.unstack")
    at = _axis(axis, x, "paddle.unstack")
    size = x.shape[at] if x.ndim else 0
    count = size if num is None else num
    if x.ndim and count != x.shape[at]:
        raise UsageError(f"paddle.unstack: dimension {at} of '{x.name}' is {x.shape[at]}, but num is {count}.")
    return _parts("unstack", x, integer(axis, "axis", "paddle.unstack"), {"num": count}, count)


def _parts(op_type: str, x: AnyTensor, axis: int, attrs: dict[str, Any], count: int | None) -> list[AnyTensor]:
    count = max(x.shape[axis] if x.ndim else 0, 0) if count is None else count
    parts = apply(op_type, x, attrs={"axis": axis, **attrs}, counts=[count])
    return parts if isinstance(parts, list) else [parts]


@remembered
def tile(x: Any, repeat_times: Any, name: str | None = None) -> AnyTensor:
    """*x* repeated *repeat_times* along each dimension: a list of numbers and variables, a variable or a number."""
    where = "paddle.tile"
    x = tensor(x, "x", where)
    if isinstance(repeat_times, int) and not isinstance(repeat_times, bool):
        repeat_times = [repeat_times]
    times = dims(repeat_times, "repeat_times", where)
    if any(n < 0 for n in times.numbers) and not times.parts:
        raise ShapeArgumentError(f"{where}: repeat_times must not be negative, but received {times.numbers}.")
    attrs = {"repeat_times": times.numbers if times.whole is None else [-1] * max(times.whole.ndim, 1)}
    return apply("tile", x, times.whole, times.parts, attrs=attrs, name=name)  # type: ignore[no-any-return]


@remembered
def expand(x: Any, shape: Any, name: str | None = None) -> AnyTensor:
    """*x* broadcast to *shape*: a list of numbers and variables, or a variable; -1 keeps a dimension.

    Raises:
        ShapeError: a dimension is neither 1 nor the one asked for (a ValueError).
    """
    where = "paddle.expand"
    x = tensor(x, "x", where)
    size = dims(shape, "shape", where, placeholder=-2)
    attrs = {"shape": size.numbers}
    return apply("expand_v2", x, size.whole, size.parts, attrs=attrs, key="expand", name=name)  # type: ignore[no-any-return]


def broadcast_to(x: Any, shape: Any, name: str | None = None) -> AnyTensor:
    """As :func:`expand`."""
    return expand(x, shape, name)


def expand_as(x: Any, y: Any, name: str | None = None) -> AnyTensor:
    """*x* broadcast to the shape of *y*."""
    x, y = tensor(x, "x", "paddle.expand_as"), tensor(y, "y", "paddle.expand_as")
    return apply(  # type: ignore[no-any-return]
        "expand_as_v2", x, y, attrs={"target_shape": y.shape}, key="expand_as", name=name
    )


def broadcast_tensors(input: Any, name: str | None = None) -> list[AnyTensor]:
    """The tensors in the list *input*, all broadcast to their common shape."""
    parts = tensors(input, "input", "paddle.broadcast_tensors")
    return apply("broadcast_tensors", parts, name=name, counts=[len(parts)])  # type: ignore[no-any-return]


@remembered
def slice(input: Any, axes: Any, starts: Any, ends: Any) -> AnyTensor:
    """The elements of *input* from *starts* up to but without *ends* along *axes*.

    Args:
        starts, ends: lists of numbers and variables, or variables; negative numbers count from the end.
    """
    where = "paddle.slice"
    x = tensor(input, "input", where)
    along = integers(axes, "axes", where)
    bounds = [_bounds(v, what, along, where) for v, what in ((starts, "starts"), (ends, "ends"))]
    attrs = {"axes": along, "infer_flags": _known(along, bounds)}
    first, last = bounds
    return apply(  # type: ignore[no-any-return]
        "slice",
        x,
        first.whole,
        last.whole,
        first.parts,
        last.parts,
        attrs={**attrs, "starts": first.numbers, "ends": last.numbers},
    )


def strided_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None) -> AnyTensor:
    """As :func:`slice`, taking every *strides*-th element; a negative stride goes backwards."""
    where = "paddle.strided_slice"
    x = tensor(x, "x", where)
    along = integers(axes, "axes", where)
    limits = ((starts, "starts"), (ends, "ends"), (strides, "strides"))
    bounds = [_bounds(v, what, along, where) for v, what in limits]
    attrs: dict[str, Any] = {what: b.numbers for b, (_, what) in zip(bounds, limits, strict=True)}
    return apply(  # type: ignore[no-any-return]
        "strided_slice",
        x,
        *(b.whole for b in bounds),
        *(b.parts for b in bounds),
        attrs={**attrs, "axes": along, "infer_flags": _known(along, bounds)},
        name=name,
    )


def _bounds(value: Any, what: str, axes: list[int], where: str) -> Dims:
    bounds = dims(value, what, where)
    if bounds.whole is None and len(bounds.numbers) != len(axes):
        raise UsageError(f"{where}: axes has {len(axes)} numbers and {what} has {len(bounds.numbers)}.")
    return bounds


def _known(axes: list[int], bounds: list[Dims]) -> list[int]:
    """1 for each axis whose bounds are numbers, -1 for the others."""
    return [
        -1 if any(b.whole is not None or (b.parts and b.numbers[i] == -1) for b in bounds) else 1
        for i in range(len(axes))
    ]


@remembered
def flip(x: Any, axis: Any, name: str | None = None) -> AnyTensor:
    """The elements of *x* in reverse order along *axis*, a number or a list."""
    where = "paddle.flip"
    x, axes = tensor(x, "x", where), integers(axis, "axis", where)
    for at in axes:
        axis_in(at, x.ndim, where)
    return apply("flip", x, attrs={"axis": axes}, name=name)  # type: ignore[no-any-return]


reverse = flip


def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> AnyTensor:
    """The elements of *x* moved by *shifts* along *axis*; without an axis, through all dimensions as one.

    Args:
        shifts: a number or a list, one per axis, or a variable.
    """
    where = "paddle.roll"
    x = tensor(x, "x", where)
    axes = [] if axis is None else integers(axis, "axis", where)
    if isinstance(shifts, AnyTensor):
        shifts = tensor(shifts, "shifts", where, INTEGERS)
        return apply("roll", x, shifts, attrs={"axis": axes}, name=name)  # type: ignore[no-any-return]
    moves = integers(shifts, "shifts", where)
    if len(moves) != (len(axes) or 1):
        raise UsageError(f"{where}: {len(moves)} shifts for {len(axes) or 1} axes.")
    for at in axes:
        axis_in(at, x.ndim, where)
    return apply("roll", x, None, attrs={"axis": axes, "shifts": moves}, name=name)  # type: ignore[no-any-return]
