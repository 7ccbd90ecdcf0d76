"""The calls of the table of types: short expressions over named operands, the same for Paddle and for gradtool.

An operand's element type is fixed, or it is the first or the second type that the call is made with. A call without an
operand of the second type is made once for each type, one with such an operand once for each pair.
"""

from __future__ import annotations

import ast
from itertools import product
from typing import Any

import numpy as np

TYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

SHORT = dict(zip(TYPES, ("b", "u1", "i1", "i2", "i4", "i8", "f2", "bf", "f4", "f8", "c8", "c16"), strict=True))
"""What the types are called in the recorded table."""

FIRST, SECOND = "first", "second"

OPERANDS: dict[str, tuple[tuple[int, ...], str]] = {
    "x": ((2, 3), FIRST),
    "v": ((3,), FIRST),
    "s": ((), FIRST),
    "m": ((3, 3), FIRST),
    "bm": ((2, 3, 3), FIRST),
    "pairs": ((2, 3, 2), FIRST),
    "seq": ((1, 4, 4), FIRST),
    "im": ((1, 4, 4, 4), FIRST),
    "vol": ((1, 2, 2, 2, 2), FIRST),
    "col": ((1, 4, 9), FIRST),
    "qk": ((1, 2, 2, 4), FIRST),
    "y": ((2, 3), SECOND),
    "w": ((3,), SECOND),
    "z": ((), SECOND),
    "n": ((3, 3), SECOND),
    "bn": ((2, 3, 3), SECOND),
    "row": ((2,), SECOND),
    "kernel": ((4, 4, 2, 2), SECOND),
    "depth": ((4, 1, 2, 2), SECOND),
    "kernel1": ((4, 4, 2), SECOND),
    "four": ((4,), SECOND),
    "theta": ((1, 2, 3), FIRST),
    "grid": ((1, 2, 2, 2), SECOND),
    "one": ((1,), SECOND),
    "p": ((2, 3), FIRST),
    "q": ((2, 3), SECOND),
    "at": ((2,), "int64"),
    "places": ((2, 3), "int64"),
    "mask": ((2, 3), "bool"),
    "label": ((2,), "int64"),
    "cube": ((2, 2, 2, 2, 2), SECOND),
    "frames": ((4, 2, 3), FIRST),
    "ladder": ((2, 3, 3, 4), FIRST),
    "spelt": ((2, 2), "int32"),
    "two": ((2,), "int32"),
    "spd": ((2, 2), FIRST),
    "long": ((2,), "int64"),
    "steps": ((3, 2, 2), "int64"),
    "beams": ((3, 2, 2), "int64"),
    "where4": ((1, 4, 2, 2), "int32"),
    "part": ((1, 4, 2, 2), FIRST),
    "where5": ((1, 2, 1, 1, 1), "int32"),
    "part5": ((1, 2, 1, 1, 1), FIRST),
}
"""Shape and type of every operand."""

UNARY = (
    "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh erf exp expm1 floor imag isfinite isinf isnan log "
    "log10 log1p log2 logical_not bitwise_not neg real reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan "
    "tanh clone numel shape rank median nonzero unique ones_like zeros_like empty_like positive assign "
    "sort argsort argmax argmin sum mean max min amax amin prod all any var std cumsum logsumexp norm t"
)

ACTIVATIONS = (
    "celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid log_softmax mish relu relu6 "
    "selu sigmoid silu softmax softplus softshrink softsign swish tanh tanhshrink thresholded_relu normalize"
)

BINARY = (
    "add subtract multiply divide floor_divide remainder maximum minimum pow equal not_equal less_than less_equal "
    "greater_than greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor equal_all "
    "isclose allclose"
)

