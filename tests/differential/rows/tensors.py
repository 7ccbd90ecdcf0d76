"""Further functions of tensors: special ones, ranks, diagonals, products, places, and short names."""

from __future__ import annotations

from ..drawing import OMIT, Draw
from ..table import row
from .elementwise import second

UNARY = (
    "deg2rad rad2deg frac trunc sgn signbit stanh nan_to_num isneginf isposinf isreal is_empty erfinv lgamma digamma "
    "gammaln i0 i0e i1 i1e sinc logit count_nonzero nansum nanmean diagflat argwhere"
)
BINARY = (
    "atan2 copysign fmax fmin gcd heaviside hypot lcm ldexp logaddexp nextafter isin sub mul div true_divide eq ne lt "
    "le gt ge greater kron inner outer dist"
)


@row(UNARY)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="number" if g.chance(0.3) else "float"))


@row("ravel msort softmax", modes="eager")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(low=1))


@row("frexp", chains=False)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind=g.of("float32", "float64")))


@row(BINARY)
def _(g: Draw, name: str) -> str:
    kind = "int" if name in ("gcd", "lcm") else "number"
    x = g.tensor(kind=kind, high=2 if name in ("outer", "inner", "kron") else 4)
    return g.call(name, x, second(g, x, kind))


@row("ger vecdot", modes="eager")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=1)
    return f"paddle.{name}({x}, {g.tensor(x.shape, x.dtype)})"


@row("bitwise_left_shift bitwise_right_shift")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="int")
    return g.call(name, x, g.tensor(g.fitting(x.shape), x.dtype, "positive"), g.chance(0.5))


@row("polygamma multigammaln")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(values="positive"), g.count(1, 3))


@row("gammainc gammaincc")
def _(g: Draw, name: str) -> str:
    x = g.tensor(values="positive", kind=g.of("float32", "float64"))
    return g.call(name, x, g.tensor(x.shape, x.dtype, "positive"))


@row("lerp")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"))
    y = g.tensor(g.fitting(x.shape), x.dtype)
    return g.call(name, x, y, 0.3 if g.chance(0.5) else g.tensor(g.fitting(x.shape), x.dtype))


@row("clamp", modes="eager")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind="number"), g.of(-1.0, None), g.of(1.0, None))


@row("reduce_as")
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, g.tensor([1 if g.chance(0.3) else n for n in x.shape[g.count(0, x.rank) :]], x.dtype))


# -- diagonals --------------------------------------------------------------------------------------------------------


@row("diag")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2)
    return g.call(name, x, offset=g.maybe(g.count(-2, 2)), padding_value=g.maybe(0.5) if x.rank == 1 else OMIT)


@row("diagonal trace")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2)
    first, other = g.source.sample(range(x.rank), 2)
    return g.call(name, x, g.count(-1, 2), first, other)


@row("diag_embed nn.functional.diag_embed")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(kind=g.of('float32', 'float64'), low=1, high=3)}, {g.count(-1, 1)})"


@row("diagonal_scatter", chains=False)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 3)
    x = g.tensor([n, n], "float32")
    return g.call(name, x, g.tensor([n], "float32"))


@row("tril_indices triu_indices", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.count(1, 4)}, {g.count(1, 4)}, {g.count(-2, 2)})"


# -- along a dimension ------------------------------------------------------------------------------------------------


@row("cumprod cummax cummin logcumsumexp")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, g.axis(x))


@row("diff trapezoid cumulative_trapezoid")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"), low=1)
    return g.call(name, x, axis=g.axis(x))


@row("kthvalue")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, fresh=True)
    axis = g.axis(x)
    return g.call(name, x, 1, axis, g.chance(0.3))


@row("mode")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, fresh=True)
    return g.call(name, x, g.axis(x), g.chance(0.3))


@row("nanmedian", chains=False)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor(kind=g.of("float32", "float64"), low=1), keepdim=g.maybe(True))


@row("quantile nanquantile")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"), low=1)
    ways = ("linear", "lower", "higher", "nearest", "midpoint")
    return g.call(name, x, g.of(0.3, 0.5, 1.0, [0.2, 0.7]), g.axis(x), interpolation=g.maybe(g.of(*ways)))


