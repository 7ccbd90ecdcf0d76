"""Reductions, running sums, sorting and searching."""

from __future__ import annotations

from ..drawing import OMIT, Draw
from ..table import row


@row("sum mean prod max min amax amin logsumexp", weight=4)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any" if g.chance(0.3) else "float")
    named = {"axis": g.axes(x), "keepdim": g.maybe(True, 0.3)}
    if name in ("sum", "prod"):
        named["dtype"] = g.maybe(g.of("float64", "float32", "int64", "int32"), 0.2)
    return g.call(name, x, **named)


@row("all any")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("bool", "any"))
    return g.call(name, x, axis=g.axes(x), keepdim=g.maybe(True, 0.3))


@row("var std")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, axis=g.axes(x), unbiased=g.maybe(False, 0.4), keepdim=g.maybe(True, 0.3))


@row("norm", weight=4)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    order = g.of(OMIT, 1, 2, 3, 0, 0.5, float("inf"), float("-inf"), "fro", 1.5, -1)
    return g.call(name, x, p=order, axis=g.axes(x), keepdim=g.maybe(True, 0.3))


@row("median", weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number" if g.chance(0.3) else "float")
    return g.call(name, x, axis=g.of(None, OMIT, g.axis(x)), keepdim=g.maybe(True, 0.3), mode=g.maybe("min", 0.3))


@row("argmax argmin")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    axis = g.of(None, OMIT, g.axis(x), g.axis(x))
    return g.call(name, x, axis=axis, keepdim=g.maybe(True, 0.3), dtype=g.maybe("int32", 0.2))


@row("cumsum")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    return g.call(name, x, axis=g.of(OMIT, None, g.axis(x), g.axis(x)), dtype=g.maybe(g.of("float64", "int64"), 0.2))


@row("sort argsort")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number" if g.chance(0.3) else "float")
    return g.call(name, x, axis=g.maybe(g.axis(x)), descending=g.maybe(True), stable=True if g.chance(0.8) else OMIT)


@row("topk")
def _(g: Draw, name: str) -> str:
    x = g.tensor(values="plain", low=1)
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 2
    k = g.count(1, max(size, 1)) if g.chance(0.95) else size + 1
    return g.call(name, x, k, axis=g.of(axis, OMIT) if x.rank == 1 else axis, largest=g.maybe(False))


@row("unique", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("int64", "int32", "float32", "float64"), values="any")
    return g.call(
        name,
        x,
        return_index=g.maybe(True, 0.3),
        return_inverse=g.maybe(True, 0.3),
        return_counts=g.maybe(True, 0.3),
        axis=g.of(OMIT, None, 0),
    )


@row("nonzero", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="any"), as_tuple=g.maybe(True, 0.3))
