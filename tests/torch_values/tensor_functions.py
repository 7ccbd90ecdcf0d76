"""Rows: special functions, running products, ranks, distances and places, for gradients of second order above all."""

from __future__ import annotations

from .rows import Row, away, between, exactly, integers, normal, row, truths

SPECIAL: list[Row] = [
    row("digamma", "paddle.digamma(x)", x=between(0.3, 9, 3, 4)),
    row("digamma of negative numbers", "paddle.digamma(x)", x=between(-2.8, -2.2, 3, 4)),
    row("lgamma", "paddle.lgamma(x)", x=between(0.3, 9, 3, 4)),
    row("lgamma of negative numbers", "paddle.lgamma(x)", x=between(-2.8, -2.2, 3, 4)),
    row("gammaln", "paddle.gammaln(x)", "torch.lgamma(x)", x=between(0.3, 20, 3, 4)),
    row("polygamma 2", "paddle.polygamma(x, 2)", "torch.polygamma(2, x)", x=between(0.5, 9, 3, 4)),
    row("multigammaln", "paddle.multigammaln(x, 3)", "torch.mvlgamma(x, 3)", x=between(2, 9, 3, 4)),
    row(
        "gammaincc",
        "paddle.gammaincc(a, x)",
        "torch.special.gammaincc(a, x)",
        x=between(0.5, 9, 3, 4),
        a=between(0.5, 5, 3, 4),
        fixed=("a",),
    ),
    row(
        "gammainc",
        "paddle.gammainc(a, x)",
        "torch.special.gammainc(a, x)",
        x=between(0.5, 9, 3, 4),
        a=between(0.5, 5, 3, 4),
        fixed=("a",),
    ),
    row("erfinv", "paddle.erfinv(x)", x=between(-0.9, 0.9, 3, 4)),
    row("i0", "paddle.i0(x)", x=away(3, 4)),
    row("i0e", "paddle.i0e(x)", "torch.special.i0e(x)", x=away(3, 4)),
    row("i1", "paddle.i1(x)", "torch.special.i1(x)", x=away(3, 4)),
    row("i1e", "paddle.i1e(x)", "torch.special.i1e(x)", x=away(3, 4)),
    row("sinc", "paddle.sinc(x)", x=away(3, 4)),
    row("logit", "paddle.logit(x)", x=between(0.1, 0.9, 3, 4)),
    row("logit moved", "paddle.logit(x, 0.3)", "torch.logit(x, 0.3)", x=between(0.1, 0.9, 3, 4)),
    row("stanh", "paddle.stanh(x, 0.5, 2.0)", "2.0 * torch.tanh(0.5 * x)", x=normal(3, 4)),
    row("frac", "paddle.frac(x)", x=away(3, 4)),
    row("nan_to_num", "paddle.nan_to_num(x * x)", x=normal(3, 4)),
]

PAIRS: list[Row] = [
    row("atan2", "paddle.atan2(x, y)", x=normal(3, 4), y=normal(4)),
    row("copysign", "paddle.copysign(x * x, y)", x=away(3, 4), y=away(3, 4)),
    row("fmax", "paddle.fmax(x * x, y)", x=normal(3, 4), y=normal(4)),
    row("fmin", "paddle.fmin(x * x, y)", x=normal(3, 4), y=normal(4)),
    row("hypot", "paddle.hypot(x, y)", x=normal(3, 4), y=normal(3, 1)),
    row("ldexp", "paddle.ldexp(x * x, i)", x=normal(3, 4), i=integers(4, 3, 4)),
    row("lerp", "paddle.lerp(x * x, y, 0.3)", x=normal(3, 4), y=normal(3, 4)),
    row("logaddexp", "paddle.logaddexp(x, y)", x=normal(3, 4), y=normal(4)),
]

RUNNING: list[Row] = [
    row("cumprod", "paddle.cumprod(x, 1)", x=normal(3, 5)),
    row("cumprod with zeros", "paddle.cumprod(x, 0)", x=exactly([[0.0, 2.0], [1.5, 0.0], [0.0, 3.0], [2.0, -1.0]])),
    row("logcumsumexp", "paddle.logcumsumexp(x, 1)", x=normal(3, 5)),
    row("cummax", "paddle.cummax(x * x, 1)", x=normal(3, 5)),
    row("cummin", "paddle.cummin(x * x, 0)", x=normal(3, 5)),
    row("diff", "paddle.diff(x * x, 2)", "torch.diff(x * x, 2)", x=normal(3, 5)),
    row("trapezoid", "paddle.trapezoid(x, y)", x=normal(3, 5), y=normal(5)),
    row("cumulative_trapezoid", "paddle.cumulative_trapezoid(x, y)", x=normal(3, 5), y=normal(3, 5)),
]

DIAGONALS: list[Row] = [
    row("diag of a vector", "paddle.diag(x * x, 1)", x=normal(4)),
    row("diag of a matrix", "paddle.diag(x * x, -1)", x=normal(3, 4)),
    row("diagonal", "paddle.diagonal(x * x, 1, 0, 2)", x=normal(3, 2, 4)),
    row("trace", "paddle.trace(x * x)", x=normal(4, 4)),
    row("diagflat", "paddle.diagflat(x * x)", x=normal(2, 3)),
]

