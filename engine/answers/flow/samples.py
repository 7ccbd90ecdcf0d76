"""ChangeSize between samples of a batch, and the operator where they meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from ...core import source
from ...runs.branch import Branch
from ...runs.timeline import Entry, Timeline
from .change_propagation import Array, Spread, upstream
from .fact import Fact, FactKind
from .perturb import alter, mask_at
from .predictions import find_readers
from .probe import Probe, any_differs
from .sizes import ChangeSize, measure

_RELATING = """
matmul matmul_v2 mul bmm dot einsum gather gather_nd index_select scatter scatter_nd_add
elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max elementwise_min
graph_send_recv graph_send_ue_recv graph_send_uv segment_pool
cdist p_norm rnn lstm gru flip roll concat slice
mkldnn_rnn_layer index index_put index_add scatter_add scatter_reduce _cdist_forward
"""
RELATING = frozenset(_RELATING.split())
"""Operators by which rows that are no samples meet as it is meant: nodes of a graph, steps of a sequence, pairs.

Those of the last line are PyTorch's.
"""


MESSAGES = frozenset({"graph_send_recv", "graph_send_ue_recv", "graph_send_uv", "segment_pool", "scatter_nd_add"})
"""Operators that send rows to each other along edges: where there is one, rows may be nodes."""


def batches(probe: Probe) -> tuple[int, dict[int, int], list[int]] | None:
    """Return the number of samples, the axis that they lie along by input, and the outputs with a row for each.

    None where no output has a row for each row of an input.
    """
    for rows in dict.fromkeys(o.shape[0] for o in probe.outputs if o.ndim):
        axes = {i: axis for i, x in enumerate(probe.inputs) if (axis := _axis(x.array, rows)) is not None}
        if axes:
            return rows, axes, [i for i, o in enumerate(probe.outputs) if o.ndim and o.shape[0] == rows]
    return None


def _axis(array: Array, rows: int) -> int | None:
    """Of an input with a row for each sample the axis of the samples: the first one, else the second."""
    return next((axis for axis in (0, 1) if array.ndim > axis and array.shape[axis] == rows), None)


def find_mixing(probe: Probe, rng: np.random.Generator, unchecked: list[str]) -> Iterator[Fact]:
    """The fact that samples influence each other, if they do."""
    found = batches(probe)
    if found is None:
        return
    rows, axes, outputs = found
    if rows < 2:
        yield from _mix_two(probe, rng, unchecked)
        return
    first = dict.fromkeys(outputs, 0)
    meeting = _find_meeting(probe, rows, axes, first, rng)
    if meeting is None:
        return
    if _lie_along_second_axes(probe, rows, axes, first, rng):
        return
    # What one input does alone is told of it alone: a graph beside its nodes has a row for each, too.
    for i, axis in axes.items() if len(axes) > 1 else ():
        alone = _find_meeting(probe, rows, {i: axis}, first, rng)
        if alone is not None and not alone[3]:
            meeting, axes = alone, {i: axis}
            break
    changes, row, other, pairs = meeting
    yield _fact(probe, axes, outputs, changes, row, other, pairs)


def _lie_along_second_axes(
    probe: Probe, rows: int, axes: Mapping[int, int], outputs: Mapping[int, int], rng: np.random.Generator
) -> bool:
    """Return whether nothing meets along second axes with as many rows: samples lie along those by chance."""
    # States of a recurrent layer have a row for each layer; inputs of one may have their steps first.
    other_ways = (_second_axes(probe, rows, axes, outputs), (_turn(probe, rows, axes), outputs))
    return any(
        (into, out) != (axes, outputs) and _find_meeting(probe, rows, into, out, rng) is None
        for into, out in other_ways
    )


def _find_meeting(
    probe: Probe, rows: int, axes: Mapping[int, int], outputs: Mapping[int, int], rng: np.random.Generator
) -> tuple[list[dict[int, Array]], int, int, bool] | None:
    """The first and the last sample changed, which of both changes another, which one, and whether only their pairs.

    Args:
        axes: the axis of the samples by input.
        outputs: the same by output.
    """
    changes = [_changes(probe, axes, row, rng) for row in (0, rows - 1)]
    if not changes[0]:
        return None
    for row, change in zip((0, rows - 1), changes, strict=True):
        all_differences = probe.differences(change)
        differences = [np.moveaxis(all_differences[i], axis, 0) for i, axis in outputs.items()]
        other = next((o for d in differences if (o := _others(d, row)) is not None), None)
        if other is not None:
            return changes, row, other, all(_are_pairs(d, row) for d in differences)
    return None


def _turn(probe: Probe, rows: int, axes: Mapping[int, int]) -> dict[int, int]:
    """The second axis of each input that has a row for each sample along both its first axes; else as in *axes*."""
    return {i: 1 if probe.inputs[i].array.shape[:2] == (rows, rows) else axis for i, axis in axes.items()}


def _second_axes(
    probe: Probe, rows: int, axes: Mapping[int, int], outputs: Mapping[int, int]
) -> tuple[dict[int, int], dict[int, int]]:
    """The axes of samples where, of all inputs and outputs but the first, the second axis is taken if it fits too."""

    def fits(shape: tuple[int, ...]) -> bool:
        return len(shape) > 2 and shape[:2] == (rows, rows)

    leading = next(iter(axes)), next(iter(outputs))
    inputs = {i: 1 if i != leading[0] and fits(probe.inputs[i].array.shape) else a for i, a in axes.items()}
    return inputs, {i: 1 if i != leading[1] and fits(probe.outputs[i].shape) else a for i, a in outputs.items()}


def _mix_two(probe: Probe, rng: np.random.Generator, unchecked: list[str]) -> Iterator[Fact]:
    """The same for a function that was called with one sample: it is given that one twice."""
    both = probe.pair_samples()
    found = None if both is None else batches(both)
    if both is None or found is None or found[0] != 2:
        unchecked.append(f"whether samples influence each other in {probe.name}: it takes one sample only")
        return
    yield from find_mixing(both, rng, unchecked)


def _changes(probe: Probe, axes: Mapping[int, int], row: int, rng: np.random.Generator) -> dict[int, Array]:
    """One sample changed; masks stay, for not every one makes sense."""
    changes = {}
    for i, axis in axes.items():
        array = probe.inputs[i].array
        other = array if array.dtype.kind == "b" else alter(array, mask_at(array, axis, row), rng)
        if not np.array_equal(other, array):
            changes[i] = other
    return changes


def _others(difference: Array, row: int) -> int | None:
    """A row of an output that differs and is not *row*."""
    rows = np.flatnonzero(difference.reshape(difference.shape[0], -1).any(axis=1))
    return next((int(r) for r in rows if r != row), None)


def _are_pairs(difference: Array, row: int) -> bool:
    """Return whether all that differs beside *row* are its pairs.

    Elements in that place of a second axis of samples.
    """
    rest = difference & ~mask_at(difference, 0, row)
    for axis in range(1, rest.ndim):
        if rest.shape[axis] == rest.shape[0]:
            rest &= ~mask_at(rest, axis, row)
    return not rest.any()


def _fact(
    probe: Probe,
    axes: Mapping[int, int],
    outputs: Iterable[int],
    changes: list[dict[int, Array]],
    row: int,
    other: int,
    pairs: bool,
) -> Fact:
    one, two = (probe.recording.spread(change) for change in changes)
    leading = upstream(probe.recording.timeline, [n for i in outputs if (n := probe.recording.outputs[i]) is not None])
    place, how = _find_torn(one, _count_samples(probe, axes)) or _name_meeting(one, two, leading)
    doubt = _PAIRS if pairs else _find_doubt(probe, axes, row, changes[0], place)
    where = "" if place is None else f" through {place.type}"
    said = [how] if how else []
    said += [f"not followed beyond {s.entry.type}, {source.short(s.entry.loc)}: {s.why}" for s in one.stops]
    names = ", ".join(probe.inputs[i].name for i in axes)
    influence = _measure(probe, changes[row != 0], row, other)
    said.append(influence.sentence)
    return Fact(
        FactKind.MIXED,
        probe.name,
        f"sample {row} of {names} changes the output of {probe.name} for sample {other} in evaluation mode{where}",
        probe.loc if place is None else place.loc,
        not doubt,
        doubt,
        tuple(said),
        "work along the other axis, or transpose where the axes are reordered",
        influence.numbers,
    )


_MIXING = frozenset(("matmul", "matmul_v2", "bmm", "einsum", "gather", "index_select"))
"""Operators through which samples meet in a model that relates them: by weights, or by their numbers."""


def _may_be_related(probe: Probe, axes: Mapping[int, int], place: Entry | None) -> bool:
    """Return whether samples may be meant to meet, by the operator through which they do.

    They are not where the size of the batch is fixed.
    """
    if probe.fixed_batch:
        return False
    # Messages along the edges of a graph relate its nodes, wherever these meet.
    if any(entry.type in MESSAGES for entry in probe.recording.timeline.entries):
        return True
    if place is None or place.type in _MIXING or _compares_pairs(probe, place):
        return place is not None
    pooled = all(o.ndim < probe.inputs[i].array.ndim for o in probe.outputs for i in axes)
    return place.type in RELATING and not pooled


def _compares_pairs(probe: Probe, place: Entry) -> bool:
    """Return whether an operator reads one score for each pair of samples, as contrastive losses do."""
    shapes = [
        np.shape(probe.recording.timeline.store.get(n)) for n in place.inputs if n in probe.recording.timeline.store
    ]
    along_rows = place.type in _CHOOSING and place.origin.attrs.get("axis", -1) in (-1, 1)
    return along_rows and any(len(shape) == 2 and shape[0] == shape[1] for shape in shapes)


_CHOOSING = frozenset(("softmax", "log_softmax", "softmax_with_cross_entropy"))


def _measure(probe: Probe, change: Mapping[int, Array], row: int, other: int) -> ChangeSize:
    """Return how much a change of one sample changes the output for another one."""
    given = [(probe.inputs[i].array, array) for i, array in change.items()]
    rows = probe.outputs[0].shape[:1]
    pairs = zip(probe.outputs, probe.run(change), strict=False)
    came = [(a[other], b[other]) for a, b in pairs if a.shape[:1] == rows and a.shape == b.shape and other < len(a)]
    return measure(f"sample {row}", given, f"the output for sample {other}", came)


def _are_numbers(probe: Probe, change: Mapping[int, Array]) -> bool:
    """Return whether what is changed are whole numbers alone.

    Names of nodes, say, whose neighbours others have, too.
    """
    return all(probe.inputs[i].array.dtype.kind in "iu" for i in change)


_PAIRS = "whether its rows are samples: they may be nodes, steps or pairs (batch = 1 says that they are)"

_STATISTICS = frozenset({"reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "mean", "sum", "norm", "p_norm"})
"""Operators that normalise over a batch: in training that is meant."""


def _sums_up(probe: Probe, place: Entry) -> bool:
    """Return whether an operator makes one thing of a batch: statistics, or weights adapted to it by gradients."""
    run, rows = probe.recording.timeline, probe.outputs[0].shape[0]
    shapes = [np.shape(Branch(run).make(n)) for n in place.made]
    return place.type in _STATISTICS or not any(rows in shape for shape in shapes)


def _normalises(probe: Probe, place: Entry) -> bool:
    """Return whether samples are shifted or divided by a statistic of the batch that nothing else reads.

    A layer that normalises as batch norm does keeps such statistics for its evaluation.
    """
    run = probe.recording.timeline
    leading, branch, shapes = upstream(run, probe.recording.outputs), Branch(run), _shapes_of(run, place.inputs)
    readers, meets = find_readers(run), False
    todo, seen = list(place.made), set(place.made)
    while todo:
        number = todo.pop()
        entries = readers.get(number, ())
        if any(leading.isdisjoint(e.made) or _reads_parameter(run, e) for e in entries) or _is_kept(
            probe, branch.make(number)
        ):
            return False
        for entry in entries:
            if entry.type in _MEETING and not shapes.isdisjoint(_shapes_of(run, entry.inputs)):
                meets = True
                continue
            todo += [n for n in entry.made if n not in seen]
            seen.update(entry.made)
    return meets


def _reads_parameter(run: Timeline, entry: Entry) -> bool:
    """Return whether an operator computes with a parameter: in an inner step of training that is what is shifted."""
    return any(run.values[n].role == "parameter" for n in entry.inputs)


def _shapes_of(run: Timeline, numbers: Iterable[int]) -> set[tuple[int, ...]]:
    branch = Branch(run)
    return {np.shape(branch.make(n)) for n in numbers}


def _is_kept(probe: Probe, value: Any) -> bool:
    """Return whether the file reads an array for something else, too."""
    return any(_is_same(kept, value) for kept in probe.kept)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two arrays are one but for rounding."""
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-4, atol=1e-6))


