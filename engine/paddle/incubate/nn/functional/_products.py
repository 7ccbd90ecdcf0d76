"""Matrix products with what follows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.paddle.nn import functional as F


def fused_matmul_bias(
    x: Any,
    y: Any,
    bias: Any = None,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Any:
    """``x · y + bias``, of either one's transpose if asked.

    >>> from gradtool import paddle
    >>> x, y = paddle.ones([2, 3]), paddle.ones([4, 3])
    >>> paddle.incubate.nn.functional.fused_matmul_bias(x, y, paddle.ones([4]), transpose_y=True).tolist()
    [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]
    """
    out = paddle.matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else paddle.add(out, bias)


def fused_linear(x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: str | None = None) -> Any:
    """``x · weight + bias``, of the weight's transpose if asked."""
    return fused_matmul_bias(x, weight, bias, False, transpose_weight, name)


def fused_linear_activation(
    x: Any, y: Any, bias: Any, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Any:
    """``activation(x · y + bias)``.

    Args:
        activation: ``"gelu"`` (its approximation by tanh, as Paddle's kernel has it), ``"relu"``, or ``"none"``.

    Raises:
        UsageError: another activation (a ValueError).
    """
    out = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    if activation in (None, "none"):
        return out
    if activation == "relu":
        return F.relu(out)
    if activation == "gelu":
        return F.gelu(out, approximate=True)
    raise UsageError(
        f"fused_linear_activation: activation must be 'gelu', 'relu' or 'none', but received {activation!r}."
    )


def batched_gemm(
    lhs: Any, rhs: Any, batch_sizes: Sequence[int], trans_lhs: bool = False, trans_rhs: bool = False
) -> Any:
    """The product of each piece of the rows of *lhs* with a matrix of its own.

    Args:
        lhs: ``[rows, inputs]``.
        rhs: ``[batches, inputs, outputs]``; ``[batches, outputs, inputs]`` with *trans_rhs*. With *trans_lhs* it is
            ``[rows, outputs]``, and the result ``[batches, inputs, outputs]`` is the product of the pieces of both.
        batch_sizes: how many rows each piece has.

    Raises:
        ShapeError: pieces that do not add up to the rows (a ValueError).
    """
    if sum(batch_sizes) != lhs.shape[0]:
        raise ShapeError(f"batched_gemm: batch_sizes add up to {sum(batch_sizes)}, and lhs has {lhs.shape[0]} rows.")
    pieces = paddle.split(lhs, list(batch_sizes), axis=0)
    if trans_lhs:
        others = paddle.split(rhs, list(batch_sizes), axis=0)
        products = [paddle.matmul(a, b, True, trans_rhs) for a, b in zip(pieces, others, strict=True)]
        return paddle.stack(products)
    products = [paddle.matmul(a, rhs[i], False, trans_rhs) for i, a in enumerate(pieces)]
    return paddle.concat(products, axis=0)