SPECIAL = (
    "deg2rad rad2deg frac trunc sinc sgn signbit stanh nan_to_num isneginf isposinf isreal is_empty erfinv lgamma "
    "digamma gammaln i0 i0e i1 i1e count_nonzero nansum nanmean nanmedian diagflat diag_embed ravel msort softmax "
    "argwhere mode cummax cummin logcumsumexp diff trapezoid cumulative_trapezoid rot90 "
    "unique_consecutive histogram_bin_edges frexp"
)
"""Further functions of one operand, by what is left to say about them in :data:`FURTHER`."""

PAIRED = (
    "atan2 copysign fmax fmin gcd lcm heaviside hypot ldexp logaddexp nextafter bitwise_left_shift bitwise_right_shift "
    "inner kron dist cdist tensordot isin sub mul div true_divide eq ne lt le gt ge greater gammainc gammaincc"
)

FURTHER: tuple[str, ...] = (
    *(f"paddle.{name}(x)" for name in SPECIAL.split()),
    *(f"paddle.{name}(x, y)" for name in PAIRED.split()),
    "paddle.linalg.inv(paddle.tril(m))",
    "paddle.linalg.det(m)",
    "paddle.linalg.slogdet(paddle.tril(m))",
    "paddle.linalg.solve(paddle.tril(m), n)",
    "paddle.linalg.triangular_solve(m, n)",
    "paddle.fft.fft(x)",
    "paddle.fft.rfft(x)",
    "paddle.fft.irfft(x)",
    "paddle.kthvalue(x, 1)",
    "paddle.cumprod(x, 0)",
    "paddle.cumprod(x, 0, dtype='float64')",
    "paddle.logit(x)",
    "paddle.logit(x, 0.1)",
    "paddle.polygamma(x, 1)",
    "paddle.multigammaln(x, 2)",
    "paddle.diag(v)",
    "paddle.diagonal(m)",
    "paddle.trace(m)",
    "paddle.diagonal_scatter(m, v)",
    "paddle.lerp(x, y, 0.5)",
    "paddle.lerp(x, x, y)",
    "paddle.reduce_as(x, w)",
    "paddle.cross(m, n)",
    "paddle.outer(v, w)",
    "paddle.ger(v, w)",
    "paddle.mv(x, w)",
    "paddle.vecdot(x, y)",
    "paddle.baddbmm(bm, bm, bn)",
    "paddle.pdist(x)",
    "paddle.cartesian_prod([v, v])",
    "paddle.combinations(v)",
    "paddle.vander(v)",
    "paddle.renorm(x, 2.0, 0, 1.0)",
    "paddle.quantile(x, 0.5)",
    "paddle.nanquantile(x, 0.5)",
    "paddle.histogram(x, 3)",
    "paddle.bincount(v)",
    "paddle.bincount(at, row)",
    "paddle.searchsorted(v, y)",
    "paddle.bucketize(x, w)",
    "paddle.index_add(x, at, 0, y)",
    "paddle.index_fill(x, at, 0, 2)",
    "paddle.index_sample(x, places)",
    "paddle.masked_scatter(x, mask, y)",
    "paddle.select_scatter(x, w, 0, 1)",
    "paddle.slice_scatter(x, y, [0], [0], [2], [1])",
    "paddle.scatter_nd(at[:, None], row, [3])",
    "paddle.scatter_nd_add(v, at[:, None], row)",
    "paddle.take(x, at)",
    "paddle.multiplex([x, x], places[:, :1])",
    "paddle.crop(x, [1, 2])",
    "paddle.shard_index(x[:, :1], 20, 2, 0)",
    "paddle.unfold(x, 1, 2, 1)",
    "paddle.as_strided(x, [2, 2], [3, 1])",
    "paddle.view(x, [3, 2])",
    "paddle.scatter_add(x, 0, places, y)",
    "paddle.take_along_dim(x, places, 0)",
    "paddle.poisson(x)",
    "paddle.binomial(x, y)",
    "paddle.standard_gamma(x)",
    "paddle.multinomial(x)",
    "paddle.logspace(0, 1, 3, dtype=first)",
    "paddle.tril_indices(3, 3, dtype=first)",
    "paddle.triu_indices(3, dtype=first)",
    "paddle.range(0, 3, dtype=first)",
    "x << y",
    "x >> y",
)

