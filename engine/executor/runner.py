"""The kernel of an operator with a block: a plan that runs once, as long as a condition holds, or once per frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import watch
from ..core.errors import ExecutionError
from ..core.rows import RowArray
from ..core.tensor_array import EMPTY, TensorArray
from .body import Body, Carry, ShapeAt, Sum

Shaped = tuple[tuple[int, ...], Any] | TensorArray
"""Shape and dtype of a tensor that need not be kept; of an array of tensors, the empty one, which is its zeros."""


class Frames:
    """Values that the runs of a block left for backward operators.

    Attributes:
        runs: for each run, the values asked for.
        begins, ends: shape and dtype of outer variables before the first run and after the last.
    """

    __slots__ = ("begins", "ends", "runs")

    def __init__(self, begins: list[Shaped | None]) -> None:
        self.runs: list[Any] = []
        self.begins = begins
        self.ends: list[Shaped | None] = []


class Runner:
    """Runs a :class:`~gradtool.engine.executor.body.Body`; :meth:`forward` and :meth:`backward` are kernels."""

    def __init__(self, body: Body, xp: Any) -> None:
        self.body = body
        self.xp = xp
        self._starts = [(c.start, j) for j, c in enumerate(body.carried) if c.start is not None]

    def forward(self, *arguments: Any) -> list[Any]:
        """Run as the condition says."""
        body = self.body
        template = self.template(arguments)
        state = [_argument(c, arguments) for c in body.carried]
        frames = self._new_frames((), arguments)
        go = body.condition is None or _truth(arguments[body.condition])
        number = 0
        while go:
            registers = template.copy()
            state = self._run(registers, state, number, frames)
            number += 1
            go = body.go_on is not None and _truth(registers[body.go_on])
        self._close(frames, state)
        return self.results(state, frames=frames)

    def backward(self, *arguments: Any) -> list[Any]:
        """Run once for each frame of the forward operator."""
        body = self.body
        read: list[Frames] = [arguments[r.argument] for r in body.readings]
        template = self.template(arguments)
        state = [self.first(c, read, arguments) for c in body.carried]
        frames = self._new_frames(read, arguments)
        totals = [_Total(s, self.xp) for s in body.sums]
        numbers = range(len(read[0].runs))
        for number in reversed(numbers) if body.backwards else numbers:
            registers = template.copy()
            self._take(read, number, registers)
            state = self._run(registers, state, number, frames)
            for total in totals:
                total.add(registers)
        if frames is not None and body.backwards:
            frames.runs.reverse()
        self._close(frames, state)
        sums = [self.zeros(t.sum.shape, read, arguments) if t.value is None else t.value for t in totals]
        return self.results(state, sums, frames)

    # -- before the runs ------------------------------------------------------------------------------------------

    def template(self, arguments: Sequence[Any]) -> list[Any]:
        """The registers as every run finds them."""
        registers: list[Any] = [None] * self.body.plan.size
        for r, value in self.body.plan.constants.items():
            registers[r] = value
        for r, i in self.body.fixed:
            registers[r] = arguments[i]
        return registers

    def first(self, carry: Carry, read: Sequence[Frames], arguments: Sequence[Any]) -> Any:
        """Return a carried value before the first run."""
        if carry.zeros is not None:
            return self._zeros(read[0].ends[carry.zeros])
        return _argument(carry, arguments)

    def zeros(self, at: ShapeAt, read: Sequence[Frames], arguments: Sequence[Any]) -> Any:
        """Zeros of that shape."""
        return self._zeros(_shape(at, read, arguments))

    def begins(self, read: Sequence[Frames], arguments: Sequence[Any]) -> list[Shaped | None]:
        """Return what frames record about the beginning."""
        leaving = self.body.leaving
        return [] if leaving is None else [_shape(s, read, arguments) for s in leaving.begins]

    def ends(self, state: Sequence[Any]) -> list[Shaped | None]:
        """Return what frames record about the end, from the last carried values."""
        leaving = self.body.leaving
        return [] if leaving is None else [None if j is None else _shape_and_dtype(state[j]) for j in leaving.ends]

    def frames(self, runs: list[Any], begins: Sequence[Shaped | None], ends: Sequence[Shaped | None]) -> Frames:
        """Frames of runs that somebody else has carried out."""
        frames = Frames(list(begins))
        frames.runs, frames.ends = runs, list(ends)
        return frames

    def _zeros(self, shaped: Shaped | None) -> Any:
        return shaped if shaped is None or isinstance(shaped, TensorArray) else self.xp.zeros(*shaped)

    def _new_frames(self, read: Sequence[Frames], arguments: Sequence[Any]) -> Frames | None:
        return None if self.body.leaving is None else Frames(self.begins(read, arguments))

    # -- one run --------------------------------------------------------------------------------------------------

    def _take(self, read: Sequence[Frames], number: int, registers: list[Any]) -> None:
        """Put what the forward run *number* has left into registers."""
        for frames, reading in zip(read, self.body.readings, strict=True):
            frame = frames.runs[number]
            for r, place in reading.registers:
                registers[r] = frame[place]
            if reading.consumes:
                frames.runs[number] = None

    def _run(self, registers: list[Any], state: list[Any], number: int, frames: Frames | None) -> list[Any]:
        """Run number *number*, from the carried values of the one before; returns its own, and leaves a frame."""
        self.begin(registers, state)
        by = watch.program_watcher()
        if by is None:
            self.body.plan.run(registers)
        else:
            by(watch.Entered(self.body.op, number))
            try:
                self.body.plan.run(registers)
            finally:
                by(watch.Exited())
        if frames is not None and self.body.leaving is not None:
            frames.runs.append([registers[r] for r in self.body.leaving.registers])
        return [None if c.end is None else registers[c.end] for c in self.body.carried]

    def begin(self, registers: list[Any], state: Sequence[Any]) -> None:
        """Put the carried values where a run finds them."""
        for r, j in self._starts:
            registers[r] = state[j]

    # -- after the runs -------------------------------------------------------------------------------------------

    def _close(self, frames: Frames | None, state: Sequence[Any]) -> None:
        """Note what frames know about the end."""
        if frames is not None:
            frames.ends = self.ends(state)

    def results(self, state: list[Any], sums: Sequence[Any] = (), frames: Frames | None = None) -> list[Any]:
        """Return the results of the operator, from the last carried values."""
        values = [None, frames, *state, *sums]  # by NOTHING, FRAMES and CARRIED
        return [values[place] for place in self.body.results]


class _Total:
    """A sum over the runs. The first run's value is only borrowed: what is added to is a sum of two."""

    __slots__ = ("_owned", "_xp", "sum", "value")

    def __init__(self, sum_: Sum, xp: Any) -> None:
        self.sum = sum_
        self.value: Any = None
        self._owned = False
        self._xp = xp

    def add(self, registers: Sequence[Any]) -> None:
        value = registers[self.sum.register]
        if isinstance(value, RowArray):
            value = self._xp.asarray(value)  # around the block the gradient is declared dense
        if self.value is None:
            self.value = value
        elif isinstance(value, TensorArray):
            self.value = self.value + value
        elif self._owned and isinstance(self.value, np.ndarray):
            self._xp.add(self.value, value, out=self.value)
        else:
            self.value = self._xp.asarray(self.value + value)
            self._owned = True


def _argument(carry: Carry, arguments: Sequence[Any]) -> Any:
    return None if carry.before is None else arguments[carry.before]


def _shape(at: ShapeAt, read: Sequence[Frames], arguments: Sequence[Any]) -> Shaped | None:
    return _shape_and_dtype(arguments[at.place]) if at.frames is None else read[at.frames].begins[at.place]


def _shape_and_dtype(value: Any) -> Shaped | None:
    if isinstance(value, TensorArray):
        return EMPTY
    return None if value is None else (value.shape, value.dtype)


def _truth(value: Any) -> bool:
    if np.size(value) != 1:
        raise ExecutionError(f"a condition must have one element, but its shape is {list(np.shape(value))}")
    return bool(np.reshape(value, ())[()])
