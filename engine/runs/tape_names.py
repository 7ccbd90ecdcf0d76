"""Names of operators and tensors in dynamic mode: as in the graph that the other commands draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..eager.tape import GradNode, Place
from ..eager.tensor import Leaf
from ..view.from_tape import TapeGraph
from ..view.graph import BACKWARD, FORWARD


class TapeNames:
    """Names of what stands on the tape.

    Args:
        graph: the graph of the tape, or None if nothing was recorded on it.
        shown: the leaves that the run is about, with their names for people.
        also: further names for leaves.

    Attributes:
        nodes: name and layer of a node's forward and of its backward operator.
    """

    def __init__(
        self, graph: TapeGraph | None, shown: Mapping[Leaf, str] | None, also: Mapping[Leaf, Sequence[str]]
    ) -> None:
        self._shown = shown or {}
        self._also = also
        self.nodes: dict[tuple[GradNode, str], tuple[str, str]] = {}
        self._places: dict[Place, str] = {}
        if graph is not None:
            view = graph.view.by_id()
            for id_, node in graph.nodes.items():
                self.nodes[node, view[id_].part] = view[id_].name, view[id_].scope
            self._places = {p: view[id_].name for id_, p in graph.places.items()}

    def place(self, place: Place) -> str:
        """The name that says most: of a parameter its Python path."""
        if isinstance(place, Leaf):
            if place in self._shown:
                return self._shown[place]
            return self._places.get(place, place.name).partition(" (")[0]
        name = self._places.get(place)
        if name is not None:
            return name
        node, index = place
        name = next((self.nodes[node, part][0] for part in (FORWARD, BACKWARD) if (node, part) in self.nodes), None)
        return f"{name or f'{node.op.type}.?'}" + (f"[{index}]" if len(node.shapes) > 1 else "")

    def others(self, leaf: Leaf, name: str) -> tuple[str, ...]:
        """The names of a leaf beside the first one."""
        candidates = dict.fromkeys((leaf.name, self._places.get(leaf, ""), *self._also.get(leaf, ())))
        return tuple(n for n in candidates if n and n != name)

    def distinct(self, leaves: Sequence[Leaf]) -> dict[Leaf, str]:
        """The names of leaves; two that share a Python path go by the names of their tensors."""
        plain = [self.place(leaf) for leaf in leaves]
        times = Counter(plain)
        return {leaf: n if times[n] == 1 else leaf.name for leaf, n in zip(leaves, plain, strict=True)}
