"""``paddle.gather``, ``paddle.scatter``, …: elements and rows by index."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, expect_type
from gradtool.engine.core.value import AnyTensor

from ._arguments import INTEGERS, integer, tensor
from ._dispatch import apply
from ._manipulation import expand


def gather(x: Any, index: Any, axis: Any = None, name: str | None = None) -> AnyTensor:
    """The slices of *x* at *index* (a vector, a column or a 0-d tensor) along *axis*, the first one when None."""
    where = "paddle.gather"
    x, index = tensor(x, "x", where), tensor(index, "index", where, INTEGERS)
    if isinstance(axis, AnyTensor):
        return apply("gather", x, index, tensor(axis, "axis", where, INTEGERS), name=name)  # type: ignore[no-any-return]
    attrs = {"axis": 0 if axis is None else integer(axis, "axis", where)}
    return apply("gather", x, index, None, attrs=attrs, name=name)  # type: ignore[no-any-return]


def gather_nd(x: Any, index: Any, name: str | None = None) -> AnyTensor:
    """The elements (or slices) of *x* at the coordinates in the last dimension of *index*."""
    where = "paddle.gather_nd"
    return apply(  # type: ignore[no-any-return]
        "gather_nd", tensor(x, "x", where), tensor(index, "index", where, INTEGERS), name=name
    )


def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> AnyTensor:
    """The slices of *x* at the vector *index* along *axis*."""
    where = "paddle.index_select"
    attrs = {"dim": integer(axis, "axis", where)}
    return apply(  # type: ignore[no-any-return]
        "index_select", tensor(x, "x", where), tensor(index, "index", where, INTEGERS), attrs=attrs, name=name
    )


def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> AnyTensor:
    """For each place of *indices* the element of *arr* whose coordinate along *axis* is the index there.

    Args:
        broadcast: whether *arr* and *indices* are first broadcast to a common shape in all other dimensions.
    """
    where = "paddle.take_along_axis"
    x, index = tensor(arr, "arr", where), tensor(indices, "indices", where, INTEGERS)
    if x.ndim != index.ndim:
        raise ShapeError(
            f"{where}: arr '{x.name}' {list(x.shape)} and indices '{index.name}' {list(index.shape)} must have as many "
            "dimensions."
        )
    at = integer(axis, "axis", where)
    if not -x.ndim <= at < x.ndim:
        raise ShapeError(f"{where}: axis {at} is out of range for '{x.name}' of shape {list(x.shape)}.")
    if broadcast and x.ndim:
        x, index = _broadcast_but(x, index, at % x.ndim, where)
    return apply("take_along_axis", x, index, attrs={"Axis": at})  # type: ignore[no-any-return]


def _broadcast_but(x: AnyTensor, index: AnyTensor, axis: int, where: str) -> tuple[AnyTensor, AnyTensor]:
    """*x* and *index* in a common shape, but for dimension *axis*."""
    common = []
    for i, (m, n) in enumerate(zip(x.shape, index.shape, strict=True)):
        if i != axis and m != n and -1 in (m, n):
            raise ShapeError(
                f"{where}: dimension {i} of '{x.name}' {list(x.shape)} and of '{index.name}' {list(index.shape)} "
                "must be known to be broadcast.",
                hint="expand them first, or pass broadcast=False",
            )
        common.append(max(m, n))

    def shape(v: AnyTensor) -> list[int]:
        return [*common[:axis], v.shape[axis], *common[axis + 1 :]]

    wide = expand(index, shape(index))
    return expand(x, shape(x)), wide


def scatter(x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None) -> AnyTensor:
    """*x* with the rows at *index* replaced by *updates*.

    Args:
        overwrite: of several updates of one row the last one counts; when False, their sum.
    """
    where = "paddle.scatter"
    return apply(  # type: ignore[no-any-return]
        "scatter",
        tensor(x, "x", where),
        tensor(index, "index", where, INTEGERS),
        tensor(updates, "updates", where),
        attrs={"overwrite": bool(overwrite)},
        name=name,
    )


def masked_select(x: Any, mask: Any, name: str | None = None) -> AnyTensor:
    """The elements of *x* where the bool tensor *mask* holds, as a vector."""
    where = "paddle.masked_select"
    return apply(  # type: ignore[no-any-return]
        "masked_select", tensor(x, "x", where), tensor(mask, "mask", where, ["bool"]), name=name
    )


def index_put(x: Any, indices: Any, value: Any, accumulate: bool = False, name: str | None = None) -> AnyTensor:
    """*x* with the elements at *indices* replaced by *value*, broadcast.

    Args:
        indices: a tuple of tensors of whole numbers, one per leading dimension of *x* and broadcast against each
            other, or of one bool tensor.
        accumulate: add to the elements instead; repeated places add up.
    """
    where = "paddle.index_put"
    expect_type(indices, (list, tuple), "indices", where)
    positions = [tensor(v, f"indices[{i}]", where, [*INTEGERS, "bool"]) for i, v in enumerate(indices)]
    attrs = {"accumulate": bool(accumulate)}
    return apply(  # type: ignore[no-any-return]
        "index_put", tensor(x, "x", where), positions, tensor(value, "value", where), attrs=attrs, name=name
    )
