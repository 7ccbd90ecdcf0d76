"""Judge the numbers of a run while the plan runs as it does when nobody watches.

A watcher that asks :class:`~gradtool.engine.core.summary.InOrder` is told of a run in which nothing is wrong by one
event. Results are judged as they come: a large one by the sum of its squares, which one pass of BLAS gives and which is
finite, and small enough, only where every number is; small ones together, many at a time. Where that leaves a doubt the
run is carried out once more from what it began with, and its steps are told one by one. Random numbers are drawn
again as they were. What branches and loops run is judged in the same way, and which ran is part of the event. Plans
that do something beside computing (print, call the user's code) are told by steps at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import state, watch
from ..core.finite import is_finite
from ..core.spec import TensorSpec
from ..core.summary import ArraySummary, Heard, InOrder, Uneventful
from ..ir.variable import DENSE, SELECTED_ROWS
from ..ops.opdef import Trait
from .accumulation import is_part

if TYPE_CHECKING:
    from .plan import Code, Instruction, Plan, Step

FEW = 1 << 10
"""Elements up to which results wait to be judged together."""

TOGETHER = 256
"""How many of them are judged at a time."""

KEPT = 16
"""Shapes of feeds whose event is kept."""

LONGEST = 64
"""Runs that are told by steps after doubts, at most: they double with every doubt."""

COMPILED = 32
"""Runs after which groups of a plan are compiled with a look at what is within them."""

_TENSORS = (DENSE, SELECTED_ROWS)
_TYPES = ("float32", "float64")


class Doubt(Exception):
    """Something may be wrong with a result."""


class Within:
    """Stands for who watches while a plan is judged: what its blocks run is judged, too, and noted.

    Attributes:
        ran: which runs of blocks began and ended.
    """

    def __init__(self, asked: InOrder) -> None:
        self._asked = asked
        self.ran: list[Any] = []

    def __call__(self, event: Any) -> None:
        self.ran.append(_ran(event))

    def judge(self, plan: Plan, regs: list[Any]) -> None:
        """Carry out the plan of a block.

        Raises:
            Doubt: something may be wrong with a result.
        """
        judging = plan.judge(self._asked)
        assert judging is not None  # else the whole plan would not be judged
        if plan.tuning is None or not plan.tuning(judging.steps_until_fault(regs)):
            judging.carry_out(regs)


class _Noting:
    """Keeps what is told of the runs of blocks, and hands it on.

    Attributes:
        said: as :class:`Uneventful` tells it.
    """

    def __init__(self, by: watch.Watcher | None) -> None:
        self._by = by
        self.said: list[Any] = []

    def __call__(self, event: Any) -> None:
        if isinstance(event, (watch.Entered, watch.Exited)):
            self.said.append(event)
        else:
            read, gave = (tuple(map(ArraySummary.describe, values)) for values in (event.inputs, event.outputs))
            self.said.append((event.index, event.op, read, gave))
        if self._by is not None:
            self._by(event)


def _ran(event: watch.Entered | watch.Exited) -> Any:
    """Return a key that is equal for equal runs of a block."""
    return (event.op, event.run) if isinstance(event, watch.Entered) else None


def _block_of(i: Instruction) -> Plan | None:
    """The plan of the block that an instruction runs."""
    body = getattr(getattr(i.kernel, "__self__", None), "body", None)
    return None if body is None else body.plan


class Judging:
    """Tells runs of a plan to a watcher who asks whether all is in order.

    Args:
        asked: what is in order.
    """

    def __init__(self, plan: Plan, asked: InOrder) -> None:
        self._plan = plan
        self._largest = asked.largest
        self._asked = asked
        self._has_blocks = any(_block_of(i) is not None for i in plan.instructions)
        self._events: dict[Any, dict[Any, Uneventful]] = {}
        self._busy = threading.Lock()
        self._steps_left = 0
        self._after_doubt = 1
        self._path: Sequence[Code] = ()
        self._made_of: Any = None
        self._runs = 0
        self._more = 1
        """Registers beside the plan's: one for what nobody reads, and those of truth values."""

    @property
    def has_told(self) -> bool:
        """True if there was a run before."""
        return bool(self._events)

    @classmethod
    def serves(cls, plan: Plan) -> bool:
        """Return whether runs of *plan* and of its blocks may be carried out twice, and consist only of operators."""
        for i in plan.instructions:
            if i.effect or (i.op is not None and i.op.op.trait & Trait.OPAQUE):
                return False
            if i.op is not None and i.op.op.holds_blocks:
                inner = _block_of(i)
                if inner is None or not cls.serves(inner):
                    return False
        return True

    def run_watched(self, regs: list[Any]) -> Iterable[Step | Heard]:
        """Carry the plan out; what the watcher is told of it.

        Raises:
            GradtoolError: an operator failed; what came before it was told.
        """
        key = tuple([(getattr(regs[r], "shape", None), getattr(regs[r], "dtype", None)) for r in self._plan.arrivals])
        events = self._events.get(key)
        if events is None:
            return self._note_steps(key, regs)
        if self._steps_left or not self._busy.acquire(blocking=False):
            self._steps_left = max(0, self._steps_left - 1)
            return self._plan.steps(regs)
        try:
            before, begin = regs.copy(), state.random.position
            within = Within(self._asked)
            try:
                with watch.replace_watchers(within) if self._has_blocks else nullcontext():
                    self.carry_out(regs)
            except Exception:  # a doubt; or an operator failed, as it will again when the steps are told
                event, doubt = None, True
            else:
                event, doubt = events.get(tuple(within.ran)), False
            if event is not None:
                self._after_doubt = 1
                return (event,)
            regs[:], state.random.position = before, begin
        finally:
            self._busy.release()
        if not doubt:  # other blocks ran than before
            return self._note_steps(key, regs)
        self._steps_left, self._after_doubt = self._after_doubt, min(2 * self._after_doubt, LONGEST)
        return self._plan.steps(regs)

    def carry_out(self, regs: list[Any]) -> None:
        """Carry the plan out as far as all is in order.

        Raises:
            Doubt: something may not be.
        """
        from .plan import carry

        path = self._code_with_checks()
        regs += [None] * self._more
        try:
            carry(iter(path), regs)
        finally:
            del regs[self._plan.size :]

    def steps_until_fault(self, regs: list[Any]) -> Iterator[Step]:
        """The plan's steps, as far as all is in order.

        Raises:
            Doubt: something may not be.
        """
        for step in self._plan.steps(regs):
            for value in step.outputs:
                if isinstance(value, np.ndarray) and value.dtype.kind not in "biu":
                    self._judge(value)
            yield step

    def _note_steps(self, key: Any, regs: list[Any]) -> Iterator[Step]:
        """The steps one by one, and what the event of such runs says."""
        known: dict[int, ArraySummary | None] = {}
        noting = _Noting(watch.program_watcher())
        steps = self._plan.steps(regs)
        while True:
            with watch.replace_watchers(noting) if self._has_blocks else nullcontext():
                step = next(steps, None)
            if step is None:
                break
            instruction = self._plan.instructions[step.index]
            for r, value in zip(instruction.ins, step.inputs, strict=True):
                if r not in known:
                    known[r] = ArraySummary.describe(value)
            gave = tuple(map(ArraySummary.describe, step.outputs))
            known.update(zip(instruction.outs, gave, strict=True))
            noting.said.append((step.index, step.op, tuple([known[r] for r in instruction.ins]), gave))
            yield step
        if len(self._events) >= KEPT:
            self._events.clear()
        events = self._events.setdefault(key, {})
        if len(events) >= KEPT:
            events.clear()
        events[tuple([_ran(e) for e in noting.said if not isinstance(e, tuple)])] = Uneventful(noting.said)

    # -- the code -------------------------------------------------------------------------------------------------

    def _code_with_checks(self) -> Sequence[Code]:
        """The plan's own way of running, with judges between its instructions."""
        from .plan import encode

        code = self._plan.path[0]
        if self._made_of is not code:
            # Groups are compiled anew, so this has to pay.
            self._runs += 1
            compiled = self._runs > COMPILED
            if compiled or not self._path:
                self._path = [encode(i) for i in self._insert_judges(code, compiled)]
                self._made_of = code if compiled or not any(map(_checker_of, code)) else None
        return self._path

    def _insert_judges(self, path: Sequence[Instruction], compiled: bool) -> Iterator[Instruction]:
        """*path* with judges; its groups one by one, or as they are compiled for this."""
        judged: set[int] = set()
        """Registers of numbers in order: what only moves them has nothing to be judged."""
        numbers = dict(found for i in self._plan.instructions for found in self._numbers(i))
        waiting = _Waiting()
        self._more = 1
        for i, seen in self._open_groups(path, numbers, compiled):
            if i.op is not None and i.op.op.trait & Trait.MOVES and judged.issuperset(i.ins):
                judged.update(i.outs)
                yield replace(i, dead=waiting.keeps(i.dead))
                continue
            given = [r for r in i.outs if r in numbers and not is_part(i)]
            judged.update(given)
            alone = _block_of(i) is not None  # a branch that is not taken gives nothing
            large = [r for r in given if r not in seen and (alone or not waiting.takes(r, numbers[r]))]
            looks = [self._look(self._judge, (r,)) for r in large]
            looks += [self._look(_all, (r,)) for r in i.outs if r > self._plan.size]
            *before, last = [replace(i, dead=()), *looks]
            last.dead = waiting.keeps((*i.dead, *(r for r in i.outs if r > self._plan.size)))
            yield from (*before, last)
            if len(waiting.registers) >= TOGETHER:
                yield from self._drain(waiting)
                waiting = _Waiting()
        yield from self._drain(waiting)

    def _open_groups(
        self, path: Sequence[Instruction], numbers: Collection[int], compiled: bool
    ) -> Iterator[tuple[Instruction, Collection[int]]]:
        """The instructions, and which of their results they judge themselves, by truth values behind the others."""
        for i in path:
            judged_of = _checker_of(i)
            if judged_of is None:
                yield i, ()
                continue
            found = judged_of(numbers, self._plan.size + self._more, self._largest) if compiled else None
            if found is not None:
                kernel, verdicts, about = found
                self._more += len(verdicts)
                yield replace(i, kernel=kernel, outs=(*i.outs, *verdicts)), about
                continue
            members = [replace(m, dead=()) for m in i.kernel.members]  # type: ignore[attr-defined]
            inner = {r for m in members for r in m.outs} - {*i.outs}
            members[-1].dead = (*i.dead, *inner)
            yield from ((m, ()) for m in members)

    def _drain(self, waiting: _Waiting) -> Iterator[Instruction]:
        looks = []
        for name in dict.fromkeys(spec.dtype.name for spec in waiting.registers.values()):
            alike = {r: spec for r, spec in waiting.registers.items() if spec.dtype.name == name}
            nbytes = sum(spec.nbytes for spec in alike.values())
            looks.append(self._look(partial(self._together, name, nbytes), tuple(alike)))
        if looks:
            looks[-1].dead = tuple(waiting.dead)
        return iter(looks)

    def _look(self, judge: Callable[..., None], ins: tuple[int, ...]) -> Instruction:
        """One that writes what nobody reads."""
        some = self._plan.instructions[0]
        return replace(some, op=None, kernel=judge, ins=ins, outs=(self._plan.size,), spread=False, dead=())

    @staticmethod
    def _numbers(i: Instruction) -> Iterator[tuple[int, Any]]:
        """The registers of what an instruction gives that can hold NaN, with their specs."""
        if i.op is None or is_part(i):
            return
        results = [v for value in i.op.outputs for v in (value if isinstance(value, tuple) else (value,))]
        for r, v in zip(i.outs, results, strict=True):
            if v is not None and v.kind in _TENSORS and v.spec.dtype.is_differentiable:
                yield r, v.spec

    # -- judging --------------------------------------------------------------------------------------------------

    def _judge(self, value: Any) -> None:
        if value is not None and not is_finite(value, self._largest):
            raise Doubt

    def _together(self, name: str, nbytes: int, *values: Any) -> None:
        """Judge many small results of one type, which take so many bytes."""
        try:
            data = b"".join(values)  # several times as fast as np.concatenate
        except (BufferError, TypeError, ValueError):  # with gaps; of a branch that was not taken
            data = b""
        if len(data) == nbytes:
            self._judge(np.frombuffer(data, name))
            return
        for value in values:
            self._judge(value)


def _checker_of(i: Instruction) -> Any:
    """Return the compiler of a group that looks at its numbers; None for an instruction that is no group."""
    return getattr(i.kernel, "judged", None)


def _all(verdicts: Any) -> None:
    if not verdicts.all():
        raise Doubt


class _Waiting:
    """Small results that wait to be judged together, and what cannot be let go of until then.

    Attributes:
        registers: where they are, with their specs.
        dead: those of them that nothing reads any more.
    """

    def __init__(self) -> None:
        self.registers: dict[int, TensorSpec] = {}
        self.dead: list[int] = []

    def takes(self, register: int, spec: TensorSpec) -> bool:
        """Have a result wait, if it is small and of a usual type."""
        waits = spec.dtype.name in _TYPES and 0 <= spec.count <= FEW
        if waits:
            self.registers[register] = spec
        return waits

    def keeps(self, dead: Sequence[int]) -> tuple[int, ...]:
        """Those of *dead* that do not wait; the others are kept."""
        self.dead += [r for r in dead if r in self.registers]
        return tuple([r for r in dead if r not in self.registers])
