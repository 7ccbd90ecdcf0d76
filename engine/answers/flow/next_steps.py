"""Models that are trained to say the next step of a sequence, and see it: no mask says so, their labels do."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...core import source
from ...runs.timeline import Timeline
from .change_propagation import Array, Spread, upstream
from .fact import Fact, FactKind
from .labels import LEAST_BITS, Compared, find_label_comparisons
from .order import find_masks_behind, find_meeting
from .perturb import mask_at, swap
from .sizes import measure

_ADVICE = (
    "let a step read those up to itself alone: is_causal=True of scaled_dot_product_attention, "
    "scores + triu(full([T, T], -inf), 1) before the softmax, padding of a convolution on the left alone"
)


def find_seen_labels(run: Timeline, unchecked: list[str]) -> Iterator[Fact]:
    """Yield, for each loss of classes that compares with the next step of an input, where earlier steps see that step.

    Args:
        unchecked: takes what could not be followed, and why.
    """
    for compared in find_label_comparisons(run):
        for number, axis in _find_inputs(run, compared):
            fact = _judge(run, compared, number, axis, unchecked)
            if fact is not None:
                yield fact
                break


def _find_inputs(run: Timeline, compared: Compared) -> Iterator[tuple[int, int]]:
    """Yield the data behind a prediction of which the label is the next step, and the axis of its steps."""
    if compared.label not in run.store:
        return
    label = np.asarray(run.store.get(compared.label))
    if label.dtype.kind not in "iu":
        return
    for number in sorted(upstream(run, (compared.prediction,))):
        if run.values[number].role == "parameter" or number not in run.store:
            continue
        for axis in (1, 0):
            if is_one_step_before(run.store.get(number), label, axis):
                yield number, axis
                break


def is_one_step_before(array: Array, label: Array, axis: int = 1) -> bool:
    """Return whether a label is an array [N, T] one step on; places below 0 are those that a loss ignores.

    Args:
        axis: that of the steps; 0 for an array [T, N].
    """
    if getattr(array, "ndim", 0) != 2 or array.dtype.kind not in "iu" or array.shape[axis] < 2 or not array.size:
        return False
    array = array if axis else array.T
    rows, steps = array.shape
    if label.size not in (rows * steps, rows * (steps - 1)):
        return False
    after = (label.reshape(rows, -1) if axis else label.reshape(-1, rows).T)[:, : steps - 1]
    counted = after >= 0
    classes = np.unique(after[counted]).size
    if classes < 2 or counted.sum() * math.log2(classes) < LEAST_BITS:
        return False
    return bool(np.array_equal(np.asarray(array)[:, 1:][counted], after[counted]))


def _judge(run: Timeline, compared: Compared, number: int, axis: int, unchecked: list[str]) -> Fact | None:
    """Return the fact that a change of the last step of an input changes predictions for earlier ones."""
    array = np.asarray(run.store.get(number))
    steps = array.shape[axis]
    other = swap(array, mask_at(array, axis, steps - 1), np.random.default_rng(0))
    if np.array_equal(other, array):
        return None
    spread = Spread(run, {number: other}, (compared.prediction,), computed=True)
    mask = spread.masks.get(compared.prediction)
    if mask is None:
        if spread.stops:
            stop = spread.stops[0]
            unchecked.append(f"whether a step sees the next one through {stop.entry.type}: {stop.why}")
        return None
    by_step = _reduce_to_steps(mask, array.shape[1 - axis], steps, axis)
    if by_step is None or not by_step[: steps - 1].any():
        return None
    before = int(np.flatnonzero(by_step[: steps - 1])[-1])
    place = find_meeting(spread, steps, steps - 1) or compared.entry
    name = run.values[number].name or "the input"
    came = spread.value_before(compared.prediction), spread.value_after(compared.prediction)
    influence = measure(f"step {steps - 1}", [(array, other)], "the predictions", [came])
    said = [f"its label is the next step of {name}: {compared.entry.type}, {source.short(compared.entry.loc)}"]
    said += [f"{how}: {source.short(loc)}" for how, loc in find_masks_behind(run, number, compared.prediction, steps)]
    return Fact(
        FactKind.FUTURE,
        name,
        f"the prediction at step {before} depends on {name} at step {steps - 1} through {place.type}",
        place.loc,
        said=(*said, influence.sentence),
        advice=_ADVICE,
        numbers=influence.numbers,
    )


def _reduce_to_steps(mask: Array, rows: int, steps: int, axis: int) -> Array | None:
    """Return at which steps a prediction differs, of [N·T, C], [N, T, C] or [N, C, T]; None for other shapes.

    Args:
        axis: 0 where the steps stand before the rows, as in [T·N, C] or [T, N, C].
    """
    for length in (steps, steps - 1):
        if not axis:
            if mask.shape[0] == rows * length or mask.shape[:2] == (length, rows):
                return np.asarray(mask.reshape(length, rows, -1).any(axis=(1, 2)))
            continue
        if mask.shape[0] == rows * length or mask.shape[:2] == (rows, length):
            return np.asarray(mask.reshape(rows, length, -1).any(axis=(0, 2)))
        if mask.ndim == 3 and mask.shape[::2] == (rows, length):
            return np.asarray(mask.any(axis=(0, 1)))
    return None
