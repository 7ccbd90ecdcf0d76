"""Factors of matrices by XLA's own routines, where NumPy goes column by column."""

from __future__ import annotations

from typing import Any

from jax import lax, numpy

from ...ops.infer import broadcast
from ..backend import Kernel, override


@override("triangular_solve", "jax")
def triangular_solve(attrs: Any, specs: Any) -> Kernel:
    upper, transpose, unit = (attrs[name] for name in ("upper", "transpose", "unitriangular"))

    def kernel(x: Any, y: Any) -> Any:
        batch = broadcast(x.shape[:-2], y.shape[:-2])
        x, y = (numpy.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (x, y))
        return lax.linalg.triangular_solve(
            x, y, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unit
        )

    return kernel


@override("lu", "jax")
def lu(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any) -> Any:
        lost = ~numpy.isfinite(x).all((-2, -1))
        unit = numpy.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)
        factors, pivots, _ = lax.linalg.lu(numpy.where(lost[..., None, None], unit, x))
        empty = numpy.diagonal(factors, axis1=-2, axis2=-1) == 0
        infos = numpy.where(empty.any(-1), empty.argmax(-1) + 1, 0) if empty.shape[-1] else lost * 0
        nothing = numpy.asarray(numpy.nan, x.dtype)
        return numpy.where(lost[..., None, None], nothing, factors), pivots + 1, infos.astype("int32")

    return kernel


@override("lu_unpack", "jax")
def lu_unpack(attrs: Any, specs: Any) -> Kernel:
    def kernel(x: Any, pivots: Any) -> Any:
        rows, columns = x.shape[-2:]
        count = min(rows, columns)
        order = lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)
        exchange = (numpy.arange(rows)[:, None] == order[..., None, :]).astype(x.dtype)
        low = numpy.tril(x[..., :count], -1) + numpy.eye(rows, count, dtype=x.dtype)
        return exchange, low, numpy.triu(x[..., :count, :])

    return kernel
