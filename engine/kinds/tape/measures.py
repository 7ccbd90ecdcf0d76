"""Numbers for pictures: norms, bytes and times of what a model computes."""

from __future__ import annotations

import math

import numpy as np

from ...core import watch
from ...core.notes import Notes
from ...core.spec import dtype
from ...eager import backward as sweeping
from ...eager.tensor import Tensor
from ...view.from_tape import TapeGraph
from ...view.graph import BACKWARD, TENSOR
from ..measuring import RUNS, Stopwatch, norm
from .model import TapeModel, record_graph, stand_in


def measure_graph(
    model: TapeModel, measure: str, feed: str | None, stopwatch: Stopwatch | None, notes: Notes
) -> dict[str, float]:
    """Id -> number for the recorded graph behind the loss; *stopwatch* listened while it was computed."""
    graph = record_graph(model)
    return measure_tape(model, graph, measure) if stopwatch is None else times(model, graph, stopwatch)


def times(model: TapeModel, graph: TapeGraph, stopwatch: Stopwatch) -> dict[str, float]:
    """Operator id -> seconds, for a graph that was recorded while *stopwatch* listened."""
    for i in range(RUNS + 1):  # the first run does not count
        with watch.watch(stopwatch) if i else watch.pause_watchers():
            _gradients_of(model, graph)
    parts = {n.id: n.part for n in graph.view.nodes}
    by_id = {i: stopwatch.seconds(node, parts[i]) for i, node in graph.nodes.items()}
    return {i: seconds for i, seconds in by_id.items() if seconds is not None}


def measure_tape(model: TapeModel, graph: TapeGraph, measure: str) -> dict[str, float]:
    """Id -> number for a recorded graph: norms of gradients, or bytes of what is written."""
    view = graph.view
    tensors = [n for n in view.nodes if n.kind == TENSOR]
    if measure == "bytes":
        by_id = {n.id: float(math.prod(n.shape or ()) * dtype(n.dtype).size) for n in tensors if n.dtype is not None}
    else:
        by_id = {i: norm(g.array) for i, g in _gradients_of(model, graph).items()}
    for op in graph.writes:
        values = [by_id[t] for _, t in graph.writes[op] if t in by_id]
        if values:
            by_id[op] = norm(np.array(values)) if measure == "norm" else sum(values)
    return by_id


def _gradients_of(model: TapeModel, graph: TapeGraph) -> dict[str, Tensor]:
    """Gradients by the ids of their nodes, from a backward pass over the whole graph."""
    of = {n.id: n.pair or "" for n in graph.view.nodes if n.kind == TENSOR and n.part == BACKWARD}
    places = {i: graph.places[tensor] for i, tensor in of.items() if tensor in graph.places}
    wanted = [stand_in(p) for p in places.values()]
    gradients = model.call(
        sweeping.grad,
        model.start.roots,
        wanted,
        [None if g is None else Tensor(g) for g in model.start.gradients],
        retain_graph=True,
        create_graph=False,
        constants=[],
    )
    return {i: g for i, g in zip(places, gradients, strict=True) if g is not None}
