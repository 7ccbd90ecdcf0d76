"""Running blocks: branches, loops, and the backward blocks of both.

An operator with a block becomes one instruction whose kernel runs a plan of its own, once per run of the block. Such a
plan is made like that of a program, after the plan around it has been pruned and from its end to its beginning: when a
forward block is lowered, it is known which of its values backward blocks read. Only these are kept, for each run in a
*frame*, and a backward operator lets go of a frame as soon as it has used it, unless another one needs it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core import source
from ..core.errors import ExecutionError
from ..core.identity import identity
from ..core.records import dataclass
from ..ir import blocks, roles
from ..ir.operator import Operator, flat
from ..ir.program import Block
from ..ir.variable import Variable
from ..kernels.backend import Backend
from . import passes
from .body import CARRIED, FRAMES, NOTHING, Body, Carry, Leaving, Reading, ShapeAt, Sum
from .plan import Instruction, Plan
from .runner import Runner

if TYPE_CHECKING:
    from .lower import Lowering


class AskedFrames:
    """Requests of backward blocks to the frames of one operator: each variable with its place."""

    __slots__ = ("begins", "ends", "values")

    def __init__(self) -> None:
        self.values: dict[Variable, int] = {}
        self.begins: dict[Variable, int] = {}
        self.ends: dict[Variable, int] = {}


def place(asked: dict[Variable, int], v: Variable) -> int:
    """The place of *v*, a new one if it has none."""
    return asked.setdefault(v, len(asked))


class LoweringContext:
    """State that the plans of one program's blocks share while they are made."""

    def __init__(self, backend: Backend, chosen: Collection[str]) -> None:
        self.backend = backend
        self.chosen = chosen
        self.asked: dict[Variable, AskedFrames] = {}
        self._touched: dict[Block, set[Variable]] = {}
        self._reads: dict[Block, list[Variable]] = {}
        self._effects: dict[Block, bool] = {}

    def of(self, scope: Variable) -> AskedFrames:
        """Return what backward blocks read from the frames in *scope*."""
        return self.asked.setdefault(scope, AskedFrames())

    def reads(self, block: Block) -> list[Variable]:
        """The variables around that *block* reads."""
        if block not in self._reads:
            self._reads[block] = blocks.reads(block)
        return self._reads[block]

    def touches(self, block: Block, v: Variable) -> bool:
        """Return whether *block* has a value of *v* in each of its runs."""
        if block not in self._touched:
            self._touched[block] = {*self.reads(block), *blocks.writes(block)}
        return v.block is block or v in self._touched[block]

    def effects(self, op: Operator) -> bool:
        """Return whether the operator, or one in its blocks, does something beside computing its results."""
        if op.op.has_effect:
            # In the backward part it runs where gradients are computed, and need not make anyone compute them.
            return not (roles.is_backward(op.role) and any(op.outputs))
        for block in op.sub_blocks:
            if block not in self._effects:
                self._effects[block] = any(map(self.effects, block.ops))
            if self._effects[block]:
                return True
        return False


