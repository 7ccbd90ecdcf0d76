"""Numbers for pictures: norms, bytes and times of what a model computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from ...answers import magnitudes
from ...core import names
from ...core.notes import SILENT, Notes
from ...ir.operator import Operator
from ...ir.variable import Variable
from ..measuring import RUNS, norm
from . import feeds
from .model import ProgramModel


def measure_program(
    model: ProgramModel, measure: str, feed: str | None, stopwatch: Any, notes: Notes
) -> dict[str, float]:
    """Id -> number, for operators and what they write, from runs of a static program.

    Args:
        measure: ``norm``, ``bytes`` or ``time``.
    """
    variables = [*chain.from_iterable(block.vars.values() for block in model.program.blocks)]
    fetch = [model.the_loss, *(v for v in variables if v.is_parameter), *_gradients(model)]
    op_ids = {op: f"op{i}" for i, op in enumerate(chain.from_iterable(b.ops for b in model.program.blocks))}
    if measure == "time":
        return _seconds(model, fetch, feed, notes, op_ids)
    return _numbers(model, fetch, feed, notes, op_ids, {v: f"v{i}" for i, v in enumerate(variables)}, measure == "norm")


def _numbers(
    model: ProgramModel,
    fetch: list[Variable],
    feed: str | None,
    notes: Notes,
    op_ids: Mapping[Operator, str],
    ids: Mapping[Variable, str],
    norms: bool,
) -> dict[str, float]:
    """Of each value its norm or its bytes, of each operator the norm or the sum of what it writes."""
    number: Callable[[Any], float] = norm if norms else _bytes
    numbers: dict[str, float] = {}
    for step in feeds.steps(model, fetch, feed, notes):
        values = []
        for v, value in _each(step.op.outputs, step.outputs):
            values.append(number(value))
            numbers[ids[v]] = values[-1]
        if step.op in op_ids and values:
            numbers[op_ids[step.op]] = norm(np.array(values)) if norms else sum(values)
        for v, value in _each(step.op.inputs, step.inputs):
            if ids[v] not in numbers:
                numbers[ids[v]] = number(value)
    return numbers


def _seconds(
    model: ProgramModel, fetch: list[Variable], feed: str | None, notes: Notes, op_ids: Mapping[Operator, str]
) -> dict[str, float]:
    """Return the time of each operator, the least of several runs."""
    seconds: dict[str, float] = {}
    for _ in range(RUNS):
        for step in feeds.steps(model, fetch, feed, notes):
            id_ = op_ids.get(step.op)
            if id_ is not None:
                seconds[id_] = min(seconds.get(id_, math.inf), step.seconds)
        notes = SILENT
    return seconds


def _gradients(model: ProgramModel) -> list[Any]:
    variables = model.program.global_block().vars
    return [g for v in list(variables.values()) if v.is_parameter and (g := variables.get(names.grad(v.name)))]


def _each(variables: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """Variables with their arrays. What else a branch or loop leaves behind for its gradient has no size."""
    for v, value in zip(variables, values, strict=False):
        if isinstance(v, tuple):
            pairs = list(zip(v, value, strict=False)) if isinstance(value, (list, tuple)) else []
        else:
            pairs = [(v, value)]
        for each, held in pairs:
            if each is not None and held is not None and magnitudes.plain(held).dtype.kind != "O":
                yield each, held


def _bytes(value: Any) -> float:
    return float(getattr(value, "nbytes", 0))
