"""A run as an outline, so that two runs are aligned as two graphs are."""

from __future__ import annotations

from collections.abc import Mapping

from ...runs.timeline import NOBODY, Entry, Timeline
from .outline import CONSTANT, DATA, NOTHING, PARAMETER, Leaf, Operand, Operation, Outline

_ROLES = {"parameter": PARAMETER, "data": DATA}


def outline(run: Timeline) -> Outline:
    """The operators of a run; positions are those of its entries."""
    leaves: dict[str, Leaf] = {}
    operations = [_operation(run, entry, leaves) for entry in run.entries]
    loss = "" if run.loss is None else run.values[run.loss].name
    return Outline(run.title, run.mode, loss, min(run.begin, len(operations)), operations, leaves)


def _operation(run: Timeline, entry: Entry, leaves: dict[str, Leaf]) -> Operation:
    operands = []
    for slot, number in entry.reads:
        value = run.values[number]
        if value.maker == NOBODY or value.maker >= entry.index:
            leaf = _leaf(run, number)
            leaves.setdefault(leaf.name, leaf)
            operands.append(Operand(slot, NOTHING, leaf.name))
        else:
            operands.append(Operand(slot, value.maker, value.slot))
    pair = entry.pair if entry.backward else NOTHING
    return Operation(entry.name, entry.type, entry.layer, 0, _attributes(entry), operands, pair)


def _attributes(entry: Entry) -> Mapping[str, str]:
    attributes = getattr(entry.origin, "attrs", None) or {}
    return {str(name): repr(value) for name, value in attributes.items()}


def _leaf(run: Timeline, number: int) -> Leaf:
    value, array = run.values[number], run.store.get(number)
    shape = tuple(getattr(array, "shape", ()))
    return Leaf(value.name, _ROLES.get(value.role, CONSTANT), shape, str(getattr(array, "dtype", "")))
