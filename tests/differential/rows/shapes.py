"""Functions that move elements: shapes, joining, splitting, repeating."""

from __future__ import annotations

from ..drawing import OMIT, Draw, Operand
from ..table import row


def product(shape) -> int:
    out = 1
    for n in shape:
        out *= n
    return out


@row("reshape", weight=4)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any" if g.chance(0.3) else "float")
    n = product(x.shape)
    half = next((d for d in (2, 3) if n and n % d == 0), 1)
    wanted = g.of([-1], [n], [1, -1], [half, -1], [-1, 1, half], [0, -1], [half, n // half], [], [n, 1, 1], [7])
    return g.call(name, x, wanted)


@row("flatten")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, start_axis=g.maybe(g.axis(x)), stop_axis=g.maybe(g.axis(x)))


@row("squeeze")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, axis=g.axes(x))


@row("unsqueeze")
def _(g: Draw, name: str) -> str:
    x = g.tensor(high=3)
    axis = g.count(-x.rank - 1, x.rank)
    return g.call(name, x, axis if g.chance(0.6) else [axis, g.count(0, x.rank + 1)])


@row("transpose")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    order = g.source.sample(range(x.rank), x.rank)
    return g.call(name, x, [a - x.rank if g.chance(0.1) else a for a in order])


@row("t")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(high=2 if g.chance(0.95) else 3))


@row("matrix_transpose atleast_1d atleast_2d atleast_3d clone assign")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="any" if g.chance(0.3) else "float"))


@row("ones_like zeros_like")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(kind='any')}{g.of('', '', ', dtype=' + repr(g.dtype('any')))})"


@row("full_like")
def _(g: Draw, name: str) -> str:
    return f"paddle.full_like({g.tensor(kind='any')}, {g.number()}{g.of('', ', dtype=' + repr(g.dtype('number')))})"


@row("moveaxis")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    if g.chance(0.7):
        return g.call(name, x, g.axis(x), g.axis(x))
    count = g.count(1, x.rank)
    return g.call(name, x, g.source.sample(range(x.rank), count), g.source.sample(range(x.rank), count))


@row("flip reverse")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, g.of(g.axis(x), [g.axis(x)], g.source.sample(range(x.rank), g.count(1, x.rank))))


@row("roll")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    if g.chance(0.3):
        return g.call(name, x, g.count(-3, 5))
    if g.chance(0.6):
        return g.call(name, x, g.count(-3, 5), axis=g.axis(x))
    return g.call(name, x, [g.count(-3, 3), 1], axis=[g.axis(x), 0])


@row("expand broadcast_to")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any" if g.chance(0.3) else "float", high=3)
    wanted = [g.size() if n == 1 else g.of(n, n, -1) for n in x.shape]
    return g.call(name, x, [g.size() for _ in range(g.count(0, 2))] + wanted)


@row("expand_as")
def _(g: Draw, name: str) -> str:
    x = g.tensor(high=3)
    return g.call(name, x, g.tensor([*g.shape(0, 1), *(g.size() if n == 1 else n for n in x.shape)], "float"))


@row("broadcast_tensors", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return f"paddle.broadcast_tensors([{x}, {g.tensor(g.fitting(x.shape), x.dtype)}])"


@row("broadcast_shape", chains=False)
def _(g: Draw, name: str) -> str:
    shape = g.shape()
    return f"paddle.broadcast_shape({list(shape)}, {list(g.fitting(shape))})"


@row("tile")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any" if g.chance(0.3) else "float", high=3)
    return g.call(name, x, [g.of(1, 2, 3, 1, 2, 0) for _ in range(g.count(0, x.rank + 1))])


@row("repeat_interleave")
def _(g: Draw, name: str) -> str:
    x = g.tensor(high=3)
    axis = g.of(OMIT, g.axis(x), g.axis(x))
    return g.call(name, x, g.count(1, 3), axis=axis)


def several(g: Draw, axis: int, low: int = 1, high: int = 3, kind: str = "float") -> str:
    """Operands that differ along an axis, as the text of a list."""
    first = g.tensor(kind=kind, low=low, high=high)
    operands = [first]
    for _ in range(g.count(0, 2)):
        shape = list(first.shape)
        if -len(shape) <= axis < len(shape):
            shape[axis] = g.size()
        operands.append(g.tensor(shape, first.dtype if g.chance(0.9) else "any"))
    return f"[{', '.join(operands)}]"


@row("concat")
def _(g: Draw, name: str) -> str:
    axis = g.of(0, 0, -1, 1)
    return f"paddle.concat({several(g, axis, low=0 if g.chance(0.1) else 1)}, axis={axis})"


@row("stack")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number" if g.chance(0.3) else "float", high=3)
    others = [g.tensor(x.shape, x.dtype) for _ in range(g.count(0, 2))]
    return f"paddle.stack([{', '.join([x, *others])}], axis={g.count(-x.rank - 1, x.rank)})"


@row("hstack vstack dstack row_stack column_stack")
def _(g: Draw, name: str) -> str:
    axis = {"hstack": 1, "column_stack": 1, "dstack": 2}.get(name, 0)
    return f"paddle.{name}({several(g, axis, low=0)})"


@row("split chunk", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="number" if g.chance(0.3) else "float")
    axis = g.axis(x)
    size = x.shape[axis] if -x.rank <= axis < x.rank else 2
    parts = g.of(1, 2, size, 3)
    if name == "split" and g.chance(0.5):
        parts = g.of(g.split(size), [*g.split(size), -1], [-1, 1])
    return g.call(name, x, parts, axis=axis)


@row("tensor_split", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, g.of(2, 3, [1], [0, 2], [1, 1, 3]), axis=g.axis(x))


@row("hsplit vsplit dsplit", chains=False)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(low=g.of(1, 2, 3)), g.of(1, 2, [1], [1, 2]))


