"""Operators of a recorded run that cannot be computed again: compared, operator by operator, with what was recorded.

Whoever trusts a repetition looks here first. Each operator is computed on the operands that were recorded, and its
results are compared with the recorded ones. Elements that are moved, whole numbers and truth values have to be equal.
Other results may differ by rounding, for another implementation adds up in another order: see :data:`ROUNDING`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core import names, source, watch
from ..core.errors import GradtoolError
from ..core.records import dataclass
from ..core.rows import RowArray
from ..core.source import Location
from ..core.tensor_array import TensorArray
from ..core.vocabulary import title
from ..ops.opdef import Trait
from .bound_kernels import NOT_DRAWN_AGAIN
from .branch import Branch, disable_breakpoints
from .timeline import NOBODY, Entry, Timeline

ROUNDING = {
    "float64": 1e-10,
    "float32": 2e-4,
    "complex128": 1e-10,
    "complex64": 2e-4,
    "float16": 2e-2,
    "bfloat16": 1e-1,
}
"""By type, how far a result that is computed with may be off, in terms of the largest finite element of it.

That is some thousand roundings: a sum of as many terms, the square root of a small variance. What is computed
otherwise than recorded differs by more.
"""

CANNOT = "cannot be repeated"
"""How texts about what cannot be repeated begin."""

_EXACT = Trait.MOVES | Trait.VIEW | Trait.COMPARE


@dataclass(frozen=True, slots=True)
class Unrepeated:
    """An operator that cannot be repeated.

    Attributes:
        entry: it, in a run.
        why: what came of it; one clause.
    """

    entry: Entry
    why: str

    def __str__(self) -> str:
        return describe(self.entry.type, self.entry.loc, self.why)


def describe(type_: str, loc: Location, why: str) -> str:
    """Return what is said of an operator that cannot be repeated."""
    return f"{CANNOT}: {title(type_)} at {source.short(loc)}: {why}"


REFUSED = (GradtoolError, ValueError, IndexError, TypeError, AttributeError)
"""What kernels raise that cannot compute a recorded call again."""


def reason_of(error: Exception) -> str:
    """Return what a kernel raised as a clause."""
    if isinstance(error, GradtoolError):
        said = error.message.removesuffix(".")
        _, again, why = said.partition(" cannot run again")
        return why.partition(": ")[2] if again and ": " in why else said
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def find_unrepeated(run: Timeline, entries: Iterable[Entry] | None = None) -> Unrepeated | None:
    """Return the first forward operator that does not give again what was recorded; None where all do.

    What draws random numbers is not repeated by anybody: its results stay what they were. Nor is what reads nothing.

    Args:
        entries: those that somebody is going to repeat; by default all that the loss was computed with.
    """
    branch = Branch(run)
    for entry in _forward_entries(run) if entries is None else entries:
        if entry.backward or not entry.inputs or entry.fixed == NOT_DRAWN_AGAIN:
            continue
        if entry.index not in run.repeated:
            run.repeated[entry.index] = _compare(branch, entry)
        if run.repeated[entry.index]:
            return Unrepeated(entry, run.repeated[entry.index])
    return None


def find_stop(run: Timeline, changed: Iterable[int], wanted: Iterable[int]) -> Unrepeated | None:
    """Return the first operator between changed values and wanted ones that cannot run on other operands.

    None where all can: each gives again what was recorded. Operators of backward are looked at as those of forward are.

    Args:
        changed, wanted: numbers of values.
    """
    branch = Branch(run)
    for entry, reached in _entries_between(run, changed, wanted):
        if entry.kernel is None:
            return Unrepeated(entry, entry.fixed or _NO_KERNEL)
        if not reached.isdisjoint(entry.needs):
            return Unrepeated(entry, _OF_THE_RUN)
        if entry.index not in run.repeated:
            run.repeated[entry.index] = _compare_again(branch, entry)
        if run.repeated[entry.index]:
            return Unrepeated(entry, run.repeated[entry.index])
    return None


_NO_KERNEL = "nothing computes it again"
_OF_THE_RUN = "its gradient is known for the recorded values alone"


def _entries_between(run: Timeline, changed: Iterable[int], wanted: Iterable[int]) -> list[tuple[Entry, set[int]]]:
    """Return the operators between values, in order, each with all that depends on the first of these."""
    reached, reading = set(changed), []
    for entry in run.entries:
        if not reached.isdisjoint((*entry.inputs, *entry.needs)):
            reading.append(entry.index)
            reached.update(n for _, n in entry.outs if n != NOBODY)
        reached.update(total for total in entry.sums if not reached.isdisjoint(run.values[total].parts or ()))
    needed, among, found = set(wanted), set(reading), []
    for entry in reversed(run.entries):
        for total in reversed(entry.sums):
            if total in needed:
                needed.update(run.values[total].parts or ())
        if entry.index in among and not needed.isdisjoint(n for _, n in entry.outs):
            found.append((entry, reached))
            needed.update((*entry.inputs, *entry.needs))
    return found[::-1]


def _forward_entries(run: Timeline) -> list[Entry]:
    """Return the forward operators that the loss was computed with, in order."""
    wanted, found = {run.loss, *run.guards}, []
    for entry in reversed(run.entries):
        if not entry.backward and not wanted.isdisjoint(entry.made):
            wanted.update(entry.inputs)
            found.append(entry)
    return found[::-1]


def _compare(branch: Branch, entry: Entry) -> str:
    """Return why an operator of forward cannot be repeated; empty where it can."""
    if entry.binding is None:  # the user's own Python, a block of a program, or what nobody can run again
        return entry.fixed
    return "" if entry.kernel is None else _compare_again(branch, entry)


def _compare_again(branch: Branch, entry: Entry) -> str:
    """Return why what runs an operator again does not give what was recorded; empty where it does."""
    assert entry.kernel is not None
    try:
        operands = branch.operands(entry)
        with watch.pause_watchers(), np.errstate(all="ignore"), disable_breakpoints():
            results = entry.kernel(*operands)
    except REFUSED as error:
        return reason_of(error)
    return _compare_results(branch, entry, results)


def _compare_results(branch: Branch, entry: Entry, results: Sequence[Any]) -> str:
    run = branch.timeline
    exact = entry.binding is not None and entry.binding.wanted is None and bool(entry.binding.op.trait & _EXACT)
    least = _largest_arriving(branch, entry) if entry.backward else 0.0
    for (slot, number), again in zip(entry.outs, results, strict=False):
        if number == NOBODY or number not in run.store or again is None or isinstance(again, TensorArray):
            continue
        recorded, computed = _dense(run.store.get(number)), _dense(again)
        if recorded.shape != computed.shape:
            return f"its result {slot} has the shape {list(computed.shape)} then, for {list(recorded.shape)}"
        if not _is_alike(recorded, computed, exact, least):
            return f"its result {slot} is another then"
    return ""


def _largest_arriving(branch: Branch, entry: Entry) -> float:
    """Return the largest element of the gradients that an operator reads: terms as large may cancel in its results."""
    arriving = [n for slot, n in entry.reads if slot.endswith(names.GRAD) and n != NOBODY]
    arrays = [_dense(branch.make(n)) for n in arriving]
    return max((_largest(a) for a in arrays if a.dtype.name in ROUNDING), default=0.0)


def _dense(value: Any) -> Any:
    return np.asarray(value.dense() if isinstance(value, RowArray) else getattr(value, "array", value))


def _largest(array: Any) -> float:
    """Return the largest finite element of an array, 0 where there is none."""
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    with np.errstate(all="ignore"):
        return float(np.abs(wide[np.isfinite(wide)]).max(initial=0.0))


def _is_alike(recorded: Any, computed: Any, exact: bool, least: float = 0.0) -> bool:
    """Return whether two arrays of one shape are equal up to rounding.

    Args:
        least: the terms that the results were summed of are at least as large.
    """
    name = recorded.dtype.name
    if exact or name not in ROUNDING or not recorded.size:
        return bool(np.array_equal(recorded, computed, equal_nan=recorded.dtype.kind in "fc"))
    wide = np.complex128 if recorded.dtype.kind == "c" else np.float64
    far = ROUNDING[name] * max(_largest(recorded), least)
    with np.errstate(all="ignore"):
        one, other = recorded.astype(wide), computed.astype(wide)
        return bool(np.allclose(other, one, rtol=ROUNDING[name], atol=far, equal_nan=True))
