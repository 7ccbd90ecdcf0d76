"""Rows: activations, losses, normalisation, attention, layers.

Left out on purpose, because Paddle and PyTorch differ: the running variance that batch normalisation keeps (biased in
Paddle), gradients at kinks and of equal maxima, and anything random (dropout is compared in evaluation).
"""

from __future__ import annotations

from .rows import Row, away, between, exactly, integers, normal, row, shares

PLAIN = ["relu", "relu6", "gelu", "mish", "silu", "softplus", "softsign", "hardswish", "selu", "tanhshrink"]

ACTIVATIONS: list[Row] = [
    *(row(f"F.{n}", f"F.{n}(x)", x=normal(3, 4)) for n in PLAIN),
    row("F.hardsigmoid", "F.hardsigmoid(x)", x=normal(3, 4), smooth=False),
    row("F.log_sigmoid", "F.log_sigmoid(x)", "F.logsigmoid(x)", x=normal(3, 4)),
    row("F.swish", "F.swish(x)", "F.silu(x)", x=normal(3, 4)),
    row("F.gelu tanh", "F.gelu(x, approximate=True)", "F.gelu(x, approximate='tanh')", x=normal(3, 4)),
    row("F.celu", "F.celu(x, 0.7)", x=normal(3, 4)),
    row("F.elu", "F.elu(x, 0.7)", x=normal(3, 4)),
    row("F.leaky_relu", "F.leaky_relu(x, 0.2)", x=normal(3, 4)),
    row("F.hardshrink", "F.hardshrink(x, 0.4)", x=normal(3, 4)),
    row("F.softshrink", "F.softshrink(x, 0.4)", x=normal(3, 4)),
    row("F.hardtanh", "F.hardtanh(x, -0.8, 0.9)", x=normal(3, 4)),
    row("F.thresholded_relu", "F.thresholded_relu(x, 0.3)", "F.threshold(x, 0.3, 0.0)", x=normal(3, 4)),
    row("F.softplus steep", "F.softplus(x, 2.0, 1.5)", x=normal(3, 4)),
    row("F.softmax", "F.softmax(x, 1)", x=normal(2, 3, 4)),
    row("F.log_softmax", "F.log_softmax(x, -1)", x=normal(3, 4)),
]

SIGNS = exactly([1.0, -1.0, 1.0, -1.0])

