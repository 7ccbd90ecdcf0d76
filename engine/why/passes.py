"""Backward passes that fill :class:`~gradtool.engine.why.slopes.Slopes`: over a tape, and over a program's values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import watch
from ..autodiff.values import Value, variable_of
from ..eager import backward as sweeping
from ..eager.journal import Call, Journal
from ..eager.tape import GradNode, each
from ..eager.tensor import Tensor
from ..ir.operator import Operator
from ..kernels.backend import backend
from ..ops import rare
from .of_program import ProgramReasons
from .slopes import Slopes, Visit

Arrays = Mapping[str, Any]


def over_tape(
    journal: Journal, loss: Tensor, constants: Sequence[Tensor] = (), keep: Collection[int] = ()
) -> Slopes[int, Call]:
    """One backward pass from *loss* over the calls of *journal*; no ``.grad`` is touched.

    Args:
        constants: tensors through which no gradient flows.
        keep: the numbers of the values whose parts are wanted as arrays.
    """
    by_key = {c.key: c for c in journal.calls if c.key is not None}
    slopes: Slopes[int, Call] = Slopes([journal.number(loss)], keep)

    def look(event: Any) -> None:
        if not isinstance(event, watch.Pulled):
            return
        node, gradients = event.node, event.gradients
        call = by_key.get(node.key)
        if call is None:
            return
        given: list[Any] = [None] * len(call.reads)
        wanted = [False] * len(call.reads)
        places = (i for i, passes in enumerate(call.passes) if passes)
        for i, place, g in zip(places, node.wrt, gradients, strict=False):
            wanted[i] = place is not None
            given[i] = None if place is None else g
        arrived = {journal.place(node.key, j): g for j, g in enumerate(event.arriving)}
        slots = _slots(node.op, len(call.reads))
        slopes.visit(Visit(call, call.type, node.attrs, call.reads, slots, arrived, given, wanted, lambda: _kept(node)))

    work = sweeping.Pass(retain_graph=True, fill=False, constants=frozenset(t.on_tape() for t in constants))
    work.seed(loss, None)
    with watch.unwatched(), watch.watched(look):
        work.run()
    return slopes


def _slots(op: Any, count: int) -> list[str]:
    """The slot of each of *count* operands laid flat; a list slot holds what the others leave."""
    inputs = getattr(op, "inputs", None)
    if inputs is None:
        return [f"X{i}" for i in range(count)]
    spare = count - sum(not s.many for s in inputs)
    found: list[str] = []
    for s in inputs:
        found += [s.name] * (max(spare, 0) if s.many else 1)
        spare = 0 if s.many else spare
    return [*found, *("" for _ in range(count - len(found)))][:count]


def _kept(node: GradNode) -> tuple[Arrays, Arrays]:
    """The forward arrays that a node retains, by slot."""
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    rule = node.op.rule
    slots = getattr(node.op, "inputs", None)
    if rule is None or slots is None:
        return inputs, outputs
    for (kind, place, like, _), value in zip(rule.reads, node.retained(), strict=True):
        if value is None or like or kind == "dout":
            continue
        arrays = each(value, lambda v: v.array if isinstance(v, Tensor) else v)
        if kind == "in":
            inputs[slots[place].name] = arrays
        else:
            outputs[node.op.outputs[place].name] = arrays
    return inputs, outputs


def over_program(
    reasons: ProgramReasons,
    arrays: Arrays,
    keep: Collection[Value] = (),
    blocks: Mapping[Operator, Sequence[Any]] = MappingProxyType({}),
) -> Slopes[Value, Operator]:
    """One backward pass over a program whose forward values are known.

    Args:
        reasons: what the pass reaches.
        arrays: the values of the variables, by name.
        keep: the values whose parts are wanted as arrays.
        blocks: the gradients that operators with blocks give, by what they read; those have no rules over arrays.
    """
    slopes: Slopes[Value, Operator] = Slopes(reasons.asked, keep)
    k = backend("numpy").ops
    for value in reasons.asked:
        array = arrays[variable_of(value).name]
        slopes.sums[value] = np.ones(array.shape, array.dtype)
    with np.errstate(all="ignore"):
        for op, read, written, passes, takes in reasons.flow.back():
            arriving = {
                w: slopes.sums.get(w) for w, t in zip(written, takes, strict=False) if t and w in reasons.reached
            }
            if not any(g is not None for g in arriving.values()):
                continue
            wanted = [p and v in reasons.reached and v is not None for v, p in zip(read, passes, strict=False)]
            if op.op.holds_blocks:
                given = list(blocks.get(op, [None] * len(read)))
            else:
                given = _pulled(k, op, read, wanted, written, arriving, arrays)
            slots = _slots(op.op, len(read))
            slopes.visit(
                Visit(op, op.type, op.attrs, read, slots, arriving, given, wanted, lambda op=op: _forward(op, arrays))  # type: ignore[misc]
            )
    return slopes


def _pulled(
    k: Any,
    op: Operator,
    read: Sequence[Value | None],
    wanted: Sequence[bool],
    written: Sequence[Value],
    arriving: Mapping[Value, Any],
    arrays: Arrays,
) -> list[Any]:
    """The gradients of one operator, by what it reads."""
    rule = op.op.rule
    assert rule is not None
    if not any(wanted):
        return [None] * len(read)
    at = iter(written)
    values = [each(v, lambda _: next(at)) if v is not None else None for v in op.outputs]

    def arrived(v: Value, late: bool) -> Any:
        g = arriving.get(v)
        if g is None and not (rule.takes_none or late):
            shape = arrays[variable_of(v).name]
            return np.zeros(shape.shape, shape.dtype)
        return g

    args: list[Any] = []
    for kind, place, _, late in rule.reads:
        side = op.inputs if kind == "in" else values if kind == "dout" else op.outputs
        entry = side[place] if place < len(side) else None
        if entry is None:
            args.append(None)
        elif kind == "dout":
            many = isinstance(op.outputs[place], tuple)
            args.append([arrived(v, late) for v in entry] if many else arrived(entry, late))  # type: ignore[union-attr, arg-type]
        else:
            args.append(each(entry, lambda v: None if v is None else arrays[v.name]))
    flags = iter(wanted)
    by_slot: list[list[bool]] = []
    for v in op.inputs:
        by_slot.append([next(flags) for _ in v] if isinstance(v, tuple) else [next(flags)])
    groups = rare.pulled(op.op, k, args, [by_slot[p] if p < len(by_slot) else [False] for p in rule.wrt], op.attrs)
    found = dict(zip(rule.wrt, groups, strict=True))
    given: list[Any] = []
    for i, flags_of in enumerate(by_slot):
        group = found.get(i) or [None] * len(flags_of)
        given += [g if w else None for g, w in zip(group, flags_of, strict=True)]
    return given


def _forward(op: Operator, arrays: Arrays) -> tuple[Arrays, Arrays]:
    """All that an operator reads and makes, by slot."""

    def held(slots: Any, operands: Any) -> dict[str, Any]:
        found = {}
        for slot, value in zip(slots, operands, strict=False):
            if value is not None:
                found[slot.name] = each(value, lambda v: arrays.get(v.name) if v is not None else None)
        return found

    return held(op.op.inputs, op.inputs), held(op.op.outputs, op.outputs)
