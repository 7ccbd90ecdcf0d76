"""Operators that only gradient rules call, written as operators of Paddle that do the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ...core import names
from ...ops import registry
from ...ops.infer import broadcast
from .parts import NotInPaddle, OperatorPart, Parts, UnwrittenPart


def _same_shape(x: OperatorPart, like: OperatorPart) -> bool:
    return x.known and x.shape == like.shape


def _sum_to(parts: Parts, x: OperatorPart, like: OperatorPart, axis: int = -1) -> Any:
    if _same_shape(x, like):
        return x
    if x.ndim < like.ndim:
        return _reshape_like(parts, x, like)
    like = parts.cast_to(like, x.spec.dtype)
    operands = {"X": x, "Y": like, f"Out{names.GRAD}": x}  # of an addition that broadcasts *like*
    return parts.pull("elementwise_add_grad", operands, f"Y{names.GRAD}", like, axis=axis)


def _expand_like(parts: Parts, x: OperatorPart, like: OperatorPart, axis: int = -1) -> OperatorPart:
    if _same_shape(x, like):
        return x
    if x.ndim > like.ndim:
        return _reshape_like(parts, x, like)
    zeros = parts.cast_to(parts.append("fill_any_like", {"X": like}, value=0.0), x.spec.dtype)
    return parts.append("elementwise_add", {"X": zeros, "Y": x}, axis=axis)


def _align(parts: Parts, x: OperatorPart, like: OperatorPart, axis: int = -1) -> OperatorPart:
    after = like.ndim - axis - x.ndim
    if axis == -1 or after <= 0:
        return x
    places = [*range(axis), *range(axis + x.ndim, like.ndim)]
    return parts.append("unsqueeze2", {"X": x}, axes=tuple(places))


def _reshape_like(parts: Parts, x: OperatorPart, like: OperatorPart) -> OperatorPart:
    if _same_shape(x, like):
        return x
    if like.known:
        return parts.append("reshape2", {"X": x}, shape=like.shape)
    return parts.append("reshape2", {"X": x, "Shape": parts.append("shape", {"Input": like})}, shape=like.shape)


def _unshape(parts: Parts, x: OperatorPart, xshape: OperatorPart) -> OperatorPart:
    shape = xshape.shape[1:]
    if shape.count(-1) > 1:
        raise NotInPaddle("reshape2 to a shape that is not known")
    return parts.append("reshape2", {"X": x}, shape=shape)


def _fill(value: float, parts: Parts, x: OperatorPart) -> OperatorPart:
    return parts.append("fill_any_like", {"X": x}, value=value)


def _size_of(parts: Parts, x: OperatorPart) -> OperatorPart:
    kind = x.spec.dtype
    if x.known:
        return parts.append("fill_constant", {}, shape=(), value=float(x.spec.count), dtype=kind.code)
    return parts.cast_to(parts.append("size", {"Input": x}), kind)


def _cast_like(parts: Parts, x: OperatorPart, like: OperatorPart) -> OperatorPart:
    if x.spec.dtype.is_complex and not like.spec.dtype.is_complex:
        x = parts.append("real", {"X": x})
    return parts.cast_to(x, like.spec.dtype)


def _restore(
    parts: Parts, x: OperatorPart, like: OperatorPart, dim: Sequence[int] = (), reduce_all: bool = False
) -> Any:
    like = parts.cast_to(like, x.spec.dtype)
    of = {"X": like, f"Out{names.GRAD}": x}
    everything = reduce_all or not dim
    return parts.pull("reduce_sum_grad", of, f"X{names.GRAD}", like, dim=tuple(dim), reduce_all=everything)


def _add_slices(
    parts: Parts, x: OperatorPart, index: OperatorPart, like: OperatorPart, axis_tensor: Any = None, axis: int = 0
) -> Any:
    like = parts.cast_to(like, x.spec.dtype)
    of = {"X": like, "Index": index, "Axis": axis_tensor, f"Out{names.GRAD}": x}
    return parts.pull("gather_grad", of, f"X{names.GRAD}", like, axis=axis)


def _add_along(parts: Parts, x: OperatorPart, index: OperatorPart, like: OperatorPart, axis: int = 0) -> Any:
    if not like.ndim:
        return _reshape_like(parts, x, like)
    like = parts.cast_to(like, x.spec.dtype)
    of = {"Input": like, "Index": index, f"Result{names.GRAD}": x}
    return parts.pull("take_along_axis_grad", of, f"Input{names.GRAD}", like, Axis=axis)


def _take_along(parts: Parts, x: OperatorPart, index: OperatorPart, axis: int = 0) -> OperatorPart:
    if not x.ndim:
        return _reshape_like(parts, x, index)
    return parts.append("take_along_axis", {"Input": x, "Index": index}, Axis=axis)


def _split_like(
    parts: Parts, x: OperatorPart, likes: Sequence[OperatorPart], axis_tensor: Any = None, axis: int = 0
) -> Any:
    lengths = [like.shape[axis] for like in likes]
    if axis_tensor is not None or -1 in lengths:
        return [UnwrittenPart("split with lengths that are not known", parts)] * len(likes)
    return parts.call(registry.get_by_type("split"), x, sections=tuple(lengths), axis=axis)


def _select(parts: Parts, condition: OperatorPart, x: OperatorPart, y: OperatorPart) -> OperatorPart:
    shape = broadcast(broadcast(condition.shape, x.shape), y.shape)
    whole = next((part for part in (x, y, condition) if part.shape == shape), None)
    if whole is None:
        raise NotInPaddle("where of operands of which none has the shape of the result")
    condition, x, y = (_expand(parts, part, whole) for part in (condition, x, y))
    return parts.append("where", {"Condition": condition, "X": x, "Y": y})


def _expand(parts: Parts, x: OperatorPart, like: OperatorPart) -> OperatorPart:
    if x is like or x.shape == like.shape:
        return x
    return parts.append("expand_as_v2", {"X": x, "Y": like}, target_shape=like.shape)


def _one_more(place: int, parts: Parts, x: OperatorPart) -> OperatorPart:
    return parts.append("unsqueeze2", {"X": x}, axes=(place if place >= 0 else x.ndim + 1 + place,))


def _as_matrix(parts: Parts, x: OperatorPart, dims: int = 1) -> OperatorPart:
    rows, columns = _product(x.shape[:dims]), _product(x.shape[dims:])
    if rows == columns == -1:
        raise NotInPaddle("reshape2 to a shape that is not known")
    return parts.append("reshape2", {"X": x}, shape=(rows, columns))


def _as_rows(parts: Parts, x: OperatorPart) -> OperatorPart:
    return _as_matrix(parts, x, x.ndim - 1)


def _product(sizes: Sequence[int]) -> int:
    return -1 if -1 in sizes else math.prod(sizes)


def _transpose(parts: Parts, x: OperatorPart) -> OperatorPart:
    return _permute(parts, x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _normal_cdf(parts: Parts, x: OperatorPart) -> Any:
    erf = parts.append("erf", {"X": x * math.sqrt(0.5)})
    return erf * 0.5 + 0.5


def _tile_like(parts: Parts, x: OperatorPart, like: OperatorPart) -> OperatorPart:
    return parts.append("tile", {"X": x}, repeat_times=_times(like, x))


def _times(large: OperatorPart, small: OperatorPart) -> tuple[int, ...]:
    """Return how often *small* fits into *large* along each dimension."""
    sizes = (1,) * (large.ndim - small.ndim) + small.shape
    if not large.known or not small.known or 0 in sizes:
        raise NotInPaddle("tile to a shape that is not known")
    return tuple(n // m for n, m in zip(large.shape, sizes, strict=True))


def _slopes(
    parts: Parts, alpha: OperatorPart, x: OperatorPart, mode: str = "all", data_format: str = "NCHW"
) -> OperatorPart:
    shape = [1] * x.ndim
    if mode == "element":
        shape[1:] = x.shape[1:]
    elif mode == "channel" and x.ndim > 1:
        shape[-1 if data_format == "NHWC" else 1] = -1
    return parts.append("reshape2", {"X": alpha}, shape=tuple(shape))


def _label_share(
    parts: Parts, label: OperatorPart, like: OperatorPart, ignore_index: int = -100, normalize: bool = False
) -> Any:
    ignored = parts.append("fill_any_like", {"X": label}, value=float(ignore_index))
    counted = parts.cast_to(parts.append("not_equal", {"X": label, "Y": ignored}), like.spec.dtype)
    if not normalize:
        return counted
    number = parts.append("reduce_sum", {"X": counted}, reduce_all=True)
    least = parts.append("fill_any_like", {"X": number}, value=1e-5)
    return counted / parts.append("elementwise_max", {"X": number, "Y": least})


def _box(parts: Parts, x: OperatorPart, *tensors: Any, **box: Any) -> Any:
    told, operands, attrs = _slice_parts(tensors, box)
    return parts.append(told, {"Input": x, **operands}, **attrs)


def _slice_parts(tensors: Sequence[Any], box: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Type, operands and attributes of the slice that takes a box: without strides it is another operator."""
    operands = dict(zip(_TENSORS, tensors, strict=False))
    attrs = {**box, "infer_flags": box.get("infer_flags") or (1,) * len(box["axes"])}
    if attrs["strides"] or operands.get("StridesTensor") is not None or operands.get("StridesTensorList"):
        return "strided_slice", operands, attrs
    return "slice", operands, {name: value for name, value in attrs.items() if name != "strides"}


