"""Static mode: branches, loops, and the layers of ``static.nn``."""

from __future__ import annotations

from ..drawing import OMIT, Draw, text
from ..table import row
from .functional import image

HERE = "static.nn"
STEPS = (
    "{0} * 2",
    "paddle.tanh({0})",
    "{0} + {1}",
    "{0} * {1}",
    "{0} - 1",
    "paddle.nn.functional.relu({0})",
    "{0} * {0}",
    "{0} / 3",
)


def condition(g: Draw, x: str) -> str:
    return str(
        g.of("paddle.sum({0}) > 0", "paddle.mean({0}) < 0.5", "paddle.max({0}) > 100", "paddle.all({0} == {0})")
    ).format(x)


def step(g: Draw, a: str, b: str) -> str:
    return str(g.of(*STEPS)).format(a, b)


@row("cond", within=HERE, modes="static", weight=30)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2, kind=g.of("float32", "float64"))
    y = g.tensor(x.shape, x.dtype)
    one, other = step(g, x, y), step(g, y, x)
    if g.chance(0.3):
        one, other = f"({one}, {step(g, x, x)})", f"({other}, {step(g, y, y)})"
        return f"paddle.{name}({condition(g, x)}, lambda: {one}, lambda: {other})[0]"
    return f"paddle.{name}({condition(g, x)}, lambda: {one}, lambda: {other})"


@row("while_loop", within=HERE, modes="static", weight=60, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(g.of([], [1], [2], [2, 2]), g.of("float32", "float32", "float64"), "plain")
    y = g.tensor(x.shape, x.dtype, "plain")
    i = g.line(f"i{len(g.lines)}", "paddle.full([1], 0, 'int64')")
    n, start = g.count(0, 3), g.of(x, f"{x} * 1", f"paddle.tanh({x})")
    if start != x:
        start = g.line(f"a{len(g.lines)}", start)
    if g.chance(0.3):
        second = g.line(f"b{len(g.lines)}", step(g, y, x))
        body = f"lambda i, a, b: [i + 1, {step(g, 'a', 'b')}, {step(g, 'b', g.of('a', y))}]"
        out = g.line(f"o{len(g.lines)}", f"paddle.{name}(lambda i, a, b: i < {n}, {body}, [{i}, {start}, {second}])")
        return f"{out}[1] * {out}[2]"
    body = f"lambda i, a: [i + 1, {step(g, 'a', g.of(y, x))}]"
    out = g.line(f"o{len(g.lines)}", f"paddle.{name}(lambda i, a: i < {n}, {body}, [{i}, {start}])")
    return f"{out}[1] {g.of('* 1', f'+ {x}', f'* {y}')}"


@row("case", within=HERE, modes="static", weight=8)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2, kind="float32")
    pairs = ", ".join(f"({condition(g, x)}, lambda: {step(g, x, x)})" for _ in range(g.count(1, 2)))
    return f"paddle.{name}([{pairs}], default=lambda: {step(g, x, x)})"


@row("switch_case", within=HERE, modes="static", weight=8)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2, kind="float32")
    index = g.tensor([1], g.of("int32", "int64"), "index:3")
    branches = ", ".join(f"{k}: lambda: {step(g, x, x)}" for k in (0, g.of(1, 2)))
    return f"paddle.{name}({index}, {{{branches}}}, default=lambda: {step(g, x, x)})"


def layer(name: str, *args, **named) -> str:
    keywords = [f"{k}={text(v)}" for k, v in named.items() if v is not OMIT]
    return f"paddle.{name}({', '.join([*(text(a) for a in args), *keywords])})"


@row("fc", within=HERE, modes="static", weight=12)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=3, kind="float32")
    return layer(
        name,
        x,
        g.count(1, 3),
        num_flatten_dims=g.maybe(g.of(1, -1), 0.3),
        activation=g.maybe(g.of("relu", "tanh", "softmax")),
        bias_attr=g.maybe(False, 0.2),
    )


@row("embedding", within=HERE, modes="static", weight=6)
def _(g: Draw, name: str) -> str:
    rows = g.count(1, 4)
    index = g.tensor(kind="index", values=f"index:{rows}", low=1, high=2)
    return layer(name, index, [rows, g.count(1, 3)], padding_idx=g.maybe(g.count(-rows, rows - 1)))


@row("conv2d conv2d_transpose", within=HERE, modes="static", weight=6)
def _(g: Draw, name: str) -> str:
    named = {
        "act": g.maybe("relu"),
        "padding": g.of(OMIT, 1),
        "stride": g.of(OMIT, 2),
        "bias_attr": g.maybe(False, 0.2),
    }
    return layer(name, image(g), g.of(1, 2), filter_size=g.count(1, 3), **named)


@row("batch_norm", within=HERE, modes="static", weight=6)
def _(g: Draw, name: str) -> str:
    return layer(
        name, image(g, rank=g.of(2, 4)), act=g.maybe("tanh"), is_test=g.maybe(True, 0.3), momentum=g.maybe(0.5)
    )


@row("layer_norm", within=HERE, modes="static", weight=6)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=3, kind="float32")
    return layer(
        name,
        x,
        scale=g.maybe(False, 0.2),
        shift=g.maybe(False, 0.2),
        begin_norm_axis=g.maybe(g.count(1, x.rank - 1)),
        act=g.maybe("relu"),
    )


@row("group_norm", within=HERE, modes="static", weight=3)
def _(g: Draw, name: str) -> str:
    return layer(name, image(g, channels=4), g.of(1, 2, 4))


@row("instance_norm", within=HERE, modes="static", weight=3)
def _(g: Draw, name: str) -> str:
    return layer(name, image(g))


@row("prelu", within=HERE, modes="static", weight=3)
def _(g: Draw, name: str) -> str:
    return layer(name, image(g, channels=2), mode=g.of("all", "channel", "element"))


@row("create_parameter create_global_var", within="static", modes="static", weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor([2, 2], "float32")
    if name.endswith("var"):
        return f"{x} * paddle.{name}([2, 2], {g.number()}, 'float32', persistable={g.chance(0.5)})"
    return f"{x} * paddle.{name}({[2, 2]}, 'float32', is_bias={g.chance(0.3)})"


@row("accuracy", within="static", modes="static", weight=2)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 3)
    return (
        f"paddle.{name}({g.tensor([n, 3], 'float32', 'unit')}, {g.tensor([n, 1], 'int64', 'index:3')}, k={g.of(1, 2)})"
    )


@row("Print", within="static", modes="static", weight=1)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(low=1)})"


@row("setitem", within="static", modes="static", weight=4)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="float32")
    index = g.of("0", "slice(0, 1)", "(slice(None), -1)", "-1")
    return f"paddle.{name}({x}, {index}, {g.of(g.number(), g.tensor([], 'float32'))})"
