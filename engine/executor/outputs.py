"""Results of a run: fetched values, and those of the scope."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..core.errors import ArgumentTypeError
from ..core.identity import identity
from ..core.rows import RowUpdate
from ..core.tensor_array import TensorArray
from ..ir.variable import Variable
from ..kernels.backend import Backend
from .plan import Plan


class FetchTypeError(ArgumentTypeError):
    """An entry of ``fetch_list`` that is neither a Variable nor a name."""


class FetchedTensor:
    """A fetched value when ``return_numpy=False``; converts with ``np.array``.

    Attributes:
        value: an array, of NumPy's or of the backend's: what a device has computed stays there until it is converted.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def shape(self) -> list[int]:
        return list(self.value.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value, dtype=dtype, copy=True)


def handle(value: Any) -> Any:
    """A fetched value as a handle; a list of them for an array of tensors."""
    return [handle(v) for v in value] if isinstance(value, list) else FetchedTensor(value)


def handles(values: list[Any]) -> list[Any]:
    """Fetched values as handles."""
    return [*map(handle, values)] if list in set(map(type, values)) else [*map(FetchedTensor, values)]


def fetch_names(fetch_list: Any) -> list[str]:
    """The names asked for, nested lists and pairs laid out in order."""
    if fetch_list.__class__ is list and all(issubclass(kind, Variable) for kind in set(map(type, fetch_list))):
        return [v.name for v in fetch_list]
    listed: list[str] = []
    todo = [fetch_list] if fetch_list is not None else []
    while todo:
        entry = todo.pop()
        if isinstance(entry, Variable):
            listed.append(entry.name)
        elif isinstance(entry, str):
            listed.append(entry)
        elif isinstance(entry, (list, tuple)):
            todo += entry[::-1]
        else:
            raise FetchTypeError(f"fetch_list holds Variables and names, but received {type(entry).__name__}.")
    return listed


def fetch_values(plan: Plan, regs: Sequence[Any], kept: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the requested values as arrays that are the caller's own.

    Args:
        kept: which arrays may stay on the device as they are, since nothing is ever written to them.
    """
    values = [regs[r] for r in plan.fetches]
    if kept is not None and len(set(map(type, values))) == 1 and kept(values[0]):
        return values
    shared = {identity(regs[r]) for r in plan.outside}
    shared |= plan.constant_ids
    fetched: list[Any] = []
    for value in values:
        if value is None or (kept is not None and kept(value)):
            fetched.append(value)
        else:
            fetched.append(_own(value, shared))
        shared.add(identity(value))
    return fetched


def store(plan: Plan, regs: Sequence[Any], values: dict[str, Any], backend: Backend) -> None:
    """Write persistable variables back.

    A value that stays must not change when the caller reuses the array that was fed, nor with another variable.
    """
    if not plan.stores:
        return
    taken = {identity(regs[r]) for r in plan.arrivals}
    updates = []
    for name, r in plan.stores.items():
        value = regs[r]
        if backend.kept(value):
            values[name] = value
        elif isinstance(value, RowUpdate):
            updates.append((name, value))
            continue
        else:
            values[name] = _own(value, taken)
        taken.add(identity(value))
    for name, update in updates:
        if update.base is values.get(name):
            update.apply_to(values[name])  # in place: nothing that reads the table before is left
        else:
            values[name] = update.dense()


def _own(value: Any, others: Collection[int]) -> Any:
    """*value* as an array that shares its storage with nothing, least of all with what *others* identify.

    Of an array of tensors, the list of them.
    """
    if isinstance(value, TensorArray):
        return [None if v is None else np.array(v) for v in value.listed()]
    array = np.asarray(value)
    return array.copy() if identity(value) in others or array.base is not None else array
