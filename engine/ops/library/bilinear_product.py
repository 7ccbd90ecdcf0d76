"""Products of two rows with a matrix between them."""

from __future__ import annotations

from ...core.errors import ShapeError
from ...core.spec import UNKNOWN
from ..opdef import Like, op


@op("bilinear_tensor_product", "X Y Weight Bias? -> Out")
def bilinear_tensor_product(k, x, y, weight, bias):
    """``x·W·y`` for each row of *x* and *y* and each W of *weight*, ``[matrices, columns of x, columns of y]``."""
    products = k.xp.matmul(x[None], weight)
    out = (products * y[None]).sum(axis=-1).T
    return out if bias is None else out + bias


def _misfits(bias, count):
    return bias.ndim not in (1, 2) or (bias.count not in (UNKNOWN, count) and count != UNKNOWN)


@bilinear_tensor_product.infer
def _(x, y, weight, bias):
    if x.ndim != 2 or y.ndim != 2 or weight.ndim != 3:
        raise ShapeError(
            f"bilinear_tensor_product: X {list(x.shape)} and Y {list(y.shape)} must have 2 dimensions, and Weight "
            f"{list(weight.shape)} must have 3"
        )
    pairs = ((x.shape[0], y.shape[0]), (x.shape[1], weight.shape[1]), (y.shape[1], weight.shape[2]))
    if any(m != n and UNKNOWN not in (m, n) for m, n in pairs):
        raise ShapeError(
            f"bilinear_tensor_product: X {list(x.shape)} and Y {list(y.shape)} must have as many rows, and the columns "
            f"that Weight {list(weight.shape)} takes"
        )
    if bias is not None and _misfits(bias, weight.shape[0]):
        raise ShapeError(f"bilinear_tensor_product: Bias {list(bias.shape)} must be [1, {weight.shape[0]}]")
    rows = y.shape[0] if x.shape[0] == UNKNOWN else x.shape[0]
    return x.replace_shape((rows, weight.shape[0]))


@bilinear_tensor_product.gradient(wrt="X Y Weight Bias")
def _(k, x, y, weight, bias: Like, dout):
    return (
        lambda: k.einsum([dout, weight, y], equation="bk,kij,bj->bi"),
        lambda: k.einsum([dout, weight, x], equation="bk,kij,bi->bj"),
        lambda: k.einsum([dout, x, y], equation="bk,bi,bj->kij"),
        None if bias is None else lambda: k.sum_to(dout, bias),
    )


@bilinear_tensor_product.samples
def _(make):
    yield make(x=(4, 3), y=(4, 2), weight=(5, 3, 2), bias=(1, 5))
    yield make(x=(2, 3), y=(2, 4), weight=(1, 3, 4))
    yield make(x=(0, 3), y=(0, 2), weight=(4, 3, 2), bias=(1, 4))
