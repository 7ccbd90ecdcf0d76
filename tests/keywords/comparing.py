"""How what gradtool gives for a call differs from what Paddle gave, and which differences are decided."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np


class Decision(NamedTuple):
    """A difference that is meant: calls by a pattern, the word for the difference, and the reason."""

    calls: str
    word: str
    reason: str


DECISIONS = (
    Decision(r".*", "accepted", "gradtool computes what Paddle's kernels, or their builds for a CPU, refuse"),
    Decision(
        r"paddle\.(kthvalue|topk|median|nanmedian|mode)\(|paddle\.unique\(gaps", "values",
        "which of several equal elements is named follows a sort that keeps their order; Paddle's does not",
    ),
    Decision(
        r".*(dist|logcumsumexp)\(.*(gaps|edges)", "values",
        "NaN among the operands stays NaN; Paddle's kernels lose it in a comparison",
    ),
    Decision(
        r"paddle\.unique\(gaps", "is",
        "all NaNs are one value, counted as often as they stand there; Paddle gives each, with a count of 0",
    ),
    Decision(
        r"paddle\.logcumsumexp\(.*dtype='int", "is",
        "what was cast to whole numbers and back still depends on x, with a gradient of zeros, as in Paddle's cast",
    ),
    Decision(
        r"paddle\.(var|std)\(i[,)]", "is|values",
        "the variance of whole numbers is a float32 number: Paddle cuts off the mean, and the result",
    ),
    Decision(
        r"paddle\.linalg\.(lstsq|eigvals)\(", "is",
        "the solution and the eigenvalues have gradients; in Paddle a parameter behind them gets none, in silence",
    ),
    Decision(
        r"paddle\.(histogram_bin_edges\(mask|histogramdd\(i|nn\.functional\.sequence_mask\(|"
        r"(nan)?quantile\(i|linalg\.vector_norm\(.*int32|nn\.functional\.cross_entropy\(.*soft_label)",
        "refused",
        "operands of a type for which there is no reading: truth values in bins, lengths with fractions, labels that "
        "are numbers where probabilities are asked for",
    ),
)  # fmt: skip


def decided(call: str, word: str) -> bool:
    """Whether a difference of a call is meant."""
    return any(re.match(d.calls, call) and re.fullmatch(d.word, word) for d in DECISIONS)


def difference(ours: Any, theirs: Any) -> str:
    """One word for the first difference of two answers; empty where there is none."""
    if "refused" in ours or "refused" in theirs:
        if "refused" in ours and "refused" in theirs:
            return ""
        return "refused" if "refused" in ours else "accepted"
    return _of_results(ours["results"], theirs["results"])


def _of_results(ours: Any, theirs: Any) -> str:
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return "count"
        return next(filter(None, map(_of_results, ours, theirs)), "")
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return "" if ours == theirs else "structure"
    if ours["is"] != theirs["is"]:
        return "is"
    mine, other = (np.array([float(n) for n in v["numbers"]]) for v in (ours, theirs))
    return "" if np.allclose(mine, other, rtol=1e-4, atol=1e-6, equal_nan=True) else "values"
