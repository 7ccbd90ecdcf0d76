"""Steps of a compiled plan as events: they show which value is which, in and out of blocks, as where each is an
object.

On NumPy a value that goes from round to round, out of a branch, or into a block is one array, whoever reads it. A
compiled function knows nothing of that. So the instructions are gone through once more with what is told of values in
their place: what operators gave is new, what moves them hands them on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.summary import ArraySummary, Heard
from ...core.tensor_array import EMPTY, TensorArray
from ...core.watch import Entered, Exited
from .block_observations import Looked
from .packing import UnmovedArray
from .pytrees import StaticSummary

_INDEX = {
    "select_input": -1,
    "select_output": 1,
    "write_to_array": 1,
    "read_from_array": 1,
    "array_without": 1,
    "array_popped": 1,
    "array_parted": 1,
}
"""Operators that hand values on, as one of their operands says: which."""


class IdentifiedResult(NamedTuple):
    """A result of an instruction, as a compiled function returns it.

    Attributes:
        shown: its shape and type.
        there: whether it is there; None for one that is.
        here: its value, if that is needed.
    """

    shown: StaticSummary
    there: Any
    here: UnmovedArray | None

    def report(self) -> Any:
        """Return what is reported of it."""
        if self.there is not None and not np.asarray(self.there):
            return None
        return self.shown.summary if self.here is None else self.here


class GivenResults(NamedTuple):
    """Results of an instruction.

    Attributes:
        chosen: the operand that says which value it hands on.
        looked: what came of its block.
    """

    results: Sequence[IdentifiedResult]
    chosen: Any
    looked: Looked | None


class _Frames:
    """Values that the runs of a block left for others, as they are reported."""

    def __init__(self, begins: Sequence[Any]) -> None:
        self.runs: list[list[Any]] = []
        self.begins = begins
        self.ends: Sequence[Any] = ()


def is_moved(op: Any) -> bool:
    """Return whether what *op* gives is what it has read."""
    return op.type in _INDEX


def chooser(instruction: Any, inputs: Sequence[Any]) -> Any:
    """The operand that says which value an instruction hands on; None where it makes new ones."""
    return inputs[_INDEX[instruction.op.type]] if instruction.op is not None and is_moved(instruction.op) else None


def steps(
    plan: Any, seen: Iterable[tuple[int, GivenResults]], there: dict[int, Any], held: Callable[[int], Any]
) -> Iterator[Heard]:
    """The steps of instructions; blocks stand in blocks as deep as the program was written.

    Args:
        there: what is told of registers, which it changes.
        held: the value of a register that is at hand as a whole, or None.
    """
    for index, given in seen:
        instruction = plan.instructions[index]
        read = tuple([there.get(r) for r in instruction.ins])
        outs = instruction.outs
        gave: Sequence[Any]
        if given.looked is not None:
            gave = yield from _runs(given.looked, read)
        elif given.chosen is not None:
            gave = _hand_on(instruction, read, np.asarray(given.chosen))
        else:
            gave = [_result(r, result, read, held) for r, result in zip(outs, given.results, strict=True)]
        there.update(zip(outs, gave, strict=True))
        if instruction.op is not None:
            yield index, instruction.op, read, tuple(gave)


def _result(r: int, result: IdentifiedResult, read: Sequence[Any], held: Callable[[int], Any]) -> Any:
    """Return the report of a result: for an operand that is given as it is, the operand's, if it is at hand."""
    same = None if result.shown.same is None else read[result.shown.same]
    if same is not None and not isinstance(same, ArraySummary):
        return same
    value = held(r)
    return result.report() if value is None else value


def _hand_on(instruction: Any, read: Sequence[Any], chosen: Any) -> Sequence[Any]:
    """Return what an operator hands on: its own kernel, over the reports of values."""
    operands = list(read)
    operands[_INDEX[instruction.op.type]] = chosen
    gave = instruction.kernel.reference(*operands)
    return gave if instruction.spread else (gave,)


def _runs(looked: Looked, arguments: Sequence[Any]) -> Generator[Heard, None, Sequence[Any]]:
    """The steps of the runs of a block, as ``executor/runner.py`` carries them out; returns what the operator gives."""
    body = looked.body
    frames = [arguments[r.argument] for r in body.readings]
    state = [_first(c, frames, arguments) for c in body.carried]
    left = None if body.leaving is None else _Frames([_value_at(s, frames, arguments) for s in body.leaving.begins])
    parts: list[list[Any]] = [[] for _ in body.sums]
    template = {**body.plan.constants, **{r: arguments[i] for r, i in body.fixed}}
    for number, seen in looked.runs():
        registers = dict(template)
        registers.update({c.start: v for c, v in zip(body.carried, state, strict=True) if c.start is not None})
        for of, reading in zip(frames, body.readings, strict=True):
            registers.update({r: of.runs[number][place] for r, place in reading.registers})
        yield Entered(body.op, number)
        yield from steps(body.plan, enumerate(seen), registers, lambda r: None)
        yield Exited()
        if left is not None:
            left.runs.append([registers.get(r) for r in body.leaving.registers])
        state = [None if c.end is None else registers.get(c.end) for c in body.carried]
        for part, added in zip(parts, body.sums, strict=True):
            part.append(registers.get(added.register))
    if left is not None:
        if body.readings and body.backwards:
            left.runs.reverse()
        left.ends = [None if j is None else state[j] for j in body.leaving.ends]
    sums = [_sum(part, _value_at(s.shape, frames, arguments)) for part, s in zip(parts, body.sums, strict=True)]
    values = [None, left, *state, *sums]
    return [values[place] for place in body.results]


def _first(carry: Any, frames: Sequence[_Frames], arguments: Sequence[Any]) -> Any:
    """Return a carried value before the first run."""
    if carry.zeros is not None:
        return _new(frames[0].ends[carry.zeros])
    return None if carry.before is None else arguments[carry.before]


def _value_at(at: Any, frames: Sequence[_Frames], arguments: Sequence[Any]) -> Any:
    """A value of the shape that is meant."""
    return arguments[at.place] if at.frames is None else frames[at.frames].begins[at.place]


def _sum(parts: Sequence[Any], like: Any) -> Any:
    """Return the report of a sum over runs; a sum of a single part is that part."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _new(like)
    if not isinstance(parts[0], TensorArray):
        return _new(parts[0])
    entries = {place: _new(v) for part in parts for place, v in part.entries.items()}
    return TensorArray(entries, max(part.length for part in parts))


def _new(like: Any) -> Any:
    """Return the report of an array of the shape of another one."""
    if isinstance(like, TensorArray):
        return EMPTY
    return None if like is None else ArraySummary(tuple(like.shape), np.dtype(like.dtype))
