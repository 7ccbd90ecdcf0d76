"""Numbers for pictures: norms, bytes and times of what a model computes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.engine.answers import magnitudes
from gradtool.engine.core import watch
from gradtool.engine.core.spec import dtype
from gradtool.engine.eager import backward as sweeping
from gradtool.engine.eager.tape import GradNode
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.view.from_tape import TapeGraph
from gradtool.engine.view.graph import BACKWARD, TENSOR

from .notes import SILENT, Notes
from .program_model import ProgramModel
from .tape_model import TapeModel, stand_in

RUNS = 5
"""Runs that times are taken from; the shortest of each operator counts, the others were disturbed."""


def of_program(model: ProgramModel, measure: str, feed: str | None, seed: int, out: Notes) -> dict[str, float]:
    """Id -> number, for operators and what they write, from runs of a static program.

    Args:
        measure: ``norm``, ``bytes`` or ``time``.
    """
    from .feeds import steps

    ops = [op for block in model.program.blocks for op in block.ops]
    variables = [v for block in model.program.blocks for v in block.vars.values()]
    op_ids = {op: f"op{i}" for i, op in enumerate(ops)}
    ids = {v: f"v{i}" for i, v in enumerate(variables)}
    fetch = [model.the_loss, *(v for v in variables if v.is_parameter), *_gradients(model)]
    found: dict[str, float] = {}
    if measure == "time":
        for _ in range(RUNS):
            for step in steps(model, fetch, feed, seed, out):
                id_ = op_ids.get(step.op)
                if id_ is not None:
                    found[id_] = min(found.get(id_, math.inf), step.seconds)
            out = SILENT
        return found
    number = _norm if measure == "norm" else _bytes
    for step in steps(model, fetch, feed, seed, out):
        values = []
        for v, value in _each(step.op.outputs, step.outputs):
            values.append(number(value))
            found[ids[v]] = values[-1]
        if step.op in op_ids and values:
            found[op_ids[step.op]] = _norm(np.array(values)) if measure == "norm" else sum(values)
        for v, value in _each(step.op.inputs, step.inputs):
            if ids[v] not in found:
                found[ids[v]] = number(value)
    return found


class Stopwatch:
    """Listens to step events of dynamic mode and notes what kernels and gradient rules took, the shortest of each.

    The file itself runs the forward pass, so it has to be listened to while it is loaded.
    """

    def __init__(self) -> None:
        self._computed: dict[tuple[int, str], float] = {}
        self._pulled: dict[int, float] = {}

    def __call__(self, event: object) -> None:
        if isinstance(event, watch.Computed):
            self._computed[event.key, event.op.type] = event.seconds
        elif isinstance(event, watch.Pulled):
            key = event.node.key
            self._pulled[key] = min(self._pulled.get(key, math.inf), event.seconds)

    def of(self, node: GradNode, part: str) -> float | None:
        """Seconds that a recorded call took, or its gradient; None where nothing was told of it."""
        return self._pulled.get(node.key) if part == BACKWARD else self._computed.get((node.key, node.op.type))


def times(model: TapeModel, graph: TapeGraph, stopwatch: Stopwatch) -> dict[str, float]:
    """Operator id -> seconds, for a graph that was recorded while *stopwatch* listened."""
    for i in range(RUNS + 1):  # the first run does not count
        with watch.watched(stopwatch) if i else watch.unwatched():
            _gradients_of(model, graph)
    parts = {n.id: n.part for n in graph.view.nodes}
    found = {i: stopwatch.of(node, parts[i]) for i, node in graph.nodes.items()}
    return {i: seconds for i, seconds in found.items() if seconds is not None}


def of_tape(model: TapeModel, graph: TapeGraph, measure: str) -> dict[str, float]:
    """Id -> number for a recorded graph: norms of gradients, or bytes of what is written."""
    view = graph.view
    tensors = [n for n in view.nodes if n.kind == TENSOR]
    if measure == "bytes":
        found = {n.id: float(math.prod(n.shape or ()) * dtype(n.dtype).size) for n in tensors if n.dtype is not None}
    else:
        found = {i: _norm(g.array) for i, g in _gradients_of(model, graph).items()}
    for op in graph.writes:
        values = [found[t] for _, t in graph.writes[op] if t in found]
        if values:
            found[op] = _norm(np.array(values)) if measure == "norm" else sum(values)
    return found


def _gradients_of(model: TapeModel, graph: TapeGraph) -> dict[str, Tensor]:
    """Gradients by the ids of their nodes, from a backward pass over the whole graph."""
    of = {n.id: n.pair or "" for n in graph.view.nodes if n.kind == TENSOR and n.part == BACKWARD}
    places = {i: graph.places[tensor] for i, tensor in of.items() if tensor in graph.places}
    wanted = [stand_in(p) for p in places.values()]
    gradients = model.call(
        sweeping.grad, [model.loss], wanted, [None], retain_graph=True, create_graph=False, constants=[]
    )
    return {i: g for i, g in zip(places, gradients, strict=True) if g is not None}


def _gradients(model: ProgramModel) -> list[Any]:
    from gradtool.engine.core import names

    variables = model.program.global_block().vars
    return [g for v in list(variables.values()) if v.is_parameter and (g := variables.get(names.grad(v.name)))]


def _each(variables: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """Variables with their arrays. What else a branch or loop leaves behind for its gradient has no size."""
    for v, value in zip(variables, values, strict=False):
        if isinstance(v, tuple):
            found = list(zip(v, value, strict=False)) if isinstance(value, (list, tuple)) else []
        else:
            found = [(v, value)]
        for each, held in found:
            if each is not None and held is not None and magnitudes.plain(held).dtype.kind != "O":
                yield each, held


def _norm(value: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.square(np.abs(magnitudes.plain(value).astype(np.complex128))).sum()))


def _bytes(value: Any) -> float:
    return float(getattr(value, "nbytes", 0))
