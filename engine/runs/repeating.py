"""What of a recorded run cannot be computed again: compared, operator by operator, with what was recorded.

Whoever trusts a repetition looks here first. Each forward operator is computed on the operands that were recorded, and
its results are compared with the recorded ones. Elements that are moved, whole numbers and truth values have to be
equal. Other results may differ by rounding, for another implementation adds up in another order: see :data:`ROUNDING`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import source, watch
from ..core.errors import GradtoolError
from ..core.vocabulary import title
from ..ops.opdef import Trait
from .bound import NOT_DRAWN_AGAIN
from .branch import Branch, rerunning
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

_EXACT = Trait.MOVES | Trait.VIEW | Trait.COMPARE


@dataclass(frozen=True, slots=True)
class Unrepeated:
    """An operator that cannot be repeated.

    Attributes:
        why: what came of it; one clause.
    """

    entry: Entry
    why: str

    def __str__(self) -> str:
        return f"cannot be repeated: {title(self.entry.type)} at {source.short(self.entry.loc)}: {self.why}"


def find_unrepeated(run: Timeline, entries: Iterable[Entry] | None = None) -> Unrepeated | None:
    """Return the first forward operator that does not give again what was recorded; None where all do.

    What draws random numbers is not repeated by anybody: its results stay what they were. Nor is what reads nothing.

    Args:
        entries: those that somebody is going to repeat; by default all that the loss was computed with.
    """
    branch = Branch(run)
    for entry in _leading_to_loss(run) if entries is None else entries:
        if entry.backward or not entry.inputs or entry.fixed == NOT_DRAWN_AGAIN:
            continue
        if entry.index not in run.repeated:
            run.repeated[entry.index] = _compare(branch, entry)
        if run.repeated[entry.index]:
            return Unrepeated(entry, run.repeated[entry.index])
    return None


def _leading_to_loss(run: Timeline) -> list[Entry]:
    """Return the forward operators that the loss was computed with, in order."""
    wanted, found = {run.loss, *run.guards}, []
    for entry in reversed(run.entries):
        if not entry.backward and not wanted.isdisjoint(entry.made):
            wanted.update(entry.inputs)
            found.append(entry)
    return found[::-1]


def _compare(branch: Branch, entry: Entry) -> str:
    """Return why an operator cannot be repeated; empty where it can."""
    if entry.binding is None:  # the user's own Python, a block of a program, or what nobody can run again
        return entry.fixed
    if entry.kernel is None:  # of a static program, whose kernels are the engine's own
        return ""
    try:
        operands = branch.operands(entry)
        with watch.unwatched(), np.errstate(all="ignore"), rerunning():
            results = entry.kernel(*operands)
    except GradtoolError as error:
        return error.message.removesuffix(".")
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    exact = bool(entry.binding.op.trait & _EXACT)
    return _compare_results(branch.timeline, entry, results, exact)


def _compare_results(run: Timeline, entry: Entry, results: Sequence[Any], exact: bool) -> str:
    for (slot, number), again in zip(entry.outs, results, strict=False):
        if number == NOBODY or number not in run.store or again is None:
            continue
        recorded, computed = np.asarray(run.store.get(number)), np.asarray(again)
        if recorded.shape != computed.shape:
            return f"its result {slot} has the shape {list(computed.shape)} then, for {list(recorded.shape)}"
        if not _is_alike(recorded, computed, exact):
            return f"its result {slot} is another then"
    return ""


def _is_alike(recorded: Any, computed: Any, exact: bool) -> bool:
    """Return whether two arrays of one shape are equal up to rounding."""
    name = recorded.dtype.name
    if exact or name not in ROUNDING or not recorded.size:
        return bool(np.array_equal(recorded, computed, equal_nan=recorded.dtype.kind in "fc"))
    wide = np.complex128 if recorded.dtype.kind == "c" else np.float64
    one, other = recorded.astype(wide), computed.astype(wide)
    with np.errstate(all="ignore"):
        finite = np.abs(one[np.isfinite(one)])
        far = ROUNDING[name] * float(finite.max(initial=0.0))
        return bool(np.allclose(other, one, rtol=ROUNDING[name], atol=far, equal_nan=True))
