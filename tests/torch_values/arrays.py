"""Rows: form, parts, order and places of elements."""

from __future__ import annotations

from .rows import Row, exactly, integers, normal, row, truths

FORM: list[Row] = [
    row("reshape", "paddle.reshape(x, [4, -1])", x=normal(2, 3, 4)),
    row("flatten", "paddle.flatten(x, 1, 2)", x=normal(2, 3, 4)),
    row("squeeze", "paddle.squeeze(x, 1)", x=normal(3, 1, 4)),
    row("unsqueeze", "paddle.unsqueeze(x, 1)", x=normal(3, 4)),
    row("transpose", "paddle.transpose(x, [2, 0, 1])", "x.permute(2, 0, 1)", x=normal(2, 3, 4)),
    row("t", "paddle.t(x)", x=normal(3, 4)),
    row("moveaxis", "paddle.moveaxis(x, 0, 2)", x=normal(2, 3, 4)),
    row("broadcast_to", "paddle.broadcast_to(x, [2, 3, 4])", x=normal(3, 1)),
    row("expand", "paddle.expand(x, [2, 3, 4])", "x.expand(2, 3, 4)", x=normal(3, 1)),
    row("expand_as", "paddle.expand_as(x, y)", "x.expand_as(y)", x=normal(4), y=normal(3, 4), fixed=("y",)),
    row("tile", "paddle.tile(x, [2, 3])", x=normal(3, 4)),
    row("meshgrid", "paddle.meshgrid(x, y)", "torch.meshgrid(x, y, indexing='ij')", x=normal(3), y=normal(4)),
    row(
        "broadcast_tensors",
        "paddle.broadcast_tensors([x, y])",
        "torch.broadcast_tensors(x, y)",
        x=normal(3, 1),
        y=normal(4),
    ),
    row("concat", "paddle.concat([x, y], 1)", x=normal(3, 4), y=normal(3, 2)),
    row("stack", "paddle.stack([x, y], 1)", x=normal(3, 4), y=normal(3, 4)),
    row("hstack", "paddle.hstack([x, y])", x=normal(3, 4), y=normal(3, 2)),
    row("vstack", "paddle.vstack([x, y])", x=normal(3, 4), y=normal(2, 4)),
    row("dstack", "paddle.dstack([x, y])", x=normal(3, 4), y=normal(3, 4)),
    row("column_stack", "paddle.column_stack([x, y])", x=normal(3), y=normal(3, 2)),
    row("atleast_3d", "paddle.atleast_3d(x)", x=normal(3, 4)),
    row("split", "paddle.split(x, [1, 3], 1)", x=normal(3, 4)),
    row("split in equal parts", "paddle.split(x, 2, 1)", x=normal(3, 4)),
    row("chunk", "paddle.chunk(x, 3, 0)", x=normal(3, 4)),
    row("unbind", "paddle.unbind(x, 1)", x=normal(3, 4)),
    row("unstack", "paddle.unstack(x, 0)", "torch.unbind(x, 0)", x=normal(3, 4)),
    row("repeat_interleave", "paddle.repeat_interleave(x, 2, 1)", x=normal(3, 4)),
]