_TENSORS: Final = (
    "StartsTensor",
    "EndsTensor",
    "StridesTensor",
    "StartsTensorList",
    "EndsTensorList",
    "StridesTensorList",
)


def _place(parts: Parts, x: OperatorPart, like: OperatorPart, *tensors: Any, **box: Any) -> Any:
    told, operands, attrs = _slice_parts(tensors, box)
    like = parts.cast_to(like, x.spec.dtype)
    of = {"Input": like, f"Out{names.GRAD}": x, **operands}
    return parts.pull(f"{told}_grad", of, f"Input{names.GRAD}", like, **attrs)


def _unpad(parts: Parts, x: OperatorPart, paddings: Sequence[int] = ()) -> OperatorPart:
    ends = tuple(-n if n else _TO_THE_END for n in paddings[1::2])
    axes = tuple(range(x.ndim))
    attrs = {"axes": axes, "starts": tuple(paddings[::2]), "ends": ends, "infer_flags": (1,) * x.ndim}
    return parts.append("slice", {"Input": x}, **attrs)


_TO_THE_END: Final = 2**31 - 1


def _untile(parts: Parts, x: OperatorPart, like: OperatorPart) -> Any:
    times = _times(x, like)
    like = parts.cast_to(like, x.spec.dtype)
    return parts.pull("tile_grad", {"X": like, f"Out{names.GRAD}": x}, f"X{names.GRAD}", like, repeat_times=times)


