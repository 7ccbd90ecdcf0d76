"""The recorded graph behind a loss as an outline, to be compared with another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...answers.diff import of_tape
from ...answers.diff.outline import CONSTANT, DATA, PARAMETER, Outline, OutlineLeaf
from ...core.notes import SILENT, Notes
from ...core.wording import plain
from ...request.options import BackwardOptions
from ...view import from_tape
from ...view.graph import NodeView
from ..about import ModelGraph
from ..gradients import GradientRow, GradientTable
from .model import TapeModel, record_graph


def outline(model: TapeModel, asked: BackwardOptions, notes: Notes = SILENT) -> Outline:
    """The graph behind the loss and its gradient operators; with leaves that it does not reach."""
    table = model.differentiate(asked, notes)
    rows = {row.shown: row for row in table.rows} | {row.name: row for row in table.rows}

    def leaf(node: NodeView) -> OutlineLeaf:
        return _leaf(node, rows)

    forward, operations, leaves = of_tape.operations(record_graph(model), plain, leaf)
    for row in table.rows:
        leaves.setdefault(row.shown, _row_leaf(row))
    settings = {"no_grad": table.shown_no_grad, "params": table.params or []}
    return Outline(model.name, model.mode, model.loss_name, forward, operations, leaves, settings)


def dump(model: TapeModel, asked: BackwardOptions, notes: Notes) -> tuple[ModelGraph, Outline, GradientTable | None]:
    """Return the picture, the outline, and the gradients if backward is to run.

    The outline is that of the recorded graph alone, as a backward pass writes it down itself.
    """
    table = model.evaluate(model.differentiate(asked, notes), asked, notes) if asked.run else None
    graph = model.draw(asked, notes) if table is None else table.graph()
    alone = from_tape.graph(model.start.differentiated, title=model.name)
    return graph, of_tape.outline(alone, model.name, plain), table


def _leaf(node: NodeView, rows: Mapping[str, GradientRow]) -> OutlineLeaf:
    row = rows.get(node.name)
    if row is not None:
        leaf = _row_leaf(row)
        return leaf if node.role != "constant" else replace(leaf, path="")  # it was frozen for this pass
    return OutlineLeaf(node.name, CONSTANT, tuple(node.shape or ()), node.dtype or "", "", node.source)


def _row_leaf(row: GradientRow) -> OutlineLeaf:
    role = PARAMETER if row.facts.get("is_parameter") else DATA
    path = ""
    if row.facts["trainable"]:
        layer = row.facts["layer_path"]
        path = f"{layer} ({row.name})" if layer and layer != row.name else row.name
    return OutlineLeaf(row.shown, role, tuple(row.shape), row.dtype, row.status, row.source, path)
