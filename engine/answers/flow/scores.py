"""Losses that take scores, and are given probabilities; and one that takes logarithms of them, and is given others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ...core import source
from ...runs.timeline import NOBODY, Entry, Timeline
from .fact import Fact, Kind
from .predictions import downstream

_SCORES = {"softmax_with_cross_entropy": ("Logits", "softmax"), "sigmoid_cross_entropy_with_logits": ("X", "sigmoid")}
"""Losses that take scores: the slot, and what they make of them."""

_SQUASHING = {"softmax": "softmax", "sigmoid": "sigmoid"}
_MOVING = frozenset(
    (
        *("reshape2", "squeeze2", "unsqueeze2", "transpose2", "flatten_contiguous_range", "cast", "assign"),
        *("slice", "strided_slice", "gather", "gather_nd", "index_select", "concat", "stack"),
    )
)
"""Operators that put numbers elsewhere and leave them as they are."""

_ROUNDING = 1e-3
"""So far above 0 a logarithm of a probability may be rounded."""


def squashed(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Losses of what depends on parameters that squash it once more, or take it for logarithms.

    Args:
        learned: the numbers of the parameters.
    """
    moving = None
    for entry in run.entries:
        if entry.backward or (entry.type not in _SCORES and entry.type != "nll_loss"):
            continue
        moving = downstream(run, learned) if moving is None else moving
        fact = _of_logarithms(run, entry, moving) if entry.type == "nll_loss" else _of_scores(run, entry, moving)
        if fact is not None:
            yield fact


def _of_scores(run: Timeline, entry: Entry, moving: set[int]) -> Fact | None:
    slot, squashes = _SCORES[entry.type]
    number = dict(reversed(entry.reads)).get(slot)
    attrs = getattr(entry.binding, "attrs", None) or getattr(entry.origin, "attrs", None) or {}
    if number is None or number not in moving or not attrs.get("use_softmax", True):
        return None
    return _squashing(run, entry, number, squashes, int(attrs.get("axis", -1)))


def _squashing(run: Timeline, entry: Entry, number: int, squashes: str, axis: int) -> Fact | None:
    maker = _maker(run, number)
    if maker is None or maker.type not in _SQUASHING:
        return None
    said = ["it makes probabilities of its scores itself: of numbers from 0 to 1 it makes hardly different ones"]
    classes = np.asarray(run.store.get(number)).shape if number in run.store else ()
    if squashes == "softmax" and classes and -len(classes) <= axis < len(classes) and classes[axis] > 1:
        least = math.log1p((classes[axis] - 1) / math.e)
        said.append(f"with {classes[axis]} classes it cannot fall below {least:.4g}")
    return Fact(
        Kind.SQUASHED,
        run.values[number].name,
        f"{entry.type} is given what {maker.type} made, and squashes it once more",
        entry.loc,
        said=(*said, f"{maker.type} at {source.short(maker.loc)}"),
        advice=f"leave {maker.type} out where the loss is computed",
    )


def _of_logarithms(run: Timeline, entry: Entry, moving: set[int]) -> Fact | None:
    number = dict(reversed(entry.reads)).get("X")
    if number is None or number not in moving or number not in run.store:
        return None
    maker = _maker(run, number)
    if maker is not None and maker.type == "log_softmax":  # two operators are the loss of scores
        attrs = getattr(maker.binding, "attrs", None) or {}
        return _squashing(run, entry, maker.inputs[0], "softmax", int(attrs.get("axis", -1)))
    array = np.asarray(run.store.get(number))
    largest = float(np.nanmax(array)) if array.size and array.dtype.kind == "f" else math.nan
    if not largest > _ROUNDING or not math.isfinite(largest):
        return None
    return Fact(
        Kind.SQUASHED,
        run.values[number].name,
        f"nll_loss takes logarithms of probabilities, which are 0 at most, and is given numbers up to {largest:.4g}",
        entry.loc,
        said=() if maker is None else (f"{maker.type} at {source.short(maker.loc)} made them",),
        advice="give it log_softmax of the scores, or the scores to cross_entropy",
    )


def _maker(run: Timeline, number: int) -> Entry | None:
    """The operator that made numbers, behind those that only move them."""
    while (maker := run.values[number].maker) != NOBODY:
        entry = run.entries[maker]
        if entry.type not in _MOVING or not entry.inputs:
            return entry
        number = entry.inputs[0]
    return None
