"""Recomputation: forward values that are let go of, and computed again where backward needs them.

Checkpoints cut the operators that lead to the loss into segments. Backward keeps the checkpoints and what one segment
hands to another; before the gradients of a segment, its other values are computed again under names of their own
(``h.subprog_0``). What follows the last checkpoint is kept as it is.

Some values are kept wherever they are, because computing them again would not give the same or would do more than
compute: random numbers, results of operators with a block or with effects. Dropout gets its seed from an operator of
the forward part, so that it drops the same elements twice.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..core import names
from ..ir import roles
from ..ir.operator import Operands, Operator, each, intern_attrs, map_operands
from ..ir.variable import Variable
from ..ops import registry
from ..ops.opdef import Trait
from .values import BlockValues, Value, is_update

if TYPE_CHECKING:
    from .differentiator import Differentiator

Copies = dict[Value, Variable]
"""Where the versions of variables are found that were computed again."""


def path_to(ops: Sequence[Operator], values: BlockValues, target: Variable) -> list[Operator]:
    """The operators that *target* depends on, in order; what optimizers do to parameters is not followed."""
    needed = {_version(values, target)}
    path = []
    for op in reversed(ops):
        if not is_update(op) and any(values.version_written(op, v) in needed for v in each(op.outputs)):
            path.append(op)
            needed.update(values.version_read(op, v) for v in each(op.inputs))
    path.reverse()
    return path


def _version(values: BlockValues, v: Variable) -> Value:
    """The version of *v* at the end of the block."""
    return (v, values.last[v]) if v in values.last else v


def repeatable(op: Operator) -> bool:
    """Return whether running *op* a second time gives the same and changes nothing else."""
    if op.op.holds_blocks or op.op.trait & Trait.EFFECT or not op.outputs:
        return False
    return Trait.RANDOM not in op.op.trait or "Seed" in op.op.input_index


class Recomputation:
    """Values that one backward call computes again; none until :meth:`cut` is called.

    Attributes:
        copies: for the operators of segments, what their gradient operators read in place of forward values; shared
            by the operators of a segment and filled when backward reaches it.
    """

    def __init__(self, values: BlockValues) -> None:
        self.copies: dict[Operator, Copies] = {}
        self._values = values
        self._waiting: dict[Operator, _Segment] = {}
        """The segments that backward has not reached yet, by operator."""
        self._held: set[Value] = set()
        self._seeded: dict[Operator, tuple[Operands, Mapping[str, Any]]] = {}
        """Forward operators that are to read a seed: their new inputs and attributes."""
        self._names: names.UniqueNames | None = None

    def cut(self, grads: Differentiator, loss: Variable, checkpoints: Sequence[Variable]) -> list[Variable]:
        """Let what lies before the last of *checkpoints* be computed again.

        Returns:
            The checkpoints in the order in which the program makes them; without those that *loss* does not depend on.
        """
        if not checkpoints:
            return []
        values = self._values
        path = path_to(grads.block.ops, values, loss)
        made_at = places(path, values, checkpoints)
        ends = boundaries(path, values, made_at)
        if not ends:
            return list(made_at)
        self._held = select_kept_values(path, values, ends) | {version for version, _ in made_at.values()}
        self._seed(grads, path)
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            segment = _Segment(len(ends) - 1 - number, path[start:end])
            for op in segment.ops:
                self.copies[op] = segment.copies
                self._waiting[op] = segment
        return list(made_at)

    def _seed(self, grads: Differentiator, path: Sequence[Operator]) -> None:
        """Give random operators that can read a seed one that is drawn once."""
        block = grads.block
        self._names = block.program.names.copy()
        definition = registry.get_by_type("seed")
        for op in path:
            at = _open_seed(op)
            if at is None:
                continue
            fixed = op.attrs["seed"] if op.attrs["fix_seed"] else 0
            attrs = definition.attributes({"seed": fixed, "force_cpu": True})
            (spec,) = definition.infer_specs([], attrs)
            seed = Variable(
                block, grads.namer.fresh(self._names(f"{self._names('seed')}.tmp")), spec, stop_gradient=True
            )
            grads.saves.insert(Operator(block, definition, (), (seed,), attrs, loc=op.loc, scope=op.scope), op)
            inputs = (*op.inputs[:at], *[None] * (at - len(op.inputs)), seed, *op.inputs[at + 1 :])
            plain = {**op.attrs, "seed": op.op.defaults["seed"], "fix_seed": op.op.defaults["fix_seed"]}
            self._seeded[op] = inputs, intern_attrs(op.op, plain)

    def reach(self, op: Operator, grads: Differentiator) -> None:
        """Backward is about to differentiate *op*: compute its segment again, unless that was done."""
        segment = self._waiting.get(op)
        if segment is None:
            return
        for member in segment.ops:
            self._waiting.pop(member, None)
        for member in segment.ops:
            if repeatable(member) and any(self._is_lost(member, v) for v in each(member.outputs)):
                self._repeat(member, segment, grads)

    def _is_lost(self, op: Operator, v: Variable) -> bool:
        """Return whether backward does without the value that *op* left in *v*."""
        return not v.persistable and self._values.version_written(op, v) not in self._held

    def _repeat(self, op: Operator, segment: _Segment, grads: Differentiator) -> None:
        values, copies = self._values, segment.copies
        read, attrs = self._seeded.get(op, (op.inputs, op.attrs))

        def source(v: Variable) -> Variable:
            value = values.version_read(op, v)
            return copies[value] if value in copies else grads.saves.readable(value)

        def copy(v: Variable) -> Variable:
            name = names.name_of_recomputation(v.name, segment.number)
            value = values.version_written(op, v)
            if isinstance(value, tuple) and grads.namer.is_new(name):
                name = names.name_of_recomputation(names.old_version(v.name, value[1]), segment.number)
            return Variable(grads.block, grads.namer.fresh(name), v.spec, stop_gradient=v.stop_gradient, kind=v.kind)

        inputs = map_operands(read, source)
        before = grads.earlier.repetition(op, attrs, inputs)
        if before is not None:
            outputs = before.outputs
        else:
            # Also what is held is written to a name of its own: running statistics must not move twice.
            outputs = map_operands(op.outputs, copy)
            grads.emitted.ops.append(
                Operator(
                    grads.block,
                    op.op,
                    inputs,
                    outputs,
                    attrs,
                    loc=op.loc,
                    role=roles.BACKWARD,
                    scope=op.scope,
                    repeats=op,
                )
            )
        for v, again in zip(each(op.outputs), each(outputs), strict=True):
            if self._is_lost(op, v):
                copies[values.version_written(op, v)] = again

    def settle(self, grads: Differentiator) -> None:
        """Make the changes to forward operators; called when the backward part enters the program."""
        for op, (inputs, attrs) in self._seeded.items():
            op.inputs, op.attrs = inputs, attrs
        if self._names is not None:
            grads.block.program.names.become(self._names)


def _open_seed(op: Operator) -> int | None:
    """The place where a random operator could read its seed and reads none so far."""
    at = op.op.input_index.get("Seed")
    if at is None or Trait.RANDOM not in op.op.trait:
        return None
    return at if at >= len(op.inputs) or op.inputs[at] is None else None


class _Segment:
    """Operators that are computed again together; numbered from the last."""

    __slots__ = ("copies", "number", "ops")

    def __init__(self, number: int, ops: list[Operator]) -> None:
        self.number = number
        self.ops = ops
        self.copies: Copies = {}


def places(
    path: Sequence[Operator], values: BlockValues, variables: Iterable[Variable]
) -> dict[Variable, tuple[Value, int]]:
    """For those of *variables* that *path* knows: the version meant, and where it is made; sorted by that.

    The place of data, and of whatever else is there before the first operator, is -1.
    """
    asked = set(variables)
    made_at: dict[Variable, tuple[Value, int]] = {}
    for op in path:
        for v in each(op.inputs):
            if v.is_data and v in asked and v not in made_at:
                made_at[v] = (values.initial(v), -1)
    for i, op in enumerate(path):
        for v in each(op.outputs):
            if v in asked:
                made_at[v] = (values.version_written(op, v), i)
    return dict(sorted(made_at.items(), key=lambda item: item[1][1]))


def boundaries(
    path: Sequence[Operator], values: BlockValues, made_at: Mapping[Variable, tuple[Value, int]]
) -> list[int]:
    """Return where segments end, for checkpoints as :func:`places` gives them.

    A segment reaches up to the first operator that reads its checkpoint, the last one just past the operator that
    makes it. A checkpoint that is read only after the next one was made ends its segment where it is made.
    """
    first = _first_reads(path, values, {version for version, _ in made_at.values()})
    order = [(version, place) for version, place in made_at.values() if place >= 0]
    ends = []
    for (version, place), (_, following) in pairwise(order):
        used = first.get(version)
        ends.append(used if used is not None and used <= following else place + 1)
    if order:
        ends.append(order[-1][1] + 1)
    return sorted(set(ends))


def _first_reads(path: Sequence[Operator], values: BlockValues, versions: Container[Value]) -> dict[Value, int]:
    """Return where each of *versions* is read first."""
    first: dict[Value, int] = {}
    for i, op in enumerate(path):
        for v in each(op.inputs):
            value = values.version_read(op, v)
            if value in versions:
                first.setdefault(value, i)
    return first


def select_kept_values(path: Sequence[Operator], values: BlockValues, ends: Sequence[int]) -> set[Value]:
    """The versions that backward keeps: what crosses from one segment to another, and what cannot be computed again."""
    home: dict[Value, int] = {}
    stays: set[Value] = set()
    for segment, op in _number_segments(path, ends):
        once = not repeatable(op)
        named = once and op.op.holds_blocks  # a block reads variables by name, so they stay what they are
        for v in each(op.inputs):
            value = values.version_read(op, v)
            if value in home and (named or home[value] != segment):
                stays.add(value)
        for v in each(op.outputs):
            value = values.version_written(op, v)
            home[value] = segment
            if once:
                stays.add(value)
    return stays


def _number_segments(path: Sequence[Operator], ends: Sequence[int]) -> Iterator[tuple[int, Operator]]:
    """Every operator with the number of its segment, counted from the first."""
    segment, following = 0, iter([*ends, len(path)])
    end = next(following)
    for i, op in enumerate(path):
        while i >= end:
            segment, end = segment + 1, next(following)
        yield segment, op
