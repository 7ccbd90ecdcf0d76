"""Parts of a graph: what is near a node, what lies between two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from gradtool.engine.view.graph import OP, GraphView


def focus(view: GraphView, nodes: Iterable[str], radius: int = 2) -> GraphView:
    """Return the part at most *radius* operators away from some nodes, along edges in either direction.

    Args:
        nodes: ids of operators or tensors.
    """
    near = _origins(view, nodes)
    neighbours: dict[str, list[str]] = {}
    for e in view.edges:
        neighbours.setdefault(e.source, []).append(e.target)
        neighbours.setdefault(e.target, []).append(e.source)
    kinds = {n.id: n.kind for n in view.nodes}

    def adjacent(ids: Iterable[str]) -> list[str]:
        """Return the nodes that are new and have an edge to one of these; they count as near from now on."""
        reached = dict.fromkeys(chain.from_iterable(neighbours.get(i, ()) for i in ids))
        new = [i for i in reached if i not in near]
        near.update(new)
        return new

    here = sorted(near)
    for _ in range(radius):
        following = adjacent(here)
        # A tensor's own box is on the way between operators, and is no step.
        here = following + adjacent(i for i in following if kinds[i] != OP)
    return subgraph(view, near)


def path(view: GraphView, a: Iterable[str], b: Iterable[str]) -> GraphView:
    """Return what lies on a path from one of *a* to one of *b* along the edges; empty where there is none.

    Args:
        a, b: ids of operators or tensors.
    """
    onward: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for e in view.edges:
        onward.setdefault(e.source, []).append(e.target)
        back.setdefault(e.target, []).append(e.source)
    return subgraph(view, _reach(_origins(view, a), onward) & _reach(_origins(view, b), back))


def _reach(start: Iterable[str], by: Mapping[str, list[str]]) -> set[str]:
    reach = set(start)
    todo = list(reach)
    while todo:
        for j in by.get(todo.pop(), ()):
            if j not in reach:
                reach.add(j)
                todo.append(j)
    return reach


def _origins(view: GraphView, nodes: Iterable[str]) -> set[str]:
    """The boxes that nodes are seen by: a tensor without a box by the operator that makes it."""
    asked = set(nodes)
    boxes = {e.source for e in view.edges} | {e.target for e in view.edges}
    origins = {e.source for e in view.edges if e.tensor in asked and e.tensor not in boxes}
    return origins | {n.id for n in view.nodes if n.id in asked and (n.kind == OP or n.id in boxes)}


def subgraph(view: GraphView, nodes: set[str]) -> GraphView:
    """*nodes* with the edges between them, and the tensors on those."""
    edges = tuple(e for e in view.edges if e.source in nodes and e.target in nodes)
    shown = nodes | {e.tensor for e in edges}
    return replace(view, nodes=tuple(n for n in view.nodes if n.id in shown), edges=edges)