LOSSES = "l1_loss mse_loss smooth_l1_loss kl_div binary_cross_entropy_with_logits"

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]

NUMBERS = ("True", "2", "1.5", "1j")

MATRICES: tuple[str, ...] = (
    "paddle.signal.frame(x, 2, 1)",
    "paddle.signal.overlap_add(x, 1)",
    "paddle.signal.stft(x, 2, 1)",
    "paddle.signal.stft(x, 2, 1, window=row)",
    "paddle.signal.istft(x, 2, 1)",
    *(
        f"paddle.linalg.{text}"
        for text in (
            "cholesky(spd)",
            "eigh(spd)",
            "eigvalsh(spd)",
            "eig(spd)",
            "eigvals(spd)",
            "lu(spd)",
            "lu_unpack(*paddle.linalg.lu(spd))",
            "qr(spd)",
            "svd(spd)",
            "svd(spd, full_matrices=True)",
            "svdvals(spd)",
            "pinv(spd)",
            "pinv(spd, hermitian=True)",
            "lstsq(spd, spd)[:2]",
            "lstsq(spd, spd, driver='gelsd')",
            "matrix_exp(spd)",
            "matrix_rank(spd)",
            "matrix_rank(spd, hermitian=True)",
            "slogdet(spd)",
            "det(spd)",
            "inv(spd)",
            "cond(spd)",
            "norm(spd, 'nuc')",
            "matrix_power(spd, 2)",
            "multi_dot([spd, spd])",
            "cholesky_solve(spd, spd)",
            "solve(spd, spd)",
            "householder_product(spd, spd[0])",
            "ormqr(spd, spd[0], spd)",
            "cov(spd)",
            "corrcoef(spd)",
        )
    ),
)

