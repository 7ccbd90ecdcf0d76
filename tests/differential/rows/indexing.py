"""Reading and writing by index."""

from __future__ import annotations

from ..drawing import OMIT, Draw, Operand
from ..table import row


def basic(g: Draw, size: int) -> str:
    """An index of one dimension: a number, a slice, now and then too far."""
    end = max(size, 1)
    whole = g.count(-end, end - 1) if g.chance(0.95) else end
    cut = f"{g.of('', g.count(-end - 1, end))}:{g.of('', g.count(-end - 1, end + 1))}"
    return str(g.of(whole, whole, cut, cut, f"{cut}:{g.of(1, 2, -1, -2)}", ":", "::-1"))


def index_of(g: Draw, x: Operand) -> str:
    """The text between the brackets of ``x[…]``."""
    parts = [basic(g, n) for n in x.shape[: g.count(0, x.rank)]]
    if g.chance(0.2):
        parts.insert(g.count(0, len(parts)), "None")
    if g.chance(0.2):
        parts.insert(g.count(0, len(parts)), "...")
    if x.rank and g.chance(0.15):
        return f"{g.tensor([g.count(0, 3)], 'index', f'index:{x.shape[0]}')}"
    if x.rank and g.chance(0.08):
        return f"{g.tensor(x.shape[: g.count(1, x.rank)], 'bool')}" if not g.static else "..."
    if x.rank > 1 and g.chance(0.1):
        n = g.count(1, 3)
        rows, columns = (g.tensor([n], "int64", f"index:{x.shape[i]}") for i in (0, 1))
        return f"{rows}, {columns}"
    if x.rank and g.chance(0.06):
        return f"[{g.count(0, max(x.shape[0] - 1, 0))}, {g.of(0, -1)}]"
    return ", ".join(parts) or "..."


@row("getitem", within="operator", weight=12)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=0 if g.chance(0.1) else 1, kind="any" if g.chance(0.2) else "float")
    return f"{x}[{index_of(g, x)}]"


@row("setitem", within="operator", modes="eager", weight=8, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="any" if g.chance(0.2) else "float", fresh=True)
    copy = g.line(f"c{len(g.lines)}", f"{x}{g.of(' * 1', '.clone()')}")
    before = f", {g.line(f'u{len(g.lines)}', f'{copy} * {copy}')}" if g.chance(0.2) else ""
    value = g.of(str(g.number()), g.tensor([], "float"), g.tensor(g.of([], [1], [2]), "number"))
    g.lines.append(f"{copy}[{index_of(g, x)}] = {value}")
    return f"[{copy} * 1{before}]"


@row("gather")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 1
    return g.call(name, x, g.tensor(g.of([g.size()], []), "index", f"index:{size}"), axis=axis)


@row("index_select")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 1
    return g.call(name, x, g.tensor([g.size()], "index", f"index:{size}"), axis=axis)


@row("gather_nd")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    least = min(x.shape)
    index = g.tensor([*g.shape(0, 2), g.count(1, x.rank)], "index", f"index:{least}")
    return g.call(name, x, index)


@row("take_along_axis")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 1
    shape = list(x.shape)
    shape[axis if -x.rank <= axis < x.rank else 0] = g.size()
    index = g.tensor(shape if g.chance(0.7) else g.fitting(tuple(shape)), "index", f"index:{size}")
    return g.call(name, x, index, axis, broadcast=g.maybe(False, 0.3))


@row("put_along_axis")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 1
    shape = list(x.shape)
    shape[axis if -x.rank <= axis < x.rank else 0] = g.of(1, 1, 2)
    index = g.tensor(shape, "index", f"index:{size}")
    value = g.of(g.tensor(shape, x.dtype), g.tensor(shape, x.dtype), 1.5)
    reduce = g.of(OMIT, "assign", "add", "mul", "multiply", "amax", "amin", "mean")
    return g.call(
        name, x, index, value, axis, reduce=reduce, include_self=g.maybe(False, 0.2), broadcast=g.maybe(False, 0.2)
    )


@row("scatter")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=3)
    n = g.size()
    index = g.tensor(g.of([n], [n], [n], [n, 1]), "index", f"index:{x.shape[0]}")
    return g.call(name, x, index, g.tensor([n, *x.shape[1:]], x.dtype), overwrite=g.maybe(False))


@row("index_put")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    n = g.of(1, 2, 3)
    indices = tuple(g.tensor([n], "int64", f"index:{size}") for size in x.shape[: g.count(1, x.rank)])
    value = g.tensor(g.of([n], [], [1]) if len(indices) == x.rank else [], x.dtype)
    return g.call(name, x, indices, value, accumulate=g.maybe(True))


@row("slice")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="any" if g.chance(0.2) else "float")
    axes = g.source.sample(range(x.rank), g.count(1, x.rank))
    starts, ends = [g.count(-3, 3) for _ in axes], [g.count(-2, 4) for _ in axes]
    return f"paddle.slice({x}, {axes}, {starts}, {ends})"


@row("strided_slice")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    axes = g.source.sample(range(x.rank), g.count(1, x.rank))
    starts, ends = [g.count(-3, 3) for _ in axes], [g.count(-2, 4) for _ in axes]
    return f"paddle.strided_slice({x}, {axes}, {starts}, {ends}, {[g.of(1, 2, -1) for _ in axes]})"