_MEETING = frozenset({"elementwise_sub", "elementwise_div", "sub", "div"})
"""Operators that shift values, or divide them."""


def _find_doubt(probe: Probe, axes: Mapping[int, int], row: int, change: dict[int, Array], place: Entry | None) -> str:
    """Return why samples may be meant to meet; empty where they are not, as where the size of the batch is fixed."""
    if (place is None and _are_numbers(probe, change)) or _may_be_related(probe, axes, place):
        return _PAIRS
    return "" if probe.fixed_batch else _doubt(probe, axes, row, change, place)


def _doubt(probe: Probe, axes: Mapping[int, int], row: int, change: dict[int, Array], place: Entry | None) -> str:
    """Why samples may be meant to meet, although nothing in the operator where they do says so; or nothing."""
    if probe.loss_inside:
        return f"whether samples are meant to be compared: {probe.loss_inside} (batch = 1 says that they are not)"
    if probe.modeless and place is not None and _sums_up(probe, place) and not _normalises(probe, place):
        return "whether it is meant in evaluation: outside of layers nothing has a mode (batch = 1 says that it is not)"
    if len(axes) < 2 or not probe.modeless:
        return ""
    # Of several inputs one may be a table with a row for each step, and by chance as many steps as samples.
    alone = (i for i, other in change.items() if _changes_only(row, probe.differences({i: other})))
    first = next(alone, None)
    if first is None:
        return ""
    return f"whether all of its inputs have a row for each sample: {probe.inputs[first].name} has"


