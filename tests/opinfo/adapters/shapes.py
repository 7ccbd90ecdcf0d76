"""Adapters: shapes, joining, splitting, diagonals, windows of memory."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import Lacks, adapter, is_tensor, named, needs

named("atleast_1d atleast_2d atleast_3d")
named("broadcast_to broadcast_shapes column_stack dstack hstack vstack fliplr flipud ravel=flatten")
named("diag_embed diagflat", dim1="dim1", dim2="dim2")
named("diagonal linalg.diagonal", dim1="axis1", dim2="axis2")
named("diagonal_scatter kron inner outer rot90 tril triu squeeze unsqueeze moveaxis")
named("movedim=moveaxis reshape view=reshape expand expand_copy=expand combinations select_scatter=select_scatter")
named(
    "view_copy=reshape squeeze_copy=squeeze unsqueeze_copy=unsqueeze diagonal_copy=diagonal", dim1="axis1", dim2="axis2"
)
named("squeeze.multiple=squeeze alias_copy=clone")
named("tril_indices triu_indices")


@adapter("block_diag")
def _(paddle: Any, *parts: Any) -> Any:
    return paddle.block_diag([*parts])


@adapter("broadcast_tensors")
def _(paddle: Any, *parts: Any) -> Any:
    return paddle.broadcast_tensors([*parts])


@adapter("cartesian_prod")
def _(paddle: Any, *parts: Any) -> Any:
    return paddle.cartesian_prod([*parts])


@adapter("chunk", "unsafe_chunk")
def _(paddle: Any, x: Any, chunks: Any, dim: Any = 0) -> Any:
    needs(x.shape[dim] % chunks == 0, "chunks of different sizes")
    return paddle.chunk(x, chunks, dim)


@adapter("diag")
def _(paddle: Any, x: Any, offset: Any = 0) -> Any:
    return paddle.diag(x, offset)


@adapter("expand_as")
def _(paddle: Any, x: Any, y: Any) -> Any:
    return paddle.expand_as(x, y)


@adapter("flip")
def _(paddle: Any, x: Any, dims: Any) -> Any:
    return paddle.flip(x, dims)


@adapter("meshgrid.variadic_tensors")
def _(paddle: Any, *parts: Any, indexing: str) -> Any:
    return grid(paddle, parts, indexing)


@adapter("meshgrid.list_of_tensors")
def _(paddle: Any, parts: Any, indexing: str) -> Any:
    return grid(paddle, parts, indexing)


def grid(paddle: Any, parts: Any, indexing: str) -> Any:
    needs(indexing == "ij", "indexing='xy'")
    return paddle.meshgrid([*parts])


@adapter("as_strided", "as_strided.partial_views", "as_strided_copy")
def _(paddle: Any, x: Any, shape: Any, stride: Any, storage_offset: Any = 0) -> Any:
    return paddle.as_strided(x, list(shape), list(stride), storage_offset * x.element_size())


@adapter("narrow")
def _(paddle: Any, x: Any, dim: Any, start: Any, length: Any) -> Any:
    return paddle.narrow(x, dim, start, length)


@adapter("permute", "permute_copy")
def _(paddle: Any, x: Any, dims: Any) -> Any:
    return paddle.transpose(x, list(dims))


@adapter("transpose", "transpose_copy")
def _(paddle: Any, x: Any, a: Any, b: Any) -> Any:
    if not x.shape:
        return x.clone()
    order = [*range(len(x.shape))]
    order[a], order[b] = order[b], order[a]
    return paddle.transpose(x, order)


@adapter("t", "t_copy")
def _(paddle: Any, x: Any) -> Any:
    return paddle.t(x)


@adapter("T")
def _(paddle: Any, x: Any) -> Any:
    return x.T


@adapter("mT")
def _(paddle: Any, x: Any) -> Any:
    return x.mT


@adapter("roll")
def _(paddle: Any, x: Any, shifts: Any, dims: Any = None) -> Any:
    return paddle.roll(x, shifts, dims)


@adapter("split", "unsafe_split", "split_with_sizes", "split_with_sizes_copy", "split.list_args")
def _(paddle: Any, x: Any, sizes: Any, dim: Any = 0) -> Any:
    if isinstance(sizes, int):
        length = x.shape[dim]
        sizes = [min(sizes, length - at) for at in range(0, length, sizes)]
    return paddle.split(x, list(sizes), dim)


@adapter("tensor_split")
def _(paddle: Any, x: Any, parts: Any, dim: Any = 0) -> Any:
    if is_tensor(parts):
        parts = parts.tolist()
    return paddle.tensor_split(x, parts, dim)


for _name in ("hsplit", "vsplit", "dsplit"):

    @adapter(_name)
    def _(paddle: Any, x: Any, parts: Any, function: str = _name) -> Any:
        return getattr(paddle, function)(x, parts)


@adapter("select")
def _(paddle: Any, x: Any, dim: Any, index: Any) -> Any:
    return paddle.index_select(x, paddle.to_tensor([index]), dim).squeeze(dim)


@adapter("slice")
def _(paddle: Any, x: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    place = [slice(None)] * len(x.shape)
    place[dim] = slice(start, end, step)
    return x[tuple(place)]


@adapter("slice_scatter")
def _(paddle: Any, x: Any, value: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    start = 0 if start is None else start
    end = x.shape[dim] if end is None else min(end, x.shape[dim])
    return paddle.slice_scatter(x, value, [dim], [start], [end], [step])


@adapter("reshape_as", "view_as")
def _(paddle: Any, x: Any, other: Any) -> Any:
    return paddle.reshape(x, other.shape)


@adapter("flatten")
def _(paddle: Any, x: Any, start_dim: Any = 0, end_dim: Any = -1) -> Any:
    return paddle.flatten(x, start_dim, end_dim)


@adapter("unflatten")
def _(paddle: Any, x: Any, dim: Any, sizes: Any) -> Any:
    return paddle.unflatten(x, dim, sizes)


@adapter("repeat")
def _(paddle: Any, x: Any, times: Any) -> Any:
    return x.repeat(list(times)) if hasattr(x, "repeat") else paddle.tile(x, list(times))


@adapter("tile")
def _(paddle: Any, x: Any, times: Any) -> Any:
    return paddle.tile(x, list(times))


@adapter("repeat_interleave")
def _(paddle: Any, x: Any, repeats: Any, dim: Any = None, output_size: Any = None) -> Any:
    return paddle.repeat_interleave(x, repeats, dim)


@adapter("stack")
def _(paddle: Any, parts: Any, dim: Any = 0) -> Any:
    return paddle.stack(parts, dim)


@adapter("cat")
def _(paddle: Any, parts: Any, dim: Any = 0) -> Any:
    return paddle.concat(parts, dim)


@adapter("unbind", "unbind_copy")
def _(paddle: Any, x: Any, dim: Any = 0) -> Any:
    return paddle.unbind(x, dim)


@adapter("unfold", "unfold_copy")
def _(paddle: Any, x: Any, dim: Any, size: Any, step: Any) -> Any:
    return paddle.unfold(x, dim, size, step)


@adapter("resize_as_", "resize_")
def _(paddle: Any, x: Any, *_args: Any) -> Any:
    raise Lacks("resize_")
