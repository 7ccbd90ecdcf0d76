"""Running a model: what is fed, and what parameters hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core import state
from ...core.command_errors import CommandError, Unreadable, unknown
from ...core.notes import Notes
from ...core.wording import count
from ...data import row_syntax
from ...executor.executor import Executor
from ...executor.plan import Step
from ...executor.scope import Scope, global_scope
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.variable import Variable
from .model import ProgramModel

_UNKNOWN_DIMENSION = 4
"""What stands for a dimension that the program leaves open, in random feeds."""

# What integers an operator accepts in a slot: type -> (slot of the integers, slot of the table, its dimension).
_LIMITS = {
    "lookup_table_v2": ("Ids", "W", 0),
    "lookup_table": ("Ids", "W", 0),
    "softmax_with_cross_entropy": ("Label", "Logits", -1),
    "cross_entropy": ("Label", "X", -1),
    "nll_loss": ("Label", "X", 1),
    "gather": ("Index", "X", 0),
    "index_select": ("Index", "X", 0),
}


def run(
    model: ProgramModel,
    fetch: Sequence[Variable],
    file: str | None,
    notes: Notes,
    backend: str | None = None,
    *,
    stays: bool = False,
) -> list[Any]:
    """Run the model's program and return the values of *fetch*.

    Parameters keep the values that the model file gave them; others get theirs from the startup programs.

    Args:
        file: arrays to feed; by default what the model file says, or random numbers.
        stays: whether the values may stay on the backend's device.

    Raises:
        CommandError: the file cannot be read, or names what is no variable.
        GradtoolError: the engine refused a feed or failed.
    """
    executor, feed = ready(model, file, notes, backend)
    if not stays:
        return executor.run(model.program, feed=feed, fetch_list=list(fetch))
    handles = executor.run(model.program, feed=feed, fetch_list=list(fetch), return_numpy=False)
    return [handle.value for handle in handles]


def steps(model: ProgramModel, fetch: Sequence[Variable], file: str | None, notes: Notes) -> Iterator[Step]:
    """Run as :func:`run` does, with one event for each operator."""
    executor, feed = ready(model, file, notes)
    return executor.steps(model.program, feed=feed, fetch_list=list(fetch))


def ready(
    model: ProgramModel, file: str | None, notes: Notes, backend: str | None = None
) -> tuple[Executor, dict[str, Any]]:
    """An executor for the model's program, and what is fed to it; parameters have their values."""
    executor = Executor(backend=backend)
    feed = _feed(model, file, model.seed, notes)
    state.random.reset(model.seed)
    initialise(model, executor)
    return executor, feed


def initialise(model: ProgramModel, executor: Executor) -> None:
    values = global_scope().values
    missing = {v.name for v in model.program.list_vars() if v.persistable} - set(values)
    for startup in model.startups:
        written = {v.name for op in startup.global_block().ops for v in op.output_variables() if v.persistable}
        if not missing & written:
            continue
        scope = Scope()
        executor.run(startup, scope=scope)
        for name in sorted(missing & set(scope.values)):
            values[name] = scope.values[name]
        missing -= set(scope.values)


def _feed(model: ProgramModel, file: str | None, seed: int, out: Notes) -> dict[str, Any]:
    wanted = {v.name: v for v in model.program.global_block().vars.values() if v.is_data}
    if file is not None:
        feed = read(file, model.program)
        out.note(f"feed: {count(len(feed), 'array')} from {file}")
        return feed
    if model.feed is not None:
        out.note(f"feed: {', '.join(model.feed)} from {model.feed_from}")
        strange = [n for n in model.feed if n not in model.program.global_block().vars]
        if strange:
            raise unknown(f"tensor in the feed from {model.feed_from}:", str(strange[0]), wanted)
        return model.feed
    feed = random_feed(list(wanted.values()), model.program.global_block().ops, seed)
    if feed:
        made = ", ".join(f"{n} {a.dtype}{list(a.shape)}" for n, a in feed.items())
        out.note(f"feed: made at random (seed {seed}): {made}; --feed FILE.npz gives your own")
    return feed


