"""A recorded graph as an outline, so that it can be compared with another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...view.from_tape import TapeGraph
from ...view.graph import FORWARD, OP, NodeView
from .outline import (
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
from .recorded_outline import leaf_names

Plain = Callable[[Any], Any]
"""What makes of an attribute's value one of JSON's types."""


def operations(
    graph: TapeGraph, plain: Plain, leaf: Callable[[NodeView], OutlineLeaf]
) -> tuple[int, list[OutlineOperation], dict[str, OutlineLeaf]]:
    """Return how many operators are forward ones, all of them, these first, and the leaves that they read.

    Args:
        leaf: of a tensor that no operator has made.
    """
    nodes = graph.view.by_id()
    ops = sorted((n for n in graph.view.nodes if n.kind == OP), key=lambda n: n.part != FORWARD)
    at: dict[str | None, int] = {n.id: place for place, n in enumerate(ops)}
    made: dict[str, tuple[int, str]] = {}
    leaves: dict[str, OutlineLeaf] = {}
    told = []
    for place, op in enumerate(ops):
        operands = []
        for slot, tensor in graph.reads[op.id] if op.part == FORWARD else ():
            if tensor not in made:
                read = leaf(nodes[tensor])
                leaves.setdefault(read.name, read)
                made_by, name = NOTHING, read.name
            else:
                made_by, name = made[tensor]
            operands.append(OutlineOperand(slot, made_by, name))
        made.update((tensor, (place, name)) for name, tensor in _name_results(graph.writes[op.id]))
        attributes = attributes_of(graph.nodes[op.id].attrs, plain)
        pair = NOTHING if op.part == FORWARD else at.get(op.pair, NOTHING)
        told.append(OutlineOperation(op.name, op.type, op.scope, 0, attributes, operands, pair, op.source))
    return sum(n.part == FORWARD for n in ops), told, leaves


def _name_results(writes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the results of an operator as an outline calls them: by the slot, with a number from the second one on."""
    seen: dict[str, int] = {}
    for slot, tensor in writes:
        number = seen[slot] = seen.get(slot, -1) + 1
        yield f"{slot}.{number}" if number else slot, tensor


def outline(graph: TapeGraph, title: str, plain: Plain) -> Outline:
    """The outline of a graph of which nothing else is known: leaves are called by their paths."""
    losses = [n.name for n in graph.view.nodes if n.role == "loss"]
    paths = leaf_names({n.id: n.name for n in graph.view.nodes if n.role in ("parameter", "leaf")})

    def leaf(node: NodeView) -> OutlineLeaf:
        role = {"parameter": PARAMETER, "leaf": DATA}.get(node.role, CONSTANT)
        gradient = "ok" if role != CONSTANT else ""
        name, path = (paths[node.id], node.name) if node.id in paths else (node.name, "")
        return OutlineLeaf(name, role, tuple(node.shape or ()), node.dtype or "", gradient, node.source, path)

    loss = losses[0] if len(losses) == 1 else ""
    return Outline(title, "eager", loss, *operations(graph, plain, leaf), recorded=True)