LOSSES: list[Row] = [
    row("F.mse_loss", "F.mse_loss(x, y)", x=normal(3, 4), y=normal(3, 4)),
    row("F.mse_loss sum", "F.mse_loss(x, y, reduction='sum')", x=normal(3, 4), y=normal(3, 4)),
    row("F.square_error_cost", "F.square_error_cost(x, y)", "(x - y) ** 2", x=normal(3, 4), y=normal(3, 4)),
    row("F.l1_loss", "F.l1_loss(x, y)", x=normal(3, 4), y=normal(3, 4)),
    row(
        "F.smooth_l1_loss",
        "F.smooth_l1_loss(x, y, delta=0.7)",
        "F.huber_loss(x, y, delta=0.7)",
        x=normal(3, 4),
        y=normal(3, 4),
    ),
    row(
        "F.binary_cross_entropy",
        "F.binary_cross_entropy(x, y)",
        x=between(0.1, 0.9, 3, 4),
        y=between(0.1, 0.9, 3, 4),
        fixed=("y",),
    ),
    row(
        "F.binary_cross_entropy_with_logits",
        "F.binary_cross_entropy_with_logits(x, y)",
        x=normal(3, 4),
        y=between(0, 1, 3, 4),
        fixed=("y",),
    ),
    row(
        "F.binary_cross_entropy_with_logits weighted",
        "F.binary_cross_entropy_with_logits(x, y, weight=w, pos_weight=p, reduction='none')",
        x=normal(3, 4),
        y=between(0, 1, 3, 4),
        w=between(0.5, 2, 4),
        p=between(0.5, 2, 4),
        fixed=("y", "w", "p"),
    ),
    row("F.cross_entropy", "F.cross_entropy(x, i)", x=normal(5, 4), i=integers(4, 5)),
    row(
        "F.cross_entropy weighted",
        "F.cross_entropy(x, i, weight=w)",
        x=normal(5, 4),
        i=integers(4, 5),
        w=between(0.5, 2, 4),
        fixed=("w",),
    ),
    row(
        "F.cross_entropy ignoring", "F.cross_entropy(x, i, ignore_index=2)", x=normal(5, 4), i=exactly([0, 2, 3, 2, 1])
    ),
    row("F.cross_entropy none", "F.cross_entropy(x, i, reduction='none')", x=normal(5, 4), i=integers(4, 5)),
    row(
        "F.cross_entropy soft labels",
        "F.cross_entropy(x, y, soft_label=True)",
        "F.cross_entropy(x, y)",
        x=normal(5, 4),
        y=shares(5, 4),
        fixed=("y",),
    ),
    row(
        "F.softmax_with_cross_entropy",
        "F.softmax_with_cross_entropy(x, i)",
        "F.cross_entropy(x, i.squeeze(1), reduction='none').unsqueeze(1)",
        x=normal(5, 4),
        i=integers(4, 5, 1),
    ),
    row("F.nll_loss", "F.nll_loss(x, i)", x=normal(5, 4), i=integers(4, 5)),
    row(
        "F.nll_loss weighted",
        "F.nll_loss(x, i, weight=w)",
        x=normal(5, 4),
        i=integers(4, 5),
        w=between(0.5, 2, 4),
        fixed=("w",),
    ),
    row("F.kl_div", "F.kl_div(x, y)", x=normal(3, 4), y=shares(3, 4), fixed=("y",)),
    row("F.kl_div batchmean", "F.kl_div(x, y, reduction='batchmean')", x=normal(3, 4), y=shares(3, 4), fixed=("y",)),
    row(
        "F.log_loss",
        "F.log_loss(x, y)",
        "-y * torch.log(x + 1e-4) - (1 - y) * torch.log(1 - x + 1e-4)",
        x=between(0.1, 0.9, 4, 1),
        y=between(0, 1, 4, 1),
        fixed=("y",),
    ),
    row("F.pairwise_distance", "F.pairwise_distance(x, y)", x=normal(3, 4), y=normal(3, 4)),
    row(
        "F.margin_ranking_loss",
        "F.margin_ranking_loss(x, y, z, 0.3)",
        x=normal(4),
        y=normal(4),
        z=SIGNS,
        fixed=("z",),
    ),
    row("F.hinge_embedding_loss", "F.hinge_embedding_loss(x, z)", x=normal(4), z=SIGNS, fixed=("z",)),
    row(
        "F.cosine_embedding_loss",
        "F.cosine_embedding_loss(x, y, z, 0.1)",
        x=normal(4, 3),
        y=normal(4, 3),
        z=SIGNS,
        fixed=("z",),
    ),
    *(
        row(
            f"F.triplet_margin_loss {swap}",
            f"F.triplet_margin_loss(x, y, z, 0.8, swap={swap})",
            x=normal(3, 4),
            y=normal(3, 4),
            z=normal(3, 4),
        )
        for swap in (False, True)
    ),
    row("F.soft_margin_loss", "F.soft_margin_loss(x, z)", x=normal(4), z=SIGNS, fixed=("z",)),
    row(
        "F.multi_label_soft_margin_loss",
        "F.multi_label_soft_margin_loss(x, y, w)",
        "F.multilabel_soft_margin_loss(x, y, w)",
        x=normal(3, 4),
        y=exactly([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]),
        w=between(0.5, 2, 4),
        fixed=("y", "w"),
    ),
    row(
        "F.sigmoid_focal_loss",
        "F.sigmoid_focal_loss(x, y)",
        "(F.binary_cross_entropy_with_logits(x, y, reduction='none') * (0.25 * y + 0.75 * (1 - y)) * "
        "(1 - (torch.sigmoid(x) * y + (1 - torch.sigmoid(x)) * (1 - y))) ** 2).sum()",
        x=normal(3, 4),
        y=exactly([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]),
        fixed=("y",),
    ),
    row(
        "F.dice_loss",
        "F.dice_loss(x, i)",
        "(1 - 2 * (x * F.one_hot(i[..., 0], 4)).sum((1, 2)) / (x.sum((1, 2)) + F.one_hot(i[..., 0], 4).sum((1, 2)) "
        "+ 1e-5)).mean()",
        x=shares(2, 3, 4),
        i=integers(4, 2, 3, 1),
    ),
    row("F.label_smooth", "F.label_smooth(y, epsilon=0.2)", "0.8 * y + 0.2 / 4", y=shares(3, 4)),
]

