"""Predictions of a recorded run, and from which data: for runs where no call of a layer says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import field

import numpy as np

from ...core.records import dataclass
from ...ops.opdef import Trait
from ...runs.overwriting import OVERWRITTEN
from ...runs.timeline import NOBODY, Entry, Timeline
from .fact import Fact, FactKind
from .labels import COMPARED

_OF_NUMBERS = {"huber_loss": ("X", "Y"), "kldiv_loss": ("X", "Target"), "square_error_cost": ("X", "Y")}
_SLOTS = {**COMPARED, **_OF_NUMBERS}
_SUBTRACTING = frozenset({"elementwise_sub", "minus"})
"""Operators that compare a prediction with what was to be, whichever is the first operand."""

NO_LABEL = "its result is not compared with anything that was given"


@dataclass
class Predicted:
    """A value that a loss compares with given data, and the inputs that it is computed from.

    Attributes:
        outputs: numbers of what is predicted; where nothing is compared, the last values with a row for each sample.
        inputs: numbers of the data that the parameters meet on the way there.
        labelled: whether the outputs are what the loss compares with something.
    """

    outputs: list[int] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    labelled: bool = True


def downstream(
    run: Timeline, numbers: Iterable[int], through: Callable[[Entry], bool] = lambda entry: True
) -> set[int]:
    """The values that are computed from any of *numbers*, and these.

    Args:
        through: whether an operator is followed; what the others make is not among them.
    """
    reached = set(numbers)
    for entry in run.entries:
        if not reached.isdisjoint(entry.inputs) and through(entry):
            reached.update(entry.made)
    return reached


def find_readers(run: Timeline) -> dict[int, list[Entry]]:
    """Return the forward operators that read each value."""
    readers: dict[int, list[Entry]] = {}
    for entry in run.entries:
        for number in () if entry.backward else dict.fromkeys(entry.inputs):
            readers.setdefault(number, []).append(entry)
    return readers


def find_predictions(run: Timeline, learned: Collection[int]) -> Predicted:
    """Return what is predicted, found by going back from the loss.

    Args:
        learned: the numbers of the parameters.
    """
    if run.loss is None:
        return Predicted()
    moving = downstream(run, learned, _passes_gradients(run))
    data = _data(run, learned)
    outputs = _find_targets(run, moving, data)
    labelled = bool(outputs)
    if not labelled:
        outputs = _rowwise(run, moving, data)
    return Predicted(outputs, _inputs(run, outputs, moving, data), labelled)


def _passes_gradients(run: Timeline) -> Callable[[Entry], bool]:
    """Return the condition that a gradient came back through an operator: what a target network gives is a target.

    A run without a backward pass has none: then each operator counts.
    """
    if not any(entry.backward for entry in run.entries):
        return lambda entry: True
    return lambda entry: entry.pair != NOBODY or entry.type == OVERWRITTEN.type


def _data(run: Timeline, learned: Collection[int]) -> set[int]:
    """Return what was given and is no parameter, with what is computed of it alone."""
    given = {n for n, v in enumerate(run.values) if v.maker == NOBODY and n not in learned and _size(run, n) > 1}
    drawn = {n for e in run.entries if not e.backward and _draws(e) and not e.inputs for n in e.made}
    return downstream(run, given | drawn, _reads_values)


def _reads_values(entry: Entry) -> bool:
    """Return whether an operator reads numbers, and not only how many there are: sizes are no data."""
    op = getattr(entry.origin, "op", None)
    return op is None or not getattr(op, "trait", Trait(0)) & Trait.LIKE


def _draws(entry: Entry) -> bool:
    op = getattr(entry.origin, "op", None)
    return op is not None and bool(getattr(op, "trait", Trait(0)) & Trait.RANDOM)


def _walk(run: Timeline, moving: set[int], ends: Callable[[int, Entry], bool]) -> None:
    """Go back from the loss through values that depend on parameters, each with its operator, as far as *ends* says."""
    todo, seen = [run.loss or 0], {run.loss or 0}
    while todo:
        number = todo.pop()
        maker = run.values[number].maker
        if maker == NOBODY or ends(number, run.entries[maker]):
            continue
        for n in run.entries[maker].inputs:
            if n in moving and n not in seen:
                seen.add(n)
                todo.append(n)


def _find_targets(run: Timeline, moving: set[int], data: set[int]) -> list[int]:
    """Return what losses compare with given data."""
    found: dict[int, None] = {}

    def ends(number: int, entry: Entry) -> bool:
        side = _side(run, entry, moving, data)
        if side is not None:
            found[side] = None
        # Behind an operator that reads a parameter the model begins, or what is no prediction.
        return side is not None or any(run.values[n].role == "parameter" for n in entry.inputs)

    _walk(run, moving, ends)
    return list(found)


def _side(run: Timeline, entry: Entry, moving: set[int], data: set[int]) -> int | None:
    """The operand that is predicted, where an operator compares it with data."""
    read = dict(reversed(entry.reads))
    if entry.type in _SLOTS:
        prediction, label = (read.get(slot) for slot in _SLOTS[entry.type])
        return prediction if prediction in moving and label is not None else None
    if entry.type not in _SUBTRACTING or len(entry.inputs) != 2:
        return None
    return _find_moving_side(run, entry, moving, data)


def _find_moving_side(run: Timeline, entry: Entry, moving: set[int], data: set[int]) -> int | None:
    """Return the operand of a difference that moves, where the other one is data of the same size."""
    for one, other in (entry.inputs, entry.inputs[::-1]):
        is_side = one in moving and other not in moving and other in data
        if is_side and _size(run, one) == _size(run, other) > 1:
            return one
    return None


_COMPARING = frozenset({"mse_loss", "smooth_l1_loss", "huber_loss", "aten.huber_loss"})
"""Losses that are one operator. Before these, and in ``l1_loss``, PyTorch lays out what is compared to one shape."""


def find_pairs(run: Timeline, learned: Collection[int]) -> list[Fact]:
    """Differences of a loss in which a column of predictions meets a row of targets, so that each meets all.

    Whoever wants pairs says so by an operator that adds an axis.
    """
    if run.loss is None:
        return []
    moving, data = downstream(run, learned), _data(run, learned)
    found: list[Fact] = []

    def ends(number: int, entry: Entry) -> bool:
        compared = _find_compared_shapes(run, number, entry)
        fact = None if compared is None else _pair(run, entry, *compared, moving, data)
        found.extend([] if fact is None else [fact])
        return any(run.values[n].role == "parameter" for n in entry.inputs)

    _walk(run, moving, ends)
    return found


def _find_compared_shapes(run: Timeline, number: int, entry: Entry) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return what an operator compares, before it was laid out, and the shape it was laid out to; None of any other."""
    if entry.type in _SUBTRACTING and len(entry.inputs) == 2:
        shape = _shape(run, number)
    elif entry.type in _COMPARING and len(entry.inputs) > 1:
        shape = _shape(run, entry.inputs[0])
    else:
        return None
    return tuple([_skip_repeats(run, n) for n in entry.inputs[:2]]), shape