PARTS: list[Row] = [
    row("slice", "paddle.slice(x, [0, 1], [1, 0], [3, 2])", "x[1:3, 0:2]", x=normal(3, 4)),
    row("strided_slice", "paddle.strided_slice(x, [1], [0], [5], [2])", "x[:, 0:5:2]", x=normal(3, 5)),
    row("index by number", "x[1, :, 2]", x=normal(2, 3, 4)),
    row("index by slice", "x[..., 1:4:2]", x=normal(2, 3, 4)),
    row("index by list", "x[[2, 0, 2]]", x=normal(3, 4)),
    row("index by mask", "x[c]", x=normal(3, 4), c=truths(3, 4), smooth=False),
    row("index with new axis", "x[:, None, 1]", x=normal(3, 4)),
    row("gather", "paddle.gather(x, i, 1)", "x.index_select(1, i)", x=normal(3, 4), i=integers(4, 6)),
    row("gather_nd", "paddle.gather_nd(x, i)", "x[i[:, 0], i[:, 1]]", x=normal(3, 4), i=integers(3, 5, 2)),
    row("index_select", "paddle.index_select(x, i, 1)", "x.index_select(1, i)", x=normal(3, 4), i=integers(4, 6)),
    row(
        "take_along_axis",
        "paddle.take_along_axis(x, i, 1)",
        "torch.gather(x, 1, i)",
        x=normal(3, 4),
        i=integers(4, 3, 6),
    ),
    row("masked_select", "paddle.masked_select(x, c)", x=normal(3, 4), c=truths(3, 4)),
    row("masked_fill", "paddle.masked_fill(x, c, 2.5)", x=normal(3, 4), c=truths(3, 4)),
    row(
        "put_along_axis",
        "paddle.put_along_axis(x, i, y, 1)",
        "torch.scatter(x, 1, i, y)",
        x=normal(3, 4),
        i=exactly([[0, 2], [3, 1], [1, 2]]),
        y=normal(3, 2),
    ),
    row(
        "put_along_axis add",
        "paddle.put_along_axis(x, i, y, 1, reduce='add')",
        "torch.scatter_add(x, 1, i, y)",
        x=normal(3, 4),
        i=integers(4, 3, 4),
        y=normal(3, 4),
    ),
    row(
        "scatter",
        "paddle.scatter(x, i, y)",
        "x.index_copy(0, i, y)",
        x=normal(5, 4),
        i=exactly([3, 0, 1]),
        y=normal(3, 4),
    ),
    row("index_put", "paddle.index_put(x, (i,), y)", x=normal(5, 4), i=exactly([3, 0]), y=normal(2, 4)),
    row(
        "index_put accumulate",
        "paddle.index_put(x, (i,), y, accumulate=True)",
        x=normal(5, 4),
        i=exactly([3, 0, 3]),
        y=normal(3, 4),
    ),
    row("tril", "paddle.tril(x, -1)", x=normal(4, 4)),
    row("triu", "paddle.triu(x, 1)", x=normal(2, 3, 4)),
    row("one_hot", "F.one_hot(i, 5)", "F.one_hot(i, 5).float()", i=integers(5, 3, 2)),
    row("embedding", "F.embedding(i, w)", i=integers(5, 3, 4), w=normal(5, 2)),
    row("nonzero", "paddle.nonzero(x)", x=integers(2, 3, 4)),
    row("unique", "paddle.unique(x)", x=integers(5, 8)),
]

ORDER: list[Row] = [
    row("flip", "paddle.flip(x, [0, 2])", x=normal(2, 3, 4)),
    row("roll", "paddle.roll(x, 2, 1)", x=normal(3, 4)),
    row("roll two axes", "paddle.roll(x, [1, -1], [0, 1])", x=normal(3, 4)),
    row("sort", "paddle.sort(x, 1)", "torch.sort(x, 1).values", x=normal(3, 4)),
    row(
        "sort descending",
        "paddle.sort(x, 0, descending=True)",
        "torch.sort(x, 0, descending=True).values",
        x=normal(3, 4),
    ),
    row("argsort", "paddle.argsort(x, 1)", x=normal(3, 4)),
    row("topk", "paddle.topk(x, 2, 1)", x=normal(3, 4)),
    row("topk smallest", "paddle.topk(x, 2, 0, largest=False)", x=normal(4, 3)),
]

FILLED: list[Row] = [
    row("pad constant", "F.pad(x, [1, 2, 0, 1], value=1.5)", x=normal(2, 3, 4, 5)),
    row("pad reflect", "F.pad(x, [1, 2, 1, 0], mode='reflect')", x=normal(1, 2, 3, 4)),
    row("pad replicate", "F.pad(x, [1, 2, 0, 2], mode='replicate')", x=normal(1, 2, 3, 4)),
    row("pad circular", "F.pad(x, [1, 2, 1, 0], mode='circular')", x=normal(1, 2, 3, 4)),
    row("zeropad2d", "F.zeropad2d(x, [1, 0, 2, 1])", "F.pad(x, [1, 0, 2, 1])", x=normal(1, 2, 3, 4)),
    row("interpolate nearest", "F.interpolate(x, scale_factor=2)", x=normal(1, 2, 3, 4)),
]

ROWS = [*FORM, *PARTS, *ORDER, *FILLED]
