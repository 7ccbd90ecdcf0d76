"""Each operator of a run, computed on what every replica has: which gives something else than on the whole batch.

Operators are judged one by one. Each replica gets its part of what the run on one device computed, so an operator is
not blamed for what came before it: batch normalisation over fewer rows, a mean over labels that are not as many in each
part, the same random numbers everywhere.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import dataclass
from ...core.source import Location
from ...ops import registry
from ...ops.opdef import Trait
from ...runs.timeline import Entry, FixedOperand, Timeline
from .layout import APART, ROWS, SAME, SHARE, Layout, layout_of


@dataclass(frozen=True, slots=True)
class ReplicaFinding:
    """An operator that computes something else on parts of the rows.

    Attributes:
        op: its name.
        part: forward or backward.
        slot: its first result that is different.
        kind: ``differs``, or ``same numbers`` where every replica draws the same.
        apart: the largest difference, as a part of the largest element; None where shapes differ.
        loc: the user's line.
        layer: the layer it belongs to, or empty.
    """

    op: str
    part: str
    slot: str
    kind: str
    apart: float | None
    loc: Location
    layer: str = ""


@dataclass(frozen=True, slots=True)
class ParameterGradient:
    """The gradient of a parameter, on each replica.

    Attributes:
        name: of the parameter.
        state: ``right`` once it is averaged; ``same`` everywhere already; ``scaled`` by :attr:`factor`; ``apart`` from
            that of the whole batch; ``not summed``: the script exchanges others and not this one; ``unknown``.
        factor: of the mean over the replicas.
        norm: of the gradient of the whole batch.
        norms: on each replica, before anything is exchanged; empty where that is not known.
    """

    name: str
    state: str
    factor: float
    norm: float
    norms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ReplicaStep:
    """A step as several replicas would compute it.

    Attributes:
        count: how many there are.
        rows: of the batch.
        operators: those that differ by themselves, in the order of execution.
        gradients: of the parameters.
        compared: operators that were computed on every replica.
        unasked: operators that could not be, by name.
        exchanged: whether the script says itself which gradients are averaged.
    """

    count: int
    rows: int
    operators: Sequence[ReplicaFinding]
    gradients: Sequence[ParameterGradient]
    compared: int
    unasked: Sequence[str]
    exchanged: bool = False

    @property
    def wrong(self) -> list[ParameterGradient]:
        """The gradients that no operator above explains, and that are not right either."""
        return [g for g in self.gradients if g.state in ("not summed", "scaled")]


class NoRows(ValueError):
    """The batch cannot be shared out."""


def compare(
    run: Timeline,
    count: int,
    *,
    exchanged: Collection[str] = (),
    exchanged_values: Collection[bytes] = (),
    synchronised: Collection[str] = (),
    seeded: bool = False,
) -> ReplicaStep:
    """Compute each operator of *run* on *count* replicas.

    Args:
        exchanged: names of parameters whose gradients the script has averaged.
        exchanged_values: of gradients that it exchanges by hand, :func:`fingerprint`. Where nothing is found to be
            exchanged, all gradients are taken to be averaged.
        synchronised: names of the scales of batch normalisations that take the statistics of all rows.
        seeded: whether the script seeds the random numbers of every replica alike.

    Raises:
        NoRows: there are no data, or their rows cannot be shared out evenly.
    """
    found = _Comparing(run, count, set(synchronised), seeded).replicas()
    named = {g.name for g in found.gradients if _names(run, g.name) & set(exchanged)}
    by_hand = {g.name for g in found.gradients if _value(run, g.name) in exchanged_values}
    if not named | by_hand:
        return found
    gradients = [
        replace(g, state="not summed") if g.state == "right" and g.name not in named | by_hand else g
        for g in found.gradients
    ]
    return replace(found, gradients=gradients, exchanged=True)


def fingerprint(array: Any) -> bytes:
    """Return what tells an array from others, to the bit."""
    array = np.ascontiguousarray(array)
    return hashlib.blake2b(array.tobytes(), digest_size=16, person=str(array.shape).encode()[:16]).digest()


def _names(run: Timeline, name: str) -> set[str]:
    number = run.results[name]
    assert number is not None
    value = run.values[number]
    return {n.removesuffix("@GRAD") for n in (value.name, *value.names)}


def _value(run: Timeline, name: str) -> bytes:
    number = run.results[name]
    assert number is not None
    return fingerprint(run.store.get(number))


class _Comparing:
    def __init__(self, run: Timeline, count: int, synchronised: set[str], seeded: bool) -> None:
        self.run = run
        self.count = count
        self.synchronised = synchronised
        self.seeded = seeded
        self.layouts: dict[int, Layout] = {}
        self.of_parameters: set[int] = set()
        self.unsure: set[int] = set()
        """Values behind what differs or could not be asked: a factor of theirs may come from there."""
        self.findings: list[ReplicaFinding] = []
        self.unasked: list[str] = []
        self.compared = 0
        self.rows = self._rows()

    def replicas(self) -> ReplicaStep:
        for entry in self.run.entries:
            self._entry(entry)
        gradients = [
            self._gradient(name, number)
            for name, number in self.run.results.items()
            if number is not None and self._array(number) is not None
        ]
        return ReplicaStep(self.count, self.rows, self.findings, gradients, self.compared, self.unasked)

    # -- values -----------------------------------------------------------------------------------------------------

    def _array(self, number: int) -> Any:
        value = self.run.store.get(number)
        return value if hasattr(value, "shape") and hasattr(value, "dtype") else None

    def _rows(self) -> int:
        """Return how many rows the batch has: the first dimension of what meets parameters and is not made of any."""
        firsts = self._count_firsts()
        if not firsts:
            raise NoRows("the run reads no data whose rows could be shared out")
        ((rows, _),) = firsts.most_common(1)
        if rows % self.count:
            raise NoRows(f"{rows} rows cannot be shared out evenly to {self.count} replicas")
        return rows

    def _count_firsts(self) -> Counter[int]:
        """Return the elements by the first dimension of their array, of data that operators read with parameters."""
        of_parameters = {n for n, v in enumerate(self.run.values) if v.role == "parameter"}
        firsts: Counter[int] = Counter()
        for entry in self.run.entries[: self.run.begin]:
            inputs = [n for n in entry.inputs if n >= 0]
            if of_parameters.isdisjoint(inputs):
                continue
            of_parameters.update(entry.made)
            for array in (self._array(n) for n in inputs if n not in of_parameters):
                # By elements, not by arrays: a table with another first dimension is small next to the batch.
                if array is not None and array.ndim:
                    firsts[array.shape[0]] += array.size
        return firsts

    def _layout(self, number: int) -> Layout:
        found = self.layouts.get(number)
        if found is None:  # there before the run
            value, array = self.run.values[number], self._array(number)
            is_data = value.role != "parameter" and not value.name.endswith("@GRAD")
            by_rows = is_data and array is not None and array.ndim and array.shape[0] == self.rows
            found = self.layouts[number] = Layout(ROWS if by_rows else SAME)
            if value.role == "parameter":
                self.of_parameters.add(number)
        return found

    # -- operators --------------------------------------------------------------------------------------------------

    def _entry(self, entry: Entry) -> None:
        inputs = [n for n in entry.inputs if n >= 0]
        layouts = [self._layout(n) for n in inputs]
        for spreading in (self.of_parameters, self.unsure):
            if not spreading.isdisjoint(inputs):
                spreading.update(entry.made)
        outs = [n for _, n in entry.outs if n >= 0]
        if self._is_synchronised(entry):
            self._as_it_is(outs, self._factor(entry))
        elif not entry.backward and all(x.kind == SAME for x in layouts):
            self._compare_constant(entry, outs)
        else:
            self._compare_entry(entry, outs, began=all(x.kind != APART for x in layouts))
        for number in entry.sums:
            self._sum(number)

    def _shape_layout(self, entry: Entry, value: Any) -> Layout:
        """Return how what is read for its shape alone lies: as the value that the forward operator read or gave."""
        if not isinstance(value, np.ndarray):
            return Layout(SAME)
        forward = self.run.entries[entry.pair] if entry.pair >= 0 else entry
        same_place = self._find_same_place(forward, entry, value)
        if same_place is not None:
            return self._shape_of(same_place, value)
        for number in (*forward.inputs, *forward.made):
            held = self._array(number) if number >= 0 else None
            if held is not None and held.shape == value.shape and np.array_equal(held, value):
                return self._shape_of(number, value)
        return Layout(ROWS if value.ndim and value.shape[0] == self.rows else SAME)

    def _find_same_place(self, forward: Entry, entry: Entry, value: Any) -> int | None:
        """Return what the forward operator took where *entry* takes *value*.

        Its value may be another by now: an optimizer's step.
        """
        for number, mine in zip(forward.operands, entry.operands, strict=False):
            if _is(mine, value) and type(number) is int and number >= 0:
                held = self._array(number)
                if held is None or held.shape == value.shape:
                    return number
        return None

    def _shape_of(self, number: int, value: Any) -> Layout:
        found = self._layout(number)
        if 0 in value.shape:
            return found
        return Layout(found.kind, 1.0, found.axis) if found.kind in (ROWS, SAME) else Layout(SAME)

    def _is_synchronised(self, entry: Entry) -> bool:
        if not self.synchronised or "batch_norm" not in entry.type:
            return False
        names = {name for n in entry.inputs if n >= 0 for name in (self.run.values[n].name, *self.run.values[n].names)}
        return bool(names & self.synchronised)

    def _as_it_is(self, numbers: Sequence[int], factor: float = 1.0) -> None:
        """Take the result of the whole batch as the result that the replicas would have."""
        for number in numbers:
            array = self._array(number)
            if array is not None and array.ndim > 1 and array.shape[:2] == (0, self.rows):  # nothing but a shape
                part = np.empty((0, self.rows // self.count, *array.shape[2:]), array.dtype)
                self.layouts[number] = Layout(SAME, locals=(part,) * self.count)
                continue
            by_rows = array is not None and array.ndim and array.shape[0] == self.rows
            self.layouts[number] = Layout(ROWS, factor) if by_rows else Layout(SAME)

    def _compare_constant(self, entry: Entry, outs: Sequence[int]) -> None:
        """Data that the script makes have the rows of the batch; what is made of parameters is the same everywhere."""
        if any(n in self.of_parameters for n in entry.made):
            self.layouts.update(dict.fromkeys(outs, Layout(SAME)))
        else:
            self._as_it_is(outs)

    def _compare_entry(self, entry: Entry, outs: Sequence[int], *, began: bool) -> None:
        if _has(entry, Trait.RANDOM):
            self._compare_draw(entry, outs, began)
            return
        parts = self._parts(entry)
        if parts is None:
            self.unasked.append(entry.name)
            self._as_it_is(outs)
            self.unsure.update(outs)
            return
        self.compared += 1
        factor, noise = self._factor(entry), self._noise(entry)
        finding: ReplicaFinding | None = None
        for place, (slot, number) in enumerate(entry.outs):
            whole = self._array(number) if number >= 0 else None
            theirs = [p[place] for p in parts]
            if whole is None or any(not hasattr(t, "shape") for t in theirs):
                continue
            if 0 in whole.shape:  # nothing but a shape
                self.layouts[number] = Layout(SAME, locals=tuple(theirs))
                continue
            found = layout_of(whole, theirs, noise)
            if found.kind == APART:
                self.unsure.add(number)
                if _has(entry, Trait.LIKE):  # a number of rows: everyone has fewer
                    self.layouts[number] = found
                    continue
            if found.kind == APART and began and finding is None:
                finding = self._make_finding(entry, slot, "differs", _apart(whole, theirs))
            self._lies(number, found, factor)
        if finding is not None:
            self.findings.append(finding)

    def _lies(self, number: int, found: Layout, factor: float = 1.0) -> None:
        """A value lies as was found; where nothing was, as that of the whole batch."""
        if found.kind == APART and not found.locals:
            self._as_it_is([number], factor)
        else:
            self.layouts[number] = found

    def _compare_draw(self, entry: Entry, outs: Sequence[int], began: bool) -> None:
        """Replicas draw numbers of their own, unless all of them begin with the same seed."""
        self._as_it_is(outs, self._factor(entry))
        by_rows = any(self.layouts[n].kind == ROWS for n in outs)
        own = bool(getattr(entry.origin, "attrs", {}).get("seed"))
        if by_rows and began and (own or self.seeded):
            self.findings.append(self._make_finding(entry, entry.outs[0][0], "same numbers", None))

    def _factor(self, entry: Entry) -> float:
        """By how much the gradients that an operator reads are larger on the replicas."""
        return max((self._layout(n).factor for n in entry.inputs if n >= 0), default=1.0)

    def _noise(self, entry: Entry) -> float:
        """Return what sums of what the operator reads may be off by where they cancel."""
        arrays = [a for a in map(self._array, entry.inputs) if a is not None and a.size and a.dtype.kind == "f"]
        most = max((float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays), default=0.0)
        return 64 * float(max((np.finfo(a.dtype).eps for a in arrays), default=0.0)) * most * self._factor(entry)

    def _make_finding(self, entry: Entry, slot: str, kind: str, apart: float | None) -> ReplicaFinding:
        return ReplicaFinding(entry.name, entry.part, slot, kind, apart, entry.loc, entry.layer)

    def _parts(self, entry: Entry) -> list[Sequence[Any]] | None:
        """Return what each replica computes; None where that cannot be asked."""
        if entry.kernel is None or entry.fixed:
            return None
        found: list[Sequence[Any]] = []
        for replica in range(self.count):
            operands = [self._operand(entry, o, replica) for o in entry.operands]
            try:
                with np.errstate(all="ignore"):
                    found.append(list(entry.kernel(*operands)))
            except Exception:  # a shape of the whole batch that the script has written down: told as not asked
                return None
        return found if all(len(f) == len(entry.outs) for f in found) else None

    def _operand(self, entry: Entry, operand: Any, replica: int) -> Any:
        if isinstance(operand, list):
            return [self._operand(entry, o, replica) for o in operand]
        if isinstance(operand, FixedOperand):  # of which the shape alone is read
            return self._shape_layout(entry, operand.value).part(operand.value, replica, self.count)
        return self._part_of(operand, replica) if type(operand) is int else operand

    def _part_of(self, number: int, replica: int) -> Any:
        array = self._array(number)
        return self.run.store.get(number) if array is None else self._layout(number).part(array, replica, self.count)

    def _sum(self, number: int) -> None:
        summands = self.run.values[number].parts
        whole = self._array(number)
        if summands is not None and any(n in self.unsure for n in summands):
            self.unsure.add(number)
        if summands is None or whole is None:
            return
        if any(self._array(n) is None for n in summands):  # what was summed up before is not held
            other = self._layout(summands[1])
            self.layouts[number] = Layout(other.kind, other.factor, other.axis) if not other.locals else Layout(SAME)
            if other.locals:
                self.unsure.add(number)
            return
        parts = [self._part_of(summands[0], k) + self._part_of(summands[1], k) for k in range(self.count)]
        self._lies(number, layout_of(whole, parts))

    # -- gradients of parameters ------------------------------------------------------------------------------------

    def _gradient(self, name: str, number: int) -> ParameterGradient:
        whole, layout = self._array(number), self._layout(number)
        norms: tuple[float, ...] = ()
        if layout.kind != ROWS:
            norms = tuple(_norm(layout.part(whole, k, self.count)) for k in range(self.count))
        state = {SAME: "same", SHARE: "right", APART: "apart"}.get(layout.kind, "unknown")
        if state != "apart" and layout.factor != 1:
            state = "unknown" if number in self.unsure else "scaled"
        return ParameterGradient(name, state, layout.factor, _norm(whole), norms)


def _is(operand: Any, value: Any) -> bool:
    return isinstance(operand, FixedOperand) and operand.value is value


def _has(entry: Entry, trait: Trait) -> bool:
    op = registry.find(entry.type)
    return op is not None and bool(op.trait & trait)


def _apart(whole: Any, parts: Sequence[Any]) -> float | None:
    """The largest difference as a part of the largest element."""
    whole = np.asarray(whole)
    arrays = [np.asarray(p) for p in parts]
    together = np.concatenate(arrays) if whole.ndim and arrays[0].shape != whole.shape else np.mean(arrays, 0)
    if together.shape != whole.shape or whole.dtype.kind not in "fc":
        return None
    largest = float(np.abs(whole).max()) or 1.0
    return float(np.abs(together - whole).max()) / largest


def _norm(array: Any) -> float:
    return float(np.linalg.norm(np.asarray(array, np.float64).reshape(-1)))
