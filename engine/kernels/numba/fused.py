"""A group as the kernel of one instruction: the compiled function, and NumPy's kernels where it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .groups import Group, Seen
from .layout import count
from .source import Source, ordered
from .stages import array_of
from .trace import CHOICES, Node, operand


class Place(NamedTuple):
    """Where a value is that a group gives.

    Attributes:
        computed: whether among what is computed, or among the operands.
        number: which of them.
        single: whether it is a number and no array.
        shadow: what it is, where it stands for a shape.
    """

    computed: bool
    number: int
    shape: tuple[int, ...]
    single: bool
    shadow: Any = None


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

    def __init__(self, group: Group, code: Sequence[Any], explained: Callable[..., Exception]) -> None:
        self.group = group
        self.members = [code[i] for i in group.members]
        self.operators = [m.op for m in self.members if m.op is not None]
        self.verified = self.differs = False
        self._explained = explained
        self.sources = [stage.source for stage in group.stages]
        self._function: Callable[..., Any] | None = None
        at = {r: i for i, r in enumerate(group.inputs)}
        self._guards = [(i, group.seen[r].shape, group.seen[r].dtype) for r, i in at.items()]
        self._operands = [at[r] for r in group.leaves]
        self._strides = [group.seen[r].strides for r in group.leaves]
        self._boxes = [_box(group.seen[r]) for r in group.leaves]
        chosen = [n for n in ordered(group.results) if n.op in CHOICES]
        self._limits = sorted({(at[n.args[-1].value], n.value) for n in chosen})
        self._shapes = self._result_shapes()
        self._places = [self._place(r, at) for r in group.outputs]

    def _result_shapes(self) -> list[tuple[tuple[int, ...], np.dtype[Any], bool]]:
        """Shape and type of each result, and whether it begins with zeros."""
        shapes: dict[int, tuple[int, ...]] = {}
        for r in self.group.outputs:
            value = self.group.values[r]
            if value is not None:
                shapes.setdefault(id(value.node), value.shape)
        stages = self.group.stages
        sums = {stage.results[i] for stage in stages for i in stage.source.sums}
        arrays: list[Node] = self.group.arrays
        return [(shapes.get(id(n), (count(n.layout),)), n.dtype, i in sums) for i, n in enumerate(arrays)]

    def _place(self, register: int, at: dict[int, int]) -> Place | None:
        """Where the value of an output is."""
        value = self.group.values[register]
        if value is None:
            return None
        if value.node.op == "constant":
            return Place(False, 0, value.shape, False, np.broadcast_to(np.zeros((), value.dtype), value.shape))
        given = operand(value.node)
        if given is not None:
            return Place(False, at[given], value.shape, False)
        index = [id(n) for n in self.group.results].index(id(value.node))
        return Place(True, index, value.shape, register in self.group.singles)

    def compile(self, compiled: Callable[[Source, Sequence[str]], Callable[..., Any]]) -> None:
        """Have the functions compiled; from then on they are used."""
        leaves = self.group.leaves
        types = [self.group.seen[r].dtype.name for r in leaves] + [d.name for _, d, _ in self._shapes]
        at = {r: i for i, r in enumerate(leaves)}
        stages = []
        for stage in self.group.stages:
            inner = [array_of(r) for r in stage.source.leaves]
            places = [at[r] if i is None else len(leaves) + i for r, i in zip(stage.source.leaves, inner, strict=True)]
            places += [len(leaves) + i for i in stage.results]
            stages.append((compiled(stage.source, [types[i] for i in places]), places))
        self._function = _in_turn(stages) if len(stages) > 1 else stages[0][0]

    def __call__(self, *values: Any) -> list[Any]:
        function = self._function
        if function is None or self.differs:
            return self.separately(values)
        for i, shape, dtype in self._guards:
            v = values[i]
            if v.__class__ is not np.ndarray:
                if not isinstance(v, np.generic):
                    return self.separately(values)
                values = (*values[:i], np.asarray(v), *values[i + 1 :])
                v = values[i]
            if v.shape != shape or v.dtype != dtype:
                return self.separately(values)
        for i, limit in self._limits:
            # As numbers without a sign, negative ones are the largest.
            if np.maximum.reduce(values[i].astype(np.uint64), None) >= limit:
                return self.separately(values)
        operands = [values[i] for i in self._operands]
        for i, v in enumerate(operands):
            box = self._boxes[i]
            if box is not None or not v.flags.c_contiguous:
                if v.strides != self._strides[i]:
                    return self.separately(values)
                operands[i] = np.ascontiguousarray(v if box is None else v[box])  # without the gaps
        results = [np.zeros(shape, dtype) if sums else np.empty(shape, dtype) for shape, dtype, sums in self._shapes]
        function(*operands, *results)
        given = [self._output(place, results, values) for place in self._places]
        return given if self.verified else self._compared(given, values)

    @staticmethod
    def _output(place: Place | None, results: list[Any], values: Sequence[Any]) -> Any:
        if place is None:
            return None
        computed, number, shape, single, shadow = place
        if shadow is not None:
            return shadow
        value = results[number] if computed else values[number]
        if single:
            return value[()]
        return value if value.shape == shape else value.reshape(shape)

    def _compared(self, given: list[Any], values: Sequence[Any]) -> list[Any]:
        """What NumPy gives, and a look at whether *given* is the same."""
        expected = self.separately(values)
        if not all(map(same, given, expected)):
            self.differs = True  # never back to False: threads may be here at the same time
        self.verified = True
        return expected

    def separately(self, values: Sequence[Any]) -> list[Any]:
        """What the members' own kernels give.

        Raises:
            GradtoolError: one of them failed; it names the operator.
        """
        regs = dict(zip(self.group.inputs, values, strict=True))
        for member in self.members:
            inputs = [regs[r] for r in member.ins]
            try:
                result = member.kernel(*inputs)
            except Exception as error:
                raise self._explained(error, member, inputs) from error
            regs.update(zip(member.outs, result if member.spread else (result,), strict=True))
        return [regs[r] for r in self.group.outputs]


def _in_turn(stages: Sequence[tuple[Callable[..., Any], Sequence[int]]]) -> Callable[..., None]:
    """The functions one after the other, each of some of the arrays."""

    def run(*arrays: Any) -> None:
        for function, places in stages:
            function(*[arrays[i] for i in places])

    return run


def _box(seen: Seen) -> tuple[slice, ...] | None:
    """Where the elements lie that were broadcast; None where all do that are there."""
    if seen.base is None or seen.base == seen.shape:
        return None
    return tuple([slice(None) if n == m else slice(1) for n, m in zip(seen.base, seen.shape, strict=True)])


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same to the bit; all that is no number is one."""
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
