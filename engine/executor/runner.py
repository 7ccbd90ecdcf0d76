"""The kernel of an operator with a block: a plan that runs once, as long as a condition holds, or once per frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import watch
from ..core.errors import ExecutionError
from ..core.rows import RowArray
from ..ir.operator import Operator
from .plan import Plan

Shaped = tuple[tuple[int, ...], Any]
"""Shape and dtype of an array that need not be kept."""


class Frames:
    """What the runs of a block left for backward operators.

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
    """The kernel of an operator with a block. Numbers are places among the arguments unless they say otherwise.

    Attributes:
        op: the operator.
        plan: what one run does.
        fixed: ``(register, argument)``: what every run reads.
        begun, ends: for each carried value, the register that it is put into before a run and found in after it.
        before: for each carried value, the argument that it begins with.
        order: for each result, a carried value, a sum after these, -1 for nothing or -2 for the frames.
        kept: the registers that go into a frame; None when there are no frames to leave.
    """

    def __init__(self, op: Operator, plan: Plan, xp: Any) -> None:
        self.op = op
        self.plan = plan
        self.xp = xp
        self.fixed: list[tuple[int, int]] = []
        self.begun: list[int] = []
        self.ends: list[int] = []
        self.before: list[int] = []
        self.order: list[int] = []
        self.kept: list[int] | None = None
        self.begins: list[tuple[int, int]] = []
        self.finals: list[int] = []
        self.condition = -1
        self.go_on = -1
        self.scopes: list[int] = []
        self.framed: list[list[tuple[int, int]]] = []
        self.consumes: list[bool] = []
        self.backwards = False
        self.summed: list[int] = []
        self.sum_shapes: list[tuple[int, int]] = []
        self.zeros: list[tuple[int, int] | None] = []

    def arguments(self) -> set[int]:
        """The arguments that are used."""
        used = {i for _, i in self.fixed} | {*self.before, self.condition, *self.scopes}
        used |= {i for k, i in (*self.begins, *self.sum_shapes) if k < 0}
        return used - {-1}

    def renumber(self, moved: dict[int, int]) -> None:
        """Find the arguments at new places."""
        self.fixed = [(r, moved[i]) for r, i in self.fixed]
        self.before = [moved[i] for i in self.before]
        self.condition = moved[self.condition]
        self.scopes = [moved[i] for i in self.scopes]
        self.begins = [(k, moved[i]) if k < 0 else (k, i) for k, i in self.begins]
        self.sum_shapes = [(k, moved[i]) if k < 0 else (k, i) for k, i in self.sum_shapes]

    def _template(self, arguments: Sequence[Any]) -> list[Any]:
        registers: list[Any] = [None] * self.plan.size
        for r, value in self.plan.constants.items():
            registers[r] = value
        for r, i in self.fixed:
            registers[r] = arguments[i]
        return registers

    def _run(self, registers: list[Any], state: list[Any], number: int) -> None:
        """Run number *number*, from the carried values of the one before."""
        for r, value in zip(self.begun, state, strict=True):
            if r >= 0:
                registers[r] = value
        by = watch.watcher()
        if by is None:
            self.plan.run(registers)
            return
        by(watch.Entered(self.op, number))
        try:
            self.plan.run(registers)
        finally:
            by(watch.Exited())

    def _after(self, registers: list[Any]) -> list[Any]:
        return [registers[r] if r >= 0 else None for r in self.ends]

    def forward(self, *arguments: Any) -> list[Any]:
        """Run as the condition says."""
        template = self._template(arguments)
        state = [arguments[i] if i >= 0 else None for i in self.before]
        frames = Frames([_shaped(arguments[i]) for _, i in self.begins]) if self.kept is not None else None
        go = self.condition < 0 or _truth(arguments[self.condition])
        number = 0
        while go:
            registers = template.copy()
            self._run(registers, state, number)
            number += 1
            state = self._after(registers)
            if frames is not None and self.kept is not None:
                frames.runs.append([registers[r] for r in self.kept])
            go = self.go_on >= 0 and _truth(registers[self.go_on])
        if frames is not None:
            frames.ends = [_shaped(state[j]) if j >= 0 else None for j in self.finals]
        return self._results(state, [], frames)

    def backward(self, *arguments: Any) -> list[Any]:
        """Run once for each frame of the forward operator."""
        scopes: list[Frames] = [arguments[i] for i in self.scopes]
        template = self._template(arguments)
        state = [arguments[i] if i >= 0 else None for i in self.before]
        for j, where in enumerate(self.zeros):
            if state[j] is None and where is not None:
                state[j] = self._zeros(scopes[where[0]].ends[where[1]])
        own = Frames([self._begin(w, scopes, arguments) for w in self.begins]) if self.kept is not None else None
        totals: list[Any] = [None] * len(self.summed)
        owned = [False] * len(self.summed)
        count = len(scopes[0].runs)
        for n in reversed(range(count)) if self.backwards else range(count):
            registers = template.copy()
            for scope, reads, consume in zip(scopes, self.framed, self.consumes, strict=True):
                frame = scope.runs[n]
                for r, p in reads:
                    registers[r] = frame[p]
                if consume:
                    scope.runs[n] = None
            self._run(registers, state, n)
            state = self._after(registers)
            for j, r in enumerate(self.summed):
                value = registers[r]
                if isinstance(value, RowArray):
                    value = self.xp.asarray(value)  # around the block the gradient is declared dense
                if totals[j] is None:
                    totals[j] = value
                elif owned[j]:
                    self.xp.add(totals[j], value, out=totals[j])
                else:
                    totals[j] = self.xp.asarray(totals[j] + value)
                    owned[j] = True
            if own is not None and self.kept is not None:
                own.runs.append([registers[r] for r in self.kept])
        if own is not None:
            if self.backwards:
                own.runs.reverse()
            own.ends = [_shaped(state[j]) if j >= 0 else None for j in self.finals]
        for j, where in enumerate(self.sum_shapes):
            if totals[j] is None:
                totals[j] = self._zeros(self._begin(where, scopes, arguments))
        return self._results(state, totals, own)

    def _begin(self, where: tuple[int, int], scopes: Sequence[Frames], arguments: Sequence[Any]) -> Shaped | None:
        k, i = where
        return scopes[k].begins[i] if k >= 0 else _shaped(arguments[i])

    def _zeros(self, shaped: Shaped | None) -> Any:
        return None if shaped is None else self.xp.zeros(*shaped)

    def _results(self, state: list[Any], totals: list[Any], frames: Frames | None) -> list[Any]:
        values = [*state, *totals]
        return [frames if j == -2 else None if j < 0 else values[j] for j in self.order]


def _shaped(value: Any) -> Shaped | None:
    return None if value is None else (value.shape, value.dtype)


def _truth(value: Any) -> bool:
    if np.size(value) != 1:
        raise ExecutionError(f"a condition must have one element, but its shape is {list(np.shape(value))}")
    return bool(np.reshape(value, ())[()])
