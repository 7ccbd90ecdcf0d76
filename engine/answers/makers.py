"""Makers of arrays: the operator behind each value that an operator reads."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from ..core.identity import identity
from ..core.records import dataclass
from .events import OpEvent


@dataclass(frozen=True, slots=True)
class Maker:
    """An operator that made an array.

    Attributes:
        before: the types of the operators that made what it read.
    """

    type: str
    attrs: Mapping[str, Any]
    before: tuple[str, ...] = ()


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
            maker = Maker(event.type, event.attrs, tuple(m.type for m in before if m is not None))
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


_NUMBERS = 256

_PASS_ON = frozenset(
    {"assign", "cast", "expand_v2", "expand_as_v2", "flatten_contiguous_range", "gather", "gather_nd", "reshape2"}
    | {"slice", "split", "squeeze2", "tile", "transpose2", "unsqueeze2", "unstack"}
)
"""Operators that give values another shape, type or place."""
