"""Names of operators and tensors in a recorded run."""

from __future__ import annotations

from ...view.from_tape import layers_of
from ...view.graph import BACKWARD, OP
from ..names import Names
from .model import TapeModel


def names(model: TapeModel) -> Names:
    """The names in *model*, as pictures of it give them."""
    named = Names(
        tensors={e.name: e.display_name for e in model.entries if e.tensor._name is not None},
        arrays=[(e.tensor.array, e.display_name) for e in model.entries],
    )
    graph = model.tape_graph
    by_id = graph.view.by_id()
    for n in graph.view.nodes:
        if n.kind == OP:
            node = graph.nodes[n.id]
            key = node if n.part == BACKWARD else node.key
            named.operators[key] = n.name
            named.written[key] = {slot: by_id[tensor].name for slot, tensor in graph.writes[n.id]}
    for node, layer in zip(model.nodes, _layers(model), strict=True):
        if layer:
            named.layers[node] = named.layers[node.key] = layer
    return named


def _layers(model: TapeModel) -> list[str]:
    """The layer of every recorded call, under the name by which people reach it: ``model.layers.3.attn``."""
    paths = {e.tensor.leaf: e.display_name for e in model.entries if e.is_parameter}
    return layers_of(model.nodes, lambda leaf: paths.get(leaf, ""))
