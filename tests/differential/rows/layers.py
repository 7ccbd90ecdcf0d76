"""Layers of ``nn``, with parameters of fixed values."""

from __future__ import annotations

from ..drawing import OMIT, Draw, Operand, text
from ..table import row
from .functional import REDUCTIONS, image

HERE = "nn"
PLAIN = (
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid Mish ReLU ReLU6 SELU "
    "Sigmoid Silu Softplus Softshrink Softsign Swish Tanh Tanhshrink ThresholdedReLU"
)


def layer(g: Draw, name: str, *args, **named) -> str:
    """A line that makes the layer; the name of it."""
    texts = [text(a) for a in args] + [f"{k}={text(v)}" for k, v in named.items() if v is not OMIT]
    return g.line(f"l{len(g.lines)}", f"filled(paddle.{name}({', '.join(texts)}))")


def applied(g: Draw, module: str, *operands: Operand) -> str:
    if g.chance(0.15):
        g.lines.append(f"{module}.eval()")
    return f"{module}({', '.join(operands)})"


@row(PLAIN, within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name), g.tensor())


@row("Softmax LogSoftmax", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return applied(g, layer(g, name, axis=g.maybe(g.axis(x))), x)


@row("Softmax2D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name), image(g, rank=g.of(3, 4)))


@row("GLU", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name), g.tensor([*g.shape(0, 2), g.of(2, 4)]))


@row("Linear", within=HERE, weight=6)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="float32")
    return applied(g, layer(g, name, x.shape[-1], g.count(1, 3), bias_attr=g.maybe(False, 0.2)), x)


@row("Embedding", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    rows = g.count(1, 4)
    module = layer(g, name, rows, g.count(1, 3), padding_idx=g.maybe(g.count(-rows, rows - 1)))
    return applied(g, module, g.tensor(kind="index", values=f"index:{rows}", high=2))


@row("LayerNorm", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="float32")
    last = list(x.shape[-g.count(1, x.rank) :])
    return applied(g, layer(g, name, last, weight_attr=g.maybe(False, 0.2), bias_attr=g.maybe(False, 0.2)), x)


@row("BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D SyncBatchNorm", within=HERE, weight=2)
def _(g: Draw, name: str) -> str:
    rank = {"1": g.of(2, 3), "2": 4, "3": 5}.get(name[-2], 4)
    x = image(g, rank=rank)
    attr = {} if name.endswith("BatchNorm") else {"use_global_stats": g.maybe(True, 0.2)}
    channels = x.shape[1] if x.rank > 1 else 1
    return applied(g, layer(g, name, channels, momentum=g.maybe(0.5), **attr), x)


@row("InstanceNorm1D InstanceNorm2D InstanceNorm3D", within=HERE)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=int(name[-2]) + 2)
    channels = x.shape[1] if x.rank > 1 else 1
    return applied(g, layer(g, name, channels, weight_attr=g.maybe(False, 0.2), bias_attr=g.maybe(False, 0.2)), x)


@row("GroupNorm", within=HERE)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, g.of(1, 2, 4), 4), image(g, channels=4))


@row("Conv1D Conv2D Conv1DTranspose Conv2DTranspose", within=HERE, weight=2)
def _(g: Draw, name: str) -> str:
    channels = g.of(1, 2)
    x = image(g, channels=channels, rank=3 if "1D" in name else 4)
    named = {"stride": g.of(OMIT, 2), "padding": g.of(OMIT, 1), "bias_attr": g.maybe(False, 0.2)}
    if "Transpose" not in name:
        named["padding_mode"] = g.maybe(g.of("reflect", "replicate", "circular"), 0.2)
    return applied(g, layer(g, name, channels, g.of(1, 2), g.count(1, 3), **named), x)


@row("MaxPool1D MaxPool2D AvgPool1D AvgPool2D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=3 if "1D" in name else 4)
    named = {"stride": g.of(OMIT, 1, 2), "padding": g.of(OMIT, 1), "ceil_mode": g.maybe(True)}
    return applied(g, layer(g, name, g.count(1, 3), **named), x)


@row("AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveMaxPool1D AdaptiveMaxPool2D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, g.count(1, 3)), image(g, rank=3 if "1D" in name else 4))


@row("PReLU", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, g.of(1, 2)), image(g, channels=2))


@row("Flatten", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name), g.tensor(low=2))


