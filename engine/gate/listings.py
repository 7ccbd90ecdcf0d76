"""Entries of optimizers in dynamic mode that do not learn."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.records import dataclass
from ..core.source import Location
from ..kinds.model import Model
from ..kinds.tape.model import TapeModel


@dataclass(frozen=True, slots=True)
class FrozenList:
    """Frozen parameters that one optimizer holds.

    Attributes:
        names: what people call them.
        loc: where the optimizer was made.
        frozen: where the first of them was frozen, if it was after it was made.
    """

    names: tuple[str, ...]
    loc: Location
    frozen: Location


def lists_of(model: Model) -> Iterator[FrozenList]:
    """Yield the frozen parameters in lists of optimizers, when the file is done; none of static programs."""
    journal = model.journal if isinstance(model, TapeModel) else None
    if journal is None:
        return
    assert isinstance(model, TapeModel)
    frozen = {
        journal.number(e.tensor): e.display_name for e in model.entries if e.is_parameter and e.tensor.stop_gradient
    }
    for listing in journal.listings:
        numbers = sorted(number for number in listing.leaves if number in frozen)
        if numbers:
            stops = [e for e in journal.events.get(numbers[0], ()) if e.kind == "stopped"]
            yield FrozenList(tuple(frozen[n] for n in numbers), listing.loc, stops[-1].loc if stops else ())
