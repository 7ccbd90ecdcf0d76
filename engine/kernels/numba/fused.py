"""A group as the kernel of one instruction: the compiled functions, and NumPy's kernels where they do not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.identity import identity
from .group_function import (
    ARGUMENT,
    CONTIGUOUS,
    NOTHING,
    RESULT,
    STRIDED,
    CallRegisters,
    ComputedArray,
    Function,
    GroupCall,
    Limit,
    OperandRequirement,
)
from .groups import ArrayFacts, InstructionGroup
from .layout import count
from .loop_nest import order_nodes
from .nodes import CHOICES
from .source import Source
from .stages import array_of
from .trace import operand

RELEASED = 1 << 15
"""Elements from which functions let other threads of Python run."""


class ValuePlace(NamedTuple):
    """Place of a value that a group gives.

    Attributes:
        kind: of :data:`calling.NOTHING`, a result or an argument.
        value: the object, or which of them.
        single: whether it is a number and no array.
    """

    kind: int
    value: Any
    shape: tuple[int, ...] = ()
    single: bool = False


class FusedKernel:
    """Computes a group: takes what its members read, and gives what others read of them.

    Operands of other shapes, types or orders of elements than were seen are left to the members' own kernels, and so
    are numbers of elements that no row has. So is
    everything once a first run, which computes both, has shown a difference in a single bit.

    Attributes:
        members: the instructions, with those that let tensors go.
        operators: which they carry out.
        verified: whether the first run has shown none.
        differs: whether it has shown one.
    """

    def __init__(self, group: InstructionGroup, code: Sequence[Any], explained: Callable[..., Exception]) -> None:
        self.group = group
        self.members = [code[i] for i in group.members]
        self.operators = [m.op for m in self.members if m.op is not None]
        self.verified = self.differs = False
        self.explained = explained
        self.sources = [stage.source for stage in group.stages]
        self._function: Callable[[list[Any]], bool] | None = None
        self._call: GroupCall | None = None
        at = {r: i for i, r in enumerate(group.inputs)}
        # What lies with gaps is copied, and these copies come after the arguments.
        gaps = [r for r in group.leaves if not group.seen[r].contiguous and r not in group.strided]
        self._gaps = [(at[r], group.seen[r].strides, _box(group.seen[r])) for r in gaps]
        self._operand = {r: at[r] for r in group.leaves} | {r: len(at) + i for i, r in enumerate(gaps)}
        self._arguments = [self._argument(r, r in gaps) for r in at]
        self._arguments += [OperandRequirement(group.seen[r].base or (), group.seen[r].dtype, CONTIGUOUS) for r in gaps]
        self._limits = self._find_limits()
        self._places = [self._place(r, at) for r in group.outputs]
        self._results = self._make_results()
        self._reshaped = [
            (i, p) for i, p in enumerate(self._places) if p.single or (p.kind != NOTHING and self._shape(p) != p.shape)
        ]

    def _argument(self, register: int, copied: bool) -> OperandRequirement:
        seen = self.group.seen[register]
        if copied or register not in self.group.leaves:
            return OperandRequirement(seen.shape, seen.dtype)
        if register in self.group.strided:
            return OperandRequirement(seen.shape, seen.dtype, STRIDED, seen.strides)
        return OperandRequirement(seen.shape, seen.dtype, CONTIGUOUS)

    def _shape(self, place: ValuePlace) -> tuple[int, ...]:
        """Of the array that is given for it."""
        array: OperandRequirement | ComputedArray = (self._results if place.kind == RESULT else self._arguments)[
            place.value
        ]
        return array.shape

    def _find_limits(self) -> list[Limit]:
        """Find the numbers that choose elements of a row, and how many elements there are."""
        chosen = [n for n in order_nodes(self.group.results) if n.op in CHOICES]
        said = {(self._operand[n.args[-1].value], n.value) for n in chosen}
        ends = sorted(said | {(self._operand[r], end) for r, end in self.group.ends.items()})
        return [Limit(i, self._arguments[i].dtype, math.prod(self._arguments[i].shape), end) for i, end in ends]

    def _make_results(self) -> list[ComputedArray]:
        """The arrays that the functions fill."""
        shapes: dict[int, tuple[int, ...]] = {}
        for place in self._places:
            if place.kind == RESULT:
                shapes.setdefault(place.value, place.shape)
        sums = {stage.results[i] for stage in self.group.stages for i in stage.source.sums}
        return [
            ComputedArray(shapes.get(i, (count(n.layout),)), n.dtype, i in sums, i not in shapes)
            for i, n in enumerate(self.group.arrays)
        ]

    def _place(self, register: int, at: dict[int, int]) -> ValuePlace:
        """Return where the value of an output is."""
        value = self.group.values[register]
        if value is None:
            return ValuePlace(NOTHING, None)
        if value.node.op == "constant":
            return ValuePlace(NOTHING, np.broadcast_to(np.zeros((), value.dtype), value.shape))
        given = operand(value.node)
        if given is not None:
            return ValuePlace(ARGUMENT, at[given], value.shape)
        index = [identity(n) for n in self.group.arrays].index(identity(value.node))
        return ValuePlace(RESULT, index, value.shape, register in self.group.singles)

    def compile(self, compiled: Callable[[Source, Sequence[str]], Function]) -> None:
        """Have the functions compiled; from then on they are used."""
        from .compiling import callable_of  # LLVM is imported with it

        leaves, types = self.group.leaves, {r: self.group.seen[r].dtype.name for r in self.group.leaves}
        at = {r: i for i, r in enumerate(leaves)}
        names = [*types.values(), *(r.dtype.name for r in self._results)]
        stages = []
        for stage in self.group.stages:
            inner = [array_of(r) for r in stage.source.leaves]
            places = [at[r] if i is None else len(leaves) + i for r, i in zip(stage.source.leaves, inner, strict=True)]
            places += [len(leaves) + i for i in stage.results]
            stages.append((compiled(stage.source, [names[i] for i in places]), places))
        unlocked = any(math.prod(s.dims) >= RELEASED for s in self.sources)
        given = [(p.kind, p.value) for p in self._places]
        operands = [self._operand[r] for r in leaves]
        self._call = GroupCall(self._arguments, self._limits, operands, self._results, stages, given, unlocked)
        count = len(self._arguments)
        self._function = callable_of(self._call, CallRegisters(range(count), range(count, count + len(given))))

    def judged(
        self, numbers: Collection[int], first: int, largest: float | None
    ) -> tuple[FusedKernel, list[int], set[int]] | None:
        """The same with a look at the numbers within: see :func:`.finite_checks.add_judge`."""
        from .finite_checks import add_judge  # LLVM is imported with it

        return None if self._function is None or self.differs else add_judge(self, numbers, first, largest)

    def __call__(self, *values: Any) -> list[Any]:
        function = self._function
        if function is None or self.differs:
            return self.separately(values)
        arrays = self._arrays(values)
        if arrays is None:
            return self.separately(values)
        registers = [*arrays, *[None] * len(self._places)]
        if not function(registers):
            return self.separately(values)
        given = registers[len(arrays) :]
        for i, place in enumerate(self._places):
            if place.kind == ARGUMENT:
                given[i] = values[place.value]
        for i, place in self._reshaped:
            given[i] = _as_seen(given[i], place)
        return given if self.verified else self._compare(given, values)

    def bind_registers(
        self, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]
    ) -> Callable[[list[Any]], None]:
        """Return the function that computes the group in a list of registers.

        Args:
            ins: those of the operands.
            outs: those of what it gives.
            dead: those that nothing reads after it.
        """
        direct = None
        if self._call is not None and not self._gaps:
            from .compiling import callable_of

            direct = callable_of(self._call, CallRegisters(ins, outs, dead))
        reshaped = [(outs[i], place) for i, place in self._reshaped if outs[i] not in dead]

        def compute(registers: list[Any]) -> None:
            if direct is not None and self.verified and not self.differs and direct(registers):
                for r, place in reshaped:
                    registers[r] = _as_seen(registers[r], place)
                return
            for r, value in zip(outs, self(*[registers[i] for i in ins]), strict=True):
                registers[r] = value
            for r in dead:
                registers[r] = None

        return compute

    def _arrays(self, values: Sequence[Any]) -> list[np.ndarray[Any, Any]] | None:
        """Return the arrays that the functions are made for, from what may be numbers, or parts of wider arrays."""
        arrays = []
        for v, wanted in zip(values, self._arguments, strict=False):
            if not (v.__class__ is np.ndarray or isinstance(v, np.generic)) or v.dtype != wanted.dtype:
                return None
            array = np.asarray(v)
            # There may be several objects for one type; compiled code knows one of them.
            arrays.append(array if array.dtype is wanted.dtype else array.view(wanted.dtype))
        for i, strides, box in self._gaps:
            v = arrays[i]
            if v.shape != self._arguments[i].shape or (v.strides != strides and (box or not v.flags.c_contiguous)):
                return None
            arrays.append(np.ascontiguousarray(v if box is None else v[box]))  # without the gaps
        return arrays

    def _compare(self, given: list[Any], values: Sequence[Any]) -> list[Any]:
        """Return what NumPy gives, after a check that *given* is the same."""
        expected = self.separately(values)
        if not all(map(same, given, expected)):
            self.differs = True  # never back to False: threads may be here at the same time
        self.verified = True
        return expected

    def separately(self, values: Sequence[Any]) -> list[Any]:
        """Return what the members' own kernels give.

        Raises:
            GradtoolError: one of them failed; it names the operator.
        """
        regs = dict(zip(self.group.inputs, values, strict=True))
        for member in self.members:
            inputs = [regs[r] for r in member.ins]
            try:
                result = member.kernel(*inputs)
            except Exception as error:
                raise self.explained(error, member, inputs) from error
            regs.update(zip(member.outs, result if member.spread else (result,), strict=True))
        return [regs[r] for r in self.group.outputs]


def _as_seen(array: Any, place: ValuePlace) -> Any:
    """The array that is given for *place*, as NumPy gives it."""
    return array[()] if place.single else array.reshape(place.shape)


def _box(seen: ArrayFacts) -> tuple[slice, ...] | None:
    """Return where the elements lie that were broadcast; None where all are there."""
    if seen.base is None or seen.base == seen.shape:
        return None
    return tuple([slice(None) if n == m else slice(1) for n, m in zip(seen.base, seen.shape, strict=True)])


def same(a: Any, b: Any) -> bool:
    """Return whether two values are the same to the bit; all that is no number is one."""
    if a is None or b is None:
        return a is b
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    bits = np.dtype(f"u{x.itemsize}")
    alike = np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(y).view(bits)
    return bool((alike | (np.isnan(x) & np.isnan(y))).all())
