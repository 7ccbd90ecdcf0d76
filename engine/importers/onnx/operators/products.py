"""Products of matrices."""

from __future__ import annotations

from typing import Any

from gradtool import paddle

from ..node import OnnxNode
from ..tensors import kind_of
from .rows import row


@row("MatMul")
def _product(n: OnnxNode) -> Any:
    return product(n[0], n[1])


def product(x: Any, y: Any) -> Any:
    """The product; of whole numbers by way of real ones, which hold them exactly up to 2⁵³."""
    if kind_of(x).startswith(("int", "uint")):
        return paddle.cast(paddle.matmul(paddle.cast(x, "float64"), paddle.cast(y, "float64")), kind_of(x))
    return paddle.matmul(x, y)


@row("Gemm")
def _general(n: OnnxNode) -> Any:
    x, y = n[0], n[1]
    alpha, beta = n.real("alpha", 1.0), n.real("beta", 1.0)
    z = paddle.matmul(x, y, transpose_x=bool(n.whole("transA", 0)), transpose_y=bool(n.whole("transB", 0)))
    z = z if alpha == 1 else z * alpha
    if not n.has(2):
        return z
    return paddle.add(z, n[2] if beta == 1 else n[2] * beta)


@row("Einsum")
def _einstein(n: OnnxNode) -> Any:
    return paddle.einsum(n.text("equation", "").replace(" ", ""), *n.every())


@row("Det")
def _determinant(n: OnnxNode) -> Any:
    return paddle.linalg.det(n[0])
