"""Order in a sequence: whether the output at a step depends on inputs after it, and at which operator it comes
to see them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...core import source
from ...core.errors import FixedError
from ...core.records import dataclass
from ...core.source import Location
from ...runs.branch import Branch
from ...runs.timeline import NOBODY, Entry, Timeline, is_made_up
from .change_propagation import Array, Spread, upstream
from .fact import Fact, FactKind
from .perturb import alter, mask_at
from .predictions import downstream
from .probe import Probe
from .sizes import measure

_PRODUCTS = frozenset(("matmul_v2", "matmul", "bmm", "mm", "mul", "einsum"))

LARGE = 1e3
"""A number below minus this hides what it is added to before a softmax."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """An input and an output with a place for each step.

    Attributes:
        index, output: of the input and the output.
        axis, steps: the axis of the steps in both, and how many there are.
    """

    index: int
    output: int
    axis: int
    steps: int


def sequences(probe: Probe) -> Iterator[Sequence]:
    """The pairs of input and output that have as many places along their second axis, if they have two."""
    for o, output in enumerate(probe.outputs):
        for i, x in enumerate(probe.inputs):
            if x.array.dtype.kind == "b" or output.ndim < 2 or x.array.ndim < 2:
                continue
            steps = x.array.shape[1]
            if x.array.shape[:2] == output.shape[:2] and steps > 1 and triangle(x.array) is None:
                yield Sequence(i, o, 1, steps)


def future(probe: Probe, rng: np.random.Generator) -> Iterator[Fact]:
    """For each sequence whether its outputs see inputs after them; certain where a mask against that is there."""
    pairs = list(sequences(probe))
    mask = _choose_mask(probe, pairs)
    facts = [(s, _find_sight(probe, s, rng)) for s in pairs]
    # A decoder's outputs see all of what was encoded, and may not see what they are to say themselves.
    may_decode = mask is not None and len({s.index for s in pairs}) > 1
    if may_decode and any(_reaches(probe, s, rng) for s, seen in facts if seen is None):
        return
    for sequence, seen in facts:
        if seen is not None:
            yield _fact(probe, sequence, seen, mask, rng)


def _choose_mask(probe: Probe, pairs: Collection[Sequence]) -> TriangularMask | None:
    """Of masks that are made of each other, the first is the cause, and the last says most surely what it hides."""
    masks = [m for s in pairs for m in _masks(probe, s.steps)]
    return replace(masks[0], is_off=any(m.is_off for m in masks)) if masks else None


def _reaches(probe: Probe, s: Sequence, rng: np.random.Generator) -> bool:
    """Return whether the output depends on the input at all; logits do not on the targets of their loss."""
    array = probe.inputs[s.index].array
    other = alter(array, np.ones(array.shape, bool), rng)
    return bool(probe.differences({s.index: other})[s.output].any())


def _find_sight(probe: Probe, s: Sequence, rng: np.random.Generator) -> tuple[int, int] | None:
    """A step whose change reaches the output of an earlier one, and that one; None where there is none."""
    array = probe.inputs[s.index].array
    for step in sorted({1, s.steps // 2, s.steps - 1} - {0}):
        other = alter(array, mask_at(array, s.axis, step), rng)
        if np.array_equal(other, array):
            continue
        difference = np.moveaxis(probe.differences({s.index: other})[s.output], s.axis, 0)
        rows = np.flatnonzero(difference.reshape(s.steps, -1).any(axis=1))
        if rows.size and rows[0] < step:
            return step, int(rows[rows < step][-1])
    return None


def _fact(
    probe: Probe,
    s: Sequence,
    seen: tuple[int, int],
    mask: TriangularMask | None,
    rng: np.random.Generator,
) -> Fact:
    step, before = seen
    array = probe.inputs[s.index].array
    spread = probe.recording.spread({s.index: alter(array, mask_at(array, s.axis, step), rng)})
    place = find_meeting(spread, s.steps, step)
    where = "" if place is None else f" through {place.type}"
    said = []
    if mask is not None:
        said.append(f"{mask.text}: {source.short(mask.loc)}" if mask.loc else mask.text)
    loc = probe.loc if place is None else place.loc
    if mask is not None and mask.is_off and mask.loc:
        said.append(f"it is seen first at {source.short(loc)}")
        loc = mask.loc
    other = alter(array, mask_at(array, s.axis, step), np.random.default_rng(0))
    came = [np.moveaxis(a, s.axis, 0)[before] for a in (probe.outputs[s.output], probe.run({s.index: other})[s.output])]
    influence = measure(f"step {step}", [(array, other)], f"the output at step {before}", [(came[0], came[1])])
    said.append(influence.sentence)
    return Fact(
        FactKind.FUTURE,
        probe.inputs[s.index].name,
        f"the output of {probe.name} at step {before} depends on {probe.inputs[s.index].name} at step {step}{where}",
        loc,
        mask is not None,
        "" if mask is not None else "whether it is meant to be causal (causal = 1 says that it is)",
        tuple(said),
        "mask what comes after: scores + triu(full([T, T], -inf), 1), before the softmax over the last axis",
        influence.numbers,
    )


def find_meeting(spread: Spread, steps: int, step: int) -> Entry | None:
    """Return the first operator with a result per step that differs before *step*.

    A product with a result per pair of steps differs so where it does for two earlier ones: a score is of its own two
    steps alone.
    """
    for entry in spread.entries:
        for number in entry.made:
            mask = spread.masks.get(number)
            if mask is None:
                continue
            axes = [a for a, size in enumerate(mask.shape) if size == steps]
            places = tuple(range(len(axes)))
            before = (slice(step),) * len(axes)
            counts = len(axes) == 1 or (len(axes) == 2 and entry.type in _PRODUCTS)
            if counts and np.moveaxis(mask, axes, places)[before].any():
                return entry
    return None


@dataclass(frozen=True, slots=True)
class TriangularMask:
    """A triangular mask.

    Attributes:
        text: what is said of it.
        loc: the line that made it.
        is_off: whether it shows steps after each one or hides all of a step, whichever of its values hides.
    """

    text: str
    loc: Location
    is_off: bool


def _masks(probe: Probe, steps: int) -> Iterator[TriangularMask]:
    """Yield the triangular masks of so many steps that the function was given or made."""
    for x in probe.inputs:
        if x.array.shape[-2:] == (steps, steps) and (how := triangle(x.array)) is not None:
            yield TriangularMask(f"{probe.name} was given {x.name}, {how}", x.made_at, is_off(x.array))
    yield from _find_masks_made(probe, steps)


def _find_masks_made(probe: Probe, steps: int) -> Iterator[TriangularMask]:
    """Yield the triangular masks of so many steps that the function made."""
    run = probe.recording.timeline
    fed = {n for n in probe.recording.inputs if n is not None}
    depends = downstream(run, fed)
    used = upstream(run, _find_masks(run, depends))
    for number in sorted(used - depends):
        value = run.values[number]
        array = run.store.get(number) if value.role != "parameter" and number in run.store else None
        if getattr(array, "shape", ())[-2:] != (steps, steps):
            continue
        how = triangle(np.asarray(array))
        if how is not None:
            loc = run.entries[value.maker].loc if value.maker >= 0 else probe.line_of(array)
            yield TriangularMask(f"there is {how}", loc, is_off(np.asarray(array)))


def find_masks_behind(run: Timeline, number: int, result: int, steps: int) -> Iterator[tuple[str, Location]]:
    """Yield the triangular masks of so many steps that a result is computed with: what each shows, and its line.

    Args:
        number: of the data that the masks hide.
    """
    depends = downstream(run, {number})
    used = upstream(run, (result,))
    behind = upstream(run, (n for n in _find_masks(run, depends) if n in used))
    for mask in sorted(behind - depends):
        value = run.values[mask]
        array = run.store.get(mask) if value.role != "parameter" and mask in run.store else None
        how = None if getattr(array, "shape", ())[-2:] != (steps, steps) else triangle(np.asarray(array))
        if how is not None and value.maker != NOBODY:
            yield f"there is {how}{_name_held(run, mask)}", run.entries[value.maker].loc
            return


def _name_held(run: Timeline, number: int) -> str:
    """Return the words of what is held and that a mask is a part or a view of: ``, of net.bias``; empty of others."""
    while run.values[number].maker != NOBODY:
        read = run.entries[run.values[number].maker].inputs
        if len(read) != 1:
            return ""
        number = read[0]
    name = run.values[number].name
    return "" if is_made_up(name) else f", of {name}"


def _find_masks(run: Timeline, depends: set[int]) -> Iterator[int]:
    """Yield masks that hide a triangle of values that depend on the inputs; distances of steps hide nothing."""
    branch = Branch(run)
    met = (n for e in run.entries if not e.backward and not depends.isdisjoint(e.inputs) for n in e.inputs)
    for number in dict.fromkeys(met):
        if number in depends:
            continue
        with contextlib.suppress(FixedError):  # nobody holds it any more, or it cannot be computed again
            if _hides_a_triangle(branch.make(number)):
                yield number


def _hides_a_triangle(array: Any) -> bool:
    """Return whether a triangle of an array is much below zero, or zero, beside other numbers.

    Or marked, in whatever way.
    """
    shape: tuple[int, ...] = getattr(array, "shape", ())
    if len(shape) < 2 or shape[-1] != shape[-2] or array.dtype.kind not in "bfiu":
        return False
    square = np.asarray(array).reshape(-1, *shape[-2:])[0]
    shown = square > -LARGE if (square <= -LARGE).any() else square != 0
    return triangle(square) is not None or triangle(shown) is not None


def triangle(array: Array) -> str | None:
    """Return what a triangular mask is called; None for what is none."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.size < 4 or array.dtype.kind not in "bfiu":
        return None
    square = array.reshape(-1, *array.shape[-2:])[0]
    values = np.unique(square)
    if values.size != 2 or not _hides(values):
        return None
    shown = square == values[1]
    size = square.shape[0]
    for offset in range(max(-2, 2 - size), min(2, size - 2) + 1):
        if np.array_equal(shown, np.tri(size, k=offset, dtype=bool)):
            return f"a mask of {size} steps that shows each step those up to {_RELATIVE[offset]}"
        if np.array_equal(shown.T, np.tri(size, k=offset, dtype=bool)):
            return f"a mask of {size} steps that shows each step those from {_RELATIVE[-offset]} on"
    return None


_RELATIVE = {-2: "the second before", -1: "the one before", 0: "itself", 1: "the next one", 2: "the second after"}


def is_off(array: Array) -> bool:
    """Return whether a triangular mask shows steps after each one, or hides all from one of them.

    Of one of 0 and 1 it is not known which of them hides: it does if it would in either case, or is one step too wide.
    """
    square = array.reshape(-1, *array.shape[-2:])[0]
    values = np.unique(square)
    marked = square == values[-1]
    later = bool(np.triu(marked, 1).any())
    if float(values[0]) <= -LARGE:
        return later or not marked.any(axis=1).all()
    earlier = bool(np.tril(marked, -1).any())
    return (later and earlier) or (later and not np.diagonal(marked, 1).any())


def _hides(values: Array) -> bool:
    """Return whether two values are those of a mask: no and yes, or much below zero and zero."""
    low, high = float(values[0]), float(values[1])
    return (low, high) == (0.0, 1.0) or (high == 0.0 and low <= -LARGE)
