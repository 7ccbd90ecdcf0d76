"""``nn.functional``: activations, losses, normalisation and what works on images."""

from __future__ import annotations

from ..drawing import OMIT, Draw, Operand
from ..table import row

HERE = "nn.functional"
REDUCTIONS = ("mean", "sum", "none", "mean")
ACTIVATIONS = {
    "celu": {"alpha": 0.7},
    "elu": {"alpha": 0.7},
    "gelu": {"approximate": True},
    "hardshrink": {"threshold": 1.0},
    "hardsigmoid": {"slope": 0.3},
    "hardswish": {},
    "hardtanh": {"min": -0.5},
    "leaky_relu": {"negative_slope": 0.3},
    "log_sigmoid": {},
    "mish": {},
    "relu": {},
    "relu6": {},
    "selu": {"alpha": 1.2},
    "sigmoid": {},
    "silu": {},
    "softplus": {"beta": 2},
    "softshrink": {"threshold": 0.2},
    "softsign": {},
    "swish": {},
    "tanh": {},
    "tanhshrink": {},
    "thresholded_relu": {"threshold": 0.5},
}


def image(g: Draw, channels: int = 0, rank: int = 4, low: int = 1) -> Operand:
    """A batch of small images, channels first."""
    if g.chance(0.04):
        return g.tensor()
    side = [g.count(low, 6) for _ in range(rank - 2)]
    return g.tensor(
        [g.of(1, 2, 1, 2, 0) if g.chance(0.3) else 1, channels or g.of(1, 2, 4), *side],
        g.of("float32", "float32", "float64"),
    )


@row(" ".join(ACTIVATIONS), within=HERE)
def _(g: Draw, name: str) -> str:
    options = ACTIVATIONS[name.rpartition(".")[2]]
    kind = "number" if g.chance(0.1) else "float"
    return g.call(name, g.tensor(kind=kind), **{k: g.maybe(v) for k, v in options.items()})


@row("softmax log_softmax", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="number" if g.chance(0.1) else "float")
    return g.call(name, x, axis=g.of(OMIT, g.axis(x), g.axis(x)), dtype=g.maybe("float64", 0.1))


@row("glu", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor([*g.shape(0, 2), g.of(2, 4, 0, 3)])
    return g.call(name, x, axis=g.maybe(g.axis(x), 0.3))


@row("prelu", within=HERE)
def _(g: Draw, name: str) -> str:
    x = image(g)
    channels = x.shape[1] if x.rank > 1 else 1
    return g.call(name, x, g.tensor(g.of([1], [channels], [channels]), x.dtype))


@row("one_hot", within=HERE)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 4)
    return g.call(name, g.tensor(kind="index", values=f"index:{n}", high=2), n)


