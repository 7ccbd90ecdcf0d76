"""Layers of ``paddle.static.nn`` whose weights multiply in ways of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.spec import UNKNOWN
from gradtool.engine.ir import default
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.infer import product
from gradtool.paddle import _parameters
from gradtool.paddle._arguments import tensor
from gradtool.paddle._convolving import deformed, filter_shape, filter_spread
from gradtool.paddle._dispatch import apply
from gradtool.paddle._images import numbers
from gradtool.paddle.nn import initializer

from ._finishing import activated, finished, required

REALS = ("float32", "float64")


def _named(name: str | None, key: str) -> str:
    return name if name is not None else default.default_main_program().names(key)


def bilinear_tensor_product(
    x: Variable,
    y: Variable,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """``act(x·W·y + b)`` for each row of *x* and *y*, with *size* matrices W of its own.

    Args:
        x, y: ``[batch, columns]``, each with columns of its own.

    Raises:
        ShapeError: they do not have as many rows (a ValueError).
    """
    where = "bilinear_tensor_product"
    state.require_static(where)
    tensor(x, "x", where, REALS)
    tensor(y, "y", where, REALS)
    required(param_attr, "param_attr", where)
    layer = _named(name, where)
    w = _parameters.make(layer, param_attr, [size, x.shape[1], y.shape[1]], x.dtype)
    b = _parameters.make(layer, bias_attr, [1, size], x.dtype, is_bias=True)
    return activated(apply(where, x, y, w, b, name=layer), act, layer)


def row_conv(input: Variable, future_context_size: int, param_attr: Any = None, act: str | None = None) -> Variable:
    """Each row of a sequence as a weighted sum of it and the next *future_context_size* rows.

    Args:
        input: ``[batch, rows, columns]``; each column has weights of its own.
    """
    state.require_static("row_conv")
    tensor(input, "input", "row_conv", REALS)
    layer = _named(None, "row_conv")
    w = _parameters.make(layer, param_attr, [future_context_size + 1, input.shape[-1]], input.dtype)
    return activated(apply("row_conv", input, w, name=layer), act, layer)


def spectral_norm(
    weight: Variable, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Variable:
    """*weight* divided by its largest singular value, which power iteration approaches from vectors of its own.

    Args:
        dim: the dimension of the rows; the others are the columns.
        power_iters: how many steps are taken. Every run begins with the same vectors.
    """
    state.require_static("spectral_norm")
    tensor(weight, "weight", "spectral_norm", REALS)
    if product(weight.shape) <= 0:
        raise UsageError(f"spectral_norm: every dimension of weight {list(weight.shape)} must be known, and not 0.")
    if not 0 <= dim < weight.ndim:
        raise UsageError(f"The input `dim` should be less than the rank of `weight`, but received dim={dim}")
    layer = _named(name, "spectral_norm")
    rows = weight.shape[dim]
    vectors: list[Any] = []
    for size in (rows, product(weight.shape) // rows):
        vector = _parameters.make(layer, None, [size], weight.dtype, default_init=initializer.Normal(0.0, 1.0))
        assert vector is not None
        vector.stop_gradient = True
        vectors.append(vector)
    attrs = {"dim": dim, "power_iters": power_iters, "eps": float(np.float32(eps))}  # as precise as Paddle keeps it
    outputs = {"Out": default.default_main_program().names("_generated_var")}
    return apply("spectral_norm", weight, *vectors, attrs=attrs, name=layer, outputs=outputs)  # type: ignore[no-any-return]


def deform_conv2d(
    x: Variable,
    offset: Variable,
    mask: Variable | None,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = 1,
    deformable_groups: int = 1,
    im2col_step: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """Convolution whose windows read each pixel beside where it is, with filters of its own.

    Args:
        x: ``[batch, channels, height, width]``.
        offset: ``[batch, 2 · deformable_groups · window, height, width]`` of the result: by how many rows and columns
            the place of each element of the window is shifted.
        mask: ``[batch, deformable_groups · window, height, width]``: what each is multiplied by; None for ones.
        im2col_step: without influence.

    Raises:
        UsageError: arguments that do not fit (a ValueError).
        ShapeError: shapes that do not fit (a ValueError).
    """
    where = "deform_conv2d"
    state.require_static(where)
    tensor(x, "x", where, REALS)
    tensor(offset, "offset", where, REALS)
    required(weight_attr, "weight_attr", where)
    channels = x.shape[1]
    count = groups or 1
    if channels == UNKNOWN or channels % count:
        raise UsageError(f"{where}: the channels of x {list(x.shape)} must be known, and divisible by {count} groups.")
    layer = _named(name, "deformable_conv")
    window = numbers(filter_size, 2, "filter_size")
    shape = filter_shape(num_filters, channels, count, window)
    w = _parameters.make(layer, weight_attr, shape, x.dtype, default_init=filter_spread(channels, window))
    if mask is not None:
        tensor(mask, "mask", where, REALS)
    geometry = (stride, padding, dilation, count, deformable_groups)
    out = deformed(x, offset, mask, w, *geometry, layer, im2col_step=im2col_step)
    return finished(out, bias_attr, num_filters, False, None, layer)


# -- noise-contrastive estimation -------------------------------------------------------------------------------------

SAMPLERS = ("uniform", "log_uniform", "custom_dist")


def nce(
    input: Variable,
    label: Variable,
    num_total_classes: int,
    sample_weight: Variable | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Sequence[float] | None = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Variable:
    """The cost of telling true classes from drawn ones, for each row; a row of weights for each class is its own.

    Args:
        input: ``[batch, columns]``.
        label: ``[batch, true classes]``, whole numbers.
        num_neg_samples: how many classes are drawn for each row; 10 when None.
        sampler: what they are drawn from: ``'uniform'``, ``'log_uniform'`` or ``'custom_dist'``.
        custom_dist: for the last, the probability of each class.
        seed, is_sparse: noted in the program; what is drawn follows from ``paddle.seed``.

    Raises:
        UsageError: another sampler, or probabilities that do not fit the classes (a ValueError).
    """
    state.require_static("nce")
    tensor(input, "input", "nce", REALS)
    tensor(label, "label", "nce", ("int64",))
    if sampler not in SAMPLERS:
        raise UsageError(f"Unsupported sampler type: {sampler!r}; it can be {', '.join(map(repr, SAMPLERS))}.")
    layer = _named(name, "nce")
    w = _parameters.make(layer, param_attr, [num_total_classes, input.shape[1]], input.dtype)
    b = _parameters.make(layer, bias_attr, [num_total_classes, 1], input.dtype, is_bias=True)
    tables: list[Any] = [None, None, None]
    if sampler == "custom_dist":
        tables = _tables(layer, custom_dist, num_total_classes)
    count = 10 if num_neg_samples is None else int(num_neg_samples)
    attrs = {
        "num_total_classes": int(num_total_classes),
        "num_neg_samples": count,
        "seed": seed,
        "sampler": SAMPLERS.index(sampler),
        "is_sparse": is_sparse,
        "remote_prefetch": is_sparse,
    }
    cost = apply("nce", input, label, w, b, sample_weight, *tables, attrs=attrs, name=layer)[0]
    return cost / (count + 1)  # type: ignore[no-any-return]


def _tables(layer: str, shares: Any, classes: int) -> list[Any]:
    """Parameters with the probabilities of classes, and Paddle's two tables to draw from them."""
    if shares is None or len(shares) != classes:
        raise UsageError(f"nce: custom_dist must hold a probability for each of the {classes} classes.")
    if not all(isinstance(share, (int, float)) for share in shares):
        raise ArgumentTypeError("nce: custom_dist must hold numbers.")
    alias, chances = _alias(shares)
    tables: list[Any] = []
    for values, dtype in ((np.asarray(shares), "float32"), (alias, "int32"), (chances, "float32")):
        start = initializer.Assign(values.astype(dtype))
        table = _parameters.make(layer, None, [classes], dtype, default_init=start)
        assert table is not None
        table.stop_gradient = True
        tables.append(table)
    return tables


def _alias(shares: Sequence[float]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Walker's tables: each class shares a box of one size with another one, which fills what it leaves."""
    count = len(shares)
    room = [share * count for share in shares]
    alias, chances = np.full(count, -1), np.ones(count)
    large = [i for i, r in enumerate(room) if r > 1]
    small = [i for i, r in enumerate(room) if r < 1]
    while large and small:
        low, high = small.pop(0), large.pop(0)
        alias[low], chances[low] = high, room[low]
        room[high] += room[low] - 1
        if room[high] > 1:
            large.append(high)
        elif room[high] < 1:
            small.append(high)
    for i in (*large, *small):
        chances[i] = 1
    return alias, chances
