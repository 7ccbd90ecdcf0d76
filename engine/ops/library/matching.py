"""Matching of rows and columns of a matrix of likeness."""

from __future__ import annotations

from ...core.errors import OperatorError, ShapeError
from ..opdef import op
from ..writing import put

LEAST = 1e-6
"""What is less alike is no match."""


@op(
    "bipartite_match",
    "DistMat -> ColToRowMatchIndices ColToRowMatchDist",
    attrs={"match_type": "bipartite", "dist_threshold": 0.5},
    differentiable=False,
)
def bipartite_match(k, likeness, *, match_type, dist_threshold):
    """For each column the row that it is matched with, -1 where it is with none, and how alike they are.

    The most alike pair is matched first, then the most alike of the rows and columns that are left. With
    *per_prediction*, columns that are still left take the row most like them, if that reaches *dist_threshold*.
    """
    xp = k.xp
    rows, columns = likeness.shape

    def step(n, state):
        out, alike, left = state
        row, column = xp.unravel_index(xp.argmax(left), left.shape)
        done = ~(left[row, column] >= LEAST)
        out = put(out, column, xp.where(done, out[column], row))
        alike = put(alike, column, xp.where(done, alike[column], likeness[row, column]))
        left = put(left, row, xp.where(done, left[row], -1))
        return (out, alike, put(left, (slice(None), column), xp.where(done, left[:, column], -1))), done

    begun = xp.full(columns, -1), xp.zeros(columns, likeness.dtype), likeness.copy()
    out, alike, _ = k.until(0, min(rows, columns), begun, step)
    if match_type == "per_prediction" and rows:
        best = likeness.argmax(axis=0)
        most = likeness.max(axis=0)
        taken = (out < 0) & (most >= dist_threshold) & (most >= LEAST)
        out, alike = xp.where(taken, best, out), xp.where(taken, most, alike)
    return out.astype("int32")[None], alike[None]


@bipartite_match.infer
def _(likeness, *, match_type):
    if match_type not in ("bipartite", "per_prediction"):
        raise OperatorError(
            f"bipartite_match: match_type must be 'bipartite' or 'per_prediction', but is {match_type!r}"
        )
    if likeness.ndim != 2:
        raise ShapeError(f"bipartite_match: DistMat {list(likeness.shape)} must have 2 dimensions")
    out = likeness.replace_shape((1, likeness.shape[1]))
    return out.replace_dtype("int32"), out


@bipartite_match.samples
def _(make):
    yield make(likeness=(3, 5))
    yield make(likeness=(5, 3), match_type="per_prediction", dist_threshold=0.4)