@row("unique_consecutive histogram histogram_bin_edges", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "int64"), values="positive")
    return g.call(name, x) if name == "unique_consecutive" else g.call(name, x, g.count(1, 4))


@row("histogramdd", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor([g.count(2, 4), 2], "float32", "positive"), g.count(1, 3))


@row("bincount", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 5)], "index", "index:4")
    return g.call(name, x, minlength=g.maybe(6))


@row("searchsorted bucketize", chains=False)
def _(g: Draw, name: str) -> str:
    line = g.line(f"s{len(g.lines)}", f"paddle.sort({g.tensor([g.count(1, 4)], 'float32')})")
    x = g.tensor(kind="float32")
    pair = [x, line] if name == "bucketize" else [line, x]
    return f"paddle.{name}({', '.join(pair)}, right={g.chance(0.5)})"


# -- products ---------------------------------------------------------------------------------------------------------


@row("cross")
def _(g: Draw, name: str) -> str:
    x = g.tensor([*g.shape(0, 2), 3])
    return g.call(name, x, g.tensor(x.shape, x.dtype), -1)


@row("mv")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.size(), g.size()], g.of("float32", "float64"))
    return g.call(name, x, g.tensor(x.shape[1:], x.dtype))


@row("tensordot")
def _(g: Draw, name: str) -> str:
    shared = g.shape(0, 2)
    x = g.tensor([*g.shape(0, 2), *shared], "float32")
    return g.call(name, x, g.tensor([*shared, *g.shape(0, 1)], "float32"), len(shared))


@row("baddbmm", modes="eager")
def _(g: Draw, name: str) -> str:
    b, m, k, n = (g.count(1, 3) for _ in range(4))
    return g.call(name, g.tensor([b, m, n], "float32"), g.tensor([b, m, k], "float32"), g.tensor([b, k, n], "float32"))


@row("cdist")
def _(g: Draw, name: str) -> str:
    width = g.count(1, 3)
    x = g.tensor([g.count(1, 3), width], "float32")
    return g.call(name, x, g.tensor([g.count(1, 3), width], "float32"), g.of(1.0, 2.0, float("inf")))


@row("pdist nn.functional.pdist", modes="eager")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor([g.count(2, 4), g.count(1, 3)], 'float32')})"


@row("renorm")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"), low=2)
    return g.call(name, x, g.of(1.0, 2.0), g.count(0, x.rank - 1), 1.0)


@row("block_diag cartesian_prod", chains=False)
def _(g: Draw, name: str) -> str:
    high = 1 if name == "cartesian_prod" else 2
    return (
        f"paddle.{name}([{g.tensor(kind='float32', low=1, high=high)}, {g.tensor(kind='float32', low=1, high=high)}])"
    )


@row("combinations vander")
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor([g.count(2, 4)], "float32"), g.count(1, 3))


# -- places -----------------------------------------------------------------------------------------------------------


@row("index_add index_fill", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="float32", low=1, high=3)
    index = g.tensor([g.count(1, 3)], "index", f"index:{x.shape[0]}")
    last = g.number() if name == "index_fill" else g.tensor([index.shape[0], *x.shape[1:]], "float32")
    return g.call(name, x, index, 0, last)


@row("index_sample")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 4)], "float32")
    return g.call(name, x, g.tensor([x.shape[0], 2], "index", f"index:{x.shape[1]}"))


@row("masked_scatter", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="float32")
    return g.call(name, x, g.tensor(x.shape, "bool"), g.tensor(x.shape, "float32"))


@row("select_scatter")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), *g.shape(0, 2)], "float32")
    return g.call(name, x, g.tensor(x.shape[1:], "float32"), 0, g.count(0, x.shape[0] - 1))


@row("slice_scatter")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(2, 4), *g.shape(0, 2)], "float32")
    return g.call(name, x, g.tensor([1, *x.shape[1:]], "float32"), [0], [1], [2], [1])


