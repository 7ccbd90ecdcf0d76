"""What operators and tensors of a recorded run are called."""

from __future__ import annotations

from gradtool.engine.view.graph import BACKWARD, OP

from ..names import Names
from .model import TapeModel


def names(model: TapeModel) -> Names:
    """The names in *model*, as pictures of it give them."""
    named = Names(
        tensors={e.name: e.shown for e in model.entries if e.tensor._name is not None},
        arrays=[(e.tensor.array, e.shown) for e in model.entries],
    )
    graph = model.recording
    by_id = graph.view.by_id()
    for n in graph.view.nodes:
        if n.kind == OP:
            node = graph.nodes[n.id]
            key = node if n.part == BACKWARD else node.key
            named.operators[key] = n.name
            named.written[key] = {slot: by_id[tensor].name for slot, tensor in graph.writes[n.id]}
    return named