SCALED = {"w": between(0.5, 2, 4), "b": normal(4)}

NORMALISATION: list[Row] = [
    row(
        "F.batch_norm training",
        "F.batch_norm(x, m, v, w, b, training=True)",
        x=normal(3, 4, 2, 3),
        m=normal(4),
        v=between(0.5, 2, 4),
        fixed=("m", "v"),
        **SCALED,
    ),
    row(
        "F.batch_norm evaluation",
        "F.batch_norm(x, m, v, w, b)",
        x=normal(3, 4, 2, 3),
        m=normal(4),
        v=between(0.5, 2, 4),
        fixed=("m", "v"),
        **SCALED,
    ),
    row("F.layer_norm", "F.layer_norm(x, [4], w, b)", x=normal(2, 3, 4), **SCALED),
    row("F.layer_norm two axes", "F.layer_norm(x, [3, 4])", x=normal(2, 3, 4)),
    row("F.group_norm", "F.group_norm(x, 2, weight=w, bias=b)", x=normal(2, 4, 2, 3), **SCALED),
    row("F.instance_norm", "F.instance_norm(x, weight=w, bias=b)", x=normal(2, 4, 3, 3), **SCALED),
    row("F.normalize", "F.normalize(x, 2, 1)", x=normal(3, 4)),
    row("F.cosine_similarity", "F.cosine_similarity(x, y, 1)", x=normal(3, 4), y=normal(3, 4)),
    row("F.dropout evaluation", "F.dropout(x, 0.5, training=False)", x=normal(3, 4)),
]

QKV = {"q": normal(2, 3, 2, 4), "k": normal(2, 5, 2, 4), "v": normal(2, 5, 2, 4)}
TURNED = "q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)"  # Paddle has the heads third, PyTorch second

ATTENTION: list[Row] = [
    row(
        "F.scaled_dot_product_attention",
        "F.scaled_dot_product_attention(q, k, v)",
        f"F.scaled_dot_product_attention({TURNED}).transpose(1, 2)",
        **QKV,
    ),
    row(
        "F.scaled_dot_product_attention masked",
        "F.scaled_dot_product_attention(q, k, v, m)",
        f"F.scaled_dot_product_attention({TURNED}, m).transpose(1, 2)",
        m=normal(2, 1, 3, 5),
        fixed=("m",),
        **QKV,
    ),
    row(
        "F.scaled_dot_product_attention causal",
        "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        f"F.scaled_dot_product_attention({TURNED}, is_causal=True).transpose(1, 2)",
        q=normal(1, 4, 2, 3),
        k=normal(1, 4, 2, 3),
        v=normal(1, 4, 2, 3),
    ),
]

PAIR = "{'weight': w, 'bias': b}"
CELL = "{'weight_ih': w, 'weight_hh': u, 'bias_ih': b, 'bias_hh': c}"


def cell(ours: str, theirs: str, gates: int) -> Row:
    """A recurrent cell of four inputs and three states; *gates* times as many rows in its matrices."""
    states = "(h, s)" if gates == 4 else "h"
    extra = {"s": normal(2, 3)} if gates == 4 else {}
    return row(
        f"nn.{ours}",
        f"layer(nn.{ours}(4, 3), {CELL}, x, {states})[1]",
        f"layer(nn.{theirs}(4, 3), {CELL}, x, {states})",
        x=normal(2, 4),
        h=normal(2, 3),
        w=normal(3 * gates, 4),
        u=normal(3 * gates, 3),
        b=normal(3 * gates),
        c=normal(3 * gates),
        **extra,
    )


