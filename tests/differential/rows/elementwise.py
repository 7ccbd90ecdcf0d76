"""Functions of elements: one operand, two, and comparisons."""

from __future__ import annotations

from ..drawing import Draw
from ..table import row

UNARY = (
    "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh erf exp expm1 floor imag isfinite isinf isnan log "
    "log10 log1p log2 logical_not bitwise_not bitwise_invert neg negative positive real reciprocal rsqrt sigmoid sign "
    "sin sinh sqrt square tan tanh"
)
BINARY = (
    "add subtract multiply divide floor_divide floor_mod mod remainder pow maximum minimum equal not_equal "
    "greater_equal greater_than less less_equal less_than"
)
LOGICAL = "logical_and logical_or logical_xor"
BITWISE = "bitwise_and bitwise_or bitwise_xor"
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}


def second(g: Draw, x, kind: str):
    """Another operand for `x`: mostly of its type."""
    same = x.dtype if g.chance(0.6) else kind
    return g.tensor(g.fitting(x.shape), same)


@row(UNARY)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="any" if g.chance(0.5) else "float"))


@row("round")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(), decimals=g.maybe(g.count(-1, 2)))


@row(BINARY, weight=4)
def _(g: Draw, name: str) -> str:
    kind = "any" if g.chance(0.4) else "number"
    x = g.tensor(kind=kind)
    if name == "pow" and g.chance(0.4):
        return g.call(name, x, g.number())
    return g.call(name, x, second(g, x, kind))


@row(" ".join(OPERATORS), within="operator", weight=3)
def _(g: Draw, name: str) -> str:
    sign = OPERATORS[name.rpartition(".")[2]]
    x = g.tensor(kind="any" if g.chance(0.4) else "number")
    if g.chance(0.5):
        return f"{x} {sign} {second(g, x, 'any')}"
    number = g.of(True, None) if g.chance(0.05) else g.number()
    return f"{x} {sign} {number}" if g.chance(0.6) else f"{number} {sign} {x}"


@row("neg pos invert", within="operator")
def _(g: Draw, name: str) -> str:
    sign = {"neg": "-", "pos": "+", "invert": "~"}[name.rpartition(".")[2]]
    return f"{sign}{g.tensor(kind='any')}"


@row("and or xor", within="operator")
def _(g: Draw, name: str) -> str:
    sign = {"and": "&", "or": "|", "xor": "^"}[name.rpartition(".")[2]]
    x = g.tensor(kind=g.of("bool", "int", "any"))
    return f"{x} {sign} {second(g, x, 'int')}"


@row("matmul", within="operator")
def _(g: Draw, name: str) -> str:
    n = g.size()
    x = g.tensor([*g.shape(0, 2), n])
    return f"{x} @ {g.tensor([n, g.size()] if g.chance(0.7) else [n], x.dtype)}"


@row(LOGICAL)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("bool", "any"))
    return g.call(name, x, second(g, x, "any"))


@row(BITWISE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("bool", "int", "int", "any"))
    return g.call(name, x, second(g, x, "int"))


@row("isclose allclose")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, second(g, x, "float"), rtol=g.maybe(0.5), atol=g.maybe(1.0), equal_nan=g.maybe(True))


@row("equal_all")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    return g.call(name, x, x if g.chance(0.4) else second(g, x, "number"))


@row("clip")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="number"), min=g.maybe(g.number()), max=g.maybe(g.number()))


@row("scale")
def _(g: Draw, name: str) -> str:
    return g.call(
        name,
        g.tensor(kind="number"),
        scale=g.maybe(g.number()),
        bias=g.maybe(g.number()),
        bias_after_scale=g.maybe(False),
    )


@row("add_n")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    return f"paddle.add_n([{', '.join([x, *(g.tensor(x.shape, x.dtype) for _ in range(g.count(0, 2)))])}])"


@row("cast")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="any", values="positive"), g.dtype("any"))


@row("astype", within="Tensor")
def _(g: Draw, name: str) -> str:
    return f"{g.tensor(kind='any', values='positive')}.astype({g.dtype('any')!r})"


@row("lerp_by_hand", within="expression")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return f"{x} + {g.number()} * ({second(g, x, 'float')} - {x})"


@row("where")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any")
    condition = g.tensor(g.fitting(x.shape), "bool")
    if g.chance(0.1):
        return f"paddle.where({condition}, {x}, {g.number()})"
    return f"paddle.where({condition}, {x}, {second(g, x, 'any')})"


@row("masked_fill")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    return g.call(name, x, g.tensor(g.fitting(x.shape), "bool"), g.number())


@row("masked_select", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number")
    return g.call(name, x, g.tensor(g.fitting(x.shape), "bool"))


@row("complex polar")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"))
    return f"paddle.{name}({x}, {g.tensor(g.fitting(x.shape), x.dtype)})"


@row("as_complex")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor([*g.shape(0, 3), 2], g.of("float32", "float64")))


@row("as_real")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="complex64"))


@row("increment", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([1], g.of("float32", "int64", "float64"), grad=False)
    return f"paddle.increment({x}, {g.of(1, 2, -1.5)})"


@row("is_tensor is_complex is_floating_point is_integer", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(kind='any')})"


@row("numel rank shape")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(kind='any')})"


@row("item", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="any", low=0, high=2)
    return f"{x}.item({'' if g.chance(0.7) else g.count(0, 2)})"


@row("tolist dim ndimension element_size is_contiguous is_leaf", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    short = name.rpartition(".")[2]
    x = g.tensor(kind="number")
    return f"{x}.{short}" if short == "is_leaf" else f"{x}.{short}()"


@row("float int bool len", within="builtin", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"{name.rpartition('.')[2]}({g.tensor(g.of([], [1], [2], [1, 1], [0]), 'number', 'plain')})"


@row("T mT ndim size shape dtype", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    short = name.rpartition(".")[2]
    return f"{'str' if short == 'dtype' else ''}({g.tensor()}.{short})"


@row("erf exp floor ceil round rsqrt sqrt reciprocal sigmoid", within="twice", modes="eager")
def _(g: Draw, name: str) -> str:
    short = name.rpartition(".")[2]
    return f"paddle.{short}(paddle.{short}({g.tensor()}))"
