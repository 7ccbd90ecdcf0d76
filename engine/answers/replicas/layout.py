"""Layout of a value of the whole batch among replicas that compute from their rows.

A replica has its part of the rows, or the same as everyone, or a share of a mean over the rows. As each takes the mean
over its own rows alone, gradients of what lies by rows are as many times larger there as there are replicas; they are
right again once the gradients of parameters are averaged. So a factor belongs to each of the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...core.records import dataclass

ROWS: Final = "rows"
"""Each replica has its part of the rows."""
SAME: Final = "same"
"""All have the same."""
SHARE: Final = "share"
"""The mean over the replicas is that of the whole batch."""
APART: Final = "apart"
"""Nothing of all that."""

TOLERANCE: Final = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 3e-4}
"""By how much of the largest element values may differ that are computed in another order; of others, 1e-8."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a value.

    Attributes:
        kind: one of the four.
        factor: what the replicas' values are, compared with those of the whole batch.
        axis: of rows.
        locals: what each replica has, where that does not follow from the value of the whole batch.
    """

    kind: str
    factor: float = 1.0
    axis: int = 0
    locals: tuple[Any, ...] = ()

    def part(self, whole: Any, replica: int, count: int) -> Any:
        """Return what the replica of that number has."""
        if self.locals:
            return self.locals[replica]
        if self.kind == ROWS:
            size = whole.shape[self.axis] // count
            at = [slice(None)] * whole.ndim
            at[self.axis] = slice(replica * size, (replica + 1) * size)
            whole = whole[tuple(at)]
        if self.factor != 1 and whole.dtype.kind in "fc":
            return (whole * self.factor).astype(whole.dtype)
        return whole


def layout_of(whole: Any, parts: Sequence[Any], noise: float = 0.0) -> Layout:
    """Return how *whole* and what replicas have computed belong together.

    Args:
        noise: by how much a value may be off in any case.
    """
    whole = np.asarray(whole)
    parts = [np.asarray(p) for p in parts]
    count = len(parts)
    factors = (1.0, float(count), 1.0 / count)
    axis = _find_axis(whole.shape, [p.shape for p in parts])
    if axis is not None:
        together = np.concatenate(parts, axis)
        return next((Layout(ROWS, f, axis) for f in factors if close(together, whole, f, 0, noise)), Layout(APART))
    if any(p.shape != whole.shape for p in parts):
        return Layout(APART)
    if all(close(p, parts[0], 1, 0, noise) for p in parts):
        found = next((Layout(SAME, f) for f in factors if close(parts[0], whole, f, 0, noise)), None)
        if found is not None:
            return found
    return _share(whole, parts, factors, noise)


def _share(whole: Any, parts: Sequence[Any], factors: Sequence[float], noise: float) -> Layout:
    """Return the layout of parts whose mean is *whole*, or whose parts have nothing to do with it."""
    mean = np.mean([p.astype(_wide(p.dtype)) for p in parts], 0)
    kept = tuple(parts)
    most = max((float(np.abs(p).max()) for p in parts if p.size and p.dtype.kind in "fc"), default=0.0)
    shares = (Layout(SHARE, f, 0, kept) for f in factors if close(mean.astype(whole.dtype), whole, f, most, noise))
    return next(shares, Layout(APART, 1, 0, kept))


def _wide(dtype: Any) -> Any:
    return np.complex128 if dtype.kind == "c" else np.float64


def _find_axis(whole: tuple[int, ...], parts: Sequence[tuple[int, ...]]) -> int | None:
    """The axis along which equal parts make up the whole."""
    first = parts[0]
    if any(p != first for p in parts) or len(first) != len(whole):
        return None
    different = [n for n, (a, b) in enumerate(zip(first, whole, strict=True)) if a != b]
    if len(different) == 1 and first[different[0]] * len(parts) == whole[different[0]]:
        return different[0]
    return None


def close(a: Any, b: Any, factor: float, largest: float = 0.0, noise: float = 0.0) -> bool:
    """Return whether *a* is *factor* times *b*, but for the order in which sums were added up.

    Args:
        largest: of the summands, where these may cancel.
        noise: by how much they may be apart in any case.
    """
    if a.dtype.kind not in "fcV" and str(a.dtype) != "bfloat16":
        return factor == 1 and bool(np.array_equal(a, b))
    wide = _wide(a.dtype)
    left, right = a.astype(wide), b.astype(wide) * factor
    finite = np.isfinite(right)
    if not np.array_equal(finite, np.isfinite(left)):
        return False
    if not finite.any():
        return True
    bound = TOLERANCE.get(str(b.dtype), 1e-8) * max(float(np.abs(right[finite]).max()), largest, 1e-30) + noise
    return bool((np.abs(left[finite] - right[finite]) <= bound).all())
