"""Numbers for pictures: norms, bytes and times of what a model computes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.engine.answers import magnitudes

from ..measuring import RUNS, norm
from ..notes import SILENT, Notes
from . import feeds
from .model import ProgramModel


def measured(model: ProgramModel, measure: str, feed: str | None, notes: Notes) -> dict[str, float]:
    """Id -> number, for operators and what they write, from runs of a static program.

    Args:
        measure: ``norm``, ``bytes`` or ``time``.
    """
    ops = [op for block in model.program.blocks for op in block.ops]
    variables = [v for block in model.program.blocks for v in block.vars.values()]
    op_ids = {op: f"op{i}" for i, op in enumerate(ops)}
    ids = {v: f"v{i}" for i, v in enumerate(variables)}
    fetch = [model.the_loss, *(v for v in variables if v.is_parameter), *_gradients(model)]
    found: dict[str, float] = {}
    if measure == "time":
        for _ in range(RUNS):
            for step in feeds.steps(model, fetch, feed, notes):
                id_ = op_ids.get(step.op)
                if id_ is not None:
                    found[id_] = min(found.get(id_, math.inf), step.seconds)
            notes = SILENT
        return found
    number = norm if measure == "norm" else _bytes
    for step in feeds.steps(model, fetch, feed, notes):
        values = []
        for v, value in _each(step.op.outputs, step.outputs):
            values.append(number(value))
            found[ids[v]] = values[-1]
        if step.op in op_ids and values:
            found[op_ids[step.op]] = norm(np.array(values)) if measure == "norm" else sum(values)
        for v, value in _each(step.op.inputs, step.inputs):
            if ids[v] not in found:
                found[ids[v]] = number(value)
    return found


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


def _bytes(value: Any) -> float:
    return float(getattr(value, "nbytes", 0))
