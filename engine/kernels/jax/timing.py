"""Times of operators on the device: a plan as it is compiled anyway, in a run that JAX's profiler records.

The recording names operations of XLA, each of which bears the name of the instruction that it came of (``scopes.py``);
one that came of several is shared among them (``shares.py``). What is left is told beside the operators: what belongs
to none of them, and when nothing ran.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import jax

from ...core import watch
from ...core.summary import Spent, Took
from . import devices, disk
from .assumptions import Assumed
from .compilation import Compilation
from .loop_rounds import Turns, turns
from .part import HostedPart, PlanPart, Seen, TracedPart
from .pytrees import LateRefusal
from .recording import Moment, Recording, alone, busy_time, instruction, record
from .scopes import Path
from .shares import Share, shares

Rounds = tuple[int | None, ...]

WAITING = "(waiting)"
COPIES = "(copies)"
OTHER = "(beside operators)"


class Timing(Compilation):
    """A plan whose operators are timed."""

    def trace_parts(self, span: range) -> list[PlanPart]:
        """As in the base."""
        return [TimedPart(self.plan, span)]

    def run_watched(self, regs: list[Any]) -> Iterator[Took]:
        """Carry out the plan, and tell what it took.

        Raises:
            BackendError: somebody else is recording.
        """
        hosted: dict[Path, int] = {}
        with watch.pause_watchers(), record() as recording:
            parts = list(self.each(lambda part: self._run(part, regs, hosted)))
            jax.block_until_ready([regs[r] for r in self.plan.results])
        yield self._took(parts, recording, hosted)

    def _run(self, part: PlanPart, regs: list[Any], hosted: dict[Path, int]) -> PlanPart:
        """Run a part.

        Args:
            hosted: gets the bytes that an instruction gave that is not compiled.
        """
        if isinstance(part, HostedPart):
            with instruction(part.index):
                part(regs)
            hosted[part.index,] = sum(_nbytes(regs[r]) for r in self.plan.instructions[part.index].outs if r >= 0)
        else:
            part(regs)
        return part

    def _took(self, parts: list[PlanPart], recording: Recording, hosted: dict[Path, int]) -> Took:
        programs = {name: s for part in parts if isinstance(part, TimedPart) for name, s in part.shares.items()}
        within = turns(recording.lines, programs, dict(_loops(self.plan)))
        spent = _Sums(programs, recording.hosted)
        for line in recording.lines:
            for moment, nanoseconds in alone(line):
                spent.add(moment, nanoseconds, within.get(moment, {}))
        for moment in recording.hosted:
            spent.owned[(int(moment.name),)] = {(): moment.stop - moment.start}
        ran = [*recording.hosted, *(m for line in recording.lines for m in line)]
        elapsed = recording.stop - recording.start
        spent.beside[WAITING] = elapsed - busy_time(ran, recording.start, recording.stop)
        compiled = {n for part in parts if isinstance(part, TimedPart) for n in part.span}
        nbytes = dict(hosted)
        for part in parts:
            if isinstance(part, TimedPart):
                nbytes.update({(n,): size for n, size in part.nbytes.items()})
        operators = [
            Spent(op, around, 1e-9 * seconds, nbytes[at] if at in nbytes else _bytes_of_specs(op), rounds)
            for at, op, around in _operators(self.plan)
            if not around or at[0] in compiled
            for rounds, seconds in spent.times(at)
        ]
        return Took(
            tuple(operators),
            {name: 1e-9 * nanoseconds for name, nanoseconds in spent.beside.items()},
            1e-9 * elapsed,
            1e-9 * spent.shared,
            devices.current_device(),
        )


class TimedPart(TracedPart):
    """A part whose compiled programs can be recognised in a recording.

    Attributes:
        shares: by program, whose its operations are.
        nbytes: by instruction, the bytes that it gives.
    """

    def __init__(self, plan: Any, span: range) -> None:
        super().__init__(plan, span, None)
        self.shares: dict[str, dict[str, Share]] = {}
        self.nbytes: dict[int, int] = {}

    def trace(self, regs: list[Any]) -> tuple[list[LateRefusal], list[Assumed], Seen]:
        """As in the base."""
        traced = super().trace(regs)
        for n in self.span:
            self.nbytes[n] = sum(_nbytes(regs[r]) for r in self.plan.instructions[n].outs)
        return traced

    def _compile_part(self, **options: Any) -> Callable[..., Any]:
        """The part's function, each of whose programs has a name of its own."""
        programs: dict[Any, Any] = {}

        def call(donated: list[Any], others: list[Any], before: Any) -> Any:
            leaves, structure = jax.tree_util.tree_flatten((donated, others, before))
            key = (structure, *map(jax.typeof, leaves))
            if key not in programs:
                name = f"gradtool_{self.span.start}_{len(self.shares)}"

                def function(donated: list[Any], others: list[Any], before: Any) -> Any:
                    return self._trace(donated, others, before)

                function.__name__ = name
                lowered = jax.jit(function, **options).lower(donated, others, before)
                with disk.match_names():
                    program = lowered.compile()
                self.shares[f"jit_{name}"] = shares(program.as_text() or "")
                programs[key] = program
            return programs[key](donated, others, before)

        return call


