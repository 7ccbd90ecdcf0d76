"""Entries of dynamic mode: what an operator reads and makes, by slots and numbers, and what runs it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..core import names
from ..ops.opdef import Trait
from . import operator_reruns
from .bound_kernels import MASKED, NOT_DRAWN_AGAIN, draws_nothing, kernel
from .calls import CallRecord, Pull, flat
from .places import TapeValues
from .store import Store
from .timeline import NOBODY, Entry


def forward(entry: Entry, call: CallRecord, values: Store, failed: bool = False) -> None:
    """Wire the entry of a forward operator.

    Args:
        values: hold what it drew for good, if it draws random numbers.
        failed: it raised, and what it would have made is not there.
    """
    entry.operands = call.operands
    entry.reads = _reads_in_order(call.op.inputs, call.operands)
    entry.outs = [*_outs(call.op.outputs, call.outs)]
    if call.fixed:
        entry.fixed = call.fixed
        return
    entry.binding = operator_reruns.bind_call(call, padded=failed)
    entry.kernel = kernel(entry.binding)
    is_random = call.op.trait & Trait.RANDOM and not draws_nothing(call.op, call.attrs)
    if is_random and entry.kernel is not None and not failed:
        _as_drawn(entry, call, values)


def _as_drawn(entry: Entry, call: CallRecord, values: Store) -> None:
    """Have a random operator make again what it drew: its mask is an operand, or nothing can run it again."""
    arrays = {n: values.get(n) for _, n in entry.outs if n >= 0}
    for n, array in arrays.items():
        if array is not None:
            values.keep(n, array)
    mask = entry.outs[1][1] if len(entry.outs) > 1 else NOBODY
    if entry.binding is not None and call.op.type in MASKED and arrays.get(mask) is not None:
        entry.binding = replace(entry.binding, mask=mask)
        entry.kernel = kernel(entry.binding, arrays[mask])
    else:
        entry.kernel, entry.binding = None, None
        entry.fixed = NOT_DRAWN_AGAIN


def backward(entry: Entry, pull: Pull, places: TapeValues | None) -> None:
    """Wire the entry of a gradient operator.

    Args:
        places: know what the user's own rule depends on and does not take, and what forward read; None where no
            operator runs again alone.
    """
    node = pull.node
    rule, grad_op = node.op.rule, getattr(node.op, "grad_op", None)
    assert rule is not None
    mask = [p is not None for p in pull.wrt]
    if pull.operands is None or grad_op is None:
        read = None
        if places is not None and grad_op is None and getattr(rule, "again", None) is not None:
            read = places.operands_of(node)
        entry.operands = [*pull.arriving, *(pull.saved if read is None else read)]
        entry.needs = places.needs(node, pull) if read is None and places is not None else ()
        entry.reads = [(f"Out{i}{names.GRAD}", n) for i, n in enumerate(pull.arriving) if n is not None]
        entry.outs = [(f"X{i}{names.GRAD}", n) for i, n in enumerate(pull.outs)]
        if read is not None:
            entry.kernel = operator_reruns.bind_framework(node, mask, len(pull.arriving))
        elif grad_op is None:
            entry.kernel = operator_reruns.bind_rule(node, mask)
        else:
            entry.fixed = "what it reads was freed, or hooks packed it"
        return
    sizes = node.wrt_sizes if node.wrt_sizes is not None else [None] * len(rule.wrt)
    entry.operands = pull.operands
    entry.reads = _reads_in_order(grad_op.inputs, pull.operands)
    slots = [s.name for s, n in zip(grad_op.outputs, sizes, strict=True) for _ in range(1 if n is None else n)]
    entry.outs = list(zip(slots, pull.outs, strict=True))
    entry.binding = operator_reruns.bind_gradient(node, mask, sizes)
    entry.kernel = kernel(entry.binding)


def _reads_in_order(slots: Sequence[Any], operands: Sequence[Any]) -> list[tuple[str, int]]:
    """Slot and number of what is read."""
    return [(s.name, n) for s, o in zip(slots, operands, strict=False) for n in flat([o])]


def _outs(slots: Sequence[Any], outs: Sequence[Any]) -> Iterator[tuple[str, int]]:
    for s, o in zip(slots, outs, strict=False):
        for n in o if isinstance(o, list) else (o,):
            yield s.name, n
