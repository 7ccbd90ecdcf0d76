"""Losses that take scores, and are given probabilities; and one that takes logarithms of them, and is given others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from ...core import source
from ...runs.timeline import NOBODY, Entry, Timeline
from .fact import Fact, FactKind
from .predictions import downstream

_SCORES = {
    "softmax_with_cross_entropy": ("Logits", "softmax"),
    "sigmoid_cross_entropy_with_logits": ("X", "sigmoid"),
    "binary_cross_entropy_with_logits": ("self", "sigmoid"),  # PyTorch's
}
"""Losses that take scores: the slot, and what they make of them."""

_SQUASHING = {"softmax": "softmax", "sigmoid": "sigmoid"}
_MOVING = frozenset(
    (
        *("reshape2", "squeeze2", "unsqueeze2", "transpose2", "flatten_contiguous_range", "cast", "assign"),
        *("slice", "strided_slice", "gather", "gather_nd", "index_select", "concat", "stack"),
    )
)
"""Operators that put numbers elsewhere and leave them as they are."""

_DIVERGING = ("kldiv_loss", "elementwise_sub")
"""The divergence of two distributions; PyTorch computes it in three operators, of which a difference is the last."""

_ROUNDING = 1e-3
"""So far above 0 a logarithm of a probability may be rounded."""


def find_squashed(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Losses of what depends on parameters that squash it once more, or take it for logarithms.

    Args:
        learned: the numbers of the parameters.
    """
    moving = None
    for entry in run.entries:
        look = None if entry.backward else _LOOKS.get(entry.type)
        if look is None:
            continue
        moving = downstream(run, learned) if moving is None else moving
        fact = look(run, entry, moving)
        if fact is not None:
            yield fact


def _check_scores(run: Timeline, entry: Entry, moving: set[int]) -> Fact | None:
    slot, squashes = _SCORES[entry.type]
    number = dict(reversed(entry.reads)).get(slot)
    attrs = getattr(entry.binding, "attrs", None) or getattr(entry.origin, "attrs", None) or {}
    if number is None or number not in moving or not attrs.get("use_softmax", True):
        return None
    return _check_squashing(run, entry, number, squashes, int(attrs.get("axis", -1)))


def _check_squashing(run: Timeline, entry: Entry, number: int, squashes: str, axis: int) -> Fact | None:
    maker = _maker(run, number)
    if maker is None or maker.type not in _SQUASHING:
        return None
    said = ["it turns scores into probabilities itself: numbers from 0 to 1 become nearly equal ones"]
    classes = np.asarray(run.store.get(number)).shape if number in run.store else ()
    if squashes == "softmax" and classes and -len(classes) <= axis < len(classes) and classes[axis] > 1:
        least = math.log1p((classes[axis] - 1) / math.e)
        said.append(f"with {classes[axis]} classes it cannot fall below {least:.4g}")
    return Fact(
        FactKind.SQUASHED,
        run.values[number].name,
        f"{entry.type} takes scores, and gets the probabilities of {maker.type}",
        entry.loc,
        said=(*said, f"{maker.type} at {source.short(maker.loc)}"),
        advice=f"give the loss the scores, without {maker.type}",
    )


def _check_logarithms(run: Timeline, entry: Entry, moving: set[int]) -> Fact | None:
    number = dict(reversed(entry.reads)).get("X")
    if number is None or number not in moving or number not in run.store:
        return None
    maker = _maker(run, number)
    if maker is not None and maker.type == "log_softmax":  # two operators are the loss of scores
        attrs = getattr(maker.binding, "attrs", None) or {}
        return _check_squashing(run, entry, maker.inputs[0], "softmax", int(attrs.get("axis", -1)))
    largest = _find_largest(np.asarray(run.store.get(number)))
    if not _ROUNDING < largest < math.inf:
        return None
    return Fact(
        FactKind.SQUASHED,
        run.values[number].name,
        f"nll_loss takes logarithms of probabilities, at most 0, and gets numbers up to {largest:.4g}",
        entry.loc,
        said=() if maker is None else (f"{maker.type} at {source.short(maker.loc)} computed them",),
        advice="give it log_softmax of the scores, or the scores to cross_entropy",
    )


def _find_largest(array: np.ndarray[Any, Any]) -> float:
    """Return the largest number, NaN apart; NaN where there is none."""
    return float(np.nanmax(array)) if array.size and array.dtype.kind == "f" else math.nan