@row("Unflatten", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, 1, [2, -1]), g.tensor([g.size(), 4]))


@row("Dropout Dropout2D Dropout3D AlphaDropout", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    rank = {"2": 4, "3": 5}.get(name[-2], 3)
    module = layer(g, name, 0.0 if g.chance(0.5) else 0.4)
    if not g.lines[-1].endswith("(0.0))"):
        g.lines.append(f"{module}.eval()")
    return f"{module}({image(g, rank=rank)})"


@row("Pad1D Pad2D Pad3D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    rank = int(name[-2])
    amounts = g.of(1, [g.count(0, 2) for _ in range(2 * rank)])
    mode = g.of(OMIT, "reflect", "replicate", "circular")
    return applied(g, layer(g, name, amounts, mode=mode), image(g, rank=rank + 2, low=2))


@row("ZeroPad1D ZeroPad2D ZeroPad3D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    rank = int(name[-2])
    return applied(g, layer(g, name, g.of(1, [g.count(0, 2) for _ in range(2 * rank)])), image(g, rank=rank + 2))


@row("PixelShuffle PixelUnshuffle ChannelShuffle", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, 2), image(g, channels=4, low=2))


@row("Upsample", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = layer(g, name, scale_factor=g.of(2, 0.5, 1.5), mode=g.of("nearest", "bilinear", "bicubic"))
    return applied(g, module, image(g))


@row("UpsamplingBilinear2D UpsamplingNearest2D", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, scale_factor=g.of(2, 3)), image(g))


@row("Unfold", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, 2), image(g, low=2))


@row("Fold", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    return applied(g, layer(g, name, [3, 3], 2), g.tensor([1, 4, 4], "float32"))


@row("CosineSimilarity PairwiseDistance", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=2)
    return applied(g, layer(g, name), x, g.tensor(x.shape, x.dtype))


@row("MSELoss L1Loss SmoothL1Loss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return applied(g, layer(g, name, reduction=g.of(*REDUCTIONS)), x, g.tensor(x.shape, x.dtype))


@row("HingeEmbeddingLoss SoftMarginLoss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return applied(g, layer(g, name, reduction=g.of(*REDUCTIONS)), x, g.tensor(x.shape, x.dtype, "sign", grad=False))


@row("BCELoss BCEWithLogitsLoss KLDivLoss MultiLabelSoftMarginLoss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=2, values="unit")
    label = g.tensor(x.shape, x.dtype, "unit", grad=False)
    return applied(g, layer(g, name, reduction=g.of(*REDUCTIONS)), x, label)


@row("MarginRankingLoss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return applied(g, layer(g, name), x, g.tensor(x.shape, x.dtype), g.tensor(x.shape, x.dtype, "sign", grad=False))


@row("CosineEmbeddingLoss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    label = g.tensor([x.shape[0]], "float32", "sign", grad=False)
    return applied(g, layer(g, name), x, g.tensor(x.shape, x.dtype), label)


@row("TripletMarginLoss", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    x = g.tensor([g.count(1, 3), g.count(1, 3)], "float32")
    return applied(g, layer(g, name, swap=g.maybe(True)), x, g.tensor(x.shape, x.dtype), g.tensor(x.shape, x.dtype))


@row("CrossEntropyLoss NLLLoss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=2, kind="float32")
    module = layer(g, name, ignore_index=g.maybe(1, 0.3), reduction=g.of(*REDUCTIONS))
    return applied(g, module, x, g.tensor([x.shape[0]], "int64", f"index:{x.shape[1]}"))


@row("SimpleRNNCell LSTMCell GRUCell", within=HERE, chains=False)
def _(g: Draw, name: str) -> str:
    n, m, b = g.count(1, 3), g.count(1, 3), g.of(1, 2, 0) if g.chance(0.2) else 2
    module = layer(g, name, n, m)
    return f"{module}({g.tensor([b, n], 'float32')})"


@row("SimpleRNN LSTM GRU", within=HERE, chains=False)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 3)
    named = {"num_layers": g.maybe(2, 0.3), "direction": g.maybe("bidirect", 0.3), "time_major": g.maybe(True, 0.2)}
    module = layer(g, name, n, g.count(1, 3), **named)
    return f"{module}({g.tensor([g.count(1, 2), g.count(1, 3), n], 'float32')})"


@row("RNN", within=HERE, weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 3)
    cell = f"paddle.nn.{g.of('SimpleRNNCell', 'GRUCell', 'LSTMCell')}({n}, 2)"
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.nn.RNN({cell}, is_reverse={g.chance(0.4)}))")
    return f"{module}({g.tensor([2, g.count(1, 3), n], 'float32')})"


@row("BiRNN", within=HERE, weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 3)
    cell = f"paddle.nn.{g.of('SimpleRNNCell', 'GRUCell', 'LSTMCell')}"
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.nn.BiRNN({cell}({n}, 2), {cell}({n}, 2)))")
    return f"{module}({g.tensor([2, g.count(1, 3), n], 'float32')})"


@row("MultiHeadAttention", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = layer(g, name, 4, g.of(1, 2))
    return f"{module}({g.tensor([g.count(1, 2), g.count(1, 3), 4], 'float32')})"


@row("TransformerEncoderLayer TransformerDecoderLayer", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = layer(g, name, 4, 2, 3, dropout=0.0, normalize_before=g.maybe(True), activation=g.maybe("gelu"))
    x = g.tensor([1, g.count(1, 3), 4], "float32", "plain")
    memory = f", {g.tensor([1, 2, 4], 'float32', 'plain')}" if "Decoder" in name else ""
    return f"{module}({x}{memory})"


@row("TransformerEncoder TransformerDecoder", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    part = f"paddle.{name}Layer(4, 2, 3, dropout=0.0)"
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.{name}({part}, 2, paddle.nn.LayerNorm(4)))")
    memory = f", {g.tensor([1, 2, 4], 'float32', 'plain')}" if "Decoder" in name else ""
    return f"{module}({g.tensor([1, 2, 4], 'float32', 'plain')}{memory})"


@row("Transformer", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = layer(g, name, 4, 2, 1, 1, 3, dropout=0.0)
    return f"{module}({g.tensor([1, 2, 4], 'float32', 'plain')}, {g.tensor([1, 2, 4], 'float32', 'plain')})"


@row("Sequential", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, kind="float32")
    middle = g.count(1, 3)
    activation = g.of("ReLU", "Tanh", "GELU", "Softmax")
    parts = f"paddle.nn.Linear({x.shape[-1]}, {middle}), paddle.nn.{activation}(), paddle.nn.Linear({middle}, 2)"
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.nn.Sequential({parts}))")
    return f"{module}({x})"


@row("LayerList", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = g.line(f"l{len(g.lines)}", "filled(paddle.nn.LayerList([paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 1)]))")
    return f"{module}[1]({module}[0]({g.tensor([g.size(), 2], 'float32')}))"


@row("LayerDict", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    module = g.line(f"l{len(g.lines)}", "filled(paddle.nn.LayerDict({'a': paddle.nn.Linear(2, 2)}))")
    return f"{module}['a']({g.tensor([g.size(), 2], 'float32')})"


@row("weight_norm spectral_norm", within="nn.utils", modes="eager", weight=2, chains=False)
def _(g: Draw, name: str) -> str:
    module = g.line(f"l{len(g.lines)}", "filled(paddle.nn.Linear(2, 3))")
    if name.endswith("weight_norm"):
        g.lines.append(f"paddle.{name}({module}, dim={g.of(0, 1, None)})")
    else:
        return f"paddle.zeros_like(paddle.{name}({module})({g.tensor([2, 2], 'float32', 'plain')}))"
    return f"{module}({g.tensor([2, 2], 'float32')})"


@row("parameters_to_vector", within="nn.utils", modes="eager", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    module = g.line(f"l{len(g.lines)}", "filled(paddle.nn.Linear(2, 3))")
    return f"paddle.{name}({module}.parameters()) * 2"


@row("vector_to_parameters", within="nn.utils", modes="eager", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    module = g.line(f"l{len(g.lines)}", "filled(paddle.nn.Linear(2, 3))")
    g.lines.append(f"paddle.{name}({g.tensor([9], 'float32', grad=False)}, {module}.parameters())")
    return f"{module}({g.tensor([2, 2], 'float32')})"
