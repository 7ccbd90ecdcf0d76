"""Ledger of arrays and the values in them: numbers of arrays, for as long as nobody overwrites them.

Arrays are held by reference. Before one is overwritten in place, what is held of its storage is copied, also long after
the recording: a store is looked after for as long as it exists.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import source
from ..core.identity import identity
from ..core.source import Location
from ..eager.borrowed_arrays import find_storage
from ..eager.tensor import Tensor, writes
from .overwriting import Torn, Write, lay_out
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
        self._torn: dict[int, Torn] = {}
        """By identity, arrays that were overwritten through another one, or by values that nobody knows."""
        self._open: dict[int, tuple[Callable[[], Any], list[Write]]] = {}
        """Writes whose values an operator is yet to make, by the identity of the array that it writes."""
        self._expected: set[int] = set()
        """Arrays that the next operator writes, by their identity."""
        self._gone: set[int] = set()
        """Values that nobody will ask for, of arrays that the store does not hold."""
        self._unplaced: list[int] = []
        """Numbers whose storage is not entered in *_placed* yet: until something is overwritten, nobody asks."""
        self._placed: dict[int, list[tuple[int, int]]] = {}
        """By the identity of what owns the storage: number and identity of the arrays in it."""
        self._entered = 0
        self._needed = 0
        self._lent: dict[int, tuple[str, Location, Callable[[], Any]]] = {}
        """Storages that others may write unheard: how they came to have them, where, and an array of theirs."""
        self._apart: set[int] = set()
        """Values of such storages that are held as copies."""
        self._double: tuple[int, Callable[[], Any]] | None = None
        """The value that was copied last for an operator in place, with what gives the copy."""
        _living.add(self)

    def copy(self) -> Ledger:
        """One that holds the same values and no longer changes with this one; nothing is let go of there."""
        copy = Ledger()
        copy.count = self.count
        copy._held.update(self._held)
        copy._numbers, copy._others, copy._torn = dict(self._numbers), dict(self._others), dict(self._torn)
        copy._open = dict(self._open)
        copy._gone, copy._unplaced = set(self._gone), list(self._held)
        copy._lent, copy._apart = dict(self._lent), set(self._apart)
        return copy

    # -- numbers ------------------------------------------------------------------------------------------------------

    def new(self) -> int:
        """A number for a value that nobody has computed yet."""
        self.count += 1
        return self.count - 1

    def number_result(self, array: Any, for_good: bool = False) -> int:
        """A number for what an operator made.

        Args:
            for_good: hold it whatever the budget.
        """
        number = self.count
        self.count = number + 1
        self._unplaced.append(number)
        if self.find_number(array) is None:
            self._numbers[identity(array)] = number
            if self._torn or self._open:
                self._close(array, number)
        if for_good:
            self.keep(number, array)
        else:
            self.put(number, array)
        if self._lent and find_storage(array) in self._lent:
            self._hold_apart(number, array)
        return number

    def find_number(self, array: Any) -> int | None:
        """The number of an array, or None where it has none."""
        key = identity(array)
        number = self._numbers.get(key)
        if number is not None and self.get(number) is array:
            return number
        if self._others:
            other = self._others.get(key)
            if other is not None and other[1]() is array and other[0] not in self._gone:
                return other[0]
        return None

    def find_torn(self, array: Any) -> Torn | None:
        """Return what is known of an array that was overwritten through another one, None of any other array.

        It is asked once: the caller gives the array a number with :meth:`number_input`, unless the operator that wrote
        is being recorded and reads what was there before.
        """
        torn = self._torn.get(identity(array)) if self._torn else None
        if torn is None or torn.array() is not array:
            return None
        if not torn.waits:
            del self._torn[identity(array)]
        return torn

    def expect(self, array: Any) -> None:
        """Take note that the next operator writes an array, and what was read there before.

        An array that nobody has read, of a tensor that was detached, holds the value of one that lies just as it does.
        """
        self._expected.add(identity(array))
        if self.find_number(array) is not None or identity(array) in self._torn:
            return
        self._place()
        storage = find_storage(array)
        for n, key in self._placed.get(storage, ()):
            now = self._now(n, key, storage)
            if type(now) is np.ndarray and _lies_as(now, array):
                self.same(array, n)
                return

    def settle_writes(self) -> None:
        """Take note that an operator was recorded: what it was expected to write and did not, nobody knows."""
        for _, open_writes in self._open.values():
            for write in open_writes:
                write.waits = False
        self._open.clear()
        self._expected.clear()

    def _close(self, array: Any, number: int) -> None:
        """Take note of what an operator wrote into an array."""
        self._torn.pop(identity(array), None)
        written, open_writes = self._open.pop(identity(array), (None, ()))
        if written is not None and written() is array:
            for write in open_writes:
                write.number, write.waits = number, False

    def number_input(self, array: Any) -> int:
        """A number for an array that was there, whoever made it."""
        number = self.new()
        self.keep(number, array)
        self._numbers[identity(array)] = number
        self._unplaced.append(number)
        if self._lent and find_storage(array) in self._lent:
            self._hold_apart(number, array)
        return number

    def same(self, array: Any, number: int) -> None:
        """Have another array be known by a number, too; the store does not hold it."""
        self._others[identity(array)] = number, weakref.ref(array)
        self._placed.setdefault(find_storage(array), []).append((number, identity(array)))
        self._entered += 1

    def double(self, array: Any, number: int) -> None:
        """Take note of a copy of the array of a value, made for an operator that is about to overwrite this one."""
        self.same(array, number)
        self._double = number, weakref.ref(array)

    # -- memory that others have --------------------------------------------------------------------------------------

    @property
    def is_lent(self) -> bool:
        """True if others may write any memory unheard."""
        return bool(self._lent)

    def lend(self, array: Any, how: str, loc: Location) -> None:
        """Hold copies of what is in the storage of an array from now on: others may write it unheard.

        Args:
            how: the method that gave it to them; empty where they had it before.
            loc: the line that gave it, or first read it.
        """
        if type(array) is not np.ndarray:
            return
        storage = find_storage(array)
        first = storage not in self._lent
        self._lent[storage] = how, loc, weakref.ref(array)
        if not first:
            return
        self._place()
        for number, key in self._placed.pop(storage, ()):
            now = self._now(number, key, storage)
            if type(now) is np.ndarray:
                self._hold_apart(number, now)

    def find_lender(self, array: Any) -> tuple[str, Location] | None:
        """Return how others came to have the memory of an array, and where; None where they have it not."""
        lent = self._lent.get(find_storage(array)) if self._lent else None
        return None if lent is None else lent[:2]

    def has_changed(self, number: int, array: Any) -> bool:
        """Return whether an array of a value holds other numbers than it did when it was read or made."""
        if number not in self._apart or self.find_lender(array) is None:
            return False
        return not _equal(self.get(number), array)

    def _forget_lent(self) -> None:
        """Forget storages that nobody reads any more."""
        self._lent = {k: lent for k, lent in self._lent.items() if k in self._placed or lent[2]() is not None}

    def forget_array(self, array: Any) -> None:
        """Know an array by no number any more."""
        self._others.pop(identity(array), None)

    def _hold_apart(self, number: int, array: Any) -> None:
        """Hold a copy of a value; its array stays known by its number."""
        if self.get(number) is array:
            self.replace(number, array.copy())
            self._apart.add(number)
        if self._numbers.get(identity(array)) == number:
            del self._numbers[identity(array)]
        self.same(array, number)

    # -- storage ------------------------------------------------------------------------------------------------------

    def overwrite(self, array: Any, by: Any, follows: bool) -> None:
        """*array* is about to be overwritten by the values of *by*, None where these are not known as one array.

        Args:
            follows: whether what it holds then is a value of the run, made of others; else it is a new beginning.
        """
        if not self._held and not self._others:
            return
        self._place()
        written = None if by is None else self.find_number(by)
        storage = find_storage(array)
        waits = identity(array) in self._expected
        self._expected.discard(identity(array))
        tearing = _Tearing(array, written, source.here() if follows else (), waits)
        before, stay = self._lift_all(array, storage, follows)
        if follows:
            self._tear(storage, tearing)
        # What the array holds from now on.
        self._torn.pop(identity(array), None)
        if follows and written is not None:
            if by.shape == array.shape and by.dtype == array.dtype:
                self._others[identity(array)] = written, weakref.ref(array)
                stay.append((written, identity(array)))
            else:
                self._torn[identity(array)] = Torn(
                    written, [_Tearing(array, None, (), False).view_by(array)], weakref.ref(array)
                )
        elif follows and before is not None:
            self._torn[identity(array)] = Torn(before, [tearing.view_by(array)], weakref.ref(array))
        if follows and written is None and tearing.writes:
            self._open[identity(array)] = weakref.ref(array), tearing.writes
        if stay:
            self._placed[storage] = stay

    def _lift_all(self, array: Any, storage: int, follows: bool) -> tuple[int | None, list[tuple[int, int]]]:
        """Copy what is held of a storage and shares elements with *array*, which is about to be overwritten.

        Returns:
            The number of *array* itself, if it has one, and what is held of other parts of the storage.
        """
        stay = []
        before = None
        for n, key in self._placed.pop(storage, ()):
            now = self._now(n, key, storage)
            if now is None:
                continue
            if type(now) is np.ndarray and now is not array and not np.may_share_memory(now, array):
                stay.append((n, key))
                continue
            self._lift(n, key, now)
            if now is array:
                before = n
            elif follows:
                self._torn[key] = Torn(n, [], weakref.ref(now))
        return before, stay

    def _tear(self, storage: int, tearing: _Tearing) -> None:
        """Take note of a write in all arrays of a storage that it changed and that have no number any more."""
        for key, torn in list(self._torn.items()):
            now = torn.array()
            if now is None:
                del self._torn[key]
            elif now is not tearing.array and find_storage(now) == storage and np.may_share_memory(now, tearing.array):
                torn.writes.append(tearing.view_by(now))

    def _now(self, number: int, key: int, storage: int) -> Any:
        """The array in a storage that holds a value, the store's or another one; None if none does now."""
        held = self.get(number)
        if held is not None and find_storage(held) == storage:
            return held
        other = self._others.get(key)
        now = other[1]() if other is not None and other[0] == number else None
        return now if now is not None and find_storage(now) == storage else None

    def _lift(self, number: int, key: int, now: Any) -> None:
        """Have the store hold a copy of the array *now*, if it holds that one, and know the array by no number."""
        holds_it = self.get(number) is now
        if holds_it:
            self.replace(number, self._copy(number, now) if type(now) is np.ndarray else now.dense())
        if self._numbers.get(key) == number:
            del self._numbers[key]
        self._others.pop(key, None)

    def _copy(self, number: int, array: Any) -> Any:
        """Return the copy of a value that was made last, if it is of *array*; else a new one."""
        double = self._double[1]() if self._double is not None and self._double[0] == number else None
        self._double = None
        if type(double) is np.ndarray and (double.shape, double.dtype) == (array.shape, array.dtype):
            return double
        return array.copy()

    def _place(self) -> None:
        get = self.get
        for n in self._unplaced:
            array = get(n)
            if array is not None:
                self._placed.setdefault(find_storage(array), []).append((n, identity(array)))
                self._entered += 1
        self._unplaced.clear()

    def release(self, number: int) -> None:
        """Let go of a value that somebody may ask for; if somebody else holds its array, that stays known."""
        array = super().drop(number)
        key = identity(array)
        if array is not None and self._numbers.get(key) == number:
            del self._numbers[key]
            if not isinstance(array, np.generic):  # no tensor's
                self.same(array, number)

    def drop(self, number: int) -> Any:
        """Let go of a value: its array, if somebody still holds it, is a new beginning when it is read."""
        array = super().drop(number)
        if array is None or number in self._apart:
            self._apart.discard(number)
            self._gone.add(number)
        elif self._numbers.get(identity(array)) == number:
            del self._numbers[identity(array)]
        return array

    def arrays_still_held(self) -> dict[int, Any]:
        """The values that the store let go of and that somebody still holds, with an array of each."""
        return {n: array() for n, array in self._others.values() if array() is not None and n not in self._gone}

    def clear_up(self) -> None:
        """Forget arrays that are gone, when they have become many."""
        noted = self._unplaced, self._others, self._torn, self._gone
        if self._entered + sum(map(len, noted)) < 2 * self._needed + _SLACK:
            return
        self._others = {k: v for k, v in self._others.items() if v[1]() is not None and v[0] not in self._gone}
        self._numbers = {identity(array): n for n, array in self.items() if self._numbers.get(identity(array)) == n}
        self._gone.clear()
        self._torn = {k: v for k, v in self._torn.items() if v.array() is not None}
        self._placed.clear()
        self._unplaced = list(self._held)
        for key, (number, array) in self._others.items():
            self._placed.setdefault(find_storage(array()), []).append((number, key))
        self._forget_lent()
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


class _Tearing:
    """A write, for all arrays that see it.

    Args:
        array: that is written.
        number: of the value that it gets; None where nobody knows.
        loc: the line that writes.
        waits: whether the operator that writes is recorded next.
    """

    def __init__(self, array: Any, number: int | None, loc: Location, waits: bool) -> None:
        self.array = array
        self.writes: list[Write] = []
        self._number, self._loc, self._waits = number, loc, waits

    def view_by(self, array: Any) -> Write:
        """Return the write as *array* sees it."""
        if type(array) is not np.ndarray or type(self.array) is not np.ndarray:
            write = Write(self._number, None, None, self._loc)
        else:
            write = lay_out(array, self.array, self._number, self._loc)
        write.waits = self._waits
        self.writes.append(write)
        return write


def _equal(one: Any, other: Any) -> bool:
    """Return whether two arrays hold the same numbers; NaN is the same as NaN."""
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def _lies_as(one: Any, other: Any) -> bool:
    """Return whether two arrays of one storage are the same elements of it."""
    return (
        one.shape == other.shape
        and one.strides == other.strides
        and one.dtype == other.dtype
        and bool(one.__array_interface__["data"] == other.__array_interface__["data"])
    )