class Control:
    """An operator with a block, on its way to a kernel.

    Args:
        op: the operator.
        outer: the registers of the plan around it.
    """

    def __init__(self, op: Operator, outer: Lowering) -> None:
        self.context = context = outer.context
        self.region = region = blocks.region(op)
        self.owners = [blocks.region(_owner(scope)).block for scope in region.frames]
        self.ins: list[int] = []
        self.places: dict[Variable, int] = {}
        self.instruction: Instruction | None = None
        inside = [v for v in context.reads(region.block) if not region.start_of(v)]
        wanted = [region.condition, *region.frames, *(c.before for c in region.carried)]
        wanted += [v for v in (*(like for _, _, like in region.sums), *inside) if self._frame(v) is None]
        for v in wanted:
            if v is not None and v not in self.places:
                self.places[v] = len(self.ins)
                self.ins.append(outer.read(v))

    def _frame(self, v: Variable) -> int | None:
        """Return the index of the frame that holds *v* among the frames that it reads."""
        for k, block in enumerate(self.owners):
            if self.context.touches(block, v):
                return k
        return None

    def finish(self, live: set[int], consumable: Callable[[int], bool]) -> None:
        """Make the kernel.

        Args:
            live: the registers around that someone reads.
            consumable: whether nobody else needs what the register holds.
        """
        from .lower import Lowering, optimise

        region, context, instruction = self.region, self.context, self.instruction
        assert instruction is not None
        wanted = [v if r in live else None for v, r in zip(flat(region.op.outputs), instruction.outs, strict=True)]
        inner = Lowering(set(), context, lambda v: v.block is region.block and not region.start_of(v))
        for op in region.block.ops:
            inner.add(op)
        # What leaves the block, and the instructions that lead to it.
        out = self._exits(set(wanted), inner)
        for scope in region.frames:
            context.of(scope)
        consumed = [consumable(self.ins[self.places[s]]) for s in region.frames]
        code = finish(inner, out.needed, self._ownership(inner, out.needed, consumed))
        # What enters it, as far as they read it.
        entry = self._entries(inner, out, code)
        code, constants, size = optimise(inner, code, held=out.needed, stored=out.needed)
        plan = Plan(
            code,
            constants=constants,
            feeds={},
            loads={},
            stores={},
            fetches=[],
            size=size,
            results=out.needed,
            backend=context.backend,
        )
        # The instruction reads only what the kernel uses.
        used = self._arguments(out, entry)
        runner = Runner(self._body(plan, wanted, out, entry, used, consumed), context.backend.xp)
        instruction.ins = tuple(self.ins[self.places[v]] for v in used)
        instruction.kernel = context.backend.block(region.op, runner)

    def _body(
        self,
        plan: Plan,
        wanted: Sequence[Variable | None],
        out: _Exits,
        entry: _Entries,
        arguments: Sequence[Variable],
        consumed: Sequence[bool],
    ) -> Body:
        """The description of the runs.

        Args:
            wanted: the operator's results, None for those that nobody wants.
            arguments: what the kernel gets, in order.
            consumed: for each of the frames that are read, whether nobody else needs them.
        """
        region = self.region
        numbers = {v: i for i, v in enumerate(arguments)}
        read = zip(region.frames, entry.framed, consumed, strict=True)
        summed = zip(out.summed, out.sums, strict=True)
        asks = region.condition is not None and not region.frames
        return Body(
            op=region.op,
            plan=plan,
            fixed=tuple((register, numbers[v]) for v, register in entry.fixed),
            carried=tuple(self._carry(j, out, entry, numbers) for j in range(len(out.carried))),
            sums=tuple(Sum(register, self._shape(like, numbers)) for register, (_, _, like) in summed),
            results=self._results(wanted, out),
            leaving=self._leave(out, numbers),
            condition=numbers[region.condition] if asks and region.condition is not None else None,
            go_on=out.go_on,
            readings=tuple(Reading(numbers[scope], tuple(registers), c) for scope, registers, c in read),
            backwards=region.backwards,
        )

    def _exits(self, results: set[Variable | None], inner: Lowering) -> _Exits:
        """Return the values that leave the block, given the operator's results that somebody needs."""
        region = self.region
        asked = None
        if region.scope is not None and region.scope in results:
            asked = self.context.asked.get(region.scope)
        carried = self._frame_carries(results, asked)
        ends = [inner.read(c.end) if c.end is not None else None for c in carried]
        sums = [entry for entry in region.sums if entry[1] in results]
        summed = [inner.read(v) for v, _, _ in sums]
        go_on = inner.read(region.condition) if region.loops and region.condition is not None else None
        framed = [_frame_register(v, region.block, inner) for v in asked.values] if asked is not None else []
        needed = {r for r in (*ends, *summed, *framed, go_on) if r is not None}
        return _Exits(asked, carried, ends, sums, summed, go_on, framed, needed)

    def _frame_carries(
        self, results: Collection[Variable | None], asked: AskedFrames | None
    ) -> list[blocks.BlockCarry]:
        """Return the values that are handed on: another run reads them, or an operator behind the last one."""
        region = self.region
        carried = [c for c in region.carried if c.start is not None or c.end is not None]
        if region.loops or region.frames:
            return carried
        final = asked.ends if asked is not None else {}
        return [c for c in carried if (c.result is not None and c.result in results) or c.start in final]

    def _ownership(self, inner: Lowering, needed: set[int], consumed: Sequence[bool]) -> Callable[[int], bool]:
        """A function that tells whether an inner operator may use up what a register holds."""
        entering = {r: v for v, r in inner.initial.items()}

        def own(register: int) -> bool:
            if register in needed:
                return False
            v = entering.get(register)
            if v is None:
                return True
            frame = self._frame(v)
            return frame is not None and consumed[frame] and self.owners[frame] is v.block

        return own

    def _entries(self, inner: Lowering, out: _Exits, code: Sequence[Instruction]) -> _Entries:
        """Find the sources of the values that the instructions read, or that leave the block as they came."""
        region = self.region
        used = {r for i in code for r in i.ins} | out.needed
        starts = {c.start: j for j, c in enumerate(out.carried) if c.start is not None}
        entry = _Entries([], {}, [[] for _ in region.frames])
        for v, register in inner.initial.items():
            if register not in used:
                continue
            if v in starts:
                entry.starts[starts[v]] = register
            elif (k := self._frame(v)) is not None:
                entry.framed[k].append((register, place(self.context.of(region.frames[k]).values, v)))
            elif v in self.places:
                entry.fixed.append((v, register))
            else:
                self._refuse(v, code, register)
        return entry

    def _arguments(self, out: _Exits, entry: _Entries) -> list[Variable]:
        """The variables around that the kernel uses, in the order in which they were read."""
        region = self.region
        shaped = [*(out.asked.begins if out.asked is not None else ()), *(like for _, _, like in out.sums)]
        used: set[Variable | None] = {v for v in shaped if self._frame(v) is None}
        used.update(v for v, _ in entry.fixed)
        used.update(c.before for c in out.carried)
        used.update(region.frames or [region.condition])
        return [v for v in self.places if v in used]

    def _carry(self, j: int, out: _Exits, entry: _Entries, numbers: Mapping[Variable, int]) -> Carry:
        c = out.carried[j]
        before = numbers[c.before] if c.before is not None else None
        zeros = None
        if before is None and c.like is not None and self.region.frames:
            zeros = place(self.context.of(self.region.frames[0]).ends, c.like)
        return Carry(before, entry.starts.get(j), out.ends[j], zeros)

    def _results(self, wanted: Sequence[Variable | None], out: _Exits) -> tuple[int, ...]:
        """For each result of the operator its place among what the runs give."""
        values = [*(c.result for c in out.carried), *(result for _, result, _ in out.sums)]
        places = {v: CARRIED + j for j, v in enumerate(values) if v is not None}
        if self.region.scope is not None:
            places[self.region.scope] = FRAMES
        return tuple(places.get(v, NOTHING) if v is not None else NOTHING for v in wanted)

    def _leave(self, out: _Exits, numbers: Mapping[Variable, int]) -> Leaving | None:
        if out.asked is None:
            return None
        starts = {c.start: j for j, c in enumerate(out.carried) if c.start is not None}
        begins = tuple(self._shape(v, numbers) for v in out.asked.begins)
        return Leaving(tuple(out.framed), begins, tuple(starts.get(v) for v in out.asked.ends))

    def _shape(self, v: Variable, numbers: Mapping[Variable, int]) -> ShapeAt:
        """Return the place where the shape of *v* before the first run is found."""
        k = self._frame(v)
        if k is None:
            return ShapeAt(numbers[v])
        return ShapeAt(place(self.context.of(self.region.frames[k]).begins, v), k)

    def _refuse(self, v: Variable, code: Sequence[Instruction], register: int) -> None:
        reader = next((i.op for i in code if register in i.ins), None)
        raise ExecutionError(
            f"'{v.name}' is read before anything writes it",
            op=reader.summary() if reader is not None else None,
            variable=v.name,
            made=source.describe(v.made_at),
        )


