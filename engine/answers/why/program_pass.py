"""The backward pass over the values of a static program that fills :class:`~gradtool.engine.answers.why.slopes.Slopes`.

Gradients are taken from the rules, operator by operator. Where an operator runs a block, the pass goes through the
block once for each of its runs, the last one first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ...autodiff.values import Value, variable_of
from ...core.source import NOWHERE, Location
from ...core.spec import in_use
from ...core.tensor_array import EMPTY, TensorArray
from ...executor.plan import Step
from ...ir.operator import Operator
from ...ir.variable import Variable
from ...kernels.choice import reference
from ...ops import rare_types
from ...ops.opdef import OpDef
from ...ops.rules import GradientRule, WrittenRule
from ...runs.of_program import flatten
from ...runs.rounds import Round
from .levels import measure
from .of_program import BlockReasons, ProgramReasons
from .slopes import Blame, Slopes, Use, Visit
from .tape_pass import slots_of
from .verdicts import Verdict
from .zeros import Killer, not_run

Opaque = Mapping[Operator, Sequence[Any]]


def sweep_program(
    reasons: ProgramReasons,
    run: Round[Step],
    seeds: Mapping[Value, Any],
    keep: Collection[Value] = (),
    opaque: Opaque = MappingProxyType({}),
) -> Slopes[Value, Operator]:
    """One backward pass over a program that ran.

    Args:
        reasons: what the pass reaches.
        run: what its operators read and made, with the runs of its blocks.
        seeds: the gradients to start from.
        keep: the values whose parts are wanted as arrays.
        opaque: the gradients that operators give whose blocks cannot be gone through, by what they read.
    """
    slopes: Slopes[Value, Operator] = Slopes(reasons.asked, keep)
    slopes.sums.update(seeds)
    with np.errstate(all="ignore"):
        _sweep(reasons, _Ran(run), slopes, opaque)
    return slopes


class _Ran:
    """One run of a block, with the arrays of its operators.

    Args:
        block: what was watched of the run.
    """

    def __init__(self, block: Round[Step]) -> None:
        self._block = block
        self._steps = {s.op: s for s in block.steps if not (s.op.op.holds_blocks and s.op.sub_blocks)}

    def __contains__(self, op: Operator) -> bool:
        return op in self._steps

    def inner(self, op: Operator) -> list[_Ran]:
        """The runs of the block of *op*, the first one first."""
        return [_Ran(block) for block in self._block.inner.get(op, ())]

    def inputs(self, op: Operator) -> Sequence[Any]:
        """The arrays that *op* read, by slot; a list for a list slot."""
        arrays = self._steps[op].inputs
        if len(arrays) == len(op.inputs) and not op.op.has_lists:
            return arrays  # no slot is empty: steps leave empty ones out
        rest = iter(arrays)
        return [
            [None if e is None else next(rest, None) for e in v]
            if isinstance(v, tuple)
            else (None if v is None else next(rest, None))
            for v in op.inputs
        ]

    def outputs(self, op: Operator) -> Sequence[Any]:
        """The arrays that it made, likewise; steps have those of empty slots, too."""
        arrays = self._steps[op].outputs
        if not op.op.has_lists:
            return arrays
        rest = iter(arrays)
        return [[next(rest, None) for _ in v] if isinstance(v, tuple) else next(rest, None) for v in op.outputs]


def _sweep(reasons: ProgramReasons, run: _Ran, slopes: Slopes[Value, Operator], opaque: Opaque) -> None:
    # A line here is carried out for every operator: what most of them have not costs nothing.
    flow, reached, sums = reasons.flow, reasons.reached, slopes.sums
    slots_by: dict[tuple[OpDef, int], list[str]] = {}
    for op, read, written, passes, takes in flow.back():
        arriving, comes = {}, False
        for w, t in zip(written, takes, strict=False):
            if t and w in reached:
                g = arriving[w] = sums.get(w)
                comes = comes or g is not None
        if not comes:
            continue
        wanted = [p and v in reached and v is not None for v, p in zip(read, passes, strict=False)]
        slots = slots_by.get((op.op, len(read)))
        if slots is None:
            slots = slots_by[op.op, len(read)] = slots_of(op.op, len(read))
        forward = partial(_read_operands, op, run)
        visit = Visit(op, op.type, op.attrs, read, slots, arriving, (), wanted, forward)
        inside = flow.inside.get(op)
        if inside is not None:
            visited = _Visited(op, inside, run.inner(op), [variable_of(v) for v in slopes.keep])
            visit.given = visited.pull(reasons, arriving, opaque)
            visit.blame, visit.parts, visit.rounds = visited.blame, visited.parts, visited.rounds
        elif op.op.holds_blocks:
            visit.given = list(opaque.get(op, [None] * len(read)))
            visit.rule = _rule_at(op)
        elif op in run:
            visit.again = partial(_pull_back, op, wanted, written, run)
            visit.given = visit.again(arriving)
        else:
            continue
        slopes.visit(visit)


def _rule_at(op: Operator) -> Location:
    """Return the line where the user wrote the gradient of a layer: the last line of what is its backward block."""
    if op.type != "pylayer" or len(op.sub_blocks) < 2:
        return NOWHERE
    return next((inner.loc for inner in reversed(op.sub_blocks[1].ops) if inner.loc), NOWHERE)


class _Visited:
    """An operator with a block, as the pass goes through the runs of its block.

    Args:
        keep: the variables whose parts are wanted.
    """

    def __init__(self, op: Operator, inside: BlockReasons, runs: Sequence[_Ran], keep: Iterable[Variable]) -> None:
        self.op = op
        self.inside = inside
        self.runs = runs
        self.read: list[Any] = list(flatten(op.inputs))
        self.rounds: list[float] = []
        self.slopes: Slopes[Value, Operator] = Slopes(inside.reasons.asked, [inside.start(v) for v in keep])

    def pull(self, outer: ProgramReasons, arriving: Mapping[Value, Any], opaque: Opaque) -> list[Any]:
        """The gradients that the operator gives, by what it reads."""
        inside, slopes = self.inside, self.slopes
        reasons, carried = inside.reasons, inside.region.carried
        current, written = reasons.flow.values.current, outer.flow.values.written
        starts = {inside.start(c.start) for c in carried if c.start is not None}
        carry = [None if c.result is None else arriving.get(written(self.op, c.result)) for c in carried]
        for run in reversed(self.runs):
            for c, g in zip(carried, carry, strict=True):
                if c.end is not None and g is not None:
                    slopes.sums[current(c.end)] = g
            with slopes.another_round(starts):
                _sweep(reasons, run, slopes, opaque)
            carry = [None if c.start is None else slopes.sums.pop(inside.start(c.start), None) for c in carried]
            self.rounds.append(sum(measure(g).total for g in carry if g is not None))
        begun = {c.before: g for c, g in zip(carried, carry, strict=True) if c.before is not None}
        return [None if v is None else begun[v] if v in begun else slopes.sums.get(inside.start(v)) for v in self.read]

    def blame(self, position: int) -> tuple[Killer, Blame[Value, Operator] | None]:
        """Return what made the gradient of an operand zero."""
        if not self.runs:
            return not_run(self.op.type), None
        death = self.slopes.death(self.inside.start(self.read[position]))
        if death is None:
            return Killer(Verdict.PRUNED, "what ran of its block did not use it"), None
        killer = death.killer or Killer(Verdict.CANCELLED, "its parts cancel")
        return killer, Blame(self.inside.reasons, self.slopes, death)

    def parts(self, position: int) -> tuple[Use[Value, Operator], ...]:
        """The uses of an operand in the block, those of all runs added up by operator."""
        by_call: dict[Operator, list[Use[Value, Operator]]] = {}
        for use in self.slopes.uses.get(self.inside.start(self.read[position]), ()):
            for part in use.parts or (use,):
                by_call.setdefault(part.call, []).append(part)
        return tuple(map(_sum, by_call.values()))


def _sum(uses: Sequence[Use[Value, Operator]]) -> Use[Value, Operator]:
    arrays = [u.array for u in uses if u.array is not None]
    if not arrays:
        return uses[0]
    total = sum(arrays[1:], arrays[0])
    return replace(uses[0], array=total, level=measure(total))


def _pull_back(
    op: Operator,
    wanted: Sequence[bool],
    written: Sequence[Value],
    run: _Ran,
    arriving: Mapping[Value, Any],
) -> list[Any]:
    """The gradients of one operator, by what it reads."""
    rule = op.op.rule
    assert rule is not None
    if True not in wanted:
        return [None] * len(wanted)
    at = iter(written)
    places: list[Any] = []
    for v in op.outputs:
        if isinstance(v, tuple):
            places.append([None if e is None else next(at) for e in v])
        else:
            places.append(None if v is None else next(at))
    args = _operands(rule, run.inputs(op), run.outputs(op), places, arriving)
    if op.op.has_lists or in_use or not isinstance(rule, WrittenRule):
        return _pull_by_slot(op, rule, args, wanted)
    gradients: list[Any] = [None] * len(wanted)
    flags = [i < len(wanted) and wanted[i] for i in rule.wrt]
    for i, g in zip(rule.wrt, rule.flat(reference().ops, args, flags, _strip_names(op)), strict=True):
        if i < len(wanted):
            gradients[i] = g
    return gradients


def _operands(
    rule: GradientRule,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    places: Sequence[Any],
    arriving: Mapping[Value, Any],
) -> list[Any]:
    """Return what *rule* reads of an operator, in its order.

    Args:
        places: by output slot, the values that were written.
    """
    args: list[Any] = []
    for kind, place, _, late in rule.reads:
        side = inputs if kind == "in" else outputs
        entry = side[place] if place < len(side) else None
        if kind == "dout" and entry is not None:
            absent, values = late or rule.takes_none, places[place]
            if isinstance(entry, list):
                entry = [_fill_arrival(arriving, w, a, absent) for w, a in zip(values, entry, strict=False)]
            else:
                entry = _fill_arrival(arriving, values, entry, absent)
        args.append(entry)
    return args


def _fill_arrival(arriving: Mapping[Value, Any], value: Value | None, array: Any, absent: bool) -> Any:
    """The gradient of *value*, which is *array*; zeros where none has come, unless it may be *absent*."""
    if value is None or array is None:
        return None
    g = arriving.get(value)
    if g is not None or absent:
        return g
    return EMPTY if isinstance(array, TensorArray) else np.zeros(array.shape, array.dtype)


def _pull_by_slot(op: Operator, rule: GradientRule, args: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
    """Return what *rule* gives for *args* where slots hold lists, or numbers may be of a rare type."""
    flags = iter(wanted)
    by_slot = [[next(flags) for _ in v] if isinstance(v, tuple) else [next(flags)] for v in op.inputs]
    masks = [by_slot[p] if p < len(by_slot) else [False] for p in rule.wrt]
    groups = rare_types.pull(op.op, reference().ops, args, masks, _strip_names(op))
    by_place = dict(zip(rule.wrt, groups, strict=True))
    gradients: list[Any] = []
    for i, flags_of in enumerate(by_slot):
        group = by_place.get(i) or [None] * len(flags_of)
        gradients += [g if w else None for g, w in zip(group, flags_of, strict=True)]
    return gradients


def _strip_names(op: Operator) -> Mapping[str, Any]:
    """The attributes of *op* as its rule reads them where the operands are arrays, which have no names."""
    names = op.attrs.get("backward_skip_vars")
    if not names:
        return op.attrs
    operands = [*flatten(op.inputs), *flatten(op.outputs)]
    places = [i for i, v in enumerate(operands) if v is not None and v.name in names]
    return {**op.attrs, "backward_skip_vars": places}


def _read_operands(op: Operator, run: _Ran) -> tuple[dict[str, Any], dict[str, Any]]:
    """All that an operator read and made."""
    inputs, outputs = (run.inputs(op), run.outputs(op)) if op in run else ([], [])
    return (
        {s.name: a for s, a in zip(op.op.inputs, inputs, strict=False) if a is not None},
        {s.name: a for s, a in zip(op.op.outputs, outputs, strict=False) if a is not None},
    )
