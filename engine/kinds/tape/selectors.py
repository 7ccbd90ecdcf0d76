"""Tensor selectors over a recorded graph: the forms of ``selection.py``, for tensors of dynamic mode."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator

from ...core import names, source
from ...core.command_errors import CommandError, unknown
from ...eager.tensor import Leaf, Tensor
from ...view.graph import FORWARD, OP, NodeView
from ..selection import SelectorForms, forward_type, join_matches, layer_of, names_gradient, same_file
from .model import TapeEntry, TapeModel, stand_in


class TapeSelectors(SelectorForms[Tensor]):
    """Selectors over the named tensors of a model and over the recorded calls behind its loss.

    Parameters are leaves that take gradients, here: any tensor of dynamic mode can be one.
    """

    def __init__(self, model: TapeModel) -> None:
        graph = model.tape_graph
        self.entries = model.entries
        self.names = {e.tensor: e.display_name for e in model.entries}
        self.graph = graph
        self.ops = [n for n in graph.view.nodes if n.kind == OP and n.part == FORWARD]
        self.by_place = {e.tensor.tape_place(): e.tensor for e in model.entries if not e.tensor.stop_gradient}

    def display_name(self, v: Tensor) -> str:
        return self.names.get(v, v.name)

    def _entry(self, text: str) -> TapeEntry | None:
        return next((e for e in self.entries if text in e.names), None)

    def _exact(self, text: str) -> Tensor | None:
        entry = self._entry(text) or self._entry(text.removesuffix(names.GRAD))
        return None if entry is None else entry.tensor

    def _suggestions(self, parameters_only: bool) -> list[str]:
        first = [n for e in self.entries if e.tensor.node is None for n in e.names]
        rest = [] if parameters_only else [n for e in self.entries if e.tensor.node is not None for n in e.names]
        return [*first, *rest]

    def _match_glob(self, text: str, parameters_only: bool) -> list[Tensor]:
        pattern = text.removesuffix(names.GRAD)
        matched = [e for e in self.entries if any(fnmatch.fnmatchcase(n, pattern) for n in e.names)]
        return [e.tensor for e in matched if not parameters_only or _is_leaf(e.tensor)]

    def _layer(self, option: str, layer: str) -> list[Tensor]:
        parameters = [e for e in self.entries if e.is_parameter]
        inner = [e.tensor for e in parameters if any(n.startswith(layer + ".") for n in e.names)]
        if not inner:
            raise unknown(f"layer for {option}:", layer, {layer_of(n) for e in parameters for n in e.names})
        return inner

    def _op(self, option: str, text: str, parameters_only: bool) -> list[Tensor]:
        ops = [n for n in self.ops if text in (n.type, n.name)]
        read = parameters_only
        if not ops and names_gradient(text):
            forward = forward_type(text)
            ops, read = [n for n in self.ops if forward in (n.type, n.name)], True
        if not ops:
            known = [*{n.type for n in self.ops}, *(n.name for n in self.ops)]
            raise unknown(f"operator for {option}:", text, known)
        return self._only(option, f"op:{text}", list(self._tensors_near(ops, read)), parameters_only)

    def _line(self, option: str, text: str, parameters_only: bool) -> list[Tensor]:
        file, _, line = text.rpartition(":")
        if not file or not line.isdigit():
            raise CommandError(f"{option} line:{text}: expected line:FILE:NUMBER")

        def there(n: NodeView) -> bool:
            made = source.file_and_line(self.graph.nodes[n.id].loc)
            return made is not None and made[1] == int(line) and same_file(made[0], file)

        ops = [n for n in self.ops if there(n)]
        if not ops:
            raise unknown(f"line for {option}:", text, dict.fromkeys(n.source for n in self.ops if n.source))
        return self._only(option, f"line:{text}", list(self._tensors_near(ops, parameters_only)), parameters_only)

    def _tensors_near(self, ops: Iterable[NodeView], read: bool) -> Iterator[Tensor]:
        """Yield the tensors that *ops* read, or what they make, as far as it takes gradients."""
        tensors = self.graph.reads if read else self.graph.writes
        for op in ops:
            for _, tensor in tensors[op.id]:
                place = self.graph.places.get(tensor)
                if place is not None:
                    if place not in self.by_place:
                        self.by_place[place] = stand_in(place)
                    yield self.by_place[place]

    def _only(self, option: str, text: str, chosen: list[Tensor], parameters_only: bool) -> list[Tensor]:
        if not parameters_only:
            return chosen
        leaves = [t for t in chosen if _is_leaf(t)]
        if not leaves:
            raise CommandError(f"{option} {text}: no parameters there, only {join_matches([t.name for t in chosen])}")
        return leaves


def _is_leaf(t: Tensor) -> bool:
    return not t.stop_gradient and isinstance(t.tape_place(), Leaf)
