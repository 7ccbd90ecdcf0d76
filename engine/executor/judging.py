"""Whether anything is wrong with the numbers of a run, judged while a plan runs as it does when nobody watches.

A watcher that asks :class:`~gradtool.engine.core.summary.InOrder` is told of a run in which nothing is wrong by one
event. Results are judged as they come: a large one by the sum of its squares, which one pass of BLAS gives and which is
finite, and small enough, only where every number is; small ones together, many at a time. Where that leaves a doubt the
run is carried out once more from what it began with, and its steps are told one by one. Random numbers are drawn
again as they were. Plans that do something beside computing (print, call the user's code), or have blocks, are told by
steps at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import state
from ..core.finite import in_order
from ..core.spec import TensorSpec
from ..core.summary import Heard, InOrder, Summary, Uneventful
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

_TYPES = ("float32", "float64")


class Doubt(Exception):
    """Something may be wrong with a result."""


class Judging:
    """Tells runs of a plan to a watcher who asks whether all is in order.

    Args:
        asked: what is in order.
    """

    def __init__(self, plan: Plan, asked: InOrder) -> None:
        self._plan = plan
        self._largest = asked.largest
        self._events: dict[Any, Uneventful] = {}
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
        """Whether there was a run before."""
        return bool(self._events)

    @staticmethod
    def serves(plan: Plan) -> bool:
        """Whether runs of *plan* may be carried out twice, and are those of its operators alone."""
        return not any(
            i.effect or (i.op is not None and (i.op.op.holds_blocks or i.op.op.trait & Trait.OPAQUE))
            for i in plan.instructions
        )

    def told(self, regs: list[Any]) -> Iterable[Step | Heard]:
        """Carry the plan out; what the watcher is told of it.

        Raises:
            GradtoolError: an operator failed; what came before it was told.
        """
        key = tuple([(getattr(regs[r], "shape", None), getattr(regs[r], "dtype", None)) for r in self._plan.arrivals])
        event = self._events.get(key)
        if event is None:
            return self._noted(key, regs)
        if self._steps_left or not self._busy.acquire(blocking=False):
            self._steps_left = max(0, self._steps_left - 1)
            return self._plan.steps(regs)
        try:
            before, begin = regs.copy(), state.random.position
            if self._in_order(regs):
                self._after_doubt = 1
                return (event,)
            regs[:], state.random.position = before, begin
        finally:
            self._busy.release()
        self._steps_left, self._after_doubt = self._after_doubt, min(2 * self._after_doubt, LONGEST)
        return self._plan.steps(regs)

    def _noted(self, key: Any, regs: list[Any]) -> Iterator[Step]:
        """The steps one by one, and what the event of such runs says."""
        known: dict[int, Summary | None] = {}
        said = []
        for step in self._plan.steps(regs):
            instruction = self._plan.instructions[step.index]
            for r, value in zip(instruction.ins, step.inputs, strict=True):
                if r not in known:
                    known[r] = Summary.of(value)
            gave = tuple(map(Summary.of, step.outputs))
            known.update(zip(instruction.outs, gave, strict=True))
            said.append((step.index, step.op, tuple([known[r] for r in instruction.ins]), gave))
            yield step
        if len(self._events) >= KEPT:
            self._events.clear()
        self._events[key] = Uneventful(said)

    def _in_order(self, regs: list[Any]) -> bool:
        """Carry the plan out as far as all is in order; whether that is to its end."""
        from .plan import carry

        path = self._judged()
        regs += [None] * self._more
        try:
            carry(iter(path), regs)
        except Exception:  # a doubt; or an operator failed, as it will again when the steps are told
            return False
        finally:
            del regs[self._plan.size :]
        return True

    # -- the code -------------------------------------------------------------------------------------------------

    def _judged(self) -> Sequence[Code]:
        """The plan's own way of running, with judges between its instructions."""
        from .plan import encode

        code = self._plan.path[0]
        if self._made_of is not code:
            # Groups are compiled anew, so this has to pay.
            self._runs += 1
            compiled = self._runs > COMPILED
            if compiled or not self._path:
                self._path = [encode(i) for i in self._with_judges(code, compiled)]
                self._made_of = code if compiled or not any(map(_judged_of, code)) else None
        return self._path

    def _with_judges(self, path: Sequence[Instruction], compiled: bool) -> Iterator[Instruction]:
        """*path* with judges; its groups one by one, or as they are compiled for this."""
        judged: set[int] = set()
        """Registers of numbers in order: what only moves them has nothing to be judged."""
        numbers = dict(found for i in self._plan.instructions for found in self._numbers(i))
        waiting = _Waiting()
        self._more = 1
        for i, seen in self._opened(path, numbers, compiled):
            if i.op is not None and i.op.op.trait & Trait.MOVES and judged.issuperset(i.ins):
                judged.update(i.outs)
                yield replace(i, dead=waiting.keeps(i.dead))
                continue
            given = [r for r in i.outs if r in numbers and not is_part(i)]
            judged.update(given)
            large = [r for r in given if r not in seen and not waiting.takes(r, numbers[r])]
            looks = [self._look(self._judge, (r,)) for r in large]
            looks += [self._look(_all, (r,)) for r in i.outs if r > self._plan.size]
            *before, last = [replace(i, dead=()), *looks]
            last.dead = waiting.keeps((*i.dead, *(r for r in i.outs if r > self._plan.size)))
            yield from (*before, last)
            if len(waiting.registers) >= TOGETHER:
                yield from self._emptied(waiting)
                waiting = _Waiting()
        yield from self._emptied(waiting)

    def _opened(
        self, path: Sequence[Instruction], numbers: Collection[int], compiled: bool
    ) -> Iterator[tuple[Instruction, Collection[int]]]:
        """The instructions, and which of their results they judge themselves, by truth values behind the others."""
        for i in path:
            judged_of = _judged_of(i)
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

    def _emptied(self, waiting: _Waiting) -> Iterator[Instruction]:
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
            if v is not None and v.spec.dtype.is_differentiable:
                yield r, v.spec

    # -- judging --------------------------------------------------------------------------------------------------

    def _judge(self, value: Any) -> None:
        if not in_order(value, self._largest):
            raise Doubt

    def _together(self, name: str, nbytes: int, *values: Any) -> None:
        """Judge many small results of one type, which take so many bytes."""
        try:
            data = b"".join(values)  # several times as fast as np.concatenate
        except (BufferError, TypeError, ValueError):  # with gaps
            flat = np.concatenate(values, axis=None)
        else:
            flat = np.frombuffer(data, name)
        if flat.dtype != name or flat.nbytes != nbytes:  # something else is among them
            raise Doubt
        self._judge(flat)


def _judged_of(i: Instruction) -> Any:
    """What makes a group that looks at its numbers; None for an instruction that is no group."""
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