def _changes_only(row: int, difference: list[Array]) -> bool:
    """Return whether of outputs that have a row for each sample that row changed, and no other."""
    outputs = [d for d in difference if d.ndim and d.shape[0] == difference[0].shape[0]]
    return any_differs(outputs) and all(_others(d, row) is None for d in outputs)


def _name_meeting(one: Spread, two: Spread, leading: Set[int]) -> tuple[Entry | None, str]:
    """The first operator that makes an element which depends on both samples, from operands that do not.

    Args:
        leading: the values that lead to the outputs with a row for each sample: in a loss behind these all meet.
    """
    entries = [entry for entry in one.entries if not leading.isdisjoint(entry.made)]
    for entry in entries:
        if _overlap(entry.made, one, two) and not _overlap(entry.inputs, one, two):
            return entry, f"{entry.name} is the first to make an element that depends on two samples"
    # Neighbours of a sparse graph: no element reads both samples, and rows meet all the same.
    for entry in entries:
        if _most_rows(one, entry.made) > 1 >= _most_rows(one, entry.inputs):
            return entry, f"{entry.name} is the first to lead from one sample to others"
    return None, ""


def _most_rows(spread: Spread, numbers: Any) -> int:
    """Return in how many rows one of the values differs at most."""
    masks = [spread.masks[n] for n in numbers if n in spread.masks]
    rows = [int(m.reshape(m.shape[0], -1).any(axis=1).sum()) for m in masks if m.ndim]
    return max(rows, default=1)


