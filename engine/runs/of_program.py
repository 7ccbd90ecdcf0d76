"""From a static program to a timeline: its plan is run once, every value kept.

A plan writes each register once, so registers are the numbers of the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core import state
from ..core.errors import GradtoolError
from ..core.identity import identity
from ..core.streams import Position
from ..executor.plan import Instruction, Plan, explain_error
from ..ir import roles
from ..ir.operator import Operands, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..ops.opdef import Trait
from ..view import from_program
from ..view.from_program import reads, writes
from ..view.graph import BACKWARD, FORWARD, op_names
from .bound_kernels import number_results
from .first_run import fill, redraw
from .store import Remote, Store
from .timeline import NOBODY, Entry, Lowered, Timeline, Value

PARTS = 4
"""Where a backend compiles a plan: of the bytes that are held a run gives no more than this part at once."""


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
    """Run a plan of ``Executor.hold`` and write it down.

    Args:
        registers: as they are before the run; not changed.
        gradients: what the run is about: parameter, by the name for people, and its gradient.
        shown: other names that a variable answers to, such as Python names.
        budget: bytes of values to hold, beside parameters and what is fed.

    Returns:
        The forward and the backward part; what an optimizer does is left out. If an operator fails, the timeline says
        so, and what comes after it has no values yet.
    """
    store = Store(budget) if plan.compiled is None else Remote(budget, plan.backend.home)
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
    entry_of: dict[int, Entry] = {}
    for instruction, op in visible_instructions(plan):
        entry = _entry(len(entries), instruction, op, op_name[op], values, asked, shown)
        index_of[op] = entry.index
        if op.origin is not None and op.origin in index_of:
            entry.pair = index_of[op.origin]
            if entries[entry.pair].pair == NOBODY:
                entries[entry.pair].pair = entry.index
        entries.append(entry)
        entry_of[identity(instruction)] = entry
    begin = next((e.index for e in entries if e.backward), len(entries))
    last = _last(plan, entries)
    results = {name: last.get(v.name) if v is not None else None for name, v in gradients.items()}
    timeline = Timeline(
        title, "static", entries, values, store, results, begin, last.get(loss.name) if loss is not None else None
    )
    timeline.picture = lambda: from_program.view(program, title=title, loss=loss)
    timeline.lowered = Lowered(program, program.version, tuple(plan.feeds), tuple(values[r].name for r in plan.fetches))
    timeline.compiled = _compute_whole(plan, registers, entry_of, store)
    if not timeline.compiled:
        fill(timeline, draws, lambda entry, error, operands: explain_error(error, entry.origin, operands))
    return timeline


def _compute_whole(plan: Plan, registers: list[Any], entry_of: Mapping[int, Entry], store: Store) -> bool:
    """Have the values of a plan that its backend compiles; False where operators have to run one by one.

    So it is where one fails: what came before it is to be seen.

    Args:
        entry_of: by the identity of their instructions.
    """
    most = None if store.budget is None else store.budget // PARTS
    told = None if plan.compiled is None else plan.compiled.run_noting([*registers], most)
    if told is None:
        return False
    begin = state.random.position
    numbers: list[int] = []
    drawn: list[tuple[Entry, Position]] = []
    try:
        for index, outputs, before in told:
            entry = entry_of.get(identity(plan.instructions[index]))
            if entry is None:
                continue
            for number, value in number_results(entry, outputs):
                if number >= 0:
                    store.put(number, value)
                    numbers.append(number)
            if before is not None:
                drawn.append((entry, before))
    except GradtoolError:
        for number in numbers:
            store.drop(number)
        state.random.position = begin
        return False
    for entry, before in drawn:
        assert entry.kernel is not None
        entry.kernel, entry.drawn = redraw(entry.kernel, before), before
    return True


def visible_instructions(plan: Plan) -> Iterator[tuple[Instruction, Operator]]:
    """The instructions that become entries: what an optimizer does is left out."""
    for instruction in plan.instructions:
        op = instruction.op
        if op is not None and not op.role & (roles.OPTIMIZE | roles.LR_SCHED):
            yield instruction, op


def results_of(instruction: Instruction, op: Operator) -> Iterator[tuple[Variable | None, int]]:
    """Each result with the number of its value; None and :data:`NOBODY` for one that is not made."""
    for v, number in zip(flatten(op.outputs), instruction.outs, strict=True):
        yield (None, NOBODY) if v is None or number < 0 else (v, number)


def draws(entry: Entry) -> bool:
    """Return whether an operator may draw random numbers."""
    return entry.region or bool(entry.origin.op.trait & Trait.RANDOM)


def spread(instruction: Instruction) -> Callable[..., Sequence[Any]]:
    """The kernel of an instruction, giving all its results in one sequence."""
    kernel = instruction.kernel
    return kernel if instruction.spread else lambda *arrays: (kernel(*arrays),)


def flatten(operands: Operands) -> Iterator[Variable | None]:
    """Every place of *operands*, those of lists one by one, empty ones included."""
    for value in operands:
        if isinstance(value, tuple):
            yield from value
        else:
            yield value


def make_entry(index: int, name: str, op: Operator) -> Entry:
    """An entry with what people are told of *op*; what it took and made is not in it yet."""
    return Entry(
        index,
        name,
        op.type,
        BACKWARD if roles.is_backward(op.role) and not op.saves else FORWARD,
        op.loc,
        op.scope.strip("/") or from_program.layer_of(op),
        region=bool(op.sub_blocks),
        origin=op,
    )


def _entry(
    index: int,
    instruction: Instruction,
    op: Operator,
    name: str,
    values: list[Value],
    asked: set[str],
    shown: Callable[[Variable], Sequence[str]] | None,
) -> Entry:
    entry = make_entry(index, name, op)
    entry.operands = instruction.ins
    entry.kernel = spread(instruction)
    slots = {v: slot for slot, v in writes(op)}
    for v, number in results_of(instruction, op):
        if v is None:
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
    last = {**plan.feeds, **plan.loads}
    for e in entries:
        for v, (_, number) in zip(flatten(e.origin.outputs), e.outs, strict=True):
            if v is not None and number >= 0:
                last[v.name] = number
    return last
