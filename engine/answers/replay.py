"""A forward pass written down operator by operator, and computed again in double precision at other values.

Operators that the chosen leaves do not lead to are constants, and so are random numbers: a dropout mask stays what it
was. ``recording.py`` writes passes down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core import watch
from ..core.source import Location
from ..core.spec import dtype as dtype_of
from ..core.spec import float64
from ..kernels.choice import reference
from ..ops.opdef import OpDef, Trait
from . import kinks, magnitudes


class Ref(NamedTuple):
    """An output of a recorded operator."""

    entry: int
    slot: int
    place: int = -1
    """Its position in a list slot."""


@dataclass(slots=True)
class Entry:
    """One operator.

    Attributes:
        op: None for what can be told of, but not computed again.
        operands: per slot a :class:`Ref`, a key of :attr:`Trace.leaves`, an array, a list of these, or None.
        outputs: what it gave when it was recorded.
        wanted: of a gradient operator, which gradients.
        what: why it cannot be computed again.
    """

    op: OpDef | None
    attrs: Mapping[str, Any]
    operands: list[Any]
    outputs: tuple[Any, ...]
    loc: Location
    wanted: list[list[bool]] | None = None
    what: str = ""


class LeafRef(NamedTuple):
    """A leaf of dynamic mode, or a persistable or fed variable."""

    leaf: Any


@dataclass
class Trace:
    """A forward pass.

    Attributes:
        leaves: the array of every leaf that was read.
        results: where the results stand.
        guards: what decided that a branch was taken, and that a loop went on or ended: computed again too, since
            another decision is another function.
        breaks: why parts of it cannot be computed again, with the line.
    """

    entries: list[Entry] = field(default_factory=list)
    leaves: dict[Any, Any] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)
    guards: list[Ref] = field(default_factory=list)
    breaks: list[tuple[str, Location]] = field(default_factory=list)

    def replay(self, chosen: Sequence[Any]) -> Replay:
        """What computes the results from the *chosen* leaves."""
        return Replay(self, chosen)


class Replay:
    """Computes the results of a trace again, in double precision.

    Attributes:
        reached: the chosen leaves that lead to a result.
        breaks: what cannot be computed again on the way from them to the results.
    """

    def __init__(self, trace: Trace, chosen: Sequence[Any]) -> None:
        self.trace = trace
        wanted = set(chosen)
        live: list[bool] = []
        touched: set[Any] = set()
        for entry in trace.entries:
            fixed = entry.op is not None and entry.op.trait & Trait.RANDOM and entry.op.type not in _MASKED
            depends = any(
                (isinstance(r, Ref) and live[r.entry]) or (isinstance(r, LeafRef) and r.leaf in wanted)
                for r in flat(entry.operands)
            )
            live.append(depends and not fixed)
        needed = {r.entry for r in (*trace.results, *trace.guards) if isinstance(r, Ref)}
        self.breaks = [*trace.breaks]
        order: list[tuple[int, OpDef]] = []
        for i in range(len(trace.entries) - 1, -1, -1):
            entry = trace.entries[i]
            if i in needed and live[i]:
                if entry.op is None:
                    self.breaks.append((entry.what, entry.loc))
                else:
                    order.append((i, entry.op))
                for r in flat(entry.operands):
                    if isinstance(r, Ref):
                        needed.add(r.entry)
                    elif isinstance(r, LeafRef):
                        touched.add(r.leaf)
        touched.update(r.leaf for r in trace.results if isinstance(r, LeafRef))
        self.reached = [leaf for leaf in chosen if leaf in touched]
        self._code = [(i, op, trace.entries[i], _kernel(op, trace.entries[i])) for i, op in reversed(order)]
        self._constants: dict[tuple[int, int, int], Any] = {}

    def __call__(self, values: Mapping[Any, Any]) -> tuple[list[np.ndarray[Any, Any]], list[Any]]:
        """The results where some leaves have other *values*, and the choices that operators made on the way.

        Two runs between which an operator has a kink differ in its choice.
        """
        found: dict[int, tuple[Any, ...]] = {}
        choices = []
        with watch.unwatched(), np.errstate(all="ignore"):
            for i, op, entry, kernel in self._code:
                operands = [self._value(o, found, values) for o in entry.operands]
                result = kernel(*operands)
                outputs = tuple(result) if len(op.outputs) != 1 else (result,)
                found[i] = tuple(_wide(o) for o in outputs)
                choice = kinks.choice(op, entry.attrs, operands, outputs)
                if choice is not None:
                    choices.append((i, choice))
            return [np.asarray(self._value(r, found, values)) for r in self.trace.results], choices

    def undecided(self, leaf: Any) -> int | None:
        """The first operator behind *leaf* that chose otherwise when it was recorded than in double precision.

        What it chose among is equal up to rounding: it has a kink there, and the recorded gradient is that of another
        side of it.
        """
        _, precise = self({})
        chosen = dict(precise)
        behind: set[int] = set()
        with np.errstate(all="ignore"):
            for i, op, entry, _ in self._code:
                if any(
                    (isinstance(r, Ref) and r.entry in behind) or (isinstance(r, LeafRef) and r.leaf is leaf)
                    for r in flat(entry.operands)
                ):
                    behind.add(i)
                    if i in chosen:
                        before = kinks.choice(op, entry.attrs, [*map(self._recorded, entry.operands)], entry.outputs)
                        if not np.array_equal(before, chosen[i]):
                            return i
        return None

    def _recorded(self, operand: Any) -> Any:
        if isinstance(operand, list):
            return [self._recorded(o) for o in operand]
        if isinstance(operand, Ref):
            return pick(self.trace.entries[operand.entry].outputs, operand)
        return self.trace.leaves[operand.leaf] if isinstance(operand, LeafRef) else operand

    def _value(self, operand: Any, found: dict[int, tuple[Any, ...]], values: Mapping[Any, Any]) -> Any:
        if isinstance(operand, list):
            return [self._value(o, found, values) for o in operand]
        if isinstance(operand, Ref):
            outputs = found.get(operand.entry)
            if outputs is None:
                if operand not in self._constants:
                    self._constants[operand] = _wide(pick(self.trace.entries[operand.entry].outputs, operand))
                return self._constants[operand]
            return pick(outputs, operand)
        if isinstance(operand, LeafRef):
            return values[operand.leaf] if operand.leaf in values else _wide(self.trace.leaves[operand.leaf])
        return None if operand is None else _wide(operand)


def flat(operands: Sequence[Any]) -> list[Any]:
    """The operands, those of list slots one by one."""
    return [o for v in operands for o in (v if isinstance(v, list) else (v,))]


def pick(outputs: Sequence[Any], ref: Ref) -> Any:
    """The output that *ref* means, among those of its operator."""
    value = outputs[ref.slot]
    return value if ref.place < 0 else value[ref.place]


def _wide(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_wide(v) for v in value]
    if value is None:
        return None
    array = magnitudes.plain(value) if not hasattr(value, "dense") else np.asarray(value.dense())
    return array.astype(np.float64) if magnitudes.holds_numbers(array) and array.dtype.kind != "c" else array


_DTYPES = ("dtype", "out_dtype", "in_dtype")


def _kernel(op: OpDef, entry: Entry) -> Callable[..., Any]:
    """The kernel for double precision."""
    attrs = dict(entry.attrs)
    for name in _DTYPES:
        code = attrs.get(name, -1)
        if isinstance(code, int) and not isinstance(code, bool) and code >= 0 and dtype_of(code).is_floating:
            attrs[name] = float64.code
    engine = reference()
    if op.type in _MASKED:
        rule = op.rule
        mask = _wide(entry.outputs[1])
        assert rule is not None

        def masked(x: Any, *rest: Any) -> tuple[Any, Any]:
            # The rule multiplies the gradient by the mask as the operator does its operand.
            args = [mask if r.kind == "out" else x for r in rule.reads]
            return rule(engine.ops, args, [[True]], attrs)[0][0], mask

        return masked
    return engine.bind(op, attrs, entry.wanted)


_MASKED = frozenset({"dropout"})
"""Random operators that say in a second output what they drew."""