@row("scatter_nd_add", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    index = g.tensor([2, 1], "index", f"index:{x.shape[0]}")
    return g.call(name, x, index, g.tensor([2, x.shape[1]], "float32"))


@row("scatter_nd", chains=False)
def _(g: Draw, name: str) -> str:
    index = g.tensor([2, 1], "index", "index:3")
    return f"paddle.scatter_nd({index}, {g.tensor([2, 4], 'float32')}, [3, 4])"


@row("take")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    return g.call(
        name, x, g.tensor([3], "index", f"index:{x.shape[0] * x.shape[1]}"), mode=g.maybe(g.of("wrap", "clip"))
    )


@row("take_along_dim scatter_add scatter_reduce", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    index = g.tensor([1, x.shape[1]], "index", f"index:{x.shape[0]}")
    if name == "take_along_dim":
        return g.call(name, x, index, 0)
    values = g.tensor([1, x.shape[1]], "float32")
    extra = [g.of("sum", "amax", "mean")] if name == "scatter_reduce" else []
    return g.call(name, x, 0, index, values, *extra)


@row("multiplex", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    index = g.tensor([x.shape[0], 1], "int32", "index:2")
    return f"paddle.multiplex([{x}, {g.tensor(x.shape, 'float32')}], {index})"


@row("crop")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 4)], "float32")
    return f"paddle.crop({x}, [1, -1], [0, {g.count(0, x.shape[1] - 1)}])"


@row("shard_index", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.shard_index({g.tensor([3, 1], 'int64', 'index:20')}, 20, 2, {g.count(0, 1)})"


@row("rot90")
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind=g.of("float32", "float64"), low=2)
    return g.call(name, x, g.count(-2, 5), g.source.sample(range(x.rank), 2))


@row("unfold as_strided", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(2, 4)], "float32", fresh=True)
    return g.call(name, x, 1, 2, 2) if name == "unfold" else g.call(name, x, [x.shape[0], 2], [x.shape[1], 1])


@row("narrow permute", modes="eager")
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 4)], "float32")
    return g.call(name, x, 1, 0, x.shape[1] - g.count(0, 1)) if name == "narrow" else g.call(name, x, [1, 0])


@row("swapaxes swapdims", modes="eager")
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(low=2, high=2)}, [1, 0])"


@row("cat concatenate", modes="eager")
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return f"paddle.{name}([{x}, {g.tensor(x.shape, x.dtype)}], {g.axis(x)})"


@row("view_as_real view_as_complex", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    if name == "view_as_real":
        return f"paddle.{name}({g.tensor(kind='complex64')})"
    return f"paddle.{name}({g.tensor([*g.shape(0, 2), 2], 'float32', fresh=True)})"


@row("broadcast_shapes", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    shape = g.shape(0, 3)
    return f"paddle.broadcast_shapes({[*shape]}, {[*g.fitting(shape)]})"


# -- made from numbers ------------------------------------------------------------------------------------------------


@row("logspace", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.logspace({g.count(-1, 1)}, {g.count(1, 3)}, {g.count(1, 4)})"


@row("range as_tensor asarray from_numpy", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    if name == "range":
        return f"paddle.range({g.count(0, 2)}, {g.count(2, 5)})"
    if name == "from_numpy":
        return f"paddle.from_numpy({g.tensor(kind='float32')}.numpy())"
    return f"paddle.{name}({[g.number(), g.number()]})".replace("nan", "0.5").replace("inf", "2.0")


TYPED = "BFloat16 Bool Byte Char Double Float Half Int Long Short"


@row(" ".join(f"{name}Tensor" for name in TYPED.split()), modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}([{g.count(0, 1)}, {g.count(0, 1)}])"


@row("bartlett_window blackman_window hamming_window hann_window kaiser_window", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.count(1, 6)}, {g.chance(0.5)})"


@row("iinfo", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"[paddle.iinfo({g.of('int8', 'int16', 'int32', 'int64', 'uint8')!r}).bits]"


@row("finfo", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"[paddle.finfo({g.of('float16', 'float32', 'float64')!r}).bits]"


# -- layers by their names in paddle ----------------------------------------------------------------------------------


@row("conv1d conv2d conv3d", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    space = [g.count(2, 4) for _ in range(int(name[4]))]
    x = g.tensor([1, 2, *space], "float32", fresh=True)
    return f"paddle.{name}({x}, {g.tensor([3, 2, *[1] * len(space)], 'float32', fresh=True)})"


@row("adaptive_avg_pool1d layer_norm group_norm", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([2, 2, 4], "float32", fresh=True)
    return f"paddle.{name}({x}, {'[4]' if name == 'layer_norm' else 2})"