def _unstack(parts: Parts, x: OperatorPart, axis: int = 0, num: int = 0) -> Any:
    return parts.call(registry.get_by_type("unstack"), x, axis=axis, num=num or x.shape[axis])


def _is_within(
    parts: Parts, x: OperatorPart, low: Any = None, high: Any = None, min: float = 0.0, max: float = 0.0
) -> OperatorPart:
    if low is not None or high is not None:
        raise NotInPaddle("bounds that are tensors")
    return parts.append("logical_and", {"X": x >= min, "Y": x <= max})


def _one_hot_like(
    parts: Parts, label: OperatorPart, like: OperatorPart, axis: int = -1, ignore_index: int = -100
) -> OperatorPart:
    count, kind = like.shape[axis], label.spec.dtype
    if count == -1:
        raise NotInPaddle("a number of classes that is not known")
    shape = [1] * like.ndim
    shape[axis] = count
    settings: dict[str, Any] = {"shape": tuple(shape), "dtype": kind.code}
    classes = parts.append("assign_value", {}, values=tuple(range(count)), **settings)
    ignored = parts.append("fill_any_like", {"X": label}, value=float(ignore_index))
    counted = parts.append("not_equal", {"X": label, "Y": ignored})
    hit = parts.append("logical_and", {"X": parts.append("equal", {"X": label, "Y": classes}), "Y": counted})
    return parts.cast_to(hit, like.spec.dtype)


def _permute(parts: Parts, x: OperatorPart, axis: Sequence[int] = ()) -> OperatorPart:
    return parts.append("transpose2", {"X": x}, axis=tuple(axis))


IN_PADDLE: Final[dict[str, Callable[..., OperatorPart]]] = {
    "sum_to": _sum_to,
    "expand_like": _expand_like,
    "align": _align,
    "reshape_like": _reshape_like,
    "unshape": _unshape,
    "zeros_like": partial(_fill, 0.0),
    "ones_like": partial(_fill, 1.0),
    "size_of": _size_of,
    "cast_like": _cast_like,
    "restore": _restore,
    "permute": _permute,
    "select": _select,
    "add_at": _add_slices,
    "put_along": _add_along,
    "pick_along": _take_along,
    "split_like": _split_like,
    "as_row": partial(_one_more, 0),
    "as_column": partial(_one_more, -1),
    "insert_row": partial(_one_more, -2),
    "as_matrix": _as_matrix,
    "as_rows": _as_rows,
    "transposed": _transpose,
    "normal_cdf": _normal_cdf,
    "one_hot_like": _one_hot_like,
    "tile_like": _tile_like,
    "strided_slice": _box,
    "place": _place,
    "unpad": _unpad,
    "untile": _untile,
    "unstack": _unstack,
    "within": _is_within,
    "slopes": _slopes,
    "label_share": _label_share,
}
"""Operators that only rules call -> what writes operators of Paddle that do the same."""
