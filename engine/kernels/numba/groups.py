"""The pass: which instructions of a plan are computed together, and in which order everything is carried out then.

A pure function over instructions and what was seen of their operands in a run. Instructions that are not fused keep
their order (random numbers are drawn as before), and none is carried out earlier than in the plan. Those that are
fused wait, in open groups, until somebody else needs what they give. An instruction goes to the latest of the groups
that it reads from, so groups depend on earlier ones only. Time is linear: an open group has at most :data:`MOST`
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from ...core.identity import identity
from ...core.records import dataclass
from ...ops.opdef import Trait
from .expressions import inline
from .layout import NoLayout
from .loop_nest import order_nodes
from .nodes import FLEXIBLE, SUMS, GroupValue, Untraceable
from .source import OPERANDS
from .stages import Stage, check, divide_stages
from .trace import Traced, constant_like, domain, operand, spread, trace_register

MOST = 96
"""Weight of a group beyond which nothing is added to it: compiling takes longer than the number of lines grows."""

CALL = 4
"""The weight of a call of NumPy's loops; that of an expression is one."""

MANY = 32
"""Open groups at most; the first is closed then, so that nothing lives for long without being needed."""

CALLED = 0.7
"""Microseconds of a call from Python."""

SAVED = 2.0
"""Microseconds that a group has to save: compiling it takes some ten thousand of them."""

NEVER = Trait.RANDOM | Trait.EFFECT | Trait.OPAQUE | Trait.VALUES


class ArrayFacts(NamedTuple):
    """Facts that a run has shown about an array.

    Attributes:
        contiguous: whether its elements lie in C order.
        single: whether it is a number and no array.
        strides: how far its elements lie apart.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    contiguous: bool
    single: bool
    strides: tuple[int, ...]

    @property
    def base(self) -> tuple[int, ...] | None:
        """The shape of what was broadcast to this; None where its elements lie in another order than C's.

        There may be gaps between them: what NumPy computes of it has none.
        """
        if self.contiguous:
            return self.shape
        along = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n > 1]
        steps = [s for _, s in along if s]
        if any(s < 0 for s in steps) or steps != sorted(steps, reverse=True):
            return None
        return tuple([n if s else 1 for n, s in zip(self.shape, self.strides, strict=True)])

    @classmethod
    def describe(cls, value: Any) -> ArrayFacts | None:
        """Describe *value*; None for something that is no array."""
        if not isinstance(value, (np.ndarray, np.generic)):
            return None
        return cls(value.shape, value.dtype, value.flags.c_contiguous, isinstance(value, np.generic), value.strides)


Sights = Sequence[tuple[Sequence[ArrayFacts | None], Sequence[ArrayFacts | None]] | None]
"""For each instruction what it read and what it gave; None for one of which nothing is known."""


@dataclass(slots=True)
class InstructionGroup:
    """Instructions that are computed by one function.

    Attributes:
        members: their indices, in the order of the plan.
        inputs: registers that members read and others have written.
        outputs: registers that members write and others read.
        values: by register, what members give: a value of the trace, or None.
        seen: what was seen of the inputs.
        singles: outputs that are numbers and no arrays.
        results: the nodes that are computed, without those that are operands or stand for a shape.
        arrays: these, and what a function computes for a later one.
        stages: the functions that compute them.
        ends: inputs that say which element is meant, beside those that nodes tell, and how many there are.
        strided: inputs that are read as they lie.
    """

    members: list[int]
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    values: dict[int, Traced | None] = field(default_factory=dict)
    seen: dict[int, ArrayFacts] = field(default_factory=dict)
    singles: set[int] = field(default_factory=set)
    results: list[GroupValue] = field(default_factory=list)
    arrays: list[GroupValue] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    strided: set[int] = field(default_factory=set)

    @property
    def leaves(self) -> list[int]:
        """The registers that the functions read."""
        return list(dict.fromkeys(r for stage in self.stages for r in stage.source.leaves if r >= 0))


class _Open:
    """A group that instructions can still join."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.members: list[int] = []
        self.values: dict[int, Traced | None] = {}
        self.reads: dict[int, ArrayFacts] = {}
        self.behind: set[int] = set()
        """The numbers of open groups that it reads from."""
        self.weight = 0
        self.size = 1


def group_code(
    code: Sequence[Any],
    sights: Sights,
    results: Collection[int],
    pays: Callable[[InstructionGroup], bool] | None = None,
) -> list[int | InstructionGroup]:
    """The steps that carry out *code*: indices of its instructions, and groups of them.

    Args:
        code: the instructions of a plan.
        results: registers that are read after the run.
        pays: whether a group is worth a function; by sizes if None.
    """
    refused: set[int] = set()
    for parts in (True, True, False):
        search = _Pass(code, sights, results, pays or worthwhile, refused, parts)
        order = search.steps()
        if not search.spilled:
            break
        refused |= search.spilled
    return order


