"""Smaller views of a graph: layers, repetitions and stretches folded.

Every function gives a new view; renderers need not know that anything was left out. A folded node keeps the ids of what
it stands for (``members``), and its gradient operators are folded with it, so that pairs stay pairs. Each takes a
constant number of passes over the view.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradtool.engine.view.graph import FORWARD, OP, GraphView

from .merging import REPEAT, Groups, Key, merge
from .repeats import repetitions

LAYER: Final = "layer"
AUTO: Final = "auto"
NONE: Final = "none"
FOLDS: Final = (AUTO, NONE, LAYER, REPEAT)

MAX_NODES: Final = 400
"""Nodes that a picture shows before it is folded; beyond that people search, they do not look."""


def fold(view: GraphView, how: str = AUTO, max_nodes: int = MAX_NODES) -> GraphView:
    """The view folded as the command line asks for it.

    Args:
        how: one of :data:`FOLDS`.
        max_nodes: for :data:`AUTO`, the most nodes to show.
    """
    if how == NONE:
        return view
    if how == LAYER:
        return layers(view, max_nodes=max_nodes)
    return fold_repetitions(view) if how == REPEAT else automatic(view, max_nodes)


def automatic(view: GraphView, max_nodes: int = MAX_NODES) -> GraphView:
    """Folded as little as it takes to show at most *max_nodes*.

    Repetitions come first, which lose nothing; then layers from the innermost out; then stretches of the program.
    """
    if view.visible_count <= max_nodes:
        return view
    result = fold_repetitions(view)
    if result.visible_count <= max_nodes:
        return result
    result = layers(result, max_nodes=max_nodes)
    return result if result.visible_count <= max_nodes else stretches(result, max_nodes)


# -- layers -----------------------------------------------------------------------------------------------------------


def layers(view: GraphView, *, max_nodes: int = MAX_NODES) -> GraphView:
    """One node for each layer, one for its parameters, one for what differentiates it, one for the gradients.

    The innermost layers are folded; layers around them as well, as long as there are more than *max_nodes*.
    """
    scopes = _scopes(view)
    smallest = view
    for depth in range(max((len(s.split(".")) for s in scopes.values() if s), default=0), 0, -1):
        smallest = _fold_layers(view, scopes, depth)
        if smallest.visible_count <= max_nodes:
            break
    return smallest


def _fold_layers(view: GraphView, scopes: Mapping[int, str], depth: int) -> GraphView:
    groups, names = Groups(len(view.nodes)), dict[Key, str]()
    before, run = "", 0
    for i, scope in scopes.items():
        here = ".".join(scope.split(".")[:depth])
        if here != before:
            before, run = here, run + 1
        if here:
            # A layer that runs again further down is another node: folded into one, it would read its own result.
            key = Key("layer", run, block=view.nodes[i].block)
            groups.of[i], names[key] = groups.place(key), here
    return merge(view, groups, names)


def _scopes(view: GraphView) -> dict[int, str]:
    """The positions of forward operators -> the layer that they belong to.

    Where only operators that read parameters know their layer, those between two of a layer belong to it too.
    """
    scopes = {i: view.nodes[i].scope.replace("/", ".") for i in _forward(view)}
    before, pending = "", list[int]()
    for i, scope in scopes.items():
        if not scope:
            pending.append(i)
            continue
        common = _common(before, scope)
        for j in pending:
            scopes[j] = common
        before, pending = scope, []
    return scopes


def _forward(view: GraphView) -> list[int]:
    """The positions of forward operators."""
    return [i for i, n in enumerate(view.nodes) if n.kind == OP and n.part == FORWARD]


def _common(a: str, b: str) -> str:
    parts = []
    for x, y in zip(a.split("."), b.split("."), strict=False):
        if x != y:
            break
        parts.append(x)
    return ".".join(parts)


# -- repetitions ------------------------------------------------------------------------------------------------------


def fold_repetitions(view: GraphView) -> GraphView:
    """Blocks that follow each other and are built alike are shown once, with ``×12`` on every node."""
    ops, groups = _forward(view), Groups(len(view.nodes))
    for number, (start, length, times) in enumerate(repetitions(view, ops)):
        places = [groups.place(Key(REPEAT, number, i)) for i in range(length)]
        for i in range(length * times):
            op = ops[start + i]
            groups.of[op] = places[i % length]
            groups.copy[op] = i // length
    return merge(view, groups, {}) if groups.keys else view


def stretches(view: GraphView, max_nodes: int) -> GraphView:
    """Operators that follow each other, in equal parts: for programs without layers and repetitions."""
    ops = _forward(view)
    size = -(-len(ops) // max(max_nodes // 4, 1))
    if size < 2:
        return view
    groups, names = Groups(len(view.nodes)), dict[Key, str]()
    for i, op in enumerate(ops):
        key = Key("stretch", i // size, block=view.nodes[op].block)
        groups.of[op] = groups.place(key)
        names.setdefault(key, f"{view.nodes[op].name} …")
    return merge(view, groups, names)
