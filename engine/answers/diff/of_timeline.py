"""A run as an outline, so that two runs are aligned as two graphs are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core import source
from ...runs.timeline import NOBODY, Entry, Timeline
from .outline import (
    CONSTANT,
    DATA,
    NOTHING,
    PARAMETER,
    Outline,
    OutlineLeaf,
    OutlineOperand,
    OutlineOperation,
    attributes_of,
)

_ROLES = {"parameter": PARAMETER, "data": DATA}


def outline(run: Timeline, plain: Callable[[Any], Any] = repr) -> Outline:
    """The operators of a run; positions are those of its entries.

    Args:
        plain: makes of an attribute's value one of JSON's types.
    """
    leaves: dict[str, OutlineLeaf] = {}
    operations = [_operation(run, entry, leaves, plain) for entry in run.entries]
    loss = "" if run.loss is None else run.values[run.loss].name
    return Outline(run.title, run.mode, loss, min(run.begin, len(operations)), operations, leaves)


def _operation(
    run: Timeline, entry: Entry, leaves: dict[str, OutlineLeaf], plain: Callable[[Any], Any]
) -> OutlineOperation:
    operands = []
    for slot, number in entry.reads:
        value = run.values[number]
        if value.maker == NOBODY or value.maker >= entry.index:
            leaf = _leaf(run, number)
            leaves.setdefault(leaf.name, leaf)
            operands.append(OutlineOperand(slot, NOTHING, leaf.name))
        else:
            operands.append(OutlineOperand(slot, value.maker, value.slot))
    pair = entry.pair if entry.backward else NOTHING
    values = _attributes(entry)
    attributes = None if values is None else attributes_of(values, plain)
    return OutlineOperation(entry.name, entry.type, entry.layer, 0, attributes, operands, pair, source.short(entry.loc))


def _attributes(entry: Entry) -> Mapping[str, Any] | None:
    """Those of what its kernel follows from, which a saved session holds, too; else of the operator, if it is known."""
    if entry.binding is not None:
        return entry.binding.attrs
    return None if entry.origin is None else getattr(entry.origin, "attrs", None) or {}


def _leaf(run: Timeline, number: int) -> OutlineLeaf:
    value, array = run.values[number], run.store.get(number)
    shape = tuple(getattr(array, "shape", ()))
    role = _ROLES.get(value.role, CONSTANT)
    results = [run.results[name] for name in (value.name, *value.names) if name in run.results]
    gradient = "" if not results else "no gradient" if results[0] is None else "ok"
    return OutlineLeaf(value.name, role, shape, str(getattr(array, "dtype", "")), gradient)
