"""Arrays that are held in place of copies of them, until somebody writes their storage.

What a freed graph may need again is mostly never written: it is held as it is, and copied right before a write. Storage
that others may write unheard is copied at once.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..core.identity import identity

LEAST = 1 << 14
"""Bytes below which a copy takes less than the note that an array is borrowed."""


class Borrowed:
    """Holds an array where a plain value stands; a tensor is the holder of its own."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array


holders: dict[int, list[weakref.ref[Any]]] = {}
"""By storage, those that hold arrays of it; empty as long as nobody borrows."""

_lent: set[int] = set()
"""Storages that others may write unheard."""


def find_storage(array: Any) -> int:
    """Return what all arrays of one storage have in common, and no others."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    # Each array of a tensor of PyTorch has a tensor of its own for an owner.
    storage = getattr(array, "untyped_storage", None)
    return identity(array) if storage is None else int(storage().data_ptr())


def can_borrow(array: Any) -> bool:
    """Return whether an array may be held as it is: a large one, whose writes are all heard of."""
    return type(array) is np.ndarray and array.nbytes >= LEAST and find_storage(array) not in _lent


def borrow(holder: Any) -> None:
    """Have *holder*, which has an ``array``, get a copy of it before its storage is written."""
    storage = find_storage(holder.array)
    there = holders.setdefault(storage, [])

    def forget(reference: weakref.ref[Any]) -> None:
        there[:] = [r for r in there if r is not reference]  # tensors are compared element by element
        if not there and holders.get(storage) is there:
            del holders[storage]

    there.append(weakref.ref(holder, forget))


def lift(array: Any) -> None:
    """Give copies to those that hold arrays of a storage, elements of which are about to be written in *array*."""
    storage = find_storage(array)
    there = holders.pop(storage, None)
    if there is None:
        return
    copies: dict[int, Any] = {}
    stay: list[weakref.ref[Any]] = []
    for reference in there:
        holder = reference()
        if holder is None:
            continue
        held = holder.array
        if not np.may_share_memory(held, array):
            stay.append(reference)
            continue
        key = identity(held)
        if key not in copies:
            copies[key] = held.copy()
        holder.array = copies[key]
    there[:] = stay
    if stay:
        holders[storage] = there


def lend(array: Any) -> None:
    """Note that others may write the storage of an array from now on, and that nobody hears of it."""
    lift(array)
    _lent.add(find_storage(array))
