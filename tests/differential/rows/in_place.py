"""Functions that write into their first operand: on a result, on a leaf, and on what a gradient still needs."""

from __future__ import annotations

import gradtool
from gradtool import paddle

from ..drawing import Draw, Operand
from ..table import row
from .elementwise import second

UNARY = (
    "abs_ acos_ acosh_ asin_ asinh_ atan_ atanh_ cos_ cosh_ log10_ log1p_ log2_ log_ logical_not_ bitwise_not_ "
    "bitwise_invert_ neg_ sin_ sinh_ square_ tan_ tanh_"
)
METHODS = "ceil_ exp_ floor_ reciprocal_ round_ rsqrt_ sigmoid_ sqrt_ zero_ detach_"
BINARY = (
    "divide_ floor_divide_ floor_mod_ mod_ remainder_ multiply_ pow_ equal_ greater_equal_ greater_than_ less_ "
    "less_equal_ less_than_ not_equal_ logical_and_ logical_or_ logical_xor_ bitwise_and_ bitwise_or_ bitwise_xor_"
)


def target(g: Draw, kind: str = "float", **wanted) -> tuple[Operand, str]:
    """What is written into: mostly a copy, whose square may have been taken before."""
    x = g.tensor(kind=kind, fresh=True, **wanted)
    if g.chance(0.08):
        return x, ""
    name = Operand.of(g.line(f"c{len(g.lines)}", f"{x}{g.of(' * 1', '.clone()')}"), x.shape, x.dtype)
    before = f", {g.line(f'u{len(g.lines)}', g.of(f'{name} * {name}', f'{name} + 1'))}" if g.chance(0.3) else ""
    return name, before


def written(g: Draw, name: str, x: Operand, before: str, *args: str) -> str:
    """The call, and what reads its operand afterwards."""
    short = name.rpartition(".")[2]
    rest = ", ".join(str(a) for a in args)
    whole = hasattr(paddle, short) and not (hasattr(gradtool.paddle.Tensor, short) and g.chance(0.5))
    out = g.line(
        f"w{len(g.lines)}", f"paddle.{short}({', '.join([x, *map(str, args)])})" if whole else f"{x}.{short}({rest})"
    )
    return f"[{out} * 1, {x} * 2{before}]" if g.chance(0.7) else f"[{out}{before}]"


@row(UNARY, modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, "number" if g.chance(0.3) else "float"))


@row(METHODS, within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, "number" if g.chance(0.2) else "float"))


