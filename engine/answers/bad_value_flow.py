"""Bad numbers on their way: which births an array comes of, and which arrays hold what nobody has written yet."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..core.identity import identity
from .birth import Birth
from .events import OpEvent

UNWRITTEN = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_"}
)
"""Operators that hand out memory as it was: what stands there is nobody's number, and differs from run to run."""


class BadArrayFacts:
    """Facts about arrays with bad numbers, as long as they live.

    Args:
        is_bad: says whether an array holds bad numbers.
    """

    def __init__(self, is_bad: Callable[[Any], bool]) -> None:
        self._is_bad = is_bad
        self._births: dict[int, tuple[tuple[Birth, ...], Any]] = {}
        self._unwritten: dict[int, Any] = {}

    def births_of(self, array: Any) -> tuple[Birth, ...]:
        """Return the births that an array comes of; empty where that is not known."""
        held = self._births.get(identity(array))
        return () if held is None else held[0]

    def note(self, array: Any, births: Iterable[Birth]) -> None:
        """Remember what a bad array comes of."""
        key, held = identity(array), self._births
        if births := tuple(dict.fromkeys([*self.births_of(array), *births])):
            held[key] = births, _reference(array, lambda _: held.pop(key, None))

    def is_unwritten(self, array: Any) -> bool:
        """Return whether nobody has written an array: its numbers are whatever was there."""
        return identity(array) in self._unwritten

    def leave(self, event: OpEvent) -> bool:
        """Return whether the bad numbers of an operator's results come of memory that nobody has written."""
        if event.type not in UNWRITTEN and not self._reads_alone(event):
            return False
        for value in event.outputs:
            self._leave(value.array)
        return True

    def _leave(self, array: Any) -> None:
        key, held = identity(array), self._unwritten
        held[key] = _reference(array, lambda _: held.pop(key, None))

    def _reads_alone(self, event: OpEvent) -> bool:
        """Return whether unwritten memory is all that an operator read bad numbers from."""
        if not self._unwritten:
            return False
        bad = [v.array for v in event.inputs if v.array is not None and self._is_bad(v.array)]
        return bool(bad) and all(map(self.is_unwritten, bad))


def _reference(array: Any, gone: Callable[[Any], object]) -> Any:
    """Return what tells when *array* is no more; NumPy's numbers, which have no such references, stay."""
    try:
        return weakref.ref(array, gone)
    except TypeError:
        return array
