"""Copies of tensors that a freed graph may need again, and which tensors they are copies of.

What a node retained is copied when it is freed, as a step that overwrites the parameters mostly follows. A tensor that
several operators read is copied once, and stays one tensor to whoever looks at the graph.
"""

from __future__ import annotations

import weakref
from typing import NamedTuple

from ..core import watch
from ..core.identity import identity
from .borrowed_arrays import borrow, can_borrow
from .tensor import Tensor


class _Copy(NamedTuple):
    """A copy, as the tensor was when it had been written *writes* times."""

    original: weakref.ref[Tensor]
    writes: int
    copy: weakref.ref[Tensor]


_copies: dict[int, _Copy] = {}
_originals: dict[int, tuple[weakref.ref[Tensor], weakref.ref[Tensor]]] = {}
"""By identity: the copy, and what it is a copy of."""


def copy_of(t: Tensor) -> Tensor:
    """A tensor with the values of *t* and its place on the tape."""
    if t.node is not None:
        return _hold(t)
    known = _copies.get(identity(t))
    copy = known.copy() if known is not None and known.writes == t.inplace_version else None
    return _remember(t) if copy is None else copy


def _hold(t: Tensor) -> Tensor:
    """Return a tensor with the array of *t*, which is copied before it is written, or at once."""
    if not can_borrow(t.array):
        return t.placed(t.array.copy())
    copy = t.placed(t.array)
    borrow(copy)
    return copy


def _remember(t: Tensor) -> Tensor:
    copy = _hold(t)
    copy.loc = t.loc
    mine, its = identity(t), identity(copy)
    original = weakref.ref(t, lambda _: _copies.pop(mine, None))
    _copies[mine] = _Copy(original, t.inplace_version, weakref.ref(copy))
    _originals[its] = weakref.ref(copy, lambda _: _originals.pop(its, None)), original
    if watch.noting:
        watch.note(watch.SetAside(t, copy))
    return copy


def original(t: Tensor) -> Tensor:
    """Return the tensor that *t* is a copy of; itself if it is none, or if nobody holds that any more."""
    known = _originals.get(identity(t))
    first = None if known is None else known[1]()
    return t if first is None else first
