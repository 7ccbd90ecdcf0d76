"""Paths from a label to the prediction that is compared with it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...core import source
from ...core.records import dataclass
from ...runs.timeline import NOBODY, Entry, Timeline, is_made_up
from .change_propagation import Array, Spread, upstream
from .fact import Fact, FactKind
from .perturb import swap
from .sizes import ChangeSize, measure

COMPARED = {
    "softmax_with_cross_entropy": ("Logits", "Label"),
    "cross_entropy": ("X", "Label"),
    "cross_entropy2": ("X", "Label"),
    "nll_loss": ("X", "Label"),
    "bce_loss": ("X", "Label"),
    "sigmoid_cross_entropy_with_logits": ("X", "Label"),
    "log_loss": ("Predicted", "Labels"),
}
"""Losses of classes: their slots of what was predicted, and of what was to be."""

_OF_NUMBERS = frozenset(
    {"elementwise_sub", "minus", "square_error_cost", "huber_loss", "mse_loss", "smooth_l1_loss", "aten.huber_loss"}
)
"""Operators that compare numbers, whichever of both is the prediction."""

COMPARING = _OF_NUMBERS.union(COMPARED)
"""All operators that a label may be compared by."""

_TRIES = 8
LEAST_BITS = 40
"""Bits of a label that a column of data may not hold by chance."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A prediction and its label.

    Attributes:
        root: the number of the value that was given and that the label was made of.
        is_of_numbers: whether both are numbers, an element of each for one of the other.
    """

    entry: Entry
    prediction: int
    label: int
    root: int
    is_of_numbers: bool = False


def leaks(run: Timeline, unchecked: list[str]) -> Iterator[Fact]:
    """The labels of classes that reach the prediction, through operators or as a column of the data."""
    for compared in find_label_comparisons(run):
        fact = _find_leak(run, compared, unchecked) or _column(run, compared)
        if fact is not None:
            yield fact
    for compared in _forecasts(run):
        fact = _find_leak(run, compared, unchecked)
        if fact is not None:
            yield fact
            return  # further terms of the loss say the same


def find_label_comparisons(run: Timeline) -> Iterator[Compared]:
    """Yield what the losses of classes of a run compare."""
    for entry in run.entries:
        slots = COMPARED.get(entry.type)
        if slots is None or entry.backward:
            continue
        read = dict(reversed(entry.reads))
        prediction, label = (read.get(slot) for slot in slots)
        if prediction is None or label is None:
            continue
        root = _root(run, label)
        if root is not None:
            yield Compared(entry, prediction, label, root)


def _forecasts(run: Timeline) -> Iterator[Compared]:
    """Yield comparisons of numbers where the label is a later part of the series that is read.

    Of all others a change of the label may well change the prediction, as an autoencoder's does.
    """
    leading = upstream(run, () if run.loss is None else (run.loss,))
    learned = {n for n, value in enumerate(run.values) if value.role == "parameter"}
    for entry in run.entries:
        if entry.backward or leading.isdisjoint(entry.made):
            continue
        # A square may be written as a product of the difference with itself: operands count once.
        both = [*dict.fromkeys(entry.inputs)]
        predicted = learned.intersection(both)
        if predicted:
            learned.update(entry.made)
        if entry.type in _OF_NUMBERS and len(both) == 2 and len(predicted) == 1:
            yield from _forecast(run, entry, *sorted(both, key=lambda n: n not in predicted))


def _forecast(run: Timeline, entry: Entry, prediction: int, label: int) -> Iterator[Compared]:
    """Yield a prediction and its label, if that is a slice of the series that the prediction reads."""
    root = _root(run, label)
    if root is not None and root != label:
        compared = Compared(entry, prediction, label, root, True)
        if _is_shifted(run, compared):
            yield compared


def _root(run: Timeline, number: int) -> int | None:
    """The value that a label was made of, where it is one: the first operand of each operator on the way.

    What was decided or computed from data is a label of its own: that the prediction reads the same data is no leak.
    """
    while run.values[number].maker != NOBODY:
        entry = run.entries[run.values[number].maker]
        if not entry.inputs or entry.type in _DECISIONS or _combines(run, entry):
            return number
        number = entry.inputs[0]
    return number


_DECISIONS = frozenset(
    (
        *("greater_than", "greater_equal", "less_than", "less_equal", "equal", "not_equal", "logical_not", "sign"),
        *("arg_max", "arg_min", "top_k_v2", "argsort", "floor", "ceil", "round", "isnan"),
        *("gt", "ge", "lt", "le", "eq", "ne", "argmax", "argmin", "topk", "sort", "bucketize"),
    )
)
"""Operators of one operand or a number that make classes of data: Paddle's, then PyTorch's."""

_GATHERINGS = frozenset(("stack", "concat", "gather", "gather_nd", "index_select", "take_along_axis", "where", "slice"))
"""Operators of several operands that put samples together, or choose some."""


def _combines(run: Timeline, entry: Entry) -> bool:
    """Return whether an operator computes with several values."""
    if entry.type in _GATHERINGS:
        return False
    sizes = [np.asarray(run.store.get(n)).size if n in run.store else 2 for n in {*entry.inputs}]
    return sum(size > 1 for size in sizes) > 1


def _find_leak(run: Timeline, compared: Compared, unchecked: list[str]) -> Fact | None:
    """The fact that a change of the label changes the prediction for the same sample, where other data is read, too."""
    root = run.store.get(compared.root) if compared.root in run.store else None
    if root is None or not np.asarray(root).size:
        unchecked.append(f"whether the label of {compared.entry.type} reaches the prediction: it was freed")
        return None
    if not _others(run, compared) and not _is_shifted(run, compared):
        return None  # what is read is what is predicted, as of an autoencoder
    array = np.asarray(root)
    rng = np.random.default_rng(0)
    for place in rng.permutation(array.size)[:_TRIES]:
        other = _change_label(array, place, rng)
        if np.array_equal(other, array):
            continue
        spread = Spread(run, {compared.root: other}, (compared.prediction, compared.label), computed=True)
        if _meets(spread, compared):
            return _fact(run, compared, spread)
        if spread.stops:
            entry = spread.stops[0].entry
            unchecked.append(f"whether the label reaches the prediction through {entry.type}: {spread.stops[0].why}")
            return None
    return None


def _change_label(array: Array, place: int, rng: np.random.Generator) -> Array:
    """Return labels of which one has another value: the opposite one, or that of another class."""
    where = np.zeros(array.shape, bool)
    where.reshape(-1)[place] = True
    if array.dtype.kind != "f":
        return swap(array, where, rng)
    return np.where(where, 1 - array, array).astype(array.dtype)


def _others(run: Timeline, compared: Compared) -> bool:
    """Return whether the prediction is computed from other data than what the label is made of."""
    # Numbers as labels may be what is to be given back, as by a variational autoencoder. The noise or the class that
    # it reads next to them is smaller than they are, or as large where it is added to them.
    root = np.asarray(run.store.get(compared.root))
    drawn = root.dtype.kind != "f"
    least = 1 if drawn else max(1, root.size)
    data = (n for n in upstream(run, (compared.prediction,)) if n != compared.root and _is_data(run, n, drawn))
    others = (np.asarray(run.store.get(n)) for n in data if n in run.store)
    # Data has a row for each sample, or was drawn: a table of positions has as many rows as there are steps.
    return any(a.size > least and not set(root.shape[:1]).isdisjoint(a.shape) for a in others)


def _is_shifted(run: Timeline, compared: Compared) -> bool:
    """Return whether data is read in several slices and no other way, one of which the label is.

    The steps and those after. A class that is computed from numbers is none of them: a loader may read samples one by
    one, too.
    """
    if _is_class_of_numbers(run, compared):
        return False
    readers = [e for e in run.entries if not e.backward and compared.root in e.inputs]
    label = upstream(run, (compared.label,))
    own = [e for e in readers if not label.isdisjoint(e.made)]
    return len(readers) > len(own) > 0 and all(e.type in _SLICING for e in readers)


def _is_class_of_numbers(run: Timeline, compared: Compared) -> bool:
    kinds = [np.asarray(run.store.get(n)).dtype.kind for n in (compared.root, compared.label) if n in run.store]
    return len(kinds) == 2 and kinds[0] == "f" and kinds[1] in "biu"


_SLICING = frozenset({"slice", "strided_slice"})

CHOOSING = frozenset(
    (
        *("slice", "strided_slice", "gather", "gather_nd", "index_select", "take_along_axis", "reshape2", "unbind"),
        *("split", "stack", "concat", "index", "aten.split", "aten.unbind", "aten.chunk", "cast"),
    )
)
"""Operators that put a batch together of what is given."""


def _is_data(run: Timeline, number: int, drawn: bool = True) -> bool:
    """Return whether a value was given, or where it counts drawn, and is no parameter."""
    value = run.values[number]
    return value.role not in ("parameter", "buffer") and (
        value.maker == NOBODY or (drawn and not run.entries[value.maker].inputs)
    )


def _meets(spread: Spread, compared: Compared) -> bool:
    """Return whether prediction and label differ for the same sample (and step)."""
    prediction = spread.masks.get(compared.prediction)
    label = spread.masks.get(compared.label)
    if label is None and compared.label == compared.root:
        label = spread.masks.get(compared.root)
    if prediction is None or label is None:
        return False
    if compared.is_of_numbers:
        return prediction.shape == label.shape and bool((prediction & label).any())
    axes = min(label.ndim, max(prediction.ndim - 1, 1))
    while axes and label.shape[:axes] != prediction.shape[:axes]:
        axes -= 1
    if not axes:
        return False
    one = prediction.reshape(*prediction.shape[:axes], -1).any(axis=-1)
    two = label.reshape(*label.shape[:axes], -1).any(axis=-1)
    return bool((one & two).any())


def _fact(run: Timeline, compared: Compared, spread: Spread) -> Fact:
    """Return where the label meets other data: the first operator on the way that reads both."""
    made = {n for e in run.entries for n in e.made}
    changed = {n for n in spread.masks if n in made} | {compared.root}
    place = next((e for e in spread.entries if any(n not in changed for n in e.inputs)), None)
    place = place or next(iter(spread.entries), compared.entry)
    name = run.values[compared.root].name or "the label"
    message = f"the label that {compared.entry.type} compares with reaches the prediction, through {place.type}"
    advice = "predict from the other inputs alone"
    if compared.is_of_numbers:
        message = f"the prediction sees the steps of {name} that it is to forecast, through {place.type}"
        advice = "mask what comes after each step; pad convolutions on the left alone"
    influence = _measure(spread, compared, name)
    said = (f"compared at {source.short(compared.entry.loc)}", influence.sentence)
    return Fact(FactKind.LABEL, name, message, place.loc, said=said, advice=advice, numbers=influence.numbers)


def _measure(spread: Spread, compared: Compared, name: str) -> ChangeSize:
    """Return how much a change of the label changes the prediction."""
    given, came = ((spread.value_before(n), spread.value_after(n)) for n in (compared.root, compared.prediction))
    return measure(name if compared.is_of_numbers else "the label", [given], "the prediction", [came])


def _column(run: Timeline, compared: Compared) -> Fact | None:
    """The fact that a column of the data that is predicted from is the label."""
    label = np.asarray(run.store.get(compared.label)).reshape(-1)
    if not is_told_from_chance(label):
        return None
    for number in sorted(upstream(run, (compared.prediction,))):
        column = None
        if number in run.store and _is_chosen(run, number):
            column = equal_column(np.asarray(run.store.get(number)), label)
        if column is not None:
            value = run.values[number]
            reader = next(e for e in run.entries if number in e.inputs)
            name = "the data" if is_made_up(value.name) else value.name
            message = f"column {column} of {name} is the label that {compared.entry.type} compares with"
            said = (f"compared at {source.short(compared.entry.loc)}",)
            return Fact(FactKind.LABEL, name, message, reader.loc, said=said, advice="take the column out of the data")
    return None


def _is_chosen(run: Timeline, number: int) -> bool:
    """Return whether a value is data as it was given or drawn, or a choice of its elements, as a batch is."""
    while run.values[number].maker != NOBODY and run.entries[run.values[number].maker].inputs:
        entry = run.entries[run.values[number].maker]
        if entry.type not in CHOOSING:
            return False
        number = entry.inputs[0]
    return _is_data(run, number)


def is_told_from_chance(label: Array) -> bool:
    """Return whether a label says so much that no column of data is equal to it by chance."""
    classes = np.unique(label).size
    return bool(classes >= 2 and label.size * math.log2(classes) >= LEAST_BITS)


def equal_column(data: Array, label: Array) -> int | None:
    """Return which column of *data* [N, C] is the *label* [N]; None where none is."""
    if data.ndim != 2 or data.shape[0] != label.size or data.dtype.kind not in "fiu":
        return None
    equal = (data == label[:, None].astype(np.float64)).all(axis=0)
    return int(np.flatnonzero(equal)[0]) if equal.any() else None
