"""Products of matrices and sums over indices."""

from __future__ import annotations

from ..drawing import OMIT, Draw
from ..table import row


@row("matmul", weight=4)
def _(g: Draw, name: str) -> str:
    batch, m, k, n = g.shape(0, 2), g.size(), g.size(), g.size()
    turned, other = g.chance(0.3), g.chance(0.3)
    kind = "number" if g.chance(0.2) else g.of("float", "float", "complex64")
    left, right = ([k, m] if turned else [m, k]), ([n, k] if other else [k, n])
    x = g.tensor([*batch, *left] if g.chance(0.8) else [k], kind)
    y = g.tensor([*g.fitting(batch), *right] if g.chance(0.8) else [k], x.dtype)
    return g.call(name, x, y, transpose_x=True if turned else OMIT, transpose_y=True if other else OMIT)


@row("mm")
def _(g: Draw, name: str) -> str:
    k = g.size()
    x = g.tensor([g.size(), k])
    return g.call(name, x, g.tensor([k, g.size()], x.dtype if g.chance(0.9) else "any"))


@row("bmm")
def _(g: Draw, name: str) -> str:
    b, k = g.size(), g.size()
    x = g.tensor([b, g.size(), k] if g.chance(0.95) else [k, k])
    return g.call(name, x, g.tensor([b, k, g.size()], x.dtype if g.chance(0.9) else "any"))


@row("dot")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2, kind="number")
    return g.call(name, x, g.tensor(x.shape, x.dtype if g.chance(0.85) else "any"))


@row("addmm")
def _(g: Draw, name: str) -> str:
    m, k, n = g.size(), g.size(), g.size()
    x, y = g.tensor([m, k]), g.tensor([k, n])
    base = g.tensor(g.fitting((m, n)), x.dtype)
    return g.call(name, base, x, y, beta=g.maybe(g.number()), alpha=g.maybe(g.number()))


@row("einsum", weight=4)
def _(g: Draw, name: str) -> str:
    equation = g.of(
        "i,i->",
        "i,j->ij",
        "ij,jk->ik",
        "bij,bjk->bik",
        "ij->ji",
        "ij->i",
        "ii->i",
        "ii->",
        "ij,ij->",
        "...ij,jk->...ik",
        "i,ij,j->",
        "ij,j",
        "bij,bkj->bik",
        "i->",
        "ij->",
        "ij,ij->ij",
    )
    sizes = {letter: g.size() for letter in "abcdefghijk"}
    operands = [
        g.tensor([*(g.shape(0, 1) if "..." in part else ()), *(sizes[c] for c in part if c != ".")], "float32")
        for part in equation.partition("->")[0].split(",")
    ]
    return f"paddle.einsum({equation!r}, {', '.join(operands)})"