class _Sums:
    """Nanoseconds by whose they are.

    Attributes:
        owned: by instruction, and the rounds of what it stands in: a number for each operator around it, None where
            that is not known.
        beside: of what is nobody's, by name.
        shared: of what is several instructions'.
    """

    def __init__(self, programs: dict[str, dict[str, Share]], hosted: list[Moment]) -> None:
        self.owned: dict[Path, dict[Rounds, float]] = {}
        self._rounds: dict[Path, dict[Rounds, None]] = {}
        """Of a block, by the operator around it, the rounds that are known."""
        self.beside = dict.fromkeys((WAITING, COPIES, OTHER), 0.0)
        self.shared = 0.0
        self._programs = programs
        self._hosted = sorted(hosted)

    def times(self, at: Path) -> list[tuple[Rounds, float]]:
        """Return the time of an instruction in each round."""
        owned = self.owned.get(at, {})
        rounds = sorted({**self._rounds.get(at[:-1], {}), **owned}, key=lambda numbers: [n or 0 for n in numbers])
        return [(numbers, owned.get(numbers, 0.0)) for numbers in rounds or [(None,) * (len(at) - 1)]]

    def add(self, moment: Moment, nanoseconds: float, within: Turns) -> None:
        """Count what ran.

        Args:
            within: the rounds in which it ran.
        """
        program = self._programs.get(moment.program)
        if program is None and self._is_hosted(moment):
            return  # by an instruction that is not compiled, which is counted as a whole
        share = Share() if program is None else program.get(moment.name, Share())
        if not share.parts:
            self.beside[COPIES if share.copies else OTHER] += nanoseconds
        for owner, part in share.parts.items():
            numbers = tuple([within.get(owner[:n]) for n in range(1, len(owner))])
            of_owner = self.owned.setdefault(owner, {})
            of_owner[numbers] = of_owner.get(numbers, 0.0) + part * nanoseconds
            if owner[:-1] in within:
                self._rounds.setdefault(owner[:-1], {})[numbers] = None
        if len(share.parts) > 1:
            self.shared += nanoseconds

    def _is_hosted(self, moment: Moment) -> bool:
        """Return whether it ran within an instruction that is not compiled."""
        at = bisect_right(self._hosted, moment.start, key=lambda h: h.start) - 1
        return at >= 0 and moment.stop <= self._hosted[at].stop


def _operators(plan: Any, within: Path = (), around: tuple[Any, ...] = ()) -> Iterator[tuple[Path, Any, Any]]:
    """The operators of a plan and of the blocks in it, each with those around it, in the order of the run."""
    for n, i in enumerate(plan.instructions):
        block = getattr(i.kernel, "plan", None)
        if block is not None:
            yield from _operators(block, (*within, n), (*around, i.op))
        owner = plan.owner(n)
        if owner is not None:
            yield (*within, n), owner, around


def _loops(plan: Any, within: Path = ()) -> Iterator[tuple[Path, bool]]:
    """The operators with a block, in blocks too, and whether they go through rounds from the last to the first."""
    for n, i in enumerate(plan.instructions):
        body = getattr(i.kernel, "body", None)
        if body is not None:
            yield (*within, n), body.backwards
            yield from _loops(body.plan, (*within, n))


def _nbytes(value: Any) -> int:
    return sum(int(leaf.nbytes) for leaf in jax.tree_util.tree_leaves(value) if hasattr(leaf, "nbytes"))


def _bytes_of_specs(op: Any) -> int:
    """The bytes that an operator in a block gives, by the specs of its variables."""
    specs = [v.spec for v in op.output_variables() if v is not None]
    return sum(s.count * s.dtype.numpy.itemsize for s in specs if s.known)