CALLS: tuple[str, ...] = (
    *(f"paddle.{name}({'m' if name == 't' else 'x'})" for name in UNARY.split()),
    *(f"F.{name}({'seq' if name == 'glu' else 'x'})" for name in ACTIVATIONS.split()),
    *(f"paddle.{name}(x, y)" for name in BINARY.split()),
    *(f"x {op} y" for op in OPERATORS),
    *(f"x {op} z" for op in ["+", "*", "/", "**"]),
    *(f"s {op} y" for op in ["+", "*"]),
    *(f"x {op} {number}" for op in OPERATORS for number in NUMBERS),
    *(f"{number} {op} x" for op in OPERATORS[:7] for number in NUMBERS),
    "-x",
    "~x",
    *(f"paddle.pow(x, {number})" for number in NUMBERS),
    "paddle.equal(x, 2)",
    *(f"paddle.{name}(x, z)" for name in ["add", "multiply", "maximum", "floor_divide", "pow", "equal", "logical_and"]),
    *(f"s {op} z" for op in ["+", "*", "/", "**"]),
    *(f"x {op} z" for op in ["-", "//", "%", "<"]),
    "paddle.where(mask, x, z)",
    "paddle.where(mask, x, 2)",
    "paddle.where(mask, x, 1.5)",
    # casts and copies
    *(f"paddle.cast(x, '{dtype}')" for dtype in ("bool", "int32", "float16", "float32", "complex64")),
    "x.astype('float64')",
    "x.detach()",
    "paddle.full_like(x, 2)",
    "paddle.zeros_like(x, dtype='int32')",
    "paddle.randint_like(x, 0, 3)",
    # elementwise with settings
    "paddle.scale(x, 2.0, 1.0)",
    "paddle.scale(x, 2)",
    "paddle.clip(x, 0, 3)",
    "paddle.clip(x, 0.5, 1.5)",
    "paddle.increment(v[:1])",
    "paddle.add_n([x, y])",
    "F.label_smooth(x)",
    # reductions
    "paddle.sum(x, axis=0)",
    "paddle.sum(x, dtype='float64')",
    "paddle.sum(x, dtype='int32')",
    "paddle.prod(x, axis=1)",
    "paddle.prod(x, dtype='float32')",
    "paddle.cumsum(x, axis=0)",
    "paddle.cumsum(x, axis=0, dtype='float64')",
    "paddle.norm(x, p=1)",
    "paddle.norm(x, p=3, axis=0)",
    "paddle.norm(x, p='fro', axis=[0, 1])",
    "paddle.norm(x, p=1, axis=[0, 1])",
    "paddle.norm(x, p=2, axis=[0, 1])",
    "paddle.mean(x, axis=0)",
    "paddle.argmax(x, axis=0, dtype='int32')",
    "paddle.topk(x, 1)",
    # products
    "paddle.matmul(x, n)",
    "x @ n",
    "paddle.matmul(m, n, transpose_y=True)",
    "paddle.mm(m, n)",
    "paddle.bmm(bm, bn)",
    "paddle.dot(v, w)",
    "paddle.addmm(m, m, n)",
    "paddle.einsum('ij,jk->ik', x, n)",
    "F.linear(x, n)",
    "F.linear(x, m, w)",
    # shapes and places
    "paddle.reshape(x, [3, 2])",
    "paddle.flatten(x)",
    "paddle.squeeze(paddle.unsqueeze(x, 0), 0)",
    "paddle.transpose(x, [1, 0])",
    "paddle.concat([x, x])",
    "paddle.concat([x, y])",
    "paddle.stack([x, x])",
    "paddle.stack([x, y])",
    "paddle.split(x, 3, axis=1)",
    "paddle.unbind(x)",
    "paddle.unstack(x)",
    "paddle.expand(v, [2, 3])",
    "paddle.expand_as(v, y)",
    "paddle.broadcast_to(v, [2, 3])",
    "paddle.broadcast_tensors([x, v])",
    "paddle.tile(x, [2, 1])",
    "paddle.repeat_interleave(x, 2)",
    "paddle.flip(x, 0)",
    "paddle.roll(x, 1)",
    "paddle.tril(m)",
    "paddle.triu(m)",
    "paddle.meshgrid(v, v)",
    "paddle.meshgrid(v, w)",
    "paddle.broadcast_tensors([x, w])",
    "paddle.moveaxis(x, 0, 1)",
    "paddle.gather(x, at)",
    "paddle.gather_nd(x, at)",
    "paddle.index_select(x, at)",
    "paddle.take_along_axis(x, places, 0)",
    "paddle.put_along_axis(x, places, x, 0)",
    "paddle.put_along_axis(x, places, y, 0)",
    "paddle.scatter(x, at, x)",
    "paddle.scatter(x, at, y)",
    "paddle.index_put(x, (at,), v)",
    "paddle.masked_select(x, mask)",
    "paddle.masked_fill(x, mask, 2)",
    "paddle.masked_fill(x, mask, 1.5)",
    "paddle.where(mask, x, x)",
    "paddle.where(mask, x, y)",
    "paddle.where(x, mask, mask)",
    "paddle.slice(x, [0], [0], [1])",
    "paddle.strided_slice(x, [1], [0], [3], [2])",
    "x[0]",
    "x[:, 1:]",
    "x[at]",
    "x[mask]",
    "x[:, None, ::2]",
    "x.T",
    "F.pad(seq, [1, 1], data_format='NCL')",
    "F.pad(x, [0, 0, 1, 1], value=2)",
    "F.pad(im, [1, 1, 1, 1], mode='reflect')",
    "F.one_hot(label, 3)",
    "F.one_hot(paddle.cast(x, 'int64'), 9)",
    "F.one_hot(x, 9)",
    "F.sequence_mask(v, 9)",
    "F.embedding(at, m)",
    "F.embedding(paddle.zeros_like(x), n)",
    "paddle.unique(x, return_counts=True)",
    # complex numbers
    "paddle.complex(x, y)",
    "paddle.as_complex(pairs)",
    "paddle.as_real(x)",
    "paddle.polar(x, y)",
    # losses
    *(f"F.{name}(x, x)" for name in LOSSES.split()),
    *(f"F.{name}(x, y)" for name in LOSSES.split()),
    "F.binary_cross_entropy(p, p)",
    "F.binary_cross_entropy(p, q)",
    "F.square_error_cost(x, y)",
    "F.cross_entropy(x, label)",
    "F.cross_entropy(x, y, soft_label=True)",
    "F.cross_entropy(x, label, weight=w)",
    "F.cross_entropy(x, row)",
    "F.softmax_with_cross_entropy(x, places[:, :1])",
    "F.nll_loss(x, label)",
    "F.nll_loss(x, label, weight=w)",
    "F.log_loss(v[:, None], w[:, None])",
    "F.dice_loss(x, places[:, :1])",
    "F.sigmoid_focal_loss(x, y)",
    "F.soft_margin_loss(x, y)",
    "F.hinge_embedding_loss(x, y)",
    "F.margin_ranking_loss(x, x, y)",
    "F.multi_label_soft_margin_loss(x, y)",
    "F.cosine_similarity(x, y)",
    "F.cosine_embedding_loss(x, x, row)",
    "F.pairwise_distance(x, y)",
    "F.triplet_margin_loss(x, x, y)",
    # networks
    "F.dropout(x, 0.5)",
    "F.dropout2d(im, 0.5)",
    "F.alpha_dropout(x, 0.5)",
    "F.prelu(x, one)",
    "F.layer_norm(x, [3])",
    "F.layer_norm(x, [3], w)",
    "F.layer_norm(x, [3], w, w)",
    "F.batch_norm(x, w.detach().clone(), w.detach().clone())",
    "F.batch_norm(x, w.detach().clone(), w.detach().clone(), w, w)",
    "F.batch_norm(x, v.detach().clone(), v.detach().clone(), w, w, training=True)",
    "F.instance_norm(seq)",
    "F.instance_norm(seq, weight=four, bias=four)",
    "F.group_norm(im, 2)",
    "F.group_norm(im, 2, weight=four, bias=four)",
    "F.conv1d(seq, kernel1)",
    "F.conv1d(seq, kernel1, four)",
    "F.conv2d(im, kernel)",
    "F.conv2d(im, depth, groups=4)",
    "F.conv2d_transpose(im, kernel)",
    "F.conv2d_transpose(im, depth, groups=4)",
    "F.conv1d_transpose(seq, kernel1)",
    "F.max_pool1d(seq, 2)",
    "F.max_pool2d(im, 2)",
    "F.max_pool2d(im, 2, return_mask=True)",
    "F.avg_pool1d(seq, 2)",
    "F.avg_pool2d(im, 2)",
    "F.adaptive_avg_pool2d(im, 2)",
    "F.adaptive_max_pool2d(im, 2)",
    "F.adaptive_avg_pool1d(seq, 2)",
    "F.adaptive_max_pool1d(seq, 2)",
    "F.unfold(im, 2)",
    "F.fold(col, [4, 4], 2)",
    "F.pixel_shuffle(im, 2)",
    "F.pixel_unshuffle(im, 2)",
    "F.channel_shuffle(im, 2)",
    "F.temporal_shift(im, 1)",
    "F.interpolate(im, scale_factor=2)",
    "F.interpolate(im, scale_factor=2, mode='bilinear')",
    "F.interpolate(im, scale_factor=2, mode='bicubic')",
    "F.interpolate(seq, scale_factor=[2], mode='linear', data_format='NCW')",
    "F.interpolate(vol, scale_factor=[2, 2, 2], mode='trilinear', data_format='NCDHW')",
    "F.affine_grid(theta, [1, 1, 2, 2])",
    "F.grid_sample(im, grid)",
    "F.scaled_dot_product_attention(qk, qk, qk)",
    "F.conv3d(vol, cube)",
    "F.conv3d_transpose(vol, cube)",
    "F.avg_pool3d(vol, 2)",
    "F.max_pool3d(vol, 2)",
    "F.max_pool3d(vol, 2, return_mask=True)",
    "F.max_unpool2d(part, where4 * 0, 2)",
    "F.max_unpool3d(part5, where5 * 0, 2)",
    "F.lp_pool2d(im, 2, 2)",
    "F.fractional_max_pool2d(im, 2, random_u=0.5)",
    "F.fractional_max_pool3d(vol, 2, random_u=0.5)",
    "F.swiglu(x, x)",
    "F.maxout(im, 2)",
    "F.rrelu(x)",
    "F.local_response_norm(im, 2)",
    "F.ctc_loss(frames, spelt % 2 + 1, long * 0 + 4, long * 0 + 2)",
    "F.rnnt_loss(ladder, spelt % 3 + 1, two * 0 + 3, two * 0 + 2)",
    "F.gather_tree(steps, beams * 0)",
    "F.class_center_sample(label, 400, 2)",
    "F.gaussian_nll_loss(x, y, x * x)",
    "F.multi_margin_loss(x, label % 3)",
    "paddle.clip(x, paddle.min(y), paddle.max(y))",
    "paddle.bernoulli(x / x)",
    # made without operands: the type is an argument
    *(
        f"paddle.{text}, dtype=first)"
        for text in (
            "zeros([2]",
            "ones([2]",
            "full([2], 1",
            "full([2], 1.5",
            "full([2], True",
            "empty([2]",
            "eye(2",
            "arange(3",
            "arange(0.0, 3.0",
            "linspace(0, 1, 3",
            "rand([2]",
            "uniform([2]",
            "randn([2]",
            "standard_normal([2]",
            "randint(0, 3, [2]",
            "randperm(4",
            "to_tensor([1]",
            "to_tensor([1.5]",
            "to_tensor([True]",
        )
    ),
    "paddle.normal(0.0, 1.0, [2])",
    "paddle.arange(3)",
    "paddle.arange(3.0)",
    "paddle.to_tensor([1.5, 2])",
    "paddle.to_tensor([1, True])",
    "paddle.to_tensor(1j)",
    *FURTHER,
    *MATRICES,
)


