"""Running blocks: branches, loops, and the backward blocks of both.

An operator with a block becomes one instruction whose kernel runs a plan of its own, once per run of the block. Such a
plan is made like that of a program, after the plan around it has been pruned and from its end to its beginning: when a
forward block is lowered, it is known which of its values backward blocks read. Only these are kept, for each run in a
*frame*, and a backward operator lets go of a frame as soon as it has used it, unless another one needs it too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from ..core import source
from ..core.errors import ExecutionError
from ..ir import blocks, roles
from ..ir.operator import Operator
from ..ir.program import Block
from ..ir.variable import Variable
from ..kernels.backend import Backend
from . import passes
from .plan import Instruction, Plan
from .runner import Runner

if TYPE_CHECKING:
    from .lower import Lowering


class Asked:
    """What backward blocks ask of the frames of one operator: each variable with its place."""

    __slots__ = ("begins", "ends", "values")

    def __init__(self) -> None:
        self.values: dict[Variable, int] = {}
        self.begins: dict[Variable, int] = {}
        self.ends: dict[Variable, int] = {}


def place(asked: dict[Variable, int], v: Variable) -> int:
    """The place of *v*, a new one if it has none."""
    return asked.setdefault(v, len(asked))


class Session:
    """What the plans of one program's blocks share while they are made."""

    def __init__(self, backend: Backend, chosen: Collection[str]) -> None:
        self.backend = backend
        self.chosen = chosen
        self.asked: dict[Variable, Asked] = {}
        self._touched: dict[Block, set[Variable]] = {}
        self._reads: dict[Block, list[Variable]] = {}
        self._effects: dict[Block, bool] = {}

    def of(self, scope: Variable) -> Asked:
        """What is asked of the frames in *scope*."""
        return self.asked.setdefault(scope, Asked())

    def reads(self, block: Block) -> list[Variable]:
        found = self._reads.get(block)
        if found is None:
            found = self._reads[block] = blocks.reads(block)
        return found

    def touches(self, block: Block, v: Variable) -> bool:
        """Whether *block* has a value of *v* in each of its runs."""
        found = self._touched.get(block)
        if found is None:
            found = self._touched[block] = {*self.reads(block), *blocks.writes(block)}
        return v.block is block or v in found

    def effects(self, op: Operator) -> bool:
        """Whether the operator, or one in its blocks, does something beside computing its results."""
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
        self.session = session = outer.session
        self.region = region = blocks.region(op)
        self.owners = [blocks.region(_owner(scope)).block for scope in region.frames]
        self.ins: list[int] = []
        self.places: dict[Variable, int] = {}
        self.instruction: Instruction | None = None
        wanted = [region.condition, *region.frames, *(c.before for c in region.carried)]
        wanted += [like for _, _, like in region.sums if self._frame(like) is None]
        wanted += [v for v in session.reads(region.block) if self._frame(v) is None and not region.start_of(v)]
        for v in wanted:
            if v is not None and v not in self.places:
                self.places[v] = len(self.ins)
                self.ins.append(outer.read(v))

    def _frame(self, v: Variable) -> int | None:
        """Which of the frames that it reads hold *v*."""
        for k, block in enumerate(self.owners):
            if self.session.touches(block, v):
                return k
        return None

    def finish(self, live: set[int], consumable: Callable[[int], bool]) -> None:
        """Make the kernel.

        Args:
            live: the registers around that someone reads.
            consumable: whether nobody else needs what the register holds.
        """
        from .lower import Lowering

        region, session = self.region, self.session
        instruction = self.instruction
        assert instruction is not None
        flat = [v for value in region.op.outputs for v in (value if isinstance(value, tuple) else (value,))]
        results = {v for v, r in zip(flat, instruction.outs, strict=True) if v is not None and r in live}
        repeated = region.loops or bool(region.frames)
        inner = Lowering(set(), session)
        for op in region.block.ops:
            inner.add(op)
        asked = session.asked.get(region.scope) if region.scope in results and region.scope is not None else None
        final = set(asked.ends) if asked is not None else set()
        carried = [
            c
            for c in region.carried
            if (c.start or c.end) is not None and (repeated or c.result in results or c.start in final)
        ]
        ends = [inner.read(c.end) if c.end is not None else -1 for c in carried]
        sums = [entry for entry in region.sums if entry[1] in results]
        summed = [inner.read(v) for v, _, _ in sums]
        go_on = inner.read(region.condition) if region.loops and region.condition is not None else -1
        kept = [inner.read(v) if v.block is region.block else inner.first(v) for v in (asked.values if asked else ())]
        needed = {*ends, *summed, *kept, go_on} - {-1}
        for scope in region.frames:
            session.of(scope)
        consumes = [consumable(self.ins[self.places[s]]) for s in region.frames]
        starts = {c.start: j for j, c in enumerate(carried) if c.start is not None}

        def own(register: int) -> bool:
            """Whether an inner operator may use up what the register holds."""
            if register in needed:
                return False
            v = next((v for v, r in inner.initial.items() if r == register), None)
            frame = self._frame(v) if v is not None else None
            return v is None or (frame is not None and consumes[frame] and self.owners[frame] is v.block)

        code = finish(inner, needed, own)
        constants: dict[int, Any] = {}
        if "fold" in session.chosen:
            code, constants = passes.fold(code, keep=needed, backend=session.backend)
        used = {r for i in code for r in i.ins} | needed
        held = {*needed, *constants, *inner.initial.values()}
        size = inner.size
        if "release_shapes" in session.chosen:
            code, size = passes.release_shapes(code, held | inner.small, size, session.backend)
        if "free" in session.chosen:
            code = passes.free(code, held)
        fixed: list[tuple[int, int]] = []
        framed: list[list[tuple[int, int]]] = [[] for _ in region.frames]
        begun = [-1] * len(carried)
        for v, register in inner.initial.items():
            if register not in used:
                continue
            if v in starts:
                begun[starts[v]] = register
            elif (k := self._frame(v)) is not None:
                framed[k].append((register, place(session.of(region.frames[k]).values, v)))
            elif v in self.places:
                fixed.append((register, self.places[v]))
            else:
                self._refuse(v, code, register)
        plan = Plan(code, constants=constants, feeds={}, loads={}, stores={}, fetches=[], size=size)
        runner = Runner(region.op, plan, session.backend.xp)
        runner.fixed = fixed
        runner.begun = begun
        runner.ends = ends
        runner.before = [self.places[c.before] if c.before is not None else -1 for c in carried]
        runner.kept = kept if asked is not None else None
        runner.begins = [self._shape(v) for v in (asked.begins if asked else ())]
        runner.finals = [starts.get(v, -1) for v in (asked.ends if asked else ())]
        order: dict[Variable, int] = {c.result: j for j, c in enumerate(carried) if c.result is not None}
        order.update({result: len(carried) + j for j, (_, result, _) in enumerate(sums)})
        if region.scope is not None:
            order[region.scope] = -2
        runner.order = [order.get(v, -1) if v in results else -1 for v in flat]
        if not region.frames:
            runner.condition = self.places[region.condition] if region.condition is not None else -1
            runner.go_on = go_on
            instruction.kernel = runner.forward
        else:
            runner.scopes = [self.places[s] for s in region.frames]
            runner.framed = framed
            runner.consumes = consumes
            runner.backwards = region.backwards
            runner.summed = summed
            runner.sum_shapes = [self._shape(like) for _, _, like in sums]
            runner.zeros = [self._end_shape(c) if c.before is None else None for c in carried]
            instruction.kernel = runner.backward
        self._shrink(instruction, runner)

    def _shape(self, v: Variable) -> tuple[int, int]:
        """Where the shape of *v* before the first run is found: an argument, or a place among a frame's ``begins``."""
        k = self._frame(v)
        if k is not None:
            return k, place(self.session.of(self.region.frames[k]).begins, v)
        return -1, self.places[v]

    def _end_shape(self, c: blocks.Carried) -> tuple[int, int] | None:
        """Where the shape of a carried gradient that begins as zeros is found."""
        if c.like is None:
            return None
        return 0, place(self.session.of(self.region.frames[0]).ends, c.like)

    def _refuse(self, v: Variable, code: Sequence[Instruction], register: int) -> None:
        reader = next((i.op for i in code if register in i.ins), None)
        raise ExecutionError(
            f"'{v.name}' is read before anything writes it",
            op=reader.summary() if reader is not None else None,
            variable=v.name,
            made=source.describe(v.made_at),
        )

    def _shrink(self, instruction: Instruction, runner: Runner) -> None:
        """Let the instruction read only what its kernel uses."""
        used = sorted(runner.arguments())
        moved = {old: new for new, old in enumerate(used)}
        moved[-1] = -1
        instruction.ins = tuple(self.ins[i] for i in used)
        runner.renumber(moved)


def _owner(scope: Variable) -> Operator:
    assert scope.op is not None
    return scope.op


def finish(lowering: Lowering, needed: Collection[int], consumable: Callable[[int], bool]) -> list[Instruction]:
    """The instructions of a plan that lead to *needed*, with the kernels of those that run blocks made."""
    code = lowering.code
    if "prune" in lowering.session.chosen:
        code = passes.prune(code, needed)
    if not lowering.controls:
        return code
    live = set(needed)
    readers: dict[int, int] = {}
    for i in code:
        live.update(i.ins)
        for r in set(i.ins):
            readers[r] = readers.get(r, 0) + 1
    for i in reversed(code):
        control = lowering.controls.get(id(i))
        if control is not None:
            control.finish(live, lambda r: readers[r] == 1 and r not in needed and consumable(r))
    return code
