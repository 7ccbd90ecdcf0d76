"""Determinants, inverses, factors and solutions of square matrices."""

from __future__ import annotations

from typing import Any

from gradtool import paddle

from ..errors import Missing
from ..node import Pt2Node
from .rows import row


@row("aten.linalg_det", "aten.det")
def _determinant(n: Pt2Node) -> Any:
    return paddle.linalg.det(n.tensor("A" if n.kind == "aten.linalg_det" else "self"))


@row("aten.linalg_inv", "aten.inverse")
def _inverse(n: Pt2Node) -> Any:
    return paddle.linalg.inv(n.tensor("A" if n.kind == "aten.linalg_inv" else "self"))


@row("aten.linalg_solve")
def _solution(n: Pt2Node) -> Any:
    """``left=False`` solves for what stands before the matrix."""
    if not n.flag("left", True):
        raise Missing("a matrix that stands behind its solution")
    a, b = n.tensor("A"), n.tensor("B")
    if len(b.shape) != len(a.shape):  # one right side for each matrix
        return paddle.squeeze(paddle.linalg.solve(a, paddle.unsqueeze(b, -1)), -1)
    return paddle.linalg.solve(a, b)


@row("aten.linalg_cholesky", "aten.cholesky")
def _root(n: Pt2Node) -> Any:
    return paddle.linalg.cholesky(n.tensor("self"), upper=n.flag("upper"))
