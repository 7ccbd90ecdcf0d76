"""Rows: operators on elements, reductions, products of matrices."""

from __future__ import annotations

from .rows import Row, away, between, integers, normal, row, truths

EVERYWHERE = [
    "abs",
    "asinh",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "neg",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "square",
    "tanh",
]
INSIDE = ["acos", "asin", "atanh", "tan"]
ABOVE_ZERO = ["log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sqrt"]

UNARY: list[Row] = [
    *(row(n, f"paddle.{n}(x)", x=away(3, 4)) for n in EVERYWHERE),
    *(row(n, f"paddle.{n}(x)", x=between(-0.9, 0.9, 3, 4)) for n in INSIDE),
    *(row(n, f"paddle.{n}(x)", x=between(0.2, 3, 3, 4)) for n in ABOVE_ZERO),
    row("acosh", "paddle.acosh(x)", x=between(1.2, 3, 3, 4)),
    row("scale", "paddle.scale(x, 2.5, 0.5)", "x * 2.5 + 0.5", x=normal(3, 4)),
    row("scale bias first", "paddle.scale(x, 2.5, 0.5, bias_after_scale=False)", "(x + 0.5) * 2.5", x=normal(3, 4)),
    row("clip", "paddle.clip(x, -0.7, 0.6)", x=normal(3, 4)),
    row("pow number", "paddle.pow(x, 2.5)", x=between(0.3, 2, 3, 4)),
    row("cast", "paddle.cast(x, 'float32') * 2", "x.float() * 2", x=normal(3, 4)),
]

BINARY: list[Row] = [
    *(
        row(f"{n} {kind}", f"paddle.{n}(x, y)", x=away(2, 3, 4), y=away(*shape))
        for n in ["add", "subtract", "multiply", "divide", "maximum", "minimum"]
        for kind, shape in (("equal shapes", (2, 3, 4)), ("broadcast", (3, 1)))
    ),
    row("broadcast both", "paddle.multiply(x, y)", x=normal(3, 1, 2), y=normal(4, 1)),
    row("pow", "paddle.pow(x, y)", x=between(0.3, 2, 3, 4), y=normal(4)),
    row("remainder", "paddle.remainder(x, y)", x=normal(3, 4), y=away(3, 4)),
    row("floor_divide", "paddle.floor_divide(x, y)", x=integers(90, 3, 4), y=lambda rng: rng.integers(1, 9, (4,))),
    row("add_n", "paddle.add_n([x, y, x])", "x + y + x", x=normal(3, 4), y=normal(3, 4)),
    row("operators", "(2 - x) / (y + 3.0) * x - x ** 2 / 4", x=normal(3, 4), y=between(0, 2, 4)),
    row("operators reflected", "1 / x + 2 ** y - 3 * x", x=away(3, 4), y=normal(3, 4)),
    row(
        "comparisons",
        "[x < y, x >= y, x != y, paddle.equal(x, y)]",
        "[x < y, x >= y, x != y, torch.eq(x, y)]",
        x=integers(3, 4, 5),
        y=integers(3, 5),
    ),
    row(
        "logical",
        "[paddle.logical_and(x, y), paddle.logical_xor(x, y), paddle.logical_not(x)]",
        x=truths(3, 4),
        y=truths(3, 4),
    ),
    row("where", "paddle.where(c, x, y)", c=truths(3, 4), x=normal(3, 4), y=normal(3, 4)),
]

REDUCTIONS: list[Row] = [
    *(row(f"{n} of all", f"paddle.{n}(x)", x=away(3, 4)) for n in ["sum", "mean", "prod", "std", "var", "max", "min"]),
    *(
        row(f"{n} along one axis", f"paddle.{n}(x, {axis})", x=away(2, 3, 4))
        for n, axis in {
            "sum": 1,
            "mean": -1,
            "prod": 1,
            "std": 2,
            "var": 0,
            "logsumexp": 1,
            "cumsum": 1,
            "amax": 1,
            "amin": -1,
            "argmax": 1,
            "argmin": 2,
        }.items()
    ),
    row("sum along two axes", "paddle.sum(x, [0, 2], keepdim=True)", x=normal(2, 3, 4)),
    row("mean along two axes", "paddle.mean(x, [0, 2])", x=normal(2, 3, 4)),
    row("var biased", "paddle.var(x, 1, unbiased=False)", x=normal(3, 4)),
    row("max along one axis", "paddle.max(x, 1)", "torch.amax(x, 1)", x=normal(3, 4)),
    row("min along one axis", "paddle.min(x, 0, keepdim=True)", "torch.amin(x, 0, keepdim=True)", x=normal(3, 4)),
    row("logsumexp of all", "paddle.logsumexp(x)", "torch.logsumexp(x, (0, 1))", x=normal(3, 4)),
    row("cumsum of all", "paddle.cumsum(x)", "torch.cumsum(x.flatten(), 0)", x=normal(3, 4)),
    row("norm", "paddle.norm(x)", x=normal(3, 4)),
    row("norm 1", "paddle.norm(x, 1, 1)", x=normal(3, 4)),
    row("norm 2", "paddle.norm(x, 2, 0)", x=normal(3, 4)),
    row("norm 3", "paddle.norm(x, 3, 1, keepdim=True)", x=normal(3, 4)),
    row("norm inf", "paddle.norm(x, float('inf'), 1)", x=normal(3, 4)),
    row("all and any", "[paddle.all(x), paddle.any(x, 1)]", x=truths(3, 4)),
]

PRODUCTS: list[Row] = [
    row("matmul", "paddle.matmul(x, y)", x=normal(3, 4), y=normal(4, 2)),
    row(
        "matmul transposed",
        "paddle.matmul(x, y, transpose_x=True, transpose_y=True)",
        "x.T @ y.T",
        x=normal(4, 3),
        y=normal(2, 4),
    ),
    row("matmul batches", "paddle.matmul(x, y)", x=normal(2, 1, 3, 4), y=normal(3, 4, 2)),
    row("matmul vector", "paddle.matmul(x, y)", x=normal(2, 3, 4), y=normal(4)),
    row("matmul vector first", "paddle.matmul(x, y)", x=normal(4), y=normal(2, 4, 3)),
    row("matmul operator", "x @ y", x=normal(3, 4), y=normal(4, 2)),
    row("mm", "paddle.mm(x, y)", x=normal(3, 4), y=normal(4, 2)),
    row("bmm", "paddle.bmm(x, y)", x=normal(2, 3, 4), y=normal(2, 4, 5)),
    row("dot", "paddle.dot(x, y)", x=normal(4), y=normal(4)),
    row("addmm", "paddle.addmm(z, x, y, beta=0.5, alpha=2.0)", z=normal(3, 2), x=normal(3, 4), y=normal(4, 2)),
    row("einsum trace of product", "paddle.einsum('ij,ji->', x, y)", x=normal(3, 4), y=normal(4, 3)),
    row("einsum batch", "paddle.einsum('bij,bkj->bik', x, y)", x=normal(2, 3, 4), y=normal(2, 5, 4)),
    row("einsum outer", "paddle.einsum('i,j->ij', x, y)", x=normal(3), y=normal(4)),
    row("linear", "F.linear(x, w, b)", "F.linear(x, w.T, b)", x=normal(2, 3, 4), w=normal(4, 5), b=normal(5)),
]

ROWS = [*UNARY, *BINARY, *REDUCTIONS, *PRODUCTS]
