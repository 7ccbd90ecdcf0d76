"""The backward pass over the values of a static program that fills :class:`~gradtool.engine.why.slopes.Slopes`.

Gradients are taken from the rules, operator by operator. Where an operator runs a block, the pass goes through the block
once for each of its runs, the last one first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..autodiff.values import Value, variable_of
from ..ir.operator import Operator
from ..kernels.backend import backend
from ..ops import rare
from .of_program import Inside, ProgramReasons
from .passes import slots_of
from .runs import Run, flat
from .slopes import Blame, Slopes, Visit
from .verdicts import Verdict
from .zeros import Killer, not_run

Opaque = Mapping[Operator, Sequence[Any]]


def over_program(
    reasons: ProgramReasons,
    run: Run,
    seeds: Mapping[Value, Any],
    keep: Collection[Value] = (),
    opaque: Opaque = MappingProxyType({}),
) -> Slopes[Value, Operator]:
    """One backward pass over a program that ran.

    Args:
        reasons: what the pass reaches.
        run: what its operators read and made.
        seeds: the gradients to start from.
        keep: the values whose parts are wanted as arrays.
        opaque: the gradients that operators give whose blocks cannot be gone through, by what they read.
    """
    slopes: Slopes[Value, Operator] = Slopes(reasons.asked, keep)
    slopes.sums.update(seeds)
    with np.errstate(all="ignore"):
        _sweep(reasons, run, slopes, opaque)
    return slopes


def _sweep(reasons: ProgramReasons, run: Run, slopes: Slopes[Value, Operator], opaque: Opaque) -> None:
    flow = reasons.flow
    for op, read, written, passes, takes in flow.back():
        arriving = {w: slopes.sums.get(w) for w, t in zip(written, takes, strict=False) if t and w in reasons.reached}
        if not any(g is not None for g in arriving.values()):
            continue
        wanted = [p and v in reasons.reached and v is not None for v, p in zip(read, passes, strict=False)]
        slots = slots_of(op.op, len(read))
        inside = flow.inside.get(op)
        blame = None
        if inside is not None:
            given, blame = _through_block(op, inside, reasons, arriving, run.inner.get(op, []), opaque)
        elif op.op.holds_blocks:
            given = list(opaque.get(op, [None] * len(read)))
        elif op in run.held:
            given = _pulled(op, wanted, written, arriving, run)
        else:
            continue

        def forward(op: Operator = op) -> tuple[dict[str, Any], dict[str, Any]]:
            return _by_slot(op, run)

        slopes.visit(Visit(op, op.type, op.attrs, read, slots, arriving, given, wanted, forward, blame))


def _through_block(
    op: Operator,
    inside: Inside,
    outer: ProgramReasons,
    arriving: Mapping[Value, Any],
    runs: Sequence[Run],
    opaque: Opaque,
) -> tuple[list[Any], Any]:
    """The gradients that an operator with a block gives by what it reads, and what to say of those that are zero."""
    reasons, carried = inside.reasons, inside.region.carried
    current, written = reasons.flow.values.current, outer.flow.values.written
    slopes: Slopes[Value, Operator] = Slopes(reasons.asked)
    carry = [None if c.result is None else arriving.get(written(op, c.result)) for c in carried]
    for run in reversed(runs):
        for c, g in zip(carried, carry, strict=True):
            if c.end is not None and g is not None:
                slopes.sums[current(c.end)] = g
        _sweep(reasons, run, slopes, opaque)
        carry = [None if c.start is None else slopes.sums.pop(inside.start(c.start), None) for c in carried]
    begun = {c.before: g for c, g in zip(carried, carry, strict=True) if c.before is not None}
    read = list(flat(op.inputs))
    given = [None if v is None else begun[v] if v in begun else slopes.sums.get(inside.start(v)) for v in read]

    def blame(position: int) -> tuple[Killer, Blame[Value, Operator] | None]:
        if not runs:
            return not_run(op.type), None
        death = slopes.death(inside.start(read[position]))
        if death is None:
            return Killer(Verdict.PRUNED, "what ran of its block did not use it"), None
        killer = death.killer or Killer(Verdict.CANCELLED, "its parts cancel")
        return killer, Blame(reasons, slopes, death)

    return given, blame


def _pulled(
    op: Operator,
    wanted: Sequence[bool],
    written: Sequence[Value],
    arriving: Mapping[Value, Any],
    run: Run,
) -> list[Any]:
    """The gradients of one operator, by what it reads."""
    rule = op.op.rule
    assert rule is not None
    if not any(wanted):
        return [None] * len(wanted)
    inputs, outputs = run.held[op]
    at = iter(written)
    places = [
        [next(at) for e in v if e is not None] if isinstance(v, tuple) else None if v is None else next(at)
        for v in op.outputs
    ]

    def arrived(value: Any, array: Any, late: bool) -> Any:
        g = None if value is None else arriving.get(value)
        return np.zeros(array.shape, array.dtype) if g is None and not (rule.takes_none or late) else g

    args: list[Any] = []
    for kind, place, _, late in rule.reads:
        side = inputs if kind == "in" else outputs
        entry = side[place] if place < len(side) else None
        if kind == "dout" and entry is not None:
            value = places[place]
            many = isinstance(value, list)
            entry = (
                [arrived(w, a, late) for w, a in zip(value, entry, strict=False)]
                if many
                else arrived(value, entry, late)
            )
        args.append(entry)
    flags = iter(wanted)
    by_slot = [[next(flags) for _ in v] if isinstance(v, tuple) else [next(flags)] for v in op.inputs]
    k = backend("numpy").ops
    groups = rare.pulled(op.op, k, args, [by_slot[p] if p < len(by_slot) else [False] for p in rule.wrt], op.attrs)
    found = dict(zip(rule.wrt, groups, strict=True))
    given: list[Any] = []
    for i, flags_of in enumerate(by_slot):
        group = found.get(i) or [None] * len(flags_of)
        given += [g if w else None for g, w in zip(group, flags_of, strict=True)]
    return given


def _by_slot(op: Operator, run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    """All that an operator read and made."""
    inputs, outputs = run.held.get(op, ((), ()))
    return (
        {s.name: a for s, a in zip(op.op.inputs, inputs, strict=False) if a is not None},
        {s.name: a for s, a in zip(op.op.outputs, outputs, strict=False) if a is not None},
    )
