"""Inputs and features without influence, and padding that has one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.errors import GradtoolError
from ..why.folding import fold_names
from .change_propagation import Array
from .fact import Fact, FactKind
from .order import triangle
from .perturb import alter, mask_at
from .probe import Probe, any_differs
from .sizes import measure

_SEEDS = (0, 1, 2, 3)
"""Random numbers and changes of the parameters with which an influence is looked for again."""

MOST_COLUMNS = 512
"""Features of an input that are looked at one by one."""

MOST_OPERATORS = 20_000
"""Operators that run again while features are looked at, those of all inputs together."""

_ELEMENTS = 20_000
"""So many elements of results take about as long as an operator does that has none."""


def find_unused(probe: Probe, rng: np.random.Generator, unchecked: list[str]) -> Iterator[Fact]:
    """The inputs, and the columns of inputs, that make no difference however they are changed."""
    if not _is_finite(probe):
        unchecked.append(f"what has an influence on {probe.name}: its output is not finite")
        return
    forward = _count_operators(probe)
    left = MOST_OPERATORS
    passed_over = []
    for i, x in enumerate(probe.inputs):
        if not x.array.size or x.written:
            continue
        everywhere = np.ones(x.array.shape, bool)
        influence = _influences(probe, i, everywhere, rng)
        if influence is None:
            unchecked.append(f"whether {x.name} has an influence on {probe.name}: it takes no other values for it")
        elif not influence:
            yield _whole(probe, i, rng)
        elif len(suspects := _suspects(probe, i, rng)) * forward > left:
            passed_over.append(x.name)
        elif suspects:
            left -= len(suspects) * forward
            yield from _columns(probe, i, suspects, rng)
    if passed_over:
        unchecked.append(
            f"which features of {fold_names(passed_over, 4)} have an influence on {probe.name}: to look at each takes "
            f"more than {MOST_OPERATORS:,} operators"
        )


def _is_finite(probe: Probe) -> bool:
    return all(np.isfinite(o).all() for o in probe.outputs if o.dtype.kind in "fc")


def _influences(probe: Probe, index: int, where: Array, rng: np.random.Generator) -> bool | None:
    """Return whether a change at *where* changes an output; None where no changed input was taken.

    What has none is tried again with larger changes, with parameters that are slightly others (a branch whose last
    layer begins at zero passes nothing on yet), and with other random numbers: a layer may be skipped at random.
    """
    array = probe.inputs[index].array
    taken = False
    for other in _others(array, where, rng):
        if np.array_equal(other, array):
            continue
        try:
            if any_differs(_unequal(probe.outputs, probe.run({index: other}))):
                return True
            taken = True
            if any(_again(probe, index, other, seed) for seed in _SEEDS):
                return True
        except GradtoolError:
            continue  # the model does not take these values
    return False if taken else None


def _again(probe: Probe, index: int, other: Array, seed: int) -> bool:
    """Return whether there is an influence with other random numbers, and parameters that are slightly others."""
    with probe.jitter(seed):
        return any_differs(_unequal(probe.run(seed=seed), probe.run({index: other}, seed=seed)))


def _others(array: Array, where: Array, rng: np.random.Generator) -> Iterator[Array]:
    for size in (1.0, 10.0) if array.dtype.kind == "f" else (1.0,):
        yield alter(array, where, rng, size)
    if array.dtype.kind in "iu" and np.unique(array).size < 2:
        lower = array.copy()
        lower[where] = np.maximum(array[where] - 1, 0) if array.size else 0
        yield lower
        higher = array.copy()
        higher[where] = array[where] + 1
        yield higher


def _unequal(before: list[Array], after: list[Array]) -> list[Array]:
    """Return which elements differ at all: for a claim of absence rounding counts."""
    return [
        np.asarray(~((a == b) | ((a != a) & (b != b)))) if a.shape == b.shape else np.ones(a.shape, bool)
        for a, b in zip(before, after, strict=False)
    ]


def _whole(probe: Probe, index: int, rng: np.random.Generator) -> Fact:
    x = probe.inputs[index]
    message = f"{x.name} has no influence on the output of {probe.name}"
    if probe.recording.inputs[index] is None:
        return Fact(FactKind.WITHOUT, x.name, f"{message}: no operator reads it", probe.loc)
    other = alter(x.array, np.ones(x.array.shape, bool), rng)
    end = probe.recording.spread({index: other}).dies_at
    influence = measure(x.name, [(x.array, other)], "the output", ())
    if end is None:
        said: tuple[str, ...] = (influence.sentence,)
        return Fact(FactKind.WITHOUT, x.name, message, probe.loc, said=said, numbers=influence.numbers)
    said = (f"{end.name} stays the same, whatever the input is", influence.sentence)
    message = f"{message}: it ends at {end.type}"
    return Fact(FactKind.WITHOUT, x.name, message, end.loc, said=said, numbers=influence.numbers)


def _count_operators(probe: Probe) -> int:
    """Return how many operators one run has; those with large results count more than once."""
    run = probe.recording.timeline
    forward = [entry for entry in run.entries if not entry.backward]
    elements = sum(getattr(run.store.get(n), "size", 0) for entry in forward for n in entry.made)
    return len(forward) + elements // _ELEMENTS


def _suspects(probe: Probe, index: int, rng: np.random.Generator) -> Sequence[int]:
    """Return the features of a table, or of its steps, to which no gradient comes; all where that is not known."""
    x = probe.inputs[index]
    axis = x.array.ndim - 1
    if x.array.ndim not in (2, 3) or x.array.dtype.kind != "f" or not 1 < x.array.shape[axis] <= MOST_COLUMNS:
        return ()
    if x.array.ndim == 3 and probe.fixed_batch:
        return ()  # of signals the last axis may be places, and a window that does not fit leaves the last ones out
    if _is_compared(probe, index):
        return ()  # what stays below a threshold makes no difference, whatever it does beyond
    still = probe.still(index, axis, rng)
    # Where none is known, no gradient comes back at all: that its elements matter is known, and not which.
    return () if still is None else [int(c) for c in np.flatnonzero(still)]


def _columns(probe: Probe, index: int, suspects: Sequence[int], rng: np.random.Generator) -> Iterator[Fact]:
    """The features without influence among those that gradients make suspected, confirmed by changes."""
    x = probe.inputs[index]
    axis = x.array.ndim - 1
    columns = [c for c in suspects if _influences(probe, index, mask_at(x.array, axis, c), rng) is False]
    if columns:
        named = ", ".join(map(str, columns[:8])) + (" …" if len(columns) > 8 else "")
        what = f"feature {named}" if len(columns) == 1 else f"features {named}"
        have = "has" if len(columns) == 1 else "have"
        yield Fact(
            FactKind.WITHOUT, x.name, f"{what} of {x.name} {have} no influence on the output of {probe.name}", probe.loc
        )


def _is_compared(probe: Probe, index: int) -> bool:
    """Return whether what is computed from an input meets a threshold, as in a spiking neuron."""
    reached = {probe.recording.inputs[index]}
    for entry in probe.recording.timeline.entries:
        if not entry.backward and not reached.isdisjoint(entry.inputs):
            if entry.type in _COMPARING:
                return True
            reached.update(entry.made)
    return False


_COMPARING = frozenset(("greater_than", "greater_equal", "less_than", "less_equal", "gt", "ge", "lt", "le", "sign"))


def find_padding(probe: Probe, rng: np.random.Generator) -> Iterator[Fact]:
    """The inputs whose padding, by a mask or by lengths beside them, reaches outputs of what is no padding.

    A mask that hides one of several inputs is that one's: the others may be sequences of their own.
    """
    for m, mask in enumerate(probe.inputs):
        for hidden in _find_hidden(mask.name, mask.array) if not _hides_weights(probe, m) else ():
            rest = [i for i in _find_sequences(probe, hidden[0].shape) if i != m]
            if rest and all(_reaches(probe, i, m, places, rng) for i in rest for places in hidden):
                yield from (_check_padding(probe, i, m, hidden[0], rng) for i in rest)


def _hides_weights(probe: Probe, index: int) -> bool:
    """Return whether a mask is only read together with parameters: what it hides is part of them, as in MADE."""
    run, number = probe.recording.timeline, probe.recording.inputs[index]
    readers = [e for e in run.entries if number in e.inputs and not e.backward]
    return bool(readers) and all(any(run.values[n].role == "parameter" for n in e.inputs) for e in readers)


def _find_sequences(probe: Probe, shape: tuple[int, ...]) -> Iterator[int]:
    """Yield the inputs that hold numbers for each sample and step of a mask of that shape."""
    for i, x in enumerate(probe.inputs):
        if x.array.dtype.kind != "b" and x.array.shape[:2] == shape:
            yield i


def _find_hidden(name: str, array: Array) -> Iterator[list[Array]]:
    """Yield the elements that a mask of samples and steps may hide, by each of the two readings of its values.

    What is not called so is taken for one where it is no integer, as numbers of segments are, and tells the beginning
    of each row from its end, as padding does: at other places in other rows, and on the same side in all of them.
    """
    if array.ndim != 2 or triangle(array) is not None:
        return
    values = np.unique(array)
    if values.size != 2 or (float(values[0]), float(values[1])) != (0.0, 1.0):
        return
    if "mask" in name or (array.dtype.kind in "bf" and _pads(array.astype(np.float64))):
        yield [~array.astype(bool), array.astype(bool)]


def _pads(array: Array) -> bool:
    """Return whether rows of 0 and 1 look like padding of samples of several lengths."""
    steps = np.diff(array, axis=1)
    turns = np.abs(steps).sum(axis=1)
    one_way = (steps >= 0).all() or (steps <= 0).all()
    return bool(turns.max(initial=0) == 1 and one_way and np.unique(array, axis=0).shape[0] > 1)


def _reaches(probe: Probe, index: int, mask: int, places: Array, rng: np.random.Generator) -> bool:
    """Return whether a change at *places* changes an output elsewhere, or one that has no places.

    The mask stays as it is, also where it is computed from what changes: ``tokens != 0``.
    """
    array = probe.inputs[index].array
    differences = probe.differences({index: alter(array, _widen(places, array), rng), mask: probe.inputs[mask].array})
    for output in differences:
        if not output.ndim:
            continue  # a loss, which may well be over all places
        if output.shape[:2] == places.shape:
            output = output & ~_widen(places, output)
        if output.any():
            return True
    return False


def _widen(places: Array, array: Array) -> Array:
    """*places*, of samples and steps, as a mask of an array with more axes."""
    return np.broadcast_to(places.reshape(places.shape + (1,) * (array.ndim - 2)), array.shape).copy()


def _gets_out(mask: Array, places: Array) -> bool:
    """Return whether more than the *places* of samples and steps differs; of pairs of steps that is not known yet."""
    steps = [axis for axis, size in enumerate(mask.shape) if axis and size == places.shape[1]]
    if len(steps) > 1 or mask.ndim < 2 or mask.shape[0] != places.shape[0]:
        return False
    if not steps:
        return bool(mask.any())
    by_step = np.moveaxis(mask, steps[0], 1)
    return bool((by_step & ~_widen(places, by_step)).any())


def _check_padding(probe: Probe, index: int, mask: int, places: Array, rng: np.random.Generator) -> Fact:
    x = probe.inputs[index]
    other = alter(x.array, _widen(places, x.array), rng)
    spread = probe.recording.spread({index: other})
    pairs = zip(probe.outputs, probe.run({index: other}), strict=False)
    came = [_hide_places(places, a, b) for a, b in pairs if a.ndim and a.shape == b.shape]
    influence = measure("what is hidden", [(x.array, other)], "the rest of the output", came)
    loc, where = probe.loc, ""
    for entry in spread.entries:
        if any(_gets_out(spread.masks[n], places) for n in entry.made if n in spread.masks):
            loc, where = entry.loc, f", through {entry.type}"
            break
    return Fact(
        FactKind.PADDING,
        x.name,
        f"elements of {x.name} that {probe.inputs[mask].name} hides change the output of {probe.name} elsewhere{where}",
        loc,
        said=("this holds whether 0 or 1 in the mask means hidden", influence.sentence),
        advice="apply the mask before the sum, the mean or the attention",
        numbers=influence.numbers,
    )


def _hide_places(places: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """Return what an output gives beside the *places* of samples and steps, before a change and after it."""
    if before.shape[:2] != places.shape:
        return before, after
    inside = _widen(places, before)
    return np.where(inside, 0, before), np.where(inside, 0, after)
