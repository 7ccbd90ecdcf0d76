"""Variables that a loop overwrites, and the value that they had before.

A loop writes its results into its loop variables: in the program the name stands for the value before the loop up to
the loop, for that of each iteration inside it, and for the result after it. In Python the user holds three things: what
was given to the loop, what its body gets, and what it returned; he may use all of them. So body and result are a new
:class:`Variable` that takes the place of the old one in the program, and the old one, wherever it is used from now on,
stands for the value before: the first such use saves it in front of the loop.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

from ..core import names
from ..core.source import NOWHERE
from ..ops import registry
from .operator import Operands, Operator, each, map_operands
from .program import Block, Program
from .variable import Variable


class Loop:
    """A loop; its operator comes when its body is complete."""

    __slots__ = ("block", "op")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.op: Operator | None = None


def renew(loop: Loop, variables: Iterable[Variable]) -> dict[Variable, Variable]:
    """Put a new variable in the place of each that *loop* will overwrite; returns the new ones by the old ones."""
    block, program = loop.block, loop.block.program
    table = {v: copy.copy(v) for v in variables}
    _exchange(block, table)
    for old, new in table.items():
        program.renewed[old] = (new, loop)
        if old in program.overwritten:
            program.overwritten.add(new)
    return table


def take_back(loop: Loop, table: Mapping[Variable, Variable]) -> None:
    """Undo :func:`renew`."""
    _exchange(loop.block, {new: old for old, new in table.items()})
    for old in table:
        loop.block.program.renewed.pop(old, None)


def _exchange(block: Block, table: Mapping[Variable, Variable]) -> None:
    """Put other variables of the same names in the place of some, in *block* and the blocks in it."""
    for old, new in table.items():
        block.vars[old.name] = new
    # Nothing reads a variable before the operator that makes it, if only one writes it and it is not there at once.
    overwritten = block.program.overwritten
    once = (v for v in table if not (v.is_data or v.persistable or v in overwritten))
    makers = {v: v.op for v in once if v.op is not None}
    waiting = set(table)
    for op in reversed(block.ops):
        if not waiting:
            break
        _replace(op, table)
        waiting.difference_update([v for v in waiting if makers.get(v) is op])
    block.program.version += 1


def _replace(op: Operator, table: Mapping[Variable, Variable]) -> None:
    if not any(v in table for v in (*each(op.inputs), *each(op.outputs))):
        return
    op.inputs = _move(op.inputs, table)
    op.outputs = _move(op.outputs, table)
    for block in op.sub_blocks:
        for inner in block.ops:
            _replace(inner, table)


def _move(operands: Operands, table: Mapping[Variable, Variable]) -> Operands:
    return map_operands(operands, lambda v: table.get(v, v))


def program_variable(v: Variable) -> tuple[Variable, Loop | None]:
    """The variable of the program that *v* stands for, and the loop before which it does (None: at the end)."""
    renewed = v.block.program.renewed
    if v not in renewed:
        return v, None
    shown, loop = renewed[v]
    while shown in renewed:
        shown = renewed[shown][0]
    return shown, loop


def loop_of_result(v: Variable) -> Loop | None:
    """The loop that returned *v*, if one did."""
    return next((loop for new, loop in v.block.program.renewed.values() if new is v), None)


def find_named(block: Block, name: str) -> Variable | None:
    """The variable of *block* that *name* stands for: of those that loops put in each other's place, the first."""
    last = block.vars.get(name)
    if last is None or not block.program.renewed:
        return last
    return next((v for v in block.program.renewed if v.block is block and v.name == name), last)


def current(v: Variable) -> Variable:
    """*v*, or the variable in which the value that it stands for was saved."""
    shown, loop = program_variable(v)
    if loop is None:
        return v
    block = loop.block
    namesakes = [n for n in v.block.program.renewed if n.name == shown.name]
    name = names.loop_entry_name(shown.name, next(i for i, n in enumerate(namesakes) if n is v))
    there = block.vars.get(name)
    if there is not None:
        return there
    saved = Variable(block, name, v.spec, stop_gradient=v.stop_gradient, kind=v.kind)
    block.add_var(saved)
    assign = registry.get_by_type("assign")
    near = loop.op
    loc, role, scope = (near.loc, near.role, near.scope) if near is not None else (NOWHERE, 0, "/")
    op = Operator(block, assign, (shown,), (saved,), assign.attributes({}), loc=loc, role=role, scope=scope)
    saved.op = op
    # While its body is being built, the loop comes next in its block.
    at = len(block.ops) if near is None else next(i for i, o in enumerate(block.ops) if o is near)
    block.ops.insert(at, op)
    block.program.version += 1
    return saved


def current_operands(program: Program, operands: Operands) -> Operands:
    """*operands* with saved values in the place of variables that a loop has overwritten since."""
    if not any(v in program.renewed for v in each(operands)):
        return operands
    table = {v: current(v) for v in each(operands)}
    return _move(operands, table)


def spread_gradients(body: Block, open_: set[Variable]) -> None:
    """Let gradients flow through what the loop *body* computes from the variables *open_*.

    An operator's results stop gradients if all that it reads does. Loop variables are known to need gradients only
    when the body is complete: what was taken for a constant until then is not.
    """
    fresh = set(open_)
    size = -1
    while len(fresh) != size:
        size = len(fresh)
        _spread(body, fresh)


def _spread(block: Block, fresh: set[Variable]) -> None:
    for op in block.ops:
        for inner in op.sub_blocks:
            _spread(inner, fresh)
        if op.op.holds_blocks or not op.op.differentiable:
            continue
        open_ = [v for v in each(op.inputs) if v in fresh or not v.stop_gradient]
        if open_ and fresh.issuperset(open_):  # else it reads no such variable, or one that let gradients through
            closed = [v for v in each(op.outputs) if v.stop_gradient]
            _open([v for v in closed if v.dtype.is_differentiable and not v.is_parameter], fresh)


def _open(variables: Iterable[Variable], fresh: set[Variable]) -> None:
    for v in variables:
        v.stop_gradient = False
        fresh.add(v)
