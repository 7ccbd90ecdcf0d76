"""A static program with its backward part as an outline, to be compared with another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...answers.diff.outline import (
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
from ...core import source
from ...core.notes import SILENT, Notes
from ...core.wording import plain
from ...ir import roles
from ...ir.operator import Operator
from ...ir.variable import Variable
from ...request.options import BackwardOptions
from ...view.from_program import layers_of, reads, writes
from ...view.graph import op_names
from ..about import ModelGraph
from ..gradients import GradientTable
from .model import ProgramModel


def outline(model: ProgramModel, asked: BackwardOptions, notes: Notes = SILENT) -> Outline:
    """All blocks of the program; with a loss, its backward part as *asked*, and else as the file asked for it."""
    return differentiate(model, asked, notes)[1]


def differentiate(
    model: ProgramModel, asked: BackwardOptions, notes: Notes = SILENT
) -> tuple[GradientTable | None, Outline]:
    """The gradients as *asked*, and else as the file asked for them, if there is a loss; and the outline."""
    if not (asked.params or asked.no_grad):
        asked = _as_in_the_file(model, asked)
    before = {op for block in model.program.blocks for op in block.ops}
    table = model.differentiate(asked, notes) if model.loss is not None else None
    return table, _Outlined(model, table, before).outline(asked)


def _as_in_the_file(model: ProgramModel, asked: BackwardOptions) -> BackwardOptions:
    """Return the arguments of the last call of ``append_backward`` in the file, as far as its program
    still holds that.
    """
    if not model.calls:
        return asked
    last = model.calls[-1]
    there = {name for block in model.program.blocks for name in block.vars}

    def names(variables: Iterable[Any] | None) -> tuple[str, ...]:
        return tuple(sorted({str(getattr(v, "name", v)) for v in variables or ()} & there))

    kept = tuple(name for name in last.checkpoints if name in there)
    lists = replace(asked, params=names(last.listed), no_grad=names(last.no_grad))
    return lists if asked.checkpoints else replace(lists, checkpoints=kept)


def dump(model: ProgramModel, asked: BackwardOptions, notes: Notes) -> tuple[ModelGraph, Outline, GradientTable | None]:
    """Return the picture, the outline, and the gradients with their values if the program is to run."""
    table, outline = differentiate(model, asked, notes)
    assert table is not None
    if asked.run:
        table = model.evaluate(table, asked, notes)
    return table.graph(), outline, table if asked.run else None


class _Outlined:
    """Operators in the order of the program, forward ones first, and who wrote each variable when it is read."""

    def __init__(self, model: ProgramModel, table: GradientTable | None, before: set[Operator]) -> None:
        self.model, self.table = model, table
        ops = [op for block in model.program.blocks for op in block.ops if not op.role & roles.OPTIMIZE]
        # What was there before is forward, also the gradients that a loss is made of.
        forward = [op for op in ops if op in before or op.saves]
        self.forward = len(forward)
        self.ops = [*forward, *(op for op in ops if op not in before and not op.saves)]
        self.at = {op: n for n, op in enumerate(self.ops)}
        self.names = op_names(self.ops)
        self.layers = layers_of(forward)
        self.shown = {row.subject: row for row in table.rows} if table is not None else {}
        self.leaves: dict[str, OutlineLeaf] = {}

    def outline(self, asked: BackwardOptions) -> Outline:
        writer: dict[Variable, tuple[int, str]] = {}
        operations = [self._operation(op, writer) for op in self.ops]
        for v in self.model.program.all_parameters():
            self._leaf(v)
        settings = {
            "no_grad": list(self.table.no_grad) if self.table is not None else [],
            "params": list((self.table.params if self.table is not None else None) or ()),
            "checkpoints": list(asked.checkpoints),
        }
        loss = self.model.target_name()
        return Outline(self.model.name, self.model.mode, loss, self.forward, operations, self.leaves, settings)

    def _operation(self, op: Operator, writer: dict[Variable, tuple[int, str]]) -> OutlineOperation:
        operands = []
        if self.at[op] < self.forward:
            for slot, v, _ in reads(op):
                made = writer.get(v)
                operands.append(
                    OutlineOperand(slot, *made) if made is not None else OutlineOperand(slot, NOTHING, self._leaf(v))
                )
        seen: dict[str, int] = {}
        for slot, v in writes(op):
            number = seen[slot] = seen.get(slot, -1) + 1
            writer[v] = self.at[op], f"{slot}.{number}" if number else slot
        origin = op.origin
        return OutlineOperation(
            self.names[op],
            op.type,
            op.scope.strip("/") or self.layers.get(origin or op, ""),
            _depth(op),
            attributes_of(op.attrs, plain),
            operands,
            self.at.get(origin, NOTHING) if origin is not None else NOTHING,
            source.short(op.loc),
        )

    def _leaf(self, v: Variable) -> str:
        """The name of a variable that nothing has written yet, which becomes a leaf."""
        row = self.shown.get(v)
        name = row.shown if row is not None else v.name
        if name not in self.leaves:
            role = PARAMETER if v.is_parameter else DATA if v.is_data else CONSTANT
            reason = row.status if row is not None else ""
            self.leaves[name] = OutlineLeaf(name, role, tuple(v.shape), v.dtype.name, reason, source.short(v.made_at))
        return name


def _depth(op: Operator) -> int:
    """Return the number of blocks around an operator."""
    depth, block = 0, op.block
    while block.parent_idx >= 0:
        depth, block = depth + 1, block.program.blocks[block.parent_idx]
    return depth
