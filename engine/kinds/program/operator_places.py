"""Places of the operators in a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ...core import names
from ...core.notes import Notes
from ...ir.operator import Operator
from ...ir.program import Block, Program
from ...request.options import BackwardOptions, Cuts
from ...view.from_program import reads, view, writes
from ...view.graph import FORWARD, OP, GraphView
from ..about import ModelGraph
from ..operator_places import Operand, Spots, note_of, partners, spot
from .model import ProgramModel


def spots(model: ProgramModel, cuts: Cuts, notes: Notes) -> Spots:
    """The operators of the program and, if it has a loss, of its backward part."""
    if model.loss is not None:
        shown = model.differentiate(BackwardOptions(params=cuts.params, no_grad=cuts.no_grad), notes).graph().view
    else:
        shown = view(model.program, gradients={})
    return _spots_in_view(model.program, shown, model.named)


def spots_in(model: ProgramModel, graph: ModelGraph) -> Spots:
    """The operators of the program that *graph* shows."""
    return _spots_in_view(model.program, graph.view, model.named)


def _spots_in_view(program: Program, shown: GraphView, python: Mapping[str, Any]) -> Spots:
    """The operators of a program that *view* shows."""
    ops = [*chain.from_iterable(block.ops for block in program.blocks)]
    nodes = [n for n in shown.nodes if n.kind == OP]
    by_id = shown.by_id()
    partner = partners(nodes)
    names_of = {op: node.name for op, node in zip(ops, nodes, strict=True)}
    spots = []
    for op, node in zip(ops, nodes, strict=True):
        backward = node.part != FORWARD
        inputs = tuple(
            Operand(slot, v.name, str(v.spec), note_of(backward and names.GRAD not in v.name, like))
            for slot, v, like in reads(op)
        )
        outputs = tuple(Operand(slot, v.name, str(v.spec), "") for slot, v in writes(op))
        around = tuple(names_of[owner] for owner in _owners(op.block))
        spots.append(replace(spot(node, by_id, partner, op.loc, inputs, outputs), inside=around[::-1]))
    return Spots(spots, {n: v.name for n, v in python.items()})


def _owners(block: Block) -> Iterator[Operator]:
    """The operators that run a block, innermost first."""
    while block.owner is not None:
        yield block.owner
        block = block.owner.block
