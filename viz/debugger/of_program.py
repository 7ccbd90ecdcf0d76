"""From a static program to a timeline: its plan is run once, every value kept.

A plan writes each register once, so registers are the numbers of the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.engine import state
from gradtool.engine.executor.plan import Instruction, Plan, explained
from gradtool.engine.ir import roles
from gradtool.engine.ir.operator import Operator
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.opdef import Trait
from gradtool.engine.view import BACKWARD, FORWARD, op_names

from .. import from_program
from ..from_program import reads, writes
from .store import Store
from .timeline import NOBODY, Entry, Timeline, Value


def record(
    program: Program,
    plan: Plan,
    registers: list[Any],
    gradients: Mapping[str, Variable | None],
    *,
    title: str = "",
    loss: Variable | None = None,
    shown: Callable[[Variable], Sequence[str]] | None = None,
    budget: int | None = None,
) -> Timeline:
    """Run a plan of ``Executor.held`` and write it down.

    Args:
        registers: as they are before the run; not changed.
        gradients: what the run is about: parameter, by the name for people, and its gradient.
        shown: other names that a variable answers to, such as Python names.
        budget: bytes of values to hold, beside parameters and what is fed.

    Returns:
        The forward and the backward part; what an optimizer does is left out. If an operator fails, the timeline says
        so, and what comes after it has no values yet.
    """
    store = Store(budget)
    values = [Value("", role="constant") for _ in range(plan.size)]
    for number, array in enumerate(registers):
        if array is not None:
            store.keep(number, array)
    named = {v.name: v for v in program.list_vars()}
    for number in plan.feeds.values():
        store.keep(number, registers[number].copy())  # the user's own, who may fill it again
    for name, number in [*plan.feeds.items(), *plan.loads.items()]:
        _name(values[number], named[name], shown)
        values[number].role = "parameter" if named[name].is_parameter else "data"
    asked = {v.name for v in gradients.values() if v is not None}
    op_name = op_names(op for block in program.blocks for op in block.ops)
    entries: list[Entry] = []
    index_of: dict[Operator, int] = {}
    for instruction in plan.instructions:
        op = instruction.op
        if op is None or op.role & (roles.OPTIMIZE | roles.LR_SCHED):
            continue
        entry = _entry(len(entries), instruction, op, op_name[op], values, asked, shown)
        index_of[op] = entry.index
        if op.origin is not None and op.origin in index_of:
            entry.pair = index_of[op.origin]
            if entries[entry.pair].pair == NOBODY:
                entries[entry.pair].pair = entry.index
        entries.append(entry)
    begin = next((e.index for e in entries if e.backward), len(entries))
    last = _last(plan, entries)
    results = {name: last.get(v.name) if v is not None else None for name, v in gradients.items()}
    timeline = Timeline(
        title, "static", entries, values, store, results, begin, last.get(loss.name) if loss is not None else None
    )
    timeline.picture = lambda: from_program.view(program, title=title, loss=loss)
    _run(timeline)
    return timeline


def _entry(
    index: int,
    instruction: Instruction,
    op: Operator,
    name: str,
    values: list[Value],
    asked: set[str],
    shown: Callable[[Variable], Sequence[str]] | None,
) -> Entry:
    kernel = instruction.kernel
    spread: Callable[..., Sequence[Any]] = kernel if instruction.spread else lambda *arrays: (kernel(*arrays),)
    entry = Entry(
        index,
        name,
        op.type,
        BACKWARD if roles.is_backward(op.role) else FORWARD,
        op.loc,
        op.scope.strip("/") or from_program.layer_of(op),
        operands=instruction.ins,
        kernel=spread,
        region=bool(op.sub_blocks),
        origin=op,
    )
    flat = [v for value in op.outputs for v in (value if isinstance(value, tuple) else (value,))]
    slots = {v: slot for slot, v in writes(op)}
    for v, number in zip(flat, instruction.outs, strict=True):
        if v is None or number < 0:
            entry.outs.append(("", NOBODY))
            continue
        value = values[number]
        _name(value, v, shown)
        value.maker, value.slot = index, slots[v]
        value.role = "gradient" if v.name in asked else "part" if "@RENAME@" in v.name else "temporary"
        entry.outs.append((slots[v], number))
    if entry.region:
        entry.reads = [("X", n) for n in instruction.ins if values[n].name]
    else:
        entry.reads = [(slot, n) for (slot, _, _), n in zip(reads(op), instruction.ins, strict=False)]
    return entry


def _name(value: Value, v: Variable, shown: Callable[[Variable], Sequence[str]] | None) -> None:
    value.name = v.name
    value.names = tuple(n for n in (shown(v) if shown is not None else ()) if n != v.name)


def _last(plan: Plan, entries: Sequence[Entry]) -> dict[str, int]:
    """The number of the last value of every variable, by name."""
    found = {**plan.feeds, **plan.loads}
    for e in entries:
        flat = [w for value in e.origin.outputs for w in (value if isinstance(value, tuple) else (value,))]
        found |= {w.name: n for w, (_, n) in zip(flat, e.outs, strict=True) if w is not None and n >= 0}
    return found


def _run(timeline: Timeline) -> None:
    store = timeline.store
    last_use = {n: e.index for e in timeline.entries for n in e.inputs}
    live: dict[int, Any] = {}
    """What later operators read, whatever the budget."""
    for entry in timeline.entries:
        arrays = [live[n] if n in live else store.get(n) for n in entry.inputs]
        random = entry.region or entry.origin.op.trait & Trait.RANDOM
        before = state.random.generator.bit_generator.state if random else None
        try:
            with np.errstate(all="ignore"):
                assert entry.kernel is not None
                made = entry.kernel(*arrays)
        except Exception as error:
            timeline.failed = entry.index, explained(error, entry.origin, arrays)
            return
        if before is not None:
            entry.kernel = _redrawing(entry.kernel, before)
        for (_, number), array in zip(entry.outs, made, strict=True):
            if number >= 0:
                store.put(number, array)
                if store.budget is not None and last_use.get(number, -1) > entry.index:
                    live[number] = array
        for number in entry.inputs:
            if last_use[number] == entry.index:
                live.pop(number, None)


def _redrawing(kernel: Callable[..., Any], before: Any) -> Callable[..., Any]:
    """*kernel* drawing the random numbers again that it drew the first time."""

    def run(*arrays: Any) -> Any:
        generator = state.random.generator
        now = generator.bit_generator.state
        generator.bit_generator.state = before
        try:
            return kernel(*arrays)
        finally:
            generator.bit_generator.state = now

    return run