@row("sequence_mask", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(kind="index", values="index:4", high=2)
    return g.call(
        name, x, maxlen=g.of(3, 4, OMIT) if not g.static else 4, dtype=g.maybe(g.of("float32", "int32", "bool"))
    )


@row("embedding", within=HERE, weight=4)
def _(g: Draw, name: str) -> str:
    rows, width = g.count(1, 4), g.size()
    index = g.tensor(kind="index", values=f"index:{rows}", high=2)
    weight = g.tensor([rows, width])
    return g.call(name, index, weight, padding_idx=g.maybe(g.count(-rows, rows - 1)), sparse=g.maybe(False, 0.1))


@row("linear", within=HERE)
def _(g: Draw, name: str) -> str:
    n, m = g.size(), g.size()
    x = g.tensor([*g.shape(0, 2), n])
    bias = g.of(OMIT, g.tensor([m], x.dtype))
    return g.call(name, x, g.tensor([n, m], x.dtype), bias=bias)


# Losses.


@row("mse_loss l1_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, g.tensor(g.fitting(x.shape), x.dtype), reduction=g.of(*REDUCTIONS))


@row("smooth_l1_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, g.tensor(x.shape, x.dtype), reduction=g.of(*REDUCTIONS), delta=g.maybe(0.5))


@row("square_error_cost", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, g.tensor(g.fitting(x.shape), x.dtype))


@row("log_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    n = g.size()
    x = g.tensor([n, 1], g.of("float32", "float64"), values="unit")
    return g.call(name, x, g.tensor([n, 1], x.dtype, values="unit"), epsilon=g.maybe(0.01))


@row("binary_cross_entropy binary_cross_entropy_with_logits", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(values="unit" if g.chance(0.9) else "any")
    label = g.tensor(x.shape, x.dtype, values="unit", grad=g.chance(0.5))
    named = {"weight": g.of(OMIT, OMIT, g.tensor(g.fitting(x.shape), x.dtype)), "reduction": g.of(*REDUCTIONS)}
    if name.endswith("logits"):
        named["pos_weight"] = g.of(OMIT, OMIT, g.tensor(x.shape[-1:], x.dtype))
    return g.call(name, x, label, **named)


@row("kl_div", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    label = g.tensor(x.shape, x.dtype, values="unit" if g.chance(0.7) else "any")
    return g.call(name, x, label, reduction=g.of(*REDUCTIONS, "batchmean"), log_target=g.maybe(True, 0.3))


@row("cross_entropy", within=HERE, weight=12)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1 if g.chance(0.1) else 2, high=3, kind=g.of("float32", "float32", "float64"))
    axis = x.rank - 1 if g.chance(0.7) else g.count(0, x.rank - 1)
    classes = x.shape[axis]
    soft = g.chance(0.35)
    shape = list(x.shape)
    if not soft:
        shape[axis : axis + 1] = g.of([], [1])
    label = (
        g.tensor(shape, x.dtype, values="unit", grad=g.chance(0.6))
        if soft
        else g.tensor(shape, "index", f"index:{classes}")
    )
    return g.call(
        name,
        x,
        label,
        weight=g.of(OMIT, OMIT, g.tensor([classes], x.dtype, values="positive", grad=g.chance(0.5))),
        ignore_index=g.maybe(g.count(0, 2), 0.25),
        reduction=g.of(*REDUCTIONS),
        soft_label=True if soft else OMIT,
        axis=OMIT if axis == x.rank - 1 else axis,
        use_softmax=g.maybe(False, 0.1),
        label_smoothing=g.maybe(0.1, 0.2),
    )


@row("softmax_with_cross_entropy", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=3, kind=g.of("float32", "float32", "float64"))
    axis = x.rank - 1 if g.chance(0.7) else g.count(0, x.rank - 1)
    soft = g.chance(0.35)
    shape = list(x.shape)
    shape[axis] = shape[axis] if soft else 1
    label = g.tensor(shape, x.dtype if soft else "index", "unit" if soft else f"index:{x.shape[axis]}")
    return g.call(
        name,
        x,
        label,
        soft_label=True if soft else OMIT,
        ignore_index=g.maybe(0, 0.2),
        axis=OMIT if axis == x.rank - 1 else axis,
        return_softmax=g.maybe(True, 0.3),
    )


@row("nll_loss", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=4 if g.chance(0.3) else 2, kind=g.of("float32", "float32", "float64"))
    label = g.tensor([x.shape[0], *x.shape[2:]], "int64", f"index:{x.shape[1]}")
    weight = g.of(OMIT, g.tensor([x.shape[1]], x.dtype, "positive", grad=False))
    return g.call(name, x, label, weight=weight, ignore_index=g.maybe(1, 0.3), reduction=g.of(*REDUCTIONS))


@row("margin_ranking_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    y, label = g.tensor(x.shape, x.dtype), g.tensor(x.shape, x.dtype, "sign", grad=False)
    return g.call(name, x, y, label, margin=g.maybe(0.5), reduction=g.of(*REDUCTIONS))


@row("hinge_embedding_loss soft_margin_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    return g.call(name, x, g.tensor(x.shape, x.dtype, "sign", grad=False), reduction=g.of(*REDUCTIONS))


@row("multi_label_soft_margin_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=2)
    weight = g.of(OMIT, g.tensor([x.shape[1]], x.dtype, "positive", grad=False))
    return g.call(name, x, g.tensor(x.shape, x.dtype, "unit"), weight=weight, reduction=g.of(*REDUCTIONS))


@row("cosine_embedding_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2, kind=g.of("float32", "float64"))
    label = g.tensor([] if x.rank == 1 else [x.shape[0]], g.of("int64", "float32"), "sign", grad=False)
    return g.call(name, x, g.tensor(x.shape, x.dtype), label, margin=g.maybe(0.3), reduction=g.of(*REDUCTIONS))


@row("triplet_margin_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=2, high=2, kind=g.of("float32", "float64"))
    y, z = g.tensor(x.shape, x.dtype), g.tensor(x.shape, x.dtype)
    return g.call(name, x, y, z, p=g.of(OMIT, 1, 3), swap=g.maybe(True), reduction=g.of(*REDUCTIONS))


@row("dice_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    classes = g.count(2, 3)
    shape = g.shape(1, 2)
    return g.call(
        name, g.tensor([*shape, classes], "float32", "unit"), g.tensor([*shape, 1], "int64", f"index:{classes}")
    )


@row("sigmoid_focal_loss", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor()
    normalizer = g.of(OMIT, g.tensor([1], x.dtype, "positive", grad=False))
    return g.call(
        name, x, g.tensor(x.shape, x.dtype, "unit", grad=False), normalizer=normalizer, reduction=g.of(*REDUCTIONS)
    )


@row("label_smooth", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, values="unit")
    return g.call(name, x, prior_dist=g.of(OMIT, g.tensor([1, x.shape[-1]], x.dtype, "unit")), epsilon=g.maybe(0.3))


@row("cosine_similarity", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, g.tensor(g.fitting(x.shape), x.dtype), axis=g.of(OMIT, g.axis(x), -1))


@row("pairwise_distance", within=HERE)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1, high=2)
    return g.call(name, x, g.tensor(x.shape, x.dtype), p=g.of(OMIT, 1.0, 3.0, float("inf")), keepdim=g.maybe(True))


# Normalisation.


@row("normalize", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    return g.call(name, x, p=g.of(OMIT, 1, 3, 1.5, float("inf")), axis=g.of(OMIT, g.axis(x), -1))


@row("layer_norm", within=HERE, weight=4)
def _(g: Draw, name: str) -> str:
    x = g.tensor(low=1)
    count = g.count(1, x.rank)
    last = list(x.shape[-count:])
    weight, bias = (g.of(OMIT, g.tensor(last, x.dtype)) for _ in range(2))
    return g.call(name, x, last, weight=weight, bias=bias, epsilon=g.maybe(g.of(0.0005, 0.01)))


@row("batch_norm", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=g.of(2, 3, 4, 5))
    n = [x.shape[1] if x.rank > 1 else 1]
    mean, variance = g.tensor(n, x.dtype, grad=False), g.tensor(n, x.dtype, "positive", grad=False)
    weight, bias = g.tensor(n, x.dtype), g.tensor(n, x.dtype)
    return g.call(name, x, mean, variance, weight=weight, bias=bias, training=g.maybe(True))


@row("instance_norm", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=g.of(3, 4, 5))
    n = [x.shape[1] if x.rank > 1 else 1]
    return g.call(name, x, weight=g.of(OMIT, g.tensor(n, x.dtype)), bias=g.of(OMIT, g.tensor(n, x.dtype)))


@row("group_norm", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = image(g, channels=4, rank=g.of(2, 3, 4))
    n = [x.shape[1] if x.rank > 1 else 1]
    return g.call(
        name, x, g.of(1, 2, 4), weight=g.of(OMIT, g.tensor(n, x.dtype)), bias=g.of(OMIT, g.tensor(n, x.dtype))
    )


# Images.


@row("conv1d conv2d", within=HERE, weight=5)
def _(g: Draw, name: str) -> str:
    rank = 3 if "1d" in name else 4
    groups = g.of(1, 1, 1, 2)
    x = image(g, channels=groups * g.of(1, 2), rank=rank)
    channels = x.shape[1] if x.rank > 1 else 1
    out = groups * g.of(1, 2)
    weight = g.tensor([out, max(channels // groups, 1), *(g.count(1, 3) for _ in range(rank - 2))], x.dtype)
    return g.call(
        name,
        x,
        weight,
        bias=g.of(OMIT, g.tensor([out], x.dtype)),
        stride=g.of(OMIT, 2),
        padding=g.of(OMIT, 1, "SAME", "VALID", 2),
        dilation=g.maybe(2, 0.2),
        groups=groups if groups > 1 else OMIT,
    )


@row("conv1d_transpose conv2d_transpose", within=HERE, weight=4)
def _(g: Draw, name: str) -> str:
    rank = 3 if "1d" in name else 4
    groups = g.of(1, 1, 2)
    x = image(g, channels=groups * g.of(1, 2), rank=rank)
    channels = x.shape[1] if x.rank > 1 else 1
    out = g.of(1, 2)
    weight = g.tensor([channels, out, *(g.count(1, 3) for _ in range(rank - 2))], x.dtype)
    stride = g.of(OMIT, 2)
    return g.call(
        name,
        x,
        weight,
        bias=g.of(OMIT, g.tensor([out * groups], x.dtype)),
        stride=stride,
        padding=g.of(OMIT, 1, "SAME", "VALID"),
        output_padding=g.maybe(1, 0.2),
        dilation=g.maybe(2, 0.2),
        groups=groups if groups > 1 else OMIT,
    )


@row("max_pool1d max_pool2d avg_pool1d avg_pool2d", within=HERE, weight=5)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=3 if "1d" in name else 4)
    named = {"stride": g.of(OMIT, 1, 2, 3), "padding": g.of(OMIT, 0, 1, "SAME", "VALID"), "ceil_mode": g.maybe(True)}
    if "max" in name:
        named["return_mask"] = g.maybe(True, 0.3)
    else:
        named["exclusive"] = g.maybe(False)
    if name.endswith("avg_pool2d"):
        named["divisor_override"] = g.maybe(3, 0.2)
    return g.call(name, x, g.count(1, 3), **named)


@row("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d", within=HERE, weight=2)
def _(g: Draw, name: str) -> str:
    x = image(g, rank=3 if "1d" in name else 4)
    mask = g.maybe(True, 0.3) if "max" in name else OMIT
    return g.call(name, x, g.count(1, 3) if "1d" in name else g.of(1, 2, [2, 3], [1, 1]), return_mask=mask)


@row("interpolate upsample", within=HERE, weight=4)
def _(g: Draw, name: str) -> str:
    mode = g.of("nearest", "bilinear", "bicubic", "linear", "trilinear", "area")
    spatial = {"linear": 1, "trilinear": 3}.get(mode, 2)
    x = image(g, rank=spatial + 2)
    by = (
        {"size": [g.count(1, 5) for _ in range(spatial)]}
        if g.chance(0.6)
        else {"scale_factor": g.of(2, 0.5, 1.5, [2] * spatial)}
    )
    corners = g.maybe(True, 0.3) if mode not in ("nearest", "area") else OMIT
    return g.call(name, x, **by, mode=mode, align_corners=corners, align_mode=g.maybe(1, 0.2))


@row("pad", within=HERE, weight=5)
def _(g: Draw, name: str) -> str:
    mode = g.of("constant", "constant", "reflect", "replicate", "circular")
    if mode == "constant" and g.chance(0.5):
        x = g.tensor(low=1)
        amounts = [g.count(0, 2) for _ in range(2 * x.rank)]
        return g.call(name, x, amounts, value=g.maybe(1.5), pad_from_left_axis=g.maybe(False, 0.2))
    rank = g.of(3, 4, 5)
    x = image(g, rank=rank)
    amounts = [g.count(0, 2) if g.chance(0.9) else -1 for _ in range(2 * (rank - 2))]
    return g.call(name, x, amounts, mode=mode, value=g.maybe(g.number(), 0.3) if mode == "constant" else OMIT)


@row("zeropad2d", within=HERE)
def _(g: Draw, name: str) -> str:
    return g.call(name, image(g), [g.count(0, 2) for _ in range(4)])


@row("pixel_shuffle pixel_unshuffle channel_shuffle", within=HERE)
def _(g: Draw, name: str) -> str:
    return g.call(name, image(g, channels=4, low=2), 2)


@row("temporal_shift", within=HERE)
def _(g: Draw, name: str) -> str:
    return g.call(name, g.tensor([g.of(2, 4), 4, 2, 2], "float32"), 2, g.of(0.25, 0.5))


@row("unfold", within=HERE)
def _(g: Draw, name: str) -> str:
    return g.call(
        name, image(g, low=2), g.of(2, [1, 2]), strides=g.of(OMIT, 2), paddings=g.of(OMIT, 1), dilations=g.maybe(2, 0.2)
    )


@row("fold", within=HERE)
def _(g: Draw, name: str) -> str:
    stride = g.of(1, 2)
    count = ((4 - 2) // stride + 1) ** 2
    return g.call(name, g.tensor([g.of(1, 2), 4 * g.of(1, 2), count], "float32"), [4, 4], 2, strides=stride)


@row("affine_grid", within=HERE)
def _(g: Draw, name: str) -> str:
    n = g.count(1, 2)
    x = g.tensor([n, 2, 3], g.of("float32", "float64"))
    return g.call(name, x, [n, 1, g.count(1, 3), g.count(1, 3)], align_corners=g.maybe(False))


@row("grid_sample", within=HERE, weight=3)
def _(g: Draw, name: str) -> str:
    x = image(g)
    n = x.shape[0] if x.rank else 1
    grid = g.tensor([n, g.count(1, 3), g.count(1, 3), 2], x.dtype)
    return g.call(
        name,
        x,
        grid,
        mode=g.of(OMIT, "nearest"),
        padding_mode=g.of(OMIT, "border", "reflection"),
        align_corners=g.maybe(False),
    )


@row("dropout dropout2d dropout3d alpha_dropout", within=HERE, weight=1)
def _(g: Draw, name: str) -> str:
    """Without chance: all or nothing, or not training."""
    rank = {"dropout2d": 4, "dropout3d": 5}.get(name.rpartition(".")[2], 0)
    x = image(g, rank=rank) if rank else g.tensor()
    if not g.chance(0.5):
        return g.call(name, x, p=0.3, training=False)
    return g.call(name, x, p=g.of(0.0, 0.0, 1.0) if "alpha" not in name else 0.0)


@row("scaled_dot_product_attention", within=HERE, weight=2)
def _(g: Draw, name: str) -> str:
    b, heads, width, m, n = g.count(1, 2), g.count(1, 2), g.count(1, 3), g.count(1, 3), g.count(1, 3)
    q = g.tensor([b, m, heads, width], "float32")
    k, v = g.tensor([b, n, heads, width], "float32"), g.tensor([b, n, heads, width], "float32")
    mask = g.of(OMIT, g.tensor([b, 1, m, n], g.of("float32", "bool"), grad=False))
    return g.call(name, q, k, v, attn_mask=mask, is_causal=True if mask is OMIT and m == n and g.chance(0.5) else OMIT)
