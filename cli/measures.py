"""Numbers for pictures: norms, bytes and times of what a model computes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.engine.answers import magnitudes
from gradtool.engine.eager import backward as sweeping
from gradtool.engine.spec import dtype
from gradtool.engine.view import BACKWARD
from gradtool.viz.from_tape import TapeGraph

from .context import Output
from .discovery import Model
from .eager_model import EagerModel, stand_in

RUNS = 5
"""Runs that times are taken from; the shortest of each operator counts, the others were disturbed."""


def of_program(model: Model, measure: str, feed: str | None, seed: int, out: Output) -> dict[str, float]:
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
            before = time.perf_counter()
            for step in steps(model, fetch, feed, seed, out):
                now = time.perf_counter()
                id_ = op_ids.get(step.op)
                if id_ is not None:
                    found[id_] = min(found.get(id_, np.inf), now - before)
                out = Output(quiet=True)
                before = time.perf_counter()
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


def of_tape(model: EagerModel, graph: TapeGraph, measure: str) -> dict[str, float]:
    """Id -> number for a recorded graph: norms of gradients, bytes of what is written, or times of gradient operators.

    The forward part is over, so that only the backward pass can be measured.
    """
    if measure == "time":
        return _times(model, graph)
    view = graph.view
    tensors = [n for n in view.nodes if n.kind == "tensor"]
    if measure == "bytes":
        found = {n.id: float(math.prod(n.shape or ()) * dtype(n.dtype).size) for n in tensors if n.dtype is not None}
    else:
        places = {
            n.id: graph.places[n.pair] for n in tensors if n.part == "backward" and n.pair and n.pair in graph.places
        }
        wanted = [stand_in(p) for p in places.values()]
        gradients = model.call(
            sweeping.grad, [model.loss], wanted, [None], retain_graph=True, create_graph=False, constants=[]
        )
        found = {i: _norm(g.array) for i, g in zip(places, gradients, strict=True) if g is not None}
    for op in graph.writes:
        values = [found[t] for _, t in graph.writes[op] if t in found]
        if values:
            found[op] = _norm(np.array(values)) if measure == "norm" else sum(values)
    return found


def _times(model: EagerModel, graph: TapeGraph) -> dict[str, float]:
    from gradtool.engine.answers import profile

    clock = profile.Clock()
    model.call(profile.of_tape, model.loss, clock, RUNS)
    backward = {n.id for n in graph.view.nodes if n.part == BACKWARD}
    ids = {call: i for i, call in graph.nodes.items() if i in backward}
    return {ids[c.origin]: min(c.seconds) for c in clock.story().costs if c.origin in ids}


def _gradients(model: Model) -> list[Any]:
    from gradtool.engine import names

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
