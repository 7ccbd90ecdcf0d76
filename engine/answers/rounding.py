"""Rounding error of the gradients of a recorded pass: a comparison with the same pass in double precision.

A gradient that is zero by structure, as that of a bias before batch norm, is nothing but that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..runs.branch import Branch, Edit
from ..runs.repeating import REFUSED
from ..runs.timeline import NOBODY, Timeline
from .double_precision import wide


def roundings(run: Timeline, names: Iterable[str]) -> Mapping[str, float]:
    """Return by how much any element of the gradients of *names* differs in double precision.

    What cannot be repeated in it is left out.
    """
    recorded = Branch(run)
    precise = Branch.add_edits(run, "double", 0, list(_widen_given(run)))
    gradients = {run.find(name, 0): number for name, number in run.results.items()}
    found = {}
    for name in names:
        gradient = gradients.get(run.find(name, 0))
        if gradient is None:
            continue
        try:
            one, other = (np.asarray(wide(branch.make(gradient))) for branch in (recorded, precise))
        except REFUSED:
            continue
        if one.shape == other.shape and np.isfinite(other).all():
            found[name] = float(np.abs(one - other).max(initial=0.0))
    return found


def _widen_given(run: Timeline) -> Iterator[Edit]:
    """Yield the edits that give every value that no operator made in double precision."""
    for number, value in enumerate(run.values):
        array = run.store.get(number) if value.maker == NOBODY and number in run.store else None
        if array is not None and getattr(array, "dtype", None) in (np.float32, np.float16):
            yield Edit(0, number, wide(array), "")