@row("unbind unstack", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, axis=g.axis(x))


@row("unflatten")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.of(2, 4, 6), g.size()])
    n = x.shape[0]
    return g.call(name, x, g.of(0, -2), g.of([2, n // 2], [-1, 2], [n, 1], [1, -1], [3, 3]))


@row("tril triu")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(low=2 if g.chance(0.95) else 1), diagonal=g.maybe(g.count(-2, 2)))


@row("meshgrid", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=0, high=1)
    return f"paddle.meshgrid({g.of('{0}, {1}', '[{0}, {1}]').format(x, g.tensor(kind=x.dtype, high=1, low=0))})"


@row("full", weight=1)
def _(g: Draw, name: str) -> str:
    dtype = g.of("", f", dtype={g.dtype('any')!r}")
    return f"paddle.full({list(g.shape())}, {g.of(g.number(), True, 1)}{dtype})"


@row("ones zeros", weight=1)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({list(g.shape())}{g.of('', ', dtype=' + repr(g.dtype('any')))})"


@row("eye", weight=1)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.count(0, 3), num_columns=g.maybe(g.count(0, 4)), dtype=g.maybe(g.dtype("number")))


@row("arange", weight=2)
def _(g: Draw, name: str) -> str:
    bounds = g.of((3,), (0,), (1, 4), (4, 1, -1), (0, 1, 0.25), (2.5,), (1, 6, 2), (3, 1), (-1.5, 1.5, 0.5))
    return g.call(name, *bounds, dtype=g.maybe(g.of("float32", "float64", "int64", "int32"), 0.4))


@row("linspace", weight=1)
def _(g: Draw, name: str) -> str:
    return g.call(
        name, g.number(), g.number(), g.of(1, 2, 5, 0), dtype=g.maybe(g.of("float64", "int32", "float32"), 0.4)
    )


@row("to_tensor", weight=2)
def _(g: Draw, name: str) -> str:
    data = g.of(
        "[1, 2]",
        "[1.5, 2]",
        "True",
        "3",
        "2.5",
        "[[1], [2]]",
        "[]",
        "[True, False]",
        "1+2j",
        "np.arange(3)",
        "np.float64(2)",
    )
    return f"paddle.to_tensor({data}{g.of('', ', dtype=' + repr(g.dtype('any')))})"


@row("rand randn standard_normal uniform normal randint randperm empty bernoulli randint_like empty_like", weight=1)
def _(g: Draw, name: str) -> str:
    """What is random has a shape and a dtype: the elements are made zeros."""
    shape = list(g.shape())
    dtype = g.of("", f", dtype={g.dtype('number')!r}")
    drawn = {
        "normal": f"shape={shape}",
        "randint": f"0, 5, {shape}{g.of('', ', dtype=' + repr(g.dtype('int')))}",
        "randperm": f"{g.count(0, 5)}{dtype}",
    }
    if name in ("bernoulli", "empty_like", "randint_like"):
        x = g.tensor(kind="number", values="unit")
        return f"paddle.zeros_like(paddle.{name}({x}{', 0, 4' if name == 'randint_like' else ''}))"
    return f"paddle.zeros_like(paddle.{name}({drawn.get(name, f'{shape}{dtype}')}))"


@row("view view_as", within="Tensor", modes="eager")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    if name.endswith("_as"):
        return f"{x}.view_as({g.tensor([product(x.shape)])})"
    return f"{x}.view({g.of([-1], [1, -1], [product(x.shape)])})"


@row("detach cpu contiguous", within="Tensor", modes="eager")
def _(g: Draw, name: str) -> str:
    return f"{g.tensor()}.{name.rpartition('.')[2]}()"


@row("as_strided_pieces", within="expression")
def _(g: Draw, name: str) -> str:
    """Views are read by functions: what comes of a transposed operand."""
    x: Operand = g.tensor(low=2, high=3)
    return f"{g.call('transpose', x, list(reversed(range(x.rank))))} * {g.of(2, 0.5)}"