def names_in(text: str) -> list[str]:
    """The operands that a call names, in the order of :data:`OPERANDS`."""
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return [name for name in OPERANDS if name in words]


def kinds_of(text: str) -> list[tuple[str, ...]]:
    """The types, or pairs of them, that a call is made with."""
    kinds = {OPERANDS[name][1] for name in names_in(text)}
    if SECOND in kinds:
        return list(product(TYPES, TYPES))
    return [(t,) for t in TYPES] if FIRST in kinds or "first" in text else [()]


def array(name: str, types: tuple[str, ...], bfloat16: Any = None) -> tuple[np.ndarray, str]:
    """The values of an operand, in a type that every package has, and the name of the type that it shall have."""
    shape, kind = OPERANDS[name]
    dtype = kind
    if kind in (FIRST, SECOND):
        dtype = types[0] if kind == FIRST else types[1]
    if name == "spd":
        values = np.array([[4, 1], [1, 3]])
        return values.astype("float32" if dtype == "bfloat16" else dtype), dtype
    if kind == "int64":
        return np.arange(int(np.prod(shape)), dtype="int64").reshape(shape) % 2, kind
    values = np.arange(int(np.prod(shape))).reshape(shape) % (1 if name in ("p", "q") else 3) + 1
    return values.astype("float32" if dtype == "bfloat16" else dtype), dtype
