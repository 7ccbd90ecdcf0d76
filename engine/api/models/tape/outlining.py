"""The recorded graph behind a loss as an outline, to be compared with another one."""

from __future__ import annotations

from collections.abc import Mapping

from gradtool.engine.answers.diff.outline import CONSTANT, DATA, NOTHING, PARAMETER, Leaf, Operand, Operation, Outline
from gradtool.engine.view.graph import FORWARD, OP, NodeView

from ..gradients import GradientRow
from ..notes import SILENT, Notes
from ..questions.backward import Backward
from ..wording import plain
from .model import TapeModel, recorded


def outline(model: TapeModel, asked: Backward, notes: Notes = SILENT) -> Outline:
    """The graph behind the loss and its gradient operators; with leaves that it does not reach."""
    table = model.differentiate(asked, notes)
    graph = recorded(model)
    nodes = graph.view.by_id()
    ops = [n for n in graph.view.nodes if n.kind == OP]
    ops.sort(key=lambda n: n.part != FORWARD)
    at = {n.id: place for place, n in enumerate(ops)}
    rows = {row.shown: row for row in table.rows} | {row.name: row for row in table.rows}
    made: dict[str, tuple[int, str]] = {}
    leaves: dict[str, Leaf] = {}
    operations = []
    for place, op in enumerate(ops):
        operands = []
        for slot, tensor in graph.reads[op.id] if op.part == FORWARD else ():
            if tensor in made:
                operands.append(Operand(slot, *made[tensor]))
            else:
                leaf = _leaf(nodes[tensor], rows)
                leaves.setdefault(leaf.name, leaf)
                operands.append(Operand(slot, NOTHING, leaf.name))
        seen: dict[str, int] = {}
        for slot, tensor in graph.writes[op.id]:
            number = seen[slot] = seen.get(slot, -1) + 1
            made[tensor] = place, f"{slot}.{number}" if number else slot
        operations.append(
            Operation(
                op.name,
                op.type,
                op.scope,
                0,
                {n: plain(v) for n, v in graph.nodes[op.id].attrs.items()},
                operands,
                at.get(op.pair or "", NOTHING) if op.part != FORWARD else NOTHING,
                op.source,
            )
        )
    for row in table.rows:
        leaves.setdefault(row.shown, _of_row(row))
    forward = sum(n.part == FORWARD for n in ops)
    settings = {"no_grad": table.shown_no_grad, "params": table.params or []}
    return Outline(model.name, model.mode, model.loss_name, forward, operations, leaves, settings)


def _leaf(node: NodeView, rows: Mapping[str, GradientRow]) -> Leaf:
    row = rows.get(node.name)
    if row is not None:
        return _of_row(row)
    return Leaf(node.name, CONSTANT, tuple(node.shape or ()), node.dtype or "", "", node.source)


def _of_row(row: GradientRow) -> Leaf:
    role = PARAMETER if row.facts.get("is_parameter") else DATA
    return Leaf(row.shown, role, tuple(row.shape), row.dtype, row.status, row.source)
