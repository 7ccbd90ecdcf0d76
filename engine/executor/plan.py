"""Plans: what runs.

A plan is a list of instructions over numbered registers, each register written once. Kernels are bound to their
attributes when the plan is made, so the run loop looks nothing up. A register is cleared after its last use.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..core import source, watch
from ..core.errors import GradtoolError, KernelError, describe
from ..core.identity import identity
from ..core.records import dataclass
from ..core.summary import Asked, Heard, InOrder
from ..ir.operator import Operator
from ..kernels.backend import Backend
from .accumulation import split_sums
from .judging import Judging, Within

Code = tuple[int, Callable[..., Any], Any, Any, Any, tuple[int, ...]]
"""``(form, kernel, first, second, out, dead)``; see :func:`encode`."""

ONE, TWO, MANY, SPREAD, ITSELF = range(5)


@dataclass(slots=True)
class Instruction:
    """One kernel call: registers in, registers out.

    Attributes:
        op: the operator that it carries out; None for the bookkeeping of the plan itself.
        likes: the input positions of which only shape and dtype are read.
        outs: output registers; -1 for a result that nobody needs.
        spread: whether the kernel returns a sequence of results.
        effect: whether it does something beside computing its results, so that it always has to run.
        in_turn: whether it is a sum whose terms may be added as they come; see ``accumulation.py``.
    """

    op: Operator | None
    kernel: Callable[..., Any]
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    likes: frozenset[int] = frozenset()
    spread: bool = False
    dead: tuple[int, ...] = ()
    effect: bool = False
    in_turn: bool = False


@dataclass(eq=False, slots=True)  # not frozen: there is one for every operator of a run
class Step:
    """Event of one operator: debuggers, profilers and NaN searches consume it."""

    index: int
    op: Operator
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    seconds: float = 0.0


class Plan:
    """A program lowered for one set of feeds and fetches.

    Attributes:
        constants: registers whose value is the same in every run.
        feeds: register by fed variable.
        loads: register by persistable variable read.
        stores: persistable variable -> the register written back to it.
        fetches: the registers asked for, in order.
        size: number of registers.
        results: the registers that somebody reads after a run.
        arrivals: the registers of feeds and loads; *outside*: those, and of stores.
        constant_ids: the identities of the constants.
        inputs: fills the registers before a run (``inputs.py``); None for the plan of a block.
        backend: what it is carried out on.
        compiled: carries all of it out, where the backend compiles plans; see docs/jax.md.
        tuning: is asked before each run, where the backend has part of the plan compiled; see docs/numba.md.
    """

    def __init__(
        self,
        code: Sequence[Instruction],
        *,
        constants: dict[int, Any],
        feeds: dict[str, int],
        loads: dict[str, int],
        stores: dict[str, int],
        fetches: list[int],
        size: int,
        results: Collection[int],
        backend: Backend,
    ) -> None:
        self.instructions = tuple(code)
        self.constants = constants
        self.feeds = feeds
        self.loads = loads
        self.stores = stores
        self.fetches = fetches
        self.size = size
        self.results = results
        self.arrivals = (*feeds.values(), *loads.values())
        self.outside = (*self.arrivals, *stores.values())
        self.constant_ids = frozenset(map(identity, constants.values()))
        self.inputs: Any = None
        self.backend = backend
        self.compiled = backend.compile(self)
        self.path: tuple[tuple[Instruction, ...], tuple[Code, ...]] = (), ()
        self.tuning = backend.tuning(self)
        self.judgings: dict[InOrder, Judging | None] = {}
        if self.compiled is None:
            self.carry_out(self.instructions)

    def carry_out(self, code: Sequence[Instruction]) -> None:
        """Run by *code* from the next run on; it leaves in the registers what :attr:`instructions` do."""
        code = split_sums(code)
        self.path = tuple(code), tuple([encode(i) for i in code])

    def owner(self, index: int) -> Operator | None:
        """Return the operator that an instruction belongs to."""
        return self.instructions[index].op

    def blank(self) -> list[Any]:
        """The registers with nothing but the constants."""
        regs: list[Any] = [None] * self.size
        for r, value in self.constants.items():
            regs[r] = value
        return regs

    def registers(self, feeds: dict[str, Any], values: dict[str, Any]) -> list[Any]:
        """The registers with constants, feeds and persistable values, as they are given."""
        regs = self.blank()
        for name, r in self.loads.items():
            regs[r] = values[name]
        for name, r in self.feeds.items():
            regs[r] = feeds[name]
        return regs

    def run(self, regs: list[Any]) -> None:
        """Carry out every instruction.

        Raises:
            KernelError: an operator failed; carries the operator, the shapes it got and the user's line.
        """
        by = watch.program_watcher()
        if by is not None:
            if isinstance(by, Within):
                by.judge(self, regs)
                return
            asked = getattr(by, "summary_needs", None)
            judging = self.judge(asked)
            tuning = self.tuning if judging is not None and judging.has_told else None
            if tuning is not None and tuning(_report_steps(by, self.steps(regs))):
                return
            for step in self._watch_steps(asked, judging, regs):
                by(step)
            return
        if self.compiled is not None:
            self.compiled(regs)
            return
        if self.tuning is not None and self.tuning(self.steps(regs)):
            return
        self._compute(regs)

    def _compute(self, regs: list[Any]) -> None:
        """The run loop."""
        instructions, encoded = self.path
        code = iter(encoded)
        try:
            carry(code, regs)
        except Exception as error:
            index = len(encoded) - operator.length_hint(code) - 1
            told = self._explain(error, instructions[index], regs)
            raise told from (None if isinstance(error, GradtoolError) else error)

    def steps(self, regs: list[Any]) -> Iterator[Step]:
        """As :meth:`run`, stopping after each operator with what it read and wrote."""
        for index, instruction in enumerate(self.instructions):
            inputs = tuple([regs[i] for i in instruction.ins])
            with np.errstate(all="ignore"):
                try:
                    start = perf_counter()
                    result = instruction.kernel(*inputs)
                    seconds = perf_counter() - start
                except Exception as error:
                    raise self._explain(error, instruction, regs) from error
            outputs = tuple(result) if instruction.spread else (result,)
            for r, value in zip(instruction.outs, outputs, strict=True):
                regs[r] = value
            if instruction.op is not None:
                yield Step(index, instruction.op, inputs, outputs, seconds)
            for r in instruction.dead:
                regs[r] = None

    def _watch_steps(self, asked: Asked | None, judging: Judging | None, regs: list[Any]) -> Iterable[Step | Heard]:
        """The steps for a watcher: with what it *asked* in place of arrays, where the backend can tell that."""
        told: Iterable[Step | Heard] | None = None
        if self.compiled is not None and asked is not None:
            told = self.compiled.summarise(regs, asked)
        elif judging is not None:
            told = judging.run_watched(regs)
        if told is None:
            return self.steps(regs)
        return (Step(*event) if type(event) is tuple else event for event in told)

    def judge(self, asked: Asked | None) -> Judging | None:
        """Return the judge of whether all is in order, where that is requested."""
        if self.compiled is not None or not isinstance(asked, InOrder):
            return None
        if asked not in self.judgings:
            self.judgings[asked] = Judging(self, asked) if Judging.serves(self) else None
        return self.judgings[asked]

    def _explain(self, error: Exception, instruction: Instruction, regs: list[Any]) -> GradtoolError:
        return explain_error(error, instruction.op, [regs[i] for i in instruction.ins])

    @staticmethod
    def explain_error(error: Exception, instruction: Instruction, inputs: Sequence[Any]) -> GradtoolError:
        """Return the error of an instruction with its operator."""
        return explain_error(error, instruction.op, inputs)


def _report_steps(by: watch.Watcher, steps: Iterator[Step]) -> Iterator[Step]:
    for step in steps:
        by(step)
        yield step


def carry(code: Iterator[Code], regs: list[Any]) -> None:
    """Carry out what is left of *code*."""
    with np.errstate(all="ignore"):
        for form, kernel, first, second, out, dead in code:
            if form == ONE:
                regs[out] = kernel(regs[first])
            elif form == TWO:
                regs[out] = kernel(regs[first], regs[second])
            elif form == ITSELF:
                kernel(regs)
            elif form == MANY:
                regs[out] = kernel(*[regs[i] for i in first])
            else:
                for r, value in zip(out, kernel(*[regs[i] for i in first]), strict=True):
                    regs[r] = value
            for r in dead:
                regs[r] = None


def explain_error(error: Exception, op: Operator | None, inputs: Sequence[Any]) -> GradtoolError:
    """Return the error of an operator with its name, the shapes that it got and the user's line."""
    if isinstance(error, GradtoolError):
        return error if op is None else describe(error, op=op.summary(), made=source.describe(op.loc))
    got = ", ".join(map(_describe, inputs))
    name = op.type if op is not None else "plan"
    return KernelError(
        f"{name} failed: {error} (inputs {got})",
        op=op.summary() if op is not None else None,
        made=source.describe(op.loc) if op is not None else None,
    )


def _describe(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "shape") else type(value).__name__


def encode(i: Instruction) -> Code:
    """The form of an instruction that the run loop reads: calls of one and two registers need no tuple.

    Kernels that read and write registers themselves have a method ``on_registers``.
    """
    whole = getattr(i.kernel, "bind_registers", None)
    if whole is not None:
        return ITSELF, whole(i.ins, i.outs, i.dead), None, None, None, ()
    if i.spread:
        return SPREAD, i.kernel, i.ins, None, i.outs, i.dead
    if len(i.ins) == 1:
        return ONE, i.kernel, i.ins[0], None, i.outs[0], i.dead
    if len(i.ins) == 2:
        return TWO, i.kernel, i.ins[0], i.ins[1], i.outs[0], i.dead
    return MANY, i.kernel, i.ins, None, i.outs[0], i.dead