PRODUCTS: list[Row] = [
    row("cross", "paddle.cross(x, y, axis=1)", "torch.cross(x, y, dim=1)", x=normal(4, 3), y=normal(4, 3)),
    row("kron", "paddle.kron(x, y)", x=normal(2, 3), y=normal(3, 2)),
    row("inner", "paddle.inner(x, y)", x=normal(2, 3), y=normal(4, 3)),
    row("outer", "paddle.outer(x, y)", x=normal(3), y=normal(4)),
    row("mv", "paddle.mv(x, y)", x=normal(3, 4), y=normal(4)),
    row("tensordot", "paddle.tensordot(x, y, 1)", x=normal(2, 3, 4), y=normal(4, 2)),
    row("baddbmm", "paddle.baddbmm(z, x, y)", x=normal(2, 3, 4), y=normal(2, 4, 2), z=normal(2, 3, 2)),
    row("dist", "paddle.dist(x, y)", x=normal(3, 4), y=normal(3, 4)),
    row("cdist", "paddle.cdist(x, y)", "(x[:, None] - y).norm(dim=-1)", x=normal(3, 4), y=normal(2, 4)),
    row(
        "cdist of order 3",
        "paddle.cdist(x, y, 3.0)",
        "((x[:, None] - y).abs() ** 3).sum(-1) ** (1 / 3)",
        x=normal(3, 4),
        y=normal(2, 4),
    ),
    row(
        "pdist",
        "paddle.pdist(x)",
        "(x[[0, 0, 0, 1, 1, 2]] - x[[1, 2, 3, 2, 3, 3]]).norm(dim=-1)",
        x=normal(4, 3),
    ),
    row(
        "renorm", "paddle.renorm(x, 2.0, 0, 1.0)", "x / torch.clamp(x.norm(dim=1, keepdim=True), min=1)", x=normal(3, 4)
    ),
    row("vander", "paddle.vander(x, 4)", "torch.linalg.vander(x, N=4).flip(-1)", x=normal(3)),
    row("vecdot", "paddle.vecdot(x, y)", "torch.linalg.vecdot(x, y)", x=normal(3, 4), y=normal(3, 4)),
    row(
        "cartesian_prod",
        "paddle.cartesian_prod([x * x, y])",
        "torch.cartesian_prod(x * x, y)",
        x=normal(3),
        y=normal(2),
    ),
    row("combinations", "paddle.combinations(x * x, 3)", "torch.combinations(x * x, 3)", x=normal(5)),
    row("block_diag", "paddle.block_diag([x * x, y])", "torch.block_diag(x * x, y)", x=normal(2, 3), y=normal(3, 1)),
]

RANKS: list[Row] = [
    row("kthvalue", "paddle.kthvalue(x * x, 2, 0)", x=normal(4, 3)),
    row("mode", "paddle.mode(x, 1)", x=exactly([[1.0, 2.0, 2.0], [3.0, 3.0, 1.0]])),
    row("quantile", "paddle.quantile(x * x, 0.3, 1)", "torch.quantile(x * x, 0.3, 1)", x=normal(3, 5)),
    row("nanmedian", "paddle.nanmedian(x * x, 1)", "torch.nanmedian(x * x, 1).values", x=normal(3, 5)),
    row("nansum", "paddle.nansum(x * x, 1)", x=normal(3, 5)),
    row("nanmean", "paddle.nanmean(x * x, 0)", x=normal(3, 5)),
]

PLACES: list[Row] = [
    row(
        "index_add",
        "paddle.index_add(x * x, i, 0, y)",
        "torch.index_add(x * x, 0, i, y)",
        x=normal(3, 4),
        i=exactly([2, 0, 2]),
        y=normal(3, 4),
    ),
    row(
        "index_fill",
        "paddle.index_fill(x * x, i, 1, 2.0)",
        "torch.index_fill(x * x, 1, i, 2.0)",
        x=normal(3, 4),
        i=exactly([2, 0]),
    ),
    row(
        "index_sample",
        "paddle.index_sample(x * x, i)",
        "torch.gather(x * x, 1, i)",
        x=normal(3, 4),
        i=integers(4, 3, 5),
    ),
    row(
        "masked_scatter",
        "paddle.masked_scatter(x * x, c, y)",
        "torch.masked_scatter(x * x, c, y)",
        x=normal(3, 4),
        y=normal(12),
        c=truths(3, 4),
    ),
    row("take", "paddle.take(x * x, i)", x=normal(3, 4), i=integers(12, 5)),
    row(
        "scatter_nd_add",
        "paddle.scatter_nd_add(x * x, i, y)",
        "torch.index_add(x * x, 0, i[:, 0], y)",
        x=normal(3, 4),
        y=normal(2, 4),
        i=exactly([[1], [1]]),
    ),
    row(
        "multiplex",
        "paddle.multiplex([x * x, y], i)",
        "torch.where(i.bool(), y, x * x)",
        x=normal(3, 4),
        y=normal(3, 4),
        i=integers(2, 3, 1),
    ),
    row("unfold of windows", "paddle.unfold(x * x, 1, 3, 1)", "(x * x).unfold(1, 3, 1)", x=normal(3, 5)),
    row("as_strided", "paddle.as_strided(x * x, [3, 2], [2, 1])", x=normal(3, 4)),
    row("select_scatter", "paddle.select_scatter(x * x, y, 0, 1)", x=normal(3, 4), y=normal(4)),
    row(
        "slice_scatter",
        "paddle.slice_scatter(x * x, y, [1], [1], [3], [1])",
        "torch.slice_scatter(x * x, y, 1, 1, 3, 1)",
        x=normal(3, 4),
        y=normal(3, 2),
    ),
    row("rot90", "paddle.rot90(x * x)", x=normal(3, 4)),
    row("crop", "paddle.crop(x * x, [2, 2], [1, 1])", "(x * x)[1:3, 1:3]", x=normal(3, 4)),
]

ROWS = [*SPECIAL, *PAIRS, *RUNNING, *DIAGONALS, *PRODUCTS, *RANKS, *PLACES]
