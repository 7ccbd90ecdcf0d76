"""Places of the calls in dynamic mode, those that left no record among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...core.notes import Notes
from ...core.vocabulary import title
from ...eager.journal import Journal
from ...eager.journal_entries import iterate_by_type
from ...eager.tensor import Tensor
from ...request.options import Cuts
from ...view import from_tape
from ...view.from_tape import TapeGraph
from ...view.graph import OP
from ..about import ModelGraph
from ..operator_places import NOT_RECORDED, Operand, OperatorSpot, Spots, note_of, partners, spot
from .drawing import require_whole
from .model import TapeEntry, TapeModel


def spots(model: TapeModel, cuts: Cuts, notes: Notes) -> Spots:
    """The recorded calls behind the loss, their gradient operators, and what the journal knows beside them."""
    require_whole(model, cuts)
    roots = [] if model.loss.stop_gradient else model.start.differentiated  # what left no record is in the journal
    graph = from_tape.graph(roots, title=model.name, named=model.tensor_names)
    assert model.journal is not None
    aliases = {n: _picture_name(graph, e) for e in model.entries for n in e.names if not e.tensor.stop_gradient}
    return _spots_in_graph(graph, model.journal, model.start.differentiated, aliases)


def spots_in(model: TapeModel, graph: ModelGraph) -> Spots:
    """The recorded calls behind the loss; the graph is always shown as a whole."""
    assert model.journal is not None  # whoever asks has loaded the model with one
    return _spots_in_graph(model.tape_graph, model.journal, model.start.differentiated, {})


def _picture_name(graph: TapeGraph, entry: TapeEntry) -> str:
    """Return the name of a tensor in pictures."""
    place = entry.tensor.tape_place()
    by_id = graph.view.by_id()
    return next((by_id[i].name for i, p in graph.places.items() if p == place), entry.name)


def _spots_in_graph(graph: TapeGraph, journal: Journal, roots: Sequence[Tensor], python: Mapping[str, str]) -> Spots:
    """The recorded calls of a model of dynamic mode, their gradient operators, and the calls that left no record."""
    by_id = graph.view.by_id()
    nodes = [n for n in graph.view.nodes if n.kind == OP]
    partner = partners(nodes)
    kept = {(e.target, e.tensor): (e.saved, e.shape_only) for e in graph.view.edges}
    listed = []
    for node, location in zip(nodes, graph.locations, strict=True):

        def operands(pairs: Iterable[tuple[str, str]], here: str = node.id) -> Iterator[Operand]:
            for slot, tensor in pairs:
                saved, like = kept.get((here, tensor), (False, False))
                yield Operand(slot, by_id[tensor].name, by_id[tensor].spec, note_of(saved or like, like))

        inputs, outputs = tuple(operands(graph.reads[node.id])), tuple(operands(graph.writes[node.id]))
        listed.append(spot(node, by_id, partner, location, inputs, outputs))
    behind = {n.key for n in graph.nodes.values()}
    counts = Counter(title(s.type) for s in listed)
    for call in iterate_by_type(journal.calls, lambda c: c.key in behind, journal.ancestors(roots)):
        if call.key not in behind:
            part = NOT_RECORDED if call.key is None else "beside the loss"
            listed.append(
                OperatorSpot(f"{call.type}.{counts[title(call.type)]}", call.type, part, "", "", call.loc, (), ())
            )
            counts[title(call.type)] += 1
    return Spots(listed, python)