def _skip_repeats(run: Timeline, number: int) -> int:
    """Return what was repeated along axes to make a value."""
    maker = run.values[number].maker
    if maker == NOBODY or run.entries[maker].type != "expand_v2":
        return number
    return run.entries[maker].inputs[0]


def _pair(
    run: Timeline, entry: Entry, operands: tuple[int, ...], result: tuple[int, ...], moving: set[int], data: set[int]
) -> Fact | None:
    one, two = operands
    if (one in moving) == (two in moving) or not {one, two} & data:
        return None
    shapes = [_shape(run, n) for n in (one, two)]
    if not _makes_all_pairs(shapes[0], shapes[1], result) or any(_adds_an_axis(run, n) for n in (one, two)):
        return None
    prediction, target = shapes if one in moving else shapes[::-1]
    said = f"{entry.type} {'compares' if entry.type in _COMPARING else 'makes'}"
    return Fact(
        FactKind.SPREAD,
        run.values[entry.made[0]].name,
        f"predictions {list(prediction)} meet targets {list(target)}: {said} {list(result)}, "
        "so each is compared with all",
        entry.loc,
        said=("the best that can be learned then is the mean of the targets",),
        advice="give both one shape: squeeze(-1) the predictions, or unsqueeze(-1) the targets",
    )


def _makes_all_pairs(one: tuple[int, ...], two: tuple[int, ...], result: tuple[int, ...]) -> bool:
    """Return whether two shapes of as many elements but not as many axes have all pairs of elements as their result."""
    count = math.prod(one)
    if count < 2 or math.prod(two) != count or len(one) == len(two):
        return False
    return math.prod(result) == count * count


