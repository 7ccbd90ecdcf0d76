"""Makers of arrays: the operator behind each value that an operator reads."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.identity import identity
from ..core.records import dataclass
from ..core.source import Location
from .events import OpEvent


@dataclass(frozen=True, slots=True)
class Maker:
    """An operator that made an array.

    Attributes:
        before: the types of the operators that made what it read.
        factor: the last constant factor on the way here that is as large or small as no data are, and its line.
    """

    type: str
    attrs: Mapping[str, Any]
    before: tuple[str, ...] = ()
    factor: tuple[float, Location] | None = None


class Makers:
    """The operators that made the arrays that are still there, whatever has moved their values since."""

    def __init__(self) -> None:
        self._by_array: dict[int, tuple[Maker, Any]] = {}
        self._of_numbers: dict[int, tuple[Maker, Any]] = {}
        """Of NumPy's numbers, which cannot be referred to weakly: the last ones."""

    def note(self, event: OpEvent) -> None:
        """Remember who made the results of *event*."""
        before = [self.find(v.array) for v in event.inputs]
        maker = before[0] if before and event.type in _PASS_ON else None
        if maker is None:
            maker = _maker_of(event, [m for m in before if m is not None])
        for value in event.outputs:
            self._remember(value.array, maker)

    def find(self, array: Any) -> Maker | None:
        """Return who made *array*; None where that is not known."""
        held = self._by_array.get(identity(array)) or self._of_numbers.get(identity(array))
        return None if held is None else held[0]

    def _remember(self, array: Any, maker: Maker) -> None:
        key, held = identity(array), self._by_array
        try:
            held[key] = maker, weakref.ref(array, lambda _: held.pop(key, None))
        except TypeError:
            self._of_numbers[key] = maker, array
            if len(self._of_numbers) > _NUMBERS:
                del self._of_numbers[next(iter(self._of_numbers))]


def _maker_of(event: OpEvent, before: Sequence[Maker]) -> Maker:
    """Return the maker that an operator is, after the makers of what it reads."""
    factor = _factor_of(event) or next((m.factor for m in before if m.factor is not None), None)
    return Maker(event.type, event.attrs, tuple([m.type for m in before]), factor)


def _factor_of(event: OpEvent) -> tuple[float, Location] | None:
    """Return the factor of an operator that multiplies by one, where it is enormous or next to nothing."""
    if event.type != "scale":
        return None
    factor = float(event.attrs.get("scale", 1.0))
    return (factor, event.loc) if factor and not _LEAST < abs(factor) < 1 / _LEAST else None


_LEAST = 1e-12
"""Factors between this and its inverse are units, rates and weights."""

_NUMBERS = 256

_PASS_ON = frozenset(
    {"assign", "cast", "expand_v2", "expand_as_v2", "flatten_contiguous_range", "gather", "gather_nd", "reshape2"}
    | {"slice", "split", "squeeze2", "tile", "transpose2", "unsqueeze2", "unstack"}
)
"""Operators that give values another shape, type or place."""