def _overlap(numbers: Any, one: Spread, two: Spread) -> bool:
    return any(
        one.masks[n].shape == two.masks[n].shape and bool((one.masks[n] & two.masks[n]).any())
        for n in numbers
        if n in one.masks and n in two.masks
    )


def _count_samples(probe: Probe, axes: Mapping[int, int]) -> set[int]:
    return {probe.inputs[i].array.shape[axis] for i, axis in axes.items()}


def _find_torn(spread: Spread, rows: Set[int]) -> tuple[Entry, str] | None:
    """The first operator that lays the elements of a sample over several rows, among those of others.

    Args:
        rows: how many samples there are, by input.
    """
    for entry in spread.entries:
        if not entry.type.startswith(("reshape", "view", "flatten", "resize")):
            continue
        read, made = (
            next((spread.masks[n] for n in ns if n in spread.masks), None) for ns in (entry.inputs, entry.made)
        )
        if read is not None and made is not None and _is_torn(read, made, rows):
            return entry, f"{entry.name} puts elements of one sample into the rows of others: {_shapes(read, made)}"
    return None


def _is_torn(read: Array, made: Array, rows: Set[int]) -> bool:
    return _is_block(read) and not (_is_block(made) or _is_in_one_row(made, rows))


def _is_in_one_row(mask: Array, rows: Set[int]) -> bool:
    """Return whether all that is true is of one of so many rows: part of a sample is still that sample's."""
    return mask.shape[0] in rows and int(np.count_nonzero(mask.reshape(mask.shape[0], -1).any(axis=1))) == 1


def _is_block(mask: Array) -> bool:
    """Return whether what is true are whole neighbouring slices along one axis."""
    for axis in range(mask.ndim):
        rest = tuple(a for a in range(mask.ndim) if a != axis)
        some, every = mask.any(axis=rest), mask.all(axis=rest)
        true = np.flatnonzero(some)
        if true.size < mask.shape[axis] and np.array_equal(some, every) and true[-1] - true[0] + 1 == true.size:
            return True
    return False


def _shapes(before: Array, after: Array) -> str:
    return f"{list(before.shape)} becomes {list(after.shape)}, which is no transpose"