def _adds_an_axis(run: Timeline, number: int) -> bool:
    maker = run.values[number].maker
    if maker == NOBODY:
        return False
    entry = run.entries[maker]
    if entry.type.startswith(("slice", "strided_slice")):  # an index may hold None; a column of predictions is no axis
        return len(_shape(run, number)) > len(_shape(run, entry.inputs[0]))
    return entry.type.startswith(("unsqueeze", "set_value"))


def _size(run: Timeline, number: int) -> int:
    return math.prod(_shape(run, number)) if number in run.store else -1


def _shape(run: Timeline, number: int) -> tuple[int, ...]:
    array = run.store.get(number)
    return () if array is None else np.asarray(array).shape


def _rowwise(run: Timeline, moving: set[int], data: set[int]) -> list[int]:
    """On each way back from the loss the first value with as many rows as data has that it depends on."""
    rows = {shape[0] for n in data - moving if (shape := _shape(run, n))}
    found: dict[int, None] = {}

    def ends(number: int, entry: Entry) -> bool:
        shape = _shape(run, number)
        if not shape or shape[0] < 2 or shape[0] not in rows:
            return False
        found[number] = None
        return True

    _walk(run, moving & data, ends)
    return list(found)


def _inputs(run: Timeline, outputs: Iterable[int], moving: set[int], data: set[int]) -> list[int]:
    """The data that operators read beside what depends on parameters, on the way to *outputs*."""
    wanted, still = set(outputs), data - moving - _masks(run) - _inner_gradients(run)
    found: dict[int, None] = {}
    rows = {shape[0] for n in outputs if (shape := _shape(run, n))}
    for entry in reversed(run.entries):
        if entry.backward or wanted.isdisjoint(entry.made) or moving.isdisjoint(entry.inputs):
            continue
        wanted.update(moving.intersection(entry.inputs))
        given = [n for n in entry.inputs if n in still and _size(run, n) > 1]
        found.update((_skip_layout(run, n, rows), None) for n in given)
    return sorted(found)


def _inner_gradients(run: Timeline) -> set[int]:
    """Return what a recorded backward pass computed whose gradients the loss is computed from: nobody gave it."""
    forward = [entry for entry in run.entries if not entry.backward]
    lines = {entry.loc for entry in forward if entry.type in _OF_GRADIENTS or entry.type.endswith(_GRADIENT)}
    return {n for entry in forward if lines and entry.loc in lines for n in entry.made}


_OF_GRADIENTS = frozenset({"expand_like", "sum_to"})
_GRADIENT = ("_grad", "_backward")
"""Operators, and endings of the names of some, that recorded backward passes alone call."""


def _masks(run: Timeline) -> set[int]:
    """Return what PyTorch draws where it drops, and what is computed of that alone: evaluation has no such input."""
    masks: set[int] = set()
    for entry in run.entries:
        if not entry.backward and (entry.type in _DRAWN_MASKS if not entry.inputs else masks.issuperset(entry.inputs)):
            masks.update(entry.made)
    return masks


_DRAWN_MASKS = frozenset({"bernoulli", "aten.bernoulli"})


def _skip_layout(run: Timeline, number: int, rows: set[int]) -> int:
    """Return what data was before its elements were laid out for the model: how that is done is part of it.

    So it is as long as what was there before has as many rows, too; a slice counts where it takes the steps one by one.
    """
    while (maker := run.values[number].maker) != NOBODY:
        entry = run.entries[maker]
        before = entry.inputs[0] if entry.inputs else NOBODY
        if before == NOBODY or not _lays_out(run, entry, before, number):
            break
        if rows.isdisjoint(_shape(run, before)[:2]) or before not in run.store:
            break
        number = before
    return number


def _lays_out(run: Timeline, entry: Entry, before: int, after: int) -> bool:
    if entry.type in _LAYING_OUT:
        return _size(run, before) == _size(run, after)
    one, two = _shape(run, before), _shape(run, after)
    return entry.type == "slice" and len(one) == len(two) + 1 and one[1:] == two


_LAYING_OUT = frozenset(("reshape2", "transpose2", "squeeze2", "unsqueeze2", "flatten_contiguous_range"))