def read(file: str, program: Program) -> dict[str, Any]:
    """The arrays in an ``.npz`` file by name, or the one in an ``.npy`` file, which is for the only variable to feed.

    ``FILE[17]`` and ``FILE[320:384]`` are rows of a file of any kind that sweeps read.

    Raises:
        CommandError: the file cannot be read, holds something else, or names what is no variable of *program*.
    """
    variables = program.global_block().vars
    wanted = [v.name for v in variables.values() if v.is_data]
    if row_syntax.is_of_rows(file):
        fed = name_arrays(row_syntax.take(file), program)
        strange = [name for name in fed if name not in variables]
        if strange:
            raise unknown(f"tensor in {file}:", strange[0], wanted)
        return fed

    def room(name: str | None) -> int | None:
        if name is None and len(wanted) != 1:
            raise CommandError(
                f"{file} holds one array without a name, and there are {len(wanted)} variables to feed"
                f"{': ' + ', '.join(wanted[:_NAMED]) if wanted else ''}",
                "np.savez(FILE, NAME=array) names it",
            )
        v = variables.get(name if name is not None else wanted[0])
        if v is None:
            raise unknown(f"tensor in {file}:", str(name), wanted)
        return max(_ROOM, v.spec.count * _WIDEST) if v.is_data and v.spec.known else None

    if not os.path.isfile(file) and os.path.exists(file):
        raise Unreadable(f"cannot read {file}: it is a folder or a device, and arrays are read from a file")
    from ...data import npz

    with npz.report_errors(file) as fail:
        arrays = npz.read(file, room, fail)
    return {name if name is not None else wanted[0]: array for name, array in arrays.items()}


_WIDEST = 16
"""Bytes of the widest number."""
_ROOM = 2**20
"""Bytes that an array may have whatever it is for: that its shape does not fit is better said by the engine."""
_NAMED = 5


def name_arrays(arrays: Mapping[str | None, Any], program: Program) -> dict[str, Any]:
    """The arrays by the names of variables: one without a name is for the only variable that is fed.

    Raises:
        CommandError: there is not just one.
    """
    wanted = [v.name for v in program.global_block().vars.values() if v.is_data]
    if None in arrays and len(wanted) != 1:
        raise CommandError(
            f"one array without a name, and there are {len(wanted)} variables to feed: {', '.join(wanted)}",
            "np.savez(FILE, NAME=array) names it",
        )
    return {wanted[0] if name is None else name: array for name, array in arrays.items()}


def random_feed(data: Sequence[Variable], ops: Sequence[Operator], seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays that fit the declarations: numbers from 0 to 1, integers that operators accept as ids and labels."""
    rng = np.random.default_rng(seed)
    limits = _integer_limits(ops)
    feed = {}
    for v in data:
        dims = tuple(_UNKNOWN_DIMENSION if d < 0 else d for d in v.shape)
        if v.dtype.is_differentiable:
            drawn = rng.random(dims)
            feed[v.name] = (drawn + 1j * rng.random(dims) if v.dtype.is_complex else drawn).astype(v.dtype.numpy)
        else:
            feed[v.name] = rng.integers(0, max(1, limits.get(v, 2)), dims).astype(v.dtype.numpy)
    return feed


def _integer_limits(ops: Sequence[Operator]) -> dict[Variable, int]:
    bounds: dict[Variable, int] = {}
    for op in ops:
        if op.type == "one_hot_v2":
            ids, bound = _single(op, "X"), int(op.attrs["depth"])
        elif op.type in _LIMITS:
            slot, table, axis = _LIMITS[op.type]
            ids, holder = _single(op, slot), _single(op, table)
            axis = op.attrs.get("axis", axis) if axis == -1 else axis
            bound = holder.shape[axis] if holder is not None else -1
        else:
            continue
        if ids is not None and bound > 0:
            bounds[ids] = min(bound, bounds.get(ids, bound))
    return bounds


def _single(op: Operator, slot: str) -> Variable | None:
    place = op.op.input_index.get(slot)
    value = op.inputs[place] if place is not None and place < len(op.inputs) else None
    return value if isinstance(value, Variable) else None