@row(BINARY, modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    kind = "int" if "bitwise" in name else "number"
    if "logical" in name and g.chance(0.5):
        kind = "bool"
    x, before = target(g, kind)
    return written(g, name, x, before, second(g, x, kind))


@row("add_ subtract_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "number" if g.chance(0.3) else "float")
    return written(g, name, x, before, second(g, x, "number"))


@row("iadd isub imul itruediv", within="operator", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    sign = {"iadd": "+", "isub": "-", "imul": "*", "itruediv": "/"}[name.rpartition(".")[2]]
    x, before = target(g, "number" if g.chance(0.3) else "float")
    g.lines.append(f"{x} {sign}= {g.of(str(g.number()), second(g, x, 'number'))}")
    return f"[{x} * 2{before}]"


@row("scale_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, f"{g.number()}", f"{g.number()}")


@row("clip_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, f"{g.of(-1.0, None, 0.5)}", f"{g.of(1.0, None, 0)}")


@row("fill_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, f"{g.number()}")


@row("set_value copy_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(fresh=True)
    other = g.tensor(x.shape if g.chance(0.8) else None, x.dtype)
    g.lines.append(f"{x}.{name.rpartition('.')[2]}({other}{', True' if 'copy' in name else ''})")
    return f"{x} * 2"


@row("cumsum_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, low=1)
    return (
        written(g, name, x, before, f"{g.count(-x.rank, x.rank - 1)}") if g.chance(0.8) else written(g, name, x, before)
    )


@row("cast_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, repr(g.dtype("number")))


@row("where_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number", fresh=True)
    copy = Operand.of(g.line(f"c{len(g.lines)}", f"{x} * 1"), x.shape, x.dtype)
    condition = g.tensor(g.fitting(x.shape), "bool")
    other = g.tensor(g.fitting(x.shape), x.dtype)
    out = g.line(f"w{len(g.lines)}", f"paddle.where_({condition}, {copy}, {other})")
    return f"[{out} * 1, {copy} * 2, {condition}]"


@row("reshape_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, g.of("[-1]", "[1, -1]", "[2, -1]"))


@row("flatten_ t_ tril_ triu_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, **({"low": 2, "high": 2} if name != "flatten_" else {})))


@row("squeeze_ unsqueeze_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, low=1)
    return written(g, name, x, before, f"{g.count(0, x.rank - 1)}")


@row("transpose_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, f"{g.source.sample(range(x.rank), x.rank)}")


@row("masked_fill_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g)
    return written(g, name, x, before, g.tensor(g.fitting(x.shape), "bool"), f"{g.number()}")


@row("scatter_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, low=1, high=2)
    n = g.size()
    index = g.tensor([n], "index", f"index:{x.shape[0]}")
    return written(g, name, x, before, index, g.tensor([n, *x.shape[1:]], x.dtype), f"{g.chance(0.5)}")


@row("put_along_axis_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, low=1, high=2)
    shape = [1, *x.shape[1:]]
    index = g.tensor(shape, "index", f"index:{x.shape[0]}")
    return written(g, name, x, before, index, g.tensor(shape, x.dtype), "0", f"{g.of('assign', 'add', 'multiply')!r}")


@row("index_put_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, low=1, high=2)
    n = g.count(1, 3)
    index = g.tensor([n], "int64", f"index:{x.shape[0]}")
    return written(g, name, x, before, f"({index},)", g.tensor([n, *x.shape[1:]], x.dtype), f"{g.chance(0.5)}")


@row("addmm_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    m, k, n = g.size(), g.size(), g.size()
    x, before = target(g, "float32", shape=[m, n])
    return written(g, name, x, before, g.tensor([m, k], x.dtype), g.tensor([k, n], x.dtype))


@row("digamma_ erf_ expm1_ frac_ gammaln_ i0_ lgamma_ logit_ nan_to_num_ sinc_ trunc_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, g.of("float32", "float64"), values="unit"))


@row("erfinv_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, "float32", values="unit"))


@row("copysign_ hypot_ gcd_ lcm_ ldexp_ div_ sub_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    kind = "int64" if name in ("gcd_", "lcm_") else "float32"
    x, before = target(g, kind)
    return written(g, name, x, before, g.tensor(g.fitting(x.shape), kind))


@row("greater_ mul_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32")
    return written(g, name, x, before, g.tensor(x.shape, "float32"))


@row("lerp_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32")
    return written(g, name, x, before, g.tensor(x.shape, "float32"), "0.3")


@row("clamp_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32")
    return written(g, name, x, before, "-0.5", "0.5")


@row("gammainc_ gammaincc_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", values="unit")
    return written(g, name, x, before, g.tensor(x.shape, "float32", "unit"))


@row("polygamma_ multigammaln_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", values="unit")
    return written(g, name, x, before, "1")


@row("bitwise_left_shift_ bitwise_right_shift_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "int64")
    return written(g, name, x, before, g.tensor(x.shape, "int64", "positive"))


@row("cumprod_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", low=1)
    return written(g, name, x, before, f"{g.count(-x.rank, x.rank - 1)}")


@row("renorm_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return written(g, name, *target(g, "float32", shape=[g.count(1, 3), 2]), "2.0", "0", "1.0")


@row("index_add_ index_fill_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", shape=[g.count(1, 3), 2])
    index = g.tensor([2], "int64", f"index:{x.shape[0]}")
    return written(g, name, x, before, index, "0", g.tensor([2, 2], "float32") if name == "index_add_" else "0.5")


@row("masked_scatter_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32")
    return written(g, name, x, before, g.tensor(x.shape, "bool"), g.tensor(x.shape, "float32"))


@row("scatter_add_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", shape=[g.count(1, 3), 2])
    index = g.tensor([1, 2], "int64", f"index:{x.shape[0]}")
    return written(g, name, x, before, "0", index, g.tensor([1, 2], "float32"))


@row("baddbmm_", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", shape=[2, 2, 2])
    return written(g, name, x, before, g.tensor([2, 2, 3], "float32"), g.tensor([2, 3, 2], "float32"))


@row("fill_diagonal_ fill_diagonal_tensor_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x, before = target(g, "float32", shape=[3, 3])
    return written(g, name, x, before, "0.5" if name.endswith("diagonal_") else g.tensor([3], "float32"))


@row("resize_ set_", within="Tensor", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="float32", grad=False, fresh=True)
    return (
        f"{x}.{name.rpartition('.')[2]}({'[2, 2], True' if 'resize' in name else g.tensor(kind='float32', grad=False)})"
    )
