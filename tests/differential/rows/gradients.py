"""What asks for gradients, and what lies in their way: ``paddle.grad``, hooks, ``no_grad``, PyLayer-like functions."""

from __future__ import annotations

from ..drawing import Draw, Operand
from ..table import row

SMOOTH = (
    "paddle.tanh({0})",
    "{0} * {0}",
    "paddle.exp({0}) + {0}",
    "{0} ** 3",
    "paddle.sin({0}) * {0}",
    "paddle.nn.functional.softmax({0})",
)


def smooth(g: Draw, x: str) -> str:
    return str(g.of(*SMOOTH)).format(x)


@row("grad", modes="eager", weight=6, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2)
    y = g.line(f"y{len(g.lines)}", smooth(g, x))
    extra = "".join(g.of("", f", {k}=True") for k in ("create_graph", "retain_graph", "allow_unused"))
    other = f"[{x}, {g.tensor()}]" if g.chance(0.2) else x
    return f"paddle.grad({y}{g.of('.sum()', '', '')}, {other}{extra})"


@row("jacobian hessian", within="autograd", modes="eager", weight=2, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=1, kind="float32", values="plain")
    second = "essian" in name
    y = g.line(f"y{len(g.lines)}", f"({smooth(g, x)}){'.sum()' if second else ''}")
    return f"paddle.{name}({y}, {x})[:]"


@row("register_hook", within="Tensor", modes="eager", weight=4, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(fresh=True)
    y = g.line(f"y{len(g.lines)}", smooth(g, x))
    for _ in range(g.count(1, 2)):
        hook = g.of("lambda g: g * 2", "lambda g: None", "lambda g: g + 1", "lambda g: g.astype('float32')")
        g.lines.append(f"h{len(g.lines)} = str({g.of(x, y)}.register_hook({hook}))[:0]")
    return g.of(f"{y} * {y}", f"{y} + {x}", y)


@row("no_grad enable_grad set_grad_enabled", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    """As decorators, which stand in an expression."""
    x = g.tensor()
    how = "paddle.set_grad_enabled(False)" if name.startswith("set") else f"paddle.{name}()"
    if name.startswith("set"):
        return f"[paddle.is_grad_enabled(), {smooth(g, x)}]"
    return f"{how}(lambda a: {smooth(g, 'a')})({x}) {g.of('+', '*')} {x}"


@row("detach clone", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return f"{x} * {x}.{name.rpartition('.')[2]}() {g.of('', f'+ {x}')}"


@row("recompute", within="distributed.fleet.utils", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x: Operand = g.tensor(kind="float32")
    return f"paddle.{name}(lambda a: {smooth(g, 'a')}, {x})"


@row("backward_twice", within="expression", modes="eager", weight=3, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(fresh=True)
    y = g.line(f"y{len(g.lines)}", smooth(g, x))
    g.lines.append(f"{y}.sum().backward({g.of('', 'retain_graph=True', 'paddle.ones([])')})")
    if g.chance(0.3):
        g.lines.append(f"{x}.{g.of('clear_grad()', 'clear_gradient()', 'clear_gradient(False)')}")
    return f"[{x}.grad, {y}{g.of('', ' * 2')}]"


@row("stop_gradient", within="Tensor", modes="eager static", weight=3, chains=False)
def _(g: Draw, name: str) -> str:
    x, z = g.tensor(), None
    y = g.line(f"y{len(g.lines)}", smooth(g, x))
    g.lines.append(f"{y}.stop_gradient = {g.of(True, False)}")
    z = g.tensor(x.shape, x.dtype)
    return f"{y} * {z}"
