"""Gradients that the backward passes of a script gave to leaves: by pass, and by leaf over the step that it is in.

A step is what happens between two updates. What passes of one step give to a leaf is added up, whatever other passes
happen in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..core.records import dataclass
from ..core.rows import RowArray
from ..core.source import Location
from ..eager.tensor import Leaf, array_of


class PassWindow(NamedTuple):
    """The passes between two updates: those with numbers above *before* and up to *last*."""

    before: int
    last: int

    def holds(self, number: int) -> bool:
        """Return whether a pass is one of them."""
        return self.before < number <= self.last


@dataclass
class LeafShare:
    """The gradient that the last step of a leaf gave it.

    Attributes:
        array: the sum of what the passes gave, before hooks of the leaf.
        passes: number and line of each pass that gave it something.
        held: the ``.grad`` after the last of these passes; None where nothing was there before, so that it is *array*.
        used: the gradient that an optimizer went by, where it is something else: clipped, scaled, or written by hand.
    """

    array: Any
    passes: list[tuple[int, Location]] = field(default_factory=list)
    held: Any = None
    used: Any = None


class Shares:
    """The gradients of all leaves, as backward passes give them.

    Attributes:
        by_leaf: the last step of each leaf that is still there.
    """

    def __init__(self) -> None:
        self.by_leaf: WeakKeyDictionary[Leaf, LeafShare] = WeakKeyDictionary()
        self.updated: WeakKeyDictionary[Leaf, PassWindow] = WeakKeyDictionary()
        """By leaf that an optimizer holds, the last step of that."""
        self._last_update = 0
        """The number of the pass before the last update of all."""

    def note_update(self, leaves: Iterable[Leaf], window: PassWindow) -> None:
        """Note that these leaves are about to be updated, after the passes of *window*."""
        self._last_update = window.last
        for leaf in leaves:
            self.updated[leaf] = window

    def _is_open(self, leaf: Leaf, number: int) -> bool:
        """Return whether a leaf has not been updated since the pass of that number."""
        window = self.updated.get(leaf)
        return number > (self._last_update if window is None else window.last)

    def current(self, is_current: Callable[[int], bool]) -> dict[Leaf, LeafShare]:
        """Return what the last step of each leaf gave it, of those to which it gave something.

        Args:
            is_current: whether a pass belongs to the last step, for leaves that no optimizer holds.
        """
        told: dict[Leaf, LeafShare] = {}
        for leaf, share in self.by_leaf.items():
            number, window = share.passes[-1][0], self.updated.get(leaf)
            if is_current(number) if window is None else window.holds(number) or number > window.last:
                told[leaf] = share
        return told

    def add(self, number: int, location: Location, gradients: Mapping[Any, Any]) -> dict[Leaf, Any]:
        """Note what a pass gave.

        Args:
            number: of the pass.
            gradients: by place; those of results are not looked at.

        Returns:
            By leaf a copy of its gradient.
        """
        gave: dict[Leaf, Any] = {}
        for leaf, gradient in gradients.items():
            if not isinstance(leaf, Leaf) or gradient is None:
                continue
            array = gave[leaf] = _copy(gradient)
            share = self.by_leaf.get(leaf)
            is_first = share is None or leaf.grad is None or leaf.cleared
            if share is None or is_first or not self._is_open(leaf, share.passes[-1][0]):
                self.by_leaf[leaf] = LeafShare(array, [(number, location)])
            else:
                share.array = np.asarray(share.array) + np.asarray(array)
                share.passes.append((number, location))
        return gave

    def take(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Note the gradients that an optimizer goes by: pairs of a tensor and its gradient."""
        for tensor, gradient in pairs:
            share = None if tensor._leaf is None else self.by_leaf.get(tensor._leaf)
            if share is None:
                continue
            there, taken = _plain(share.array if share.held is None else share.held), _plain(gradient)
            is_other = there is not None and taken is not None and there.shape == taken.shape
            share.used = np.array(taken) if is_other and not np.array_equal(there, taken) else None

    def hold(self, leaves: Iterable[Leaf]) -> dict[Leaf, Any]:
        """Note what the ``.grad`` of these leaves holds after a pass.

        Returns:
            By leaf a copy of it.
        """
        held = {leaf: np.array(leaf.grad.array) for leaf in leaves if leaf.grad is not None}
        for leaf, array in held.items():
            if leaf in self.by_leaf:
                self.by_leaf[leaf].held = array
        return held


def _plain(gradient: Any) -> Any:
    """The gradient as one array; None of rows of a table."""
    array = array_of(gradient)
    return None if isinstance(array, RowArray) else np.asarray(array)


def is_fresh(leaf: Leaf) -> bool:
    """Return whether the ``.grad`` of a leaf is going to be what the pass that runs gives it."""
    return (leaf.grad is None or leaf.cleared) and not leaf.hooks


def is_close(one: Any, other: Any) -> bool:
    """Return whether two gradients are equal but for the order in which their terms were added."""
    if one is other:
        return True
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc" or a.dtype.itemsize < 4:
        a, b = a.astype("float32"), b.astype("float32")
    with np.errstate(all="ignore"):
        largest = float(np.max(np.abs(np.where(np.isfinite(b), b, 0)), initial=0.0))
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5 * largest, equal_nan=True))


def _copy(gradient: Any) -> Any:
    """A copy that nobody else writes; rows of a table stay rows, which are never written."""
    array = array_of(gradient)
    return array if isinstance(array, RowArray) else np.array(array)