class _Pass:
    def __init__(
        self,
        code: Sequence[Any],
        sights: Sights,
        results: Collection[int],
        pays: Callable[[InstructionGroup], bool],
        refused: Collection[int] = (),
        parts: bool = True,
    ) -> None:
        self.code = code
        self.refused = refused
        self.parts = parts
        self.spilled: set[int] = set()
        """Instructions that give parts, as views, which others would have to read from arrays of their own."""
        self.pays = pays
        self.sights = sights
        self.results = results
        self.readers: dict[int, list[int]] = {}
        for index, instruction in enumerate(code):
            for r in instruction.ins:
                self.readers.setdefault(r, []).append(index)
        self.open: dict[int, _Open] = {}
        self.home: dict[int, int] = {}
        """The number of the open group that writes a register."""
        self.order: list[int | InstructionGroup] = []
        self.begun = 0

    def steps(self) -> list[int | InstructionGroup]:
        for index, instruction in enumerate(self.code):
            if not self._joins(index):
                self._close({self.home[r] for r in instruction.ins if r in self.home})
                self.order.append(index)
            elif len(self.open) > MANY:
                self._close({min(self.open)})
        self._close(set(self.open))
        return self.order

    # -- joining ----------------------------------------------------------------------------------------------------

    def _joins(self, index: int) -> bool:
        """Put the instruction into an open group, or into a new one; False where it is not fused."""
        instruction, sight = self.code[index], self.sights[index]
        if instruction.op is None:
            return self._stands(instruction, index)
        if sight is None or instruction.effect or instruction.in_turn or index in self.refused:
            return False
        op = instruction.op.op
        if op.holds_blocks or op.trait & NEVER or not sight[0] or any(s is None for s in sight[0]):
            return False
        producers = {self.home[r] for r in instruction.ins if r in self.home}
        at = max(producers) if producers else max(self.open, default=None)
        if at is not None and self._enters(index, self.open[at], needed=bool(producers)):
            return True
        fresh = _Open(self.begun)
        if not self._enters(index, fresh, needed=True):
            return False
        self.open[fresh.number] = fresh
        self.begun += 1
        return True

    def _stands(self, instruction: Any, index: int) -> bool:
        """Put what stands for the shape of a tensor, so that this can be let go of, into the group that computes it."""
        group = self.open.get(self.home.get(instruction.ins[0], -1))
        value = None if group is None else group.values[instruction.ins[0]]
        if group is None or value is None or len(instruction.ins) != len(instruction.likes):
            return False
        (register,) = instruction.outs
        zero = GroupValue("constant", (), value.dtype, (), value.dtype.type(0))
        group.values[register] = Traced(zero, value.shape, operand=True)
        group.members.append(index)
        self.home[register] = group.number
        return True

    def _enters(self, index: int, group: _Open, needed: bool) -> bool:
        """Return whether the instruction can be computed in *group*; then it is.

        Args:
            needed: whether it reads what the group gives, so that it may be about fewer elements.
        """
        if group.weight >= MOST:
            return False
        instruction, sight = self.code[index], self.sights[index]
        assert sight is not None
        try:
            given = trace_members(instruction, sight, group.values)
            before = self._nodes_to_compute(group, index)
            after = [v.node for v in given.values() if v is not None]
            if not self.parts and any(v is not None and v.gaps for v in given.values()):
                return False
            nodes = order_nodes(after)
            size = domain(nodes)
            if not needed and (size == 1 or size != group.size):
                return False
            check(before, after)
        except (Untraceable, NoLayout):
            return False
        seen = zip(instruction.ins, sight[0], strict=True)
        outside = {r: s for r, s in seen if s is not None and r not in group.values}
        read = {n.value for n in nodes if n.op in OPERANDS}
        # NumPy adds up what has gaps in another order than what has none.
        summed = {operand(a) for n in nodes if n.op in SUMS for a in n.args}
        gaps = [r for r, s in outside.items() if not s.contiguous and r in read]
        if any(r in summed or outside[r].base is None for r in gaps):
            return False
        group.members.append(index)
        group.values.update(given)
        group.reads.update(outside)
        group.behind.update(self.home[r] for r in outside if r in self.home)
        group.weight = sum(1 if inline(n) or n.op in FLEXIBLE else CALL for n in order_nodes([*before, *after]))
        group.size = max(size, domain(before))
        self.home.update(dict.fromkeys((r for r in given), group.number))
        return True

    def _nodes_to_compute(self, group: _Open, index: int) -> list[GroupValue]:
        """Return what *group* has to compute, whatever follows that instruction; only the group reads the others."""
        members = {*group.members, index}
        return [
            v.node
            for r, v in group.values.items()
            if v is not None
            and v.node.op != "constant"
            and (r in self.results or any(i not in members for i in self.readers.get(r, ())))
        ]

    # -- closing ----------------------------------------------------------------------------------------------------

    def _close(self, numbers: set[int]) -> None:
        """Put these groups, and those that they read from, into the order."""
        todo, needed = list(numbers), set(numbers)
        while todo:
            before = self.open[todo.pop()].behind & self.open.keys()
            todo += before - needed
            needed |= before
        for number in sorted(needed):
            group = self.open.pop(number)
            for r in group.values:
                del self.home[r]
            self.order += self._finish_group(group)

    def _finish_group(self, group: _Open) -> list[int | InstructionGroup]:
        members = set(group.members)
        outputs = [
            r for r in group.values if r in self.results or any(i not in members for i in self.readers.get(r, ()))
        ]
        views = {r for r in outputs if _is_part(group.values[r])}
        if views:
            self.spilled.update(i for i in group.members if views.intersection(self.code[i].outs))
        whole = InstructionGroup(group.members, list(group.reads), outputs, group.values, group.reads)
        for index in group.members:
            sight = self.sights[index]
            if sight is None:
                continue
            whole.singles.update(r for r, s in zip(self.code[index].outs, sight[1], strict=True) if s and s.single)
        nodes: dict[int, GroupValue] = {}
        for r in outputs:
            value = group.values[r]
            if value is not None and value.node.op != "constant" and operand(value.node) is None:
                nodes[identity(value.node)] = value.node
        whole.results = list(nodes.values())
        if not whole.results:
            return list(group.members)
        try:
            whole.arrays, whole.stages = divide_stages(whole.results)
        except (Untraceable, NoLayout):
            return list(group.members)
        return [whole] if self.pays(whole) else list(group.members)