def network(name: str, ours: str, theirs: str, gates: int, layers: int = 1, ways: int = 1) -> Row:
    """A recurrent network of four inputs and three states; *gates* times as many rows in its matrices."""
    inputs, parameters = {}, []
    for i in range(layers * ways):
        ending = f"_l{i // ways}" + ("_reverse" if i % ways else "")
        width = 4 if i < ways else 3 * ways
        shapes = ("weight_ih", (width,)), ("weight_hh", (3,)), ("bias_ih", ()), ("bias_hh", ())
        for short, (parameter, columns) in zip("wubc", shapes, strict=True):
            inputs[f"{short}{i}"] = normal(3 * gates, *columns)
            parameters.append(f"'{parameter}{ending}': {short}{i}")
    states = "(h, s)" if gates == 4 else "h"
    starts = {"h": normal(layers * ways, 2, 3)} | ({"s": normal(layers * ways, 2, 3)} if gates == 4 else {})
    held = f"{{{', '.join(parameters)}}}"
    return row(
        f"nn.{name}",
        f"layer(nn.{ours}, {held}, x, {states})",
        f"layer(nn.{theirs}, {held}, x, {states})",
        x=normal(2, 5, 4),
        smooth="relu" not in ours,
        **starts,
        **inputs,
    )


def module(ours: str, theirs: str | None = None, shape: tuple[int, ...] = (3, 4)) -> Row:
    """A layer without parameters."""
    return row(f"nn.{ours}", f"nn.{ours}(x)", None if theirs is None else f"nn.{theirs}(x)", x=away(*shape))


PROJECTED = {f"w{n}": normal(4, 4) for n in "qkvo"} | {f"b{n}": normal(4) for n in "qkvo"}


def projections(prefix: str) -> str:
    """The parameters of Paddle's attention layer."""
    names = zip(("q", "k", "v", "out"), "qkvo", strict=True)
    return ", ".join(f"'{prefix}{n}_proj.weight': w{c}, '{prefix}{n}_proj.bias': b{c}" for n, c in names)


def one_matrix(prefix: str) -> str:
    """The same for PyTorch, whose layer keeps three of the matrices in one."""
    return (
        f"'{prefix}in_proj_weight': torch.cat([wq.T, wk.T, wv.T]), '{prefix}in_proj_bias': torch.cat([bq, bk, bv]), "
        f"'{prefix}out_proj.weight': wo.T, '{prefix}out_proj.bias': bo"
    )


FORWARD = {
    "w1": normal(4, 6),
    "b1": normal(6),
    "w2": normal(6, 4),
    "b2": normal(4),
    "g1": normal(4),
    "s1": normal(4),
    "g2": normal(4),
    "s2": normal(4),
}
AFTER = (
    "'linear1.weight': w1{t}, 'linear1.bias': b1, 'linear2.weight': w2{t}, 'linear2.bias': b2, "
    "'norm1.weight': g1, 'norm1.bias': s1, 'norm2.weight': g2, 'norm2.bias': s2"
)

