"""The backward part of a training program in Paddle's new IR, which is left out when the program is read.

It is the operators whose names say that they are gradients, and all that computes from them. The loss is the one that
the part began with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .pir_entries import Entries

_SEED: Final = "full_like"
"""The operator that begins a backward part."""
_OF_GRADIENTS: Final = frozenset({"create_array_like", "tensor_to_array"})
"""Operators that only backward parts have, where arrays are differentiated."""


def backward_part(file: Entries, ops: Sequence[Any]) -> tuple[set[int], list[int]]:
    """The places of gradient operators and of what is computed from a seed, ones like a loss; and the losses' numbers.

    Ones that are used in the forward part lead on to the seed, for the loss is computed from them.
    """
    to_gradients: set[int] = set()
    to_seeds: set[int] = set()
    tainted: set[int] = set()
    seeds: list[int] = []
    for entry in reversed(ops):
        name, makes, reads = file.name_of(entry), file.all_makes(entry), file.all_reads(entry)
        if _is_backward(file, entry) or not to_gradients.isdisjoint(makes):
            to_gradients.update(reads)
        if name == _SEED and not to_gradients.isdisjoint(makes) and to_seeds.isdisjoint(makes):
            tainted.update(makes)
            seeds += reads[:1]
        if name == _SEED or not to_seeds.isdisjoint(makes):
            to_seeds.update(reads)
    places = set()
    for i, entry in enumerate(ops):
        touched = not tainted.isdisjoint((*file.makes(entry), *file.all_reads(entry)))
        if touched or _is_backward(file, entry):
            places.add(i)
            tainted.update(file.all_makes(entry))
    return places, seeds


def _is_backward(file: Entries, entry: Any) -> bool:
    """Return whether an operator, or one in its regions, is one that computes gradients."""
    names = [file.name_of(e) for e in (entry, *file.inner_operations(entry))]
    return any(name.endswith("_grad") or name in _OF_GRADIENTS for name in names)