@dataclass(frozen=True, slots=True)
class _Exits:
    """Values that leave a block, and their registers in the plan inside.

    Attributes:
        asked: what backward blocks ask of the frames, if somebody reads them.
        carried, ends: the values that are handed on, and where a run leaves them.
        sums, summed: the values that are added up, and where a run leaves them.
        go_on: what a loop looks at after a run.
        framed: what goes into frames.
        needed: all these registers.
    """

    asked: AskedFrames | None
    carried: list[blocks.BlockCarry]
    ends: list[int | None]
    sums: list[tuple[Variable, Variable, Variable]]
    summed: list[int]
    go_on: int | None
    framed: list[int]
    needed: set[int]


@dataclass(frozen=True, slots=True)
class _Entries:
    """Values that enter a block, and their registers in the plan inside.

    Attributes:
        fixed: what every run reads.
        starts: by number, what is carried.
        framed: for each of the frames, ``(register, place in a frame)``.
    """

    fixed: list[tuple[Variable, int]]
    starts: dict[int, int]
    framed: list[list[tuple[int, int]]]


def _frame_register(v: Variable, block: Block, inner: Lowering) -> int:
    """The register with what goes into a frame: what *block* leaves in its own variable, or finds in another one."""
    return inner.read(v) if v.block is block else inner.first(v)


def _owner(scope: Variable) -> Operator:
    assert scope.op is not None
    return scope.op


def finish(lowering: Lowering, needed: Collection[int], consumable: Callable[[int], bool]) -> list[Instruction]:
    """The instructions of a plan that lead to *needed*, with the kernels of those that run blocks made."""
    code = lowering.code
    if "prune" in lowering.context.chosen:
        code = passes.prune(code, needed)
    if not lowering.controls:
        return code
    live = set(needed)
    readers: Counter[int] = Counter()
    for i in code:
        live.update(i.ins)
        readers.update(set(i.ins))

    def is_last(r: int) -> bool:
        """Return whether the one reader of the register may use up what it holds."""
        return readers[r] == 1 and r not in needed and consumable(r)

    for i in reversed(code):
        control = lowering.controls.get(identity(i))
        if control is not None:
            control.finish(live, is_last)
    return code