LAYERS: list[Row] = [
    row(
        "nn.Linear",
        f"layer(nn.Linear(4, 5), {PAIR}, x)",
        "layer(nn.Linear(4, 5), {'weight': w.T, 'bias': b}, x)",
        x=normal(2, 3, 4),
        w=normal(4, 5),
        b=normal(5),
    ),
    row(
        "nn.Conv2D",
        f"layer(nn.Conv2D(2, 3, 3, stride=2, padding=1), {PAIR}, x)",
        f"layer(nn.Conv2d(2, 3, 3, stride=2, padding=1), {PAIR}, x)",
        x=normal(1, 2, 5, 4),
        w=normal(3, 2, 3, 3),
        b=normal(3),
    ),
    row(
        "nn.Conv1D",
        f"layer(nn.Conv1D(2, 3, 3, padding=1, padding_mode='circular'), {PAIR}, x)",
        f"layer(nn.Conv1d(2, 3, 3, padding=1, padding_mode='circular'), {PAIR}, x)",
        x=normal(1, 2, 5),
        w=normal(3, 2, 3),
        b=normal(3),
    ),
    row(
        "nn.Conv1DTranspose",
        f"layer(nn.Conv1DTranspose(2, 3, 3, stride=2), {PAIR}, x)",
        f"layer(nn.ConvTranspose1d(2, 3, 3, stride=2), {PAIR}, x)",
        x=normal(1, 2, 4),
        w=normal(2, 3, 3),
        b=normal(3),
    ),
    row(
        "nn.Conv2DTranspose",
        f"layer(nn.Conv2DTranspose(2, 3, 3, stride=2, padding=1, output_padding=1), {PAIR}, x)",
        f"layer(nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1), {PAIR}, x)",
        x=normal(1, 2, 3, 4),
        w=normal(2, 3, 3, 3),
        b=normal(3),
    ),
    row(
        "nn.PReLU",
        "layer(nn.PReLU(3), {'_weight': w}, x)",
        "layer(nn.PReLU(3), {'weight': w}, x)",
        x=away(2, 3, 4),
        w=between(0.1, 0.5, 3),
    ),
    row(
        "nn.BatchNorm",
        f"layer(nn.BatchNorm(4, dtype='float64'), {PAIR}, x)",
        f"layer(nn.BatchNorm2d(4), {PAIR}, x)",
        x=normal(2, 4, 3, 2),
        **SCALED,
    ),
    row(
        "nn.SyncBatchNorm",
        f"layer(nn.SyncBatchNorm(4), {PAIR}, x)",
        f"layer(nn.BatchNorm2d(4), {PAIR}, x)",
        x=normal(2, 4, 3, 2),
        **SCALED,
    ),
    row(
        "nn.BatchNorm1D",
        f"layer(nn.BatchNorm1D(4), {PAIR}, x)",
        f"layer(nn.BatchNorm1d(4), {PAIR}, x)",
        x=normal(5, 4),
        **SCALED,
    ),
    row(
        "nn.BatchNorm2D",
        f"layer(nn.BatchNorm2D(4), {PAIR}, x)",
        f"layer(nn.BatchNorm2d(4), {PAIR}, x)",
        x=normal(2, 4, 3, 2),
        **SCALED,
    ),
    row(
        "nn.BatchNorm3D",
        f"layer(nn.BatchNorm3D(4), {PAIR}, x)",
        f"layer(nn.BatchNorm3d(4), {PAIR}, x)",
        x=normal(2, 4, 2, 1, 3),
        **SCALED,
    ),
    row("nn.LayerNorm", f"layer(nn.LayerNorm(4), {PAIR}, x)", x=normal(2, 3, 4), **SCALED),
    row("nn.Embedding", "layer(nn.Embedding(5, 3), {'weight': w}, i)", i=integers(5, 2, 4), w=normal(5, 3)),
    row(
        "nn.Embedding summed",
        "layer(nn.Embedding(5, 3), {'weight': w}, i).sum(1) ** 2",
        i=integers(5, 2, 4),
        w=normal(5, 3),
    ),
    cell("SimpleRNNCell", "RNNCell", 1),
    cell("LSTMCell", "LSTMCell", 4),
    cell("GRUCell", "GRUCell", 3),
    network("LSTM", "LSTM(4, 3)", "LSTM(4, 3, batch_first=True)", 4),
    network(
        "LSTM deep, from both ends",
        "LSTM(4, 3, 2, 'bidirect')",
        "LSTM(4, 3, 2, batch_first=True, bidirectional=True)",
        4,
        layers=2,
        ways=2,
    ),
    network("GRU deep", "GRU(4, 3, 2)", "GRU(4, 3, 2, batch_first=True)", 3, layers=2),
    network(
        "GRU from both ends",
        "GRU(4, 3, direction='bidirect')",
        "GRU(4, 3, batch_first=True, bidirectional=True)",
        3,
        ways=2,
    ),
    network("SimpleRNN", "SimpleRNN(4, 3)", "RNN(4, 3, batch_first=True)", 1),
    network(
        "SimpleRNN relu, deep",
        "SimpleRNN(4, 3, 2, activation='relu')",
        "RNN(4, 3, 2, nonlinearity='relu', batch_first=True)",
        1,
        layers=2,
    ),
    row(
        "nn.MultiHeadAttention",
        f"layer(nn.MultiHeadAttention(4, 2), {{{projections('')}}}, x, y, z)",
        f"layer(nn.MultiheadAttention(4, 2, batch_first=True), {{{one_matrix('')}}}, x, y, z)[0]",
        x=normal(2, 3, 4),
        y=normal(2, 5, 4),
        z=normal(2, 5, 4),
        **PROJECTED,
    ),
    *(
        row(
            f"nn.TransformerEncoderLayer {kind}",
            f"layer(nn.TransformerEncoderLayer(4, 2, 6, 0.0, activation='{act}', normalize_before={first}), "
            f"{{{projections('self_attn.')}, {AFTER.format(t='')}}}, x)",
            f"layer(nn.TransformerEncoderLayer(4, 2, 6, 0.0, '{act}', norm_first={first}, batch_first=True), "
            f"{{{one_matrix('self_attn.')}, {AFTER.format(t='.T')}}}, x)",
            x=normal(2, 3, 4),
            **PROJECTED,
            **FORWARD,
        )
        for kind, act, first in (("relu", "relu", False), ("gelu, norm first", "gelu", True))
    ),
    row(
        "nn.Sequential",
        "layer(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)), "
        "{'0.weight': w, '0.bias': b, '2.weight': u, '2.bias': c}, x)",
        "layer(nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)), "
        "{'0.weight': w.T, '0.bias': b, '2.weight': u.T, '2.bias': c}, x)",
        x=normal(3, 4),
        w=normal(4, 5),
        b=normal(5),
        u=normal(5, 2),
        c=normal(2),
    ),
    *(module(f"{n}()") for n in ["ReLU", "Tanh", "Sigmoid", "GELU", "Flatten"]),
    module("Softmax()", "Softmax(-1)"),
    module("PixelShuffle(2)", None, (1, 4, 2, 3)),
    module("PixelUnshuffle(2)", None, (1, 2, 4, 2)),
    module("ChannelShuffle(2)", None, (1, 4, 2, 3)),
    module("Unfold(2)", None, (1, 2, 3, 4)),
    module("Fold([3, 4], 2)", None, (1, 8, 6)),
    module("Softmax2D()", "Softmax2d()", (1, 3, 2, 2)),
    module("GLU()", None, (3, 4)),
    module("Unflatten(1, [2, -1])", "Unflatten(1, (2, 2))", (3, 4)),
    module("ZeroPad1D(2)", "ZeroPad1d(2)", (1, 2, 4)),
    module("ZeroPad3D(1)", "ZeroPad3d(1)", (1, 2, 2, 3, 2)),
    module("UpsamplingBilinear2D([5, 6])", "UpsamplingBilinear2d([5, 6])", (1, 2, 3, 4)),
    module("UpsamplingNearest2D([5, 6])", "UpsamplingNearest2d([5, 6])", (1, 2, 3, 4)),
    module("MaxPool1D(2)", "MaxPool1d(2)", (1, 2, 5)),
    module("AvgPool1D(2)", "AvgPool1d(2)", (1, 2, 5)),
    module("AdaptiveAvgPool1D(2)", "AdaptiveAvgPool1d(2)", (1, 2, 5)),
    module("AdaptiveMaxPool1D(2)", "AdaptiveMaxPool1d(2)", (1, 2, 5)),
    module("AdaptiveMaxPool2D(2)", "AdaptiveMaxPool2d(2)", (1, 2, 5, 4)),
    module("MaxPool2D(2)", "MaxPool2d(2)", (1, 2, 4, 5)),
    module("AvgPool2D(2)", "AvgPool2d(2)", (1, 2, 4, 5)),
    module("AdaptiveAvgPool2D(2)", "AdaptiveAvgPool2d(2)", (1, 2, 4, 5)),
    *(
        row(f"nn.{n}", f"nn.{n}()(x, y)", x=normal(3, 4), y=between(0, 1, 3, 4), fixed=("y",))
        for n in ["MSELoss", "L1Loss", "BCEWithLogitsLoss"]
    ),
    row("nn.CrossEntropyLoss", "nn.CrossEntropyLoss()(x, i)", x=normal(5, 4), i=integers(4, 5)),
]

ROWS = [*ACTIVATIONS, *LOSSES, *NORMALISATION, *ATTENTION, *LAYERS]
