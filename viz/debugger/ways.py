"""Connections of the values of a run: paths between them, and the parts of sums."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from gradtool.engine.core import names
from gradtool.engine.runs.timeline import NOBODY, Entry, Timeline


def shortest_path(timeline: Timeline, starts: Iterable[int], end: int) -> list[Entry] | None:
    """The shortest way from one of some values to another, as operators in the order of the run; None without one."""
    wanted = set(starts)
    onward: dict[int, int] = {}
    seen, todo = {end}, deque([end])
    while todo:
        number = todo.popleft()
        if number in wanted:
            return _operators(timeline, number, end, onward)
        for before in _read_for(timeline, number):
            if before not in seen:
                seen.add(before)
                onward[before] = number
                todo.append(before)
    return None


def _operators(timeline: Timeline, number: int, end: int, onward: dict[int, int]) -> list[Entry]:
    operators: list[Entry] = []
    while number != end:
        number = onward[number]
        maker = timeline.values[number].maker
        if maker != NOBODY and timeline.values[number].parts is None:
            operators.append(timeline.entries[maker])
    return operators


def _read_for(timeline: Timeline, number: int) -> Sequence[int]:
    """Yield the values that a value is computed of."""
    value = timeline.values[number]
    if value.parts is not None:
        return value.parts
    return timeline.entries[value.maker].inputs if value.maker != NOBODY else ()


def seeds(timeline: Timeline) -> list[int]:
    """The gradients that backward starts from."""
    if timeline.loss is not None:
        loss = timeline.values[timeline.loss]
        numbers = [n for name in (loss.name, *loss.names) for n in timeline.versions(names.grad(name))]
        if numbers:
            return numbers
    values = timeline.values
    return [n for n, v in enumerate(values) if v.maker == NOBODY and v.name.endswith(names.GRAD)]


def summands(timeline: Timeline, number: int) -> list[int]:
    """Return the terms of a gradient, in the order of its making; the gradient itself where only one use makes it.

    Sums that the engine makes between operators count as well as those of ``sum`` operators in a program.
    """
    numbers: list[int] = []
    todo = [number]
    while todo:
        at = todo.pop()
        value = timeline.values[at]
        maker = timeline.entries[value.maker] if value.maker != NOBODY else None
        if value.parts is not None:
            todo += reversed(value.parts)
        elif maker is not None and maker.backward and maker.type == "sum":
            todo += reversed(maker.inputs)
        else:
            numbers.append(at)
    return numbers
