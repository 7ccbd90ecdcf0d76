"""An outline without what a graph that was recorded alone does not tell (:attr:`.outline.Outline.recorded`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from .outline import CONSTANT, NOTHING, Outline, OutlineLeaf


def comparable(before: Outline, after: Outline) -> tuple[Outline, Outline]:
    """Two outlines with what both tell: as they are, unless one is of a graph that was recorded alone."""
    if before.recorded == after.recorded or "static" in (before.mode, after.mode):
        return before, after
    return (before, reduce_outline(after)) if before.recorded else (reduce_outline(before), after)


def reduce_outline(outline: Outline) -> Outline:
    """The outline as the recorded graph alone would have told it."""
    read = {o.tensor: None for op in outline.operations for o in op.operands if o.maker == NOTHING}
    paths = leaf_names({name: outline.leaves[name].path for name in read if outline.leaves[name].path})
    names: dict[str, str] = {}
    leaves: dict[str, OutlineLeaf] = {}
    for name in read:
        leaf = outline.leaves[name]
        if name in paths:
            leaf = replace(leaf, name=paths[name], gradient="ok")
        else:
            leaf = replace(leaf, role=CONSTANT, gradient="")
        names[name] = leaf.name
        leaves[leaf.name] = leaf
    operations = [
        replace(op, operands=[o if o.maker != NOTHING else o._replace(tensor=names[o.tensor]) for o in op.operands])
        for op in outline.operations
    ]
    return replace(outline, operations=operations, leaves=leaves, settings={}, recorded=True)


def leaf_names(paths: Mapping[str, str]) -> Mapping[str, str]:
    """Return what the leaves of a graph are called by their paths: the path in the layer, where no other leaf has that.

    Args:
        paths: of each leaf, see :attr:`.outline.OutlineLeaf.path`.
    """
    parts = {key: path.partition(" (") for key, path in paths.items()}
    many = Counter(layer for layer, _, _ in parts.values())
    return {key: own.rstrip(")") if own and many[layer] > 1 else layer for key, (layer, _, own) in parts.items()}
