"""Which array holds which value: numbers of arrays, for as long as nobody overwrites them.

Arrays are held by reference. Before one is overwritten in place, what is held of its storage is copied, also long after
the recording: a store is looked after for as long as it exists.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..eager.saved import writes
from ..eager.tensor import Tensor
from .store import Store

_SLACK = 64
"""So many entries more than needed are nothing to clear up for."""


class Ledger(Store):
    """A store that knows the numbers of its arrays.

    Attributes:
        count: how many numbers were given.
    """

    def __init__(self, budget: int | None = None) -> None:
        super().__init__(budget)
        self.count = 0
        self._numbers: dict[int, int] = {}
        """Of arrays that the store holds, by their identity."""
        self._others: dict[int, tuple[int, Callable[[], Any]]] = {}
        """Of arrays that it does not hold (any more), with what gives them while they are alive."""
        self._torn: dict[int, tuple[int, int | None, Callable[[], Any]]] = {}
        """Arrays that were overwritten through another one: the value before, and what was written."""
        self._gone: set[int] = set()
        """Values that nobody will ask for, of arrays that the store does not hold."""
        self._unplaced: list[int] = []
        """Numbers whose storage is not entered in *_placed* yet: until something is overwritten, nobody asks."""
        self._placed: dict[int, list[tuple[int, int]]] = {}
        """By the identity of what owns the storage: number and identity of the arrays in it."""
        self._entered = 0
        self._needed = 0
        _living.add(self)

    def copied(self) -> Ledger:
        """One that holds the same values and no longer changes with this one; nothing is let go of there."""
        copy = Ledger()
        copy.count = self.count
        copy._held.update(self._held)
        copy._numbers, copy._others, copy._torn = dict(self._numbers), dict(self._others), dict(self._torn)
        copy._gone, copy._unplaced = set(self._gone), list(self._held)
        return copy

    # -- numbers ------------------------------------------------------------------------------------------------------

    def new(self) -> int:
        """A number for a value that nobody has computed yet."""
        self.count += 1
        return self.count - 1

    def made(self, array: Any, for_good: bool = False) -> int:
        """A number for what an operator made.

        Args:
            for_good: hold it whatever the budget.
        """
        number = self.count
        self.count = number + 1
        self._unplaced.append(number)
        if self.known(array) is None:
            self._numbers[id(array)] = number
        if for_good:
            self.keep(number, array)
        else:
            self.put(number, array)
        return number

    def known(self, array: Any) -> int | None:
        """The number of an array, or None where it has none."""
        key = id(array)
        number = self._numbers.get(key)
        if number is not None and self.get(number) is array:
            return number
        if self._others:
            other = self._others.get(key)
            if other is not None and other[1]() is array and other[0] not in self._gone:
                return other[0]
        return None

    def torn(self, array: Any) -> list[int] | None:
        """Of an array that was overwritten through another one: the value before, and what was written if it is known.

        None for any other array. It is asked once: who asks gives the array a number with :meth:`given`.
        """
        torn = self._torn.get(id(array)) if self._torn else None
        if torn is None or torn[2]() is not array:
            return None
        del self._torn[id(array)]
        return [n for n in torn[:2] if n is not None]

    def given(self, array: Any) -> int:
        """A number for an array that was there, whoever made it."""
        number = self.new()
        self.keep(number, array)
        self._numbers[id(array)] = number
        self._unplaced.append(number)
        return number

    def same(self, array: Any, number: int) -> None:
        """Have another array be known by a number, too; the store does not hold it."""
        self._others[id(array)] = number, weakref.ref(array)
        self._placed.setdefault(id(_owner(array)), []).append((number, id(array)))
        self._entered += 1

    # -- storage ------------------------------------------------------------------------------------------------------

    def overwrite(self, array: Any, by: Any, follows: bool) -> None:
        """*array* is about to be overwritten by the values of *by*, None where these are not known as one array.

        Args:
            follows: whether what it holds then is a value of the run, made of others; else it is a new beginning.
        """
        if not self._held and not self._others:
            return
        self._place()
        written = None if by is None else self.known(by)
        base = _owner(array)
        # What is held of the storage is copied, but for arrays in other parts of it.
        stay = []
        before = None
        for n, key in self._placed.pop(id(base), ()):
            now = self._now(n, key, base)
            if now is None:
                continue
            if type(now) is np.ndarray and now is not array and not np.may_share_memory(now, array):
                stay.append((n, key))
                continue
            self._lift(n, key, now)
            if now is array:
                before = n
            elif follows:
                self._torn[key] = n, written, weakref.ref(now)
        # What the array holds from now on.
        self._torn.pop(id(array), None)
        if follows and written is not None:
            if by.shape == array.shape and by.dtype == array.dtype:
                self._others[id(array)] = written, weakref.ref(array)
                stay.append((written, id(array)))
            else:
                self._torn[id(array)] = written, None, weakref.ref(array)
        elif follows and before is not None:
            self._torn[id(array)] = before, None, weakref.ref(array)
        if stay:
            self._placed[id(base)] = stay

    def _now(self, number: int, key: int, base: Any) -> Any:
        """The array in the storage of *base* that holds a value, the store's or another one; None if none does now."""
        held = self.get(number)
        if held is not None and _owner(held) is base:
            return held
        other = self._others.get(key)
        now = other[1]() if other is not None and other[0] == number else None
        return now if now is not None and _owner(now) is base else None

    def _lift(self, number: int, key: int, now: Any) -> None:
        """Have the store hold a copy of the array *now*, if it holds that one, and know the array by no number."""
        holds_it = self.get(number) is now
        if holds_it:
            self.replace(number, now.copy() if type(now) is np.ndarray else now.dense())
        if self._numbers.get(key) == number:
            del self._numbers[key]
        self._others.pop(key, None)

    def _place(self) -> None:
        get = self.get
        for n in self._unplaced:
            array = get(n)
            if array is not None:
                self._placed.setdefault(id(_owner(array)), []).append((n, id(array)))
                self._entered += 1
        self._unplaced.clear()

    def release(self, number: int) -> None:
        """Let go of a value that somebody may ask for; if somebody else holds its array, that stays known."""
        array = super().drop(number)
        key = id(array)
        if array is not None and self._numbers.get(key) == number:
            del self._numbers[key]
            if not isinstance(array, np.generic):  # no tensor's
                self.same(array, number)

    def drop(self, number: int) -> Any:
        """Let go of a value: its array, if somebody still holds it, is a new beginning when it is read."""
        array = super().drop(number)
        if array is None:
            self._gone.add(number)
        elif self._numbers.get(id(array)) == number:
            del self._numbers[id(array)]
        return array

    def held_elsewhere(self) -> dict[int, Any]:
        """The values that the store let go of and that somebody still holds, with an array of each."""
        return {n: array() for n, array in self._others.values() if array() is not None and n not in self._gone}

    def clear_up(self) -> None:
        """Forget arrays that are gone, when they have become many."""
        noted = self._unplaced, self._others, self._torn, self._gone
        if self._entered + sum(map(len, noted)) < 2 * self._needed + _SLACK:
            return
        self._others = {k: v for k, v in self._others.items() if v[1]() is not None and v[0] not in self._gone}
        self._numbers = {id(array): n for n, array in self.items() if self._numbers.get(id(array)) == n}
        self._gone.clear()
        self._torn = {k: v for k, v in self._torn.items() if v[2]() is not None}
        self._placed.clear()
        self._unplaced = list(self._held)
        for key, (number, array) in self._others.items():
            self._placed.setdefault(id(_owner(array())), []).append((number, key))
        self._entered = len(self._others)
        self._needed = len(self._unplaced) + 2 * len(self._others) + len(self._torn)


_living: weakref.WeakSet[Ledger] = weakref.WeakSet()


def guard(tensor: Tensor, array: Any) -> None:
    """Copy what is held anywhere of the storage of *tensor*, which is about to be overwritten by *array*."""
    # Leaves and what persists begin anew with each update: what they are made of belongs to the steps before.
    follows = not (tensor.node is None and (not tensor.stop_gradient or tensor.persistable))
    for ledger in list(_living):
        ledger.overwrite(tensor.array, array, follows)


def stand_guard() -> None:
    """Have :func:`guard` called from now on, in this thread (or task)."""
    if writes.get() is None:
        writes.set(guard)


def _owner(array: Any) -> Any:
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array