def trace_members(
    instruction: Any,
    sight: tuple[Sequence[ArrayFacts | None], Sequence[ArrayFacts | None]],
    values: dict[int, Traced | None],
) -> dict[int, Traced | None]:
    """Return what the instruction gives, by register, where *values* are there and everything else is an operand.

    Raises:
        Untraceable: its kernel does what is not compiled, or what it gives is not what was seen.
    """
    operands = []
    for r, seen in zip(instruction.ins, sight[0], strict=True):
        value = values.get(r)
        if value is None:
            if r in values or seen is None:
                raise Untraceable("nothing")
            value = trace_register(r, seen.shape, seen.dtype, seen.base)
        operands.append(Traced(value.node, value.shape, operand=True, gaps=value.gaps))
    try:
        with np.errstate(all="ignore"):
            result = instruction.kernel(*operands)
    except Untraceable:
        raise
    except Exception as error:  # a kernel that cannot do with such values
        raise Untraceable(str(error)) from error
    given: dict[int, Traced | None] = {}
    for r, value, seen in zip(instruction.outs, result if instruction.spread else (result,), sight[1], strict=True):
        if r >= 0:
            given[r] = _as_seen(value, seen)
    return given


def _as_seen(value: Any, seen: ArrayFacts | None) -> Traced | None:
    if value is None and seen is None:
        return None
    if seen is None or value is None:
        raise Untraceable("nothing")
    array = value if isinstance(value, Traced) else constant_like(value)
    if array.shape != seen.shape or array.dtype != seen.dtype:
        raise Untraceable("another shape or type")
    if array.node.op == "constant" and array.size:
        array = spread(array)
    array.gaps = array.gaps and not seen.contiguous
    if operand(array.node) is None and not seen.contiguous and not array.gaps:
        raise Untraceable("another order of elements")  # NumPy adds it up in another order, too
    return array


def _is_part(value: Traced | None) -> bool:
    """Return whether NumPy gives a view of something wider for it."""
    return value is not None and (value.gaps or value.node.op == "part")


def worthwhile(group: InstructionGroup) -> bool:
    """Return whether its functions take so much less time than NumPy's that compiling them pays; from sizes alone."""
    nodes = [n for n in order_nodes(group.results) if n.op not in (*FLEXIBLE, "spread")]
    elements = max(math.prod(stage.source.dims) for stage in group.stages)
    rows = max(math.prod(stage.source.dims[:-1]) for stage in group.stages)
    sums = sum(n.op in SUMS for n in nodes)
    copied = [math.prod(group.seen[r].base or ()) for r in group.leaves if not group.seen[r].contiguous]
    together = sum(0.5 + 2e-4 * n for n in copied) + CALLED + sum(map(_stage_time, group.stages))
    alone = 0.5 * len(group.members) + len(nodes) * (0.5 + 2e-4 * elements) + 0.02 * rows * sums
    return alone - together > SAVED


def _stage_time(stage: Stage) -> float:
    """Microseconds of a function."""
    elements = math.prod(stage.source.dims)
    arrays = len(stage.source.leaves) + len(stage.results)
    rows = elements // stage.source.dims[-1]
    return 0.08 * arrays + 3e-5 * elements * arrays + 0.003 * rows * (1 + stage.calls)