def _check_divergence(run: Timeline, entry: Entry, moving: set[int]) -> Fact | None:
    """A divergence that takes logarithms of probabilities and is given these themselves."""
    number = dict(reversed(entry.reads)).get("X") if entry.type == "kldiv_loss" else _divergence_operand(run, entry)
    if number is None or number not in moving or number not in run.store:
        return None
    maker, array = _maker(run, number), np.asarray(run.store.get(number))
    if not array.size or array.dtype.kind != "f" or not float(array.min()) >= 0 or not float(array.max()) > _ROUNDING:
        return None
    made = "" if maker is None else f"{maker.type} at {source.short(maker.loc)} computed them"
    return Fact(
        FactKind.SQUASHED,
        run.values[number].name,
        f"kl_div takes logarithms of probabilities, at most 0, and gets numbers from {array.min():.4g} "
        f"to {array.max():.4g}",
        entry.loc,
        said=(made,) if made else (),
        advice="give it log_softmax of the scores",
    )


def _divergence_operand(run: Timeline, entry: Entry) -> int | None:
    """The number of x in t log t - t x; None where a difference is none of these."""
    if len(entry.inputs) != 2:
        return None
    makers = [run.values[n].maker for n in entry.inputs]
    if NOBODY in makers:
        return None
    entropy, product = (run.entries[m] for m in makers)
    if entropy.type != "xlogy" or product.type != "elementwise_mul" or len(set(entropy.inputs)) != 1:
        return None
    rest = [n for n in product.inputs if n != entropy.inputs[0]]
    return rest[0] if len(rest) == 1 else None


_LOOKS = {
    **dict.fromkeys(_SCORES, _check_scores),
    **dict.fromkeys(_DIVERGING, _check_divergence),
    "nll_loss": _check_logarithms,
}


def find_crossed_axes(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Yield where a loss compares two distributions that sum to 1 along different axes, one for each line.

    Args:
        learned: the numbers of the parameters.
    """
    crossed = [(e, sides) for e in run.entries if not e.backward and (sides := _find_sides(run, e))]
    moving = downstream(run, learned) if crossed else set[int]()
    seen = set[object]()
    for entry, (wrong, other) in crossed:
        place = wrong.loc[:1]
        if place not in seen and not moving.isdisjoint(entry.inputs):
            seen.add(place)
            yield _cross(run, entry, wrong, other)


_Side = tuple[Entry, tuple[int, int]]
"""An operator whose results sum to 1, along which of how many axes."""


def _find_sides(run: Timeline, entry: Entry) -> tuple[Entry, _Side] | None:
    """Return the two sides that a loss compares, first the one that sums to 1 along the samples; None of any other."""
    if entry.type not in _COMPARING_SHARES:
        return None
    makers = [_maker(run, n, _IN_PLACE) for n in entry.inputs]
    if entry.type == _OF_SCORES:
        makers.append(entry)
    sides = [(made, axis) for made in filter(None, makers) if (axis := _shares_along(run, made))]
    if len(sides) != 2 or sides[0][0].type == sides[1][0].type or sides[0][1] == sides[1][1]:
        return None
    wrong, other = sides if sides[0][1] == _FIRST else sides[::-1]
    return (wrong[0], other) if wrong[1] == _FIRST else None


def _cross(run: Timeline, entry: Entry, wrong: Entry, other: _Side) -> Fact:
    made, (axis, _) = other
    at = source.short(entry.loc)
    said = f"{entry.type} at {at} compares it with what {made.type} made along axis {axis}, {source.short(made.loc)}"
    return Fact(
        FactKind.MIXED,
        run.values[wrong.made[0]].name,
        f"{wrong.type} shares what there is among the samples, along axis 0, and not among the classes",
        wrong.loc,
        said=(said,),
        advice=f"axis={axis}, as the other side of the loss has it",
    )


def _shares_along(run: Timeline, entry: Entry) -> tuple[int, int] | None:
    """Return along which of how many axes the results of a softmax sum to 1; None of any other operator."""
    if entry.type not in _SHARING:
        return None
    attrs = getattr(entry.binding, "attrs", None) or getattr(entry.origin, "attrs", None) or {}
    shape = np.shape(run.store.get(entry.made[0]))
    axis = int(attrs.get("axis", attrs.get("dim", -1)))
    # Numbers in one column are weights of samples.
    return (axis % len(shape), len(shape)) if len(shape) > 1 and shape[-1] > 1 else None


_OF_SCORES = "softmax_with_cross_entropy"
_SHARING = frozenset({"softmax", "log_softmax", _OF_SCORES})
_COMPARING_SHARES = frozenset({"kldiv_loss", "elementwise_mul", _OF_SCORES})
_FIRST = (0, 2)
"""The first of two axes, along which samples lie."""
_IN_PLACE = frozenset({"cast", "assign", "scale", "clone"})
"""Operators that leave each number where it is."""


def _maker(run: Timeline, number: int, through: Collection[str] = _MOVING) -> Entry | None:
    """The operator that made numbers, behind those that only move them.

    Args:
        through: the types of the operators that are passed over.
    """
    while (maker := run.values[number].maker) != NOBODY:
        entry = run.entries[maker]
        if entry.type not in through or not entry.inputs:
            return entry
        number = entry.inputs[0]
    return None
