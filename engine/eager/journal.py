"""A journal of dynamic mode: every operator call, recorded on the tape or not, and how values left the tape.

The tape holds what gradients flow through and nothing else. Whoever asks why no gradient flows needs the rest as well:
calls under ``no_grad``, detached copies, values that went to NumPy and came back, gradients that were cleared. Inside
:func:`~gradtool.engine.eager.watching.keeping` they are noted.

The journal holds numbers, not tensors, so what a program lets go of is let go of.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from .. import source
from ..ops.opdef import OpDef
from ..ops.readings import flatten
from ..source import Location
from ..why.verdicts import Verdict
from .mode import grad_enabled
from .parameter import TensorParameter
from .tensor import Leaf, Tensor

LIMIT = 1 << 18
"""Calls that are kept; of a longer program the first ones are forgotten."""


class Call(NamedTuple):
    """One operator call, values by number.

    Attributes:
        reads, writes: what it read and made, list slots laid flat.
        passes: for each read, whether the operator has a gradient for it.
        halted: for each read, whether the tensor had ``stop_gradient`` then.
        taken: for each of *writes*, whether gradients come back through it.
        key: of the node on the tape, or None if the call was not recorded.
        why: what kept it from being recorded; None if it was, or if all its inputs stopped gradients.
        site: where the user called, see :func:`gradtool.engine.source.site`.
    """

    type: str
    reads: tuple[int | None, ...]
    writes: tuple[int, ...]
    passes: tuple[bool, ...]
    halted: tuple[bool, ...]
    taken: tuple[bool, ...]
    key: int | None
    why: Verdict | None
    site: Any
    time: int

    @property
    def loc(self) -> Location:
        return source.located(self.site)


class Event(NamedTuple):
    """Something that happened to a value, or to the gradient of a leaf.

    Attributes:
        kind: ``left`` (values went to Python), ``stopped`` (``stop_gradient`` was set), ``added`` (backward added to
            ``.grad``), ``cleared``, ``step`` (an optimizer updated) or ``written``.
        into: the number of the tensor that values were copied to, where that is known.
        time: counts on with the numbers of values: a value with a greater number was met later.
        how: the method or operator.
    """

    kind: str
    time: int
    how: str
    site: Any
    into: int | None = None

    @property
    def loc(self) -> Location:
        return source.located(self.site)


class Listing(NamedTuple):
    """An optimizer and the leaves that it was given."""

    leaves: frozenset[int]
    loc: Location


class Journal:
    """What happened, in order.

    Attributes:
        calls: the calls, oldest first.
        events: by the number of the value.
        entered: by the number of the value, where a tensor that an operator read was made from plain values.
        listings: the optimizers that were made.
        forgotten: whether calls were dropped for :data:`LIMIT`.

    Args:
        spared: lines (file and number) at which nothing cuts gradients off: detach gives a copy, ``no_grad`` and
            ``stop_gradient = True`` do nothing.
    """

    def __init__(self, spared: Collection[tuple[str, int]] = ()) -> None:
        self.spared = frozenset(spared)
        self.calls: list[Call] = []
        self.events: dict[int, list[Event]] = {}
        self.entered: dict[int, Location] = {}
        self.listings: list[Listing] = []
        self.forgotten = False
        self.silent = 0
        self._time = 0
        self._places: dict[tuple[int, int], int] = {}
        self._leaves: dict[Leaf, int] = {}
        self._held: dict[int, tuple[int, Any]] = {}
        self._last: tuple[Any, int] = (None, 0)

    def spares(self, depth: int = 2) -> bool:
        """Whether the user's line is among those that are spared."""
        if not self.spared or self.silent:
            return False
        return source.file_and_line(source.located(source.site(sys._getframe(depth)))) in self.spared

    # -- values ---------------------------------------------------------------------------------------------------

    def number(self, t: Tensor) -> int:
        """The number of what *t* holds now; a new one if it was not met before."""
        if t.node is not None:
            return self.place(t.node.key, t.index)
        if t._leaf is not None and t._leaf in self._leaves:
            return self._leaves[t._leaf]
        held = self._held.get(id(t))
        found = self._give(t) if held is None else held[0]
        if t._leaf is not None:
            self._leaves[t._leaf] = found
        return found

    def place(self, key: int, index: int) -> int:
        """The number of output *index* of the node *key*."""
        found = self._places.get((key, index))
        if found is None:
            found = self._places[key, index] = self.tick()
        return found

    def tick(self) -> int:
        """The next moment, which is also the next number of a value."""
        self._time += 1
        return self._time

    def _give(self, t: Tensor, number: int | None = None) -> int:
        key, held = id(t), self._held
        found = self.tick() if number is None else number
        held[key] = found, weakref.ref(t, lambda _: held.pop(key, None))
        return found

    def tensors(self) -> Iterator[Tensor]:
        """The living parameters that were met, in the order in which they were."""
        held = [(number, reference()) for number, reference in self._held.values()]
        for _, t in sorted(((n, t) for n, t in held if isinstance(t, TensorParameter)), key=lambda pair: pair[0]):
            yield t

    # -- what is noted --------------------------------------------------------------------------------------------

    def call(self, call: Any, operands: Sequence[Any], result: Any) -> None:
        """Note a call of an operator."""
        if self.silent:
            return
        op = call.recipe.op
        read = flatten(operands, range(len(operands)))
        results = result if isinstance(result, tuple) else (result,)
        made = [t for t in flatten(results, range(len(results))) if t is not None]
        passes = _passes(op, operands)
        recorded = next((t.node.key for t in made if t.node is not None), None)
        why = None
        if recorded is None and any(t is not None for t in read):
            if not grad_enabled():
                why = Verdict.NO_GRAD
            elif all(t is None or t._stop for t in read):
                why = None  # whatever the operator, what stopped its inputs is the reason
            elif op.rule is None or not op.differentiable:
                why = Verdict.NON_DIFFERENTIABLE
            else:
                why = Verdict.INTEGER if made and made[0].array.dtype.kind in "biu" else Verdict.NON_DIFFERENTIABLE
        self._note(op.type, read, made, passes, recorded, why, 3)

    def _note(
        self,
        type_: str,
        read: Sequence[Tensor | None],
        made: Sequence[Tensor],
        passes: tuple[bool, ...],
        key: int | None,
        why: Verdict | None,
        depth: int,
    ) -> None:
        reads = tuple([None if t is None else self.number(t) for t in read])
        writes = tuple([self.number(t) if t.node is not None else self._give(t) for t in made])
        halted = tuple([t is None or t._stop for t in read])
        for t, number in zip(read, reads, strict=True):
            if t is not None and t.loc and number is not None:
                self.entered.setdefault(number, t.loc)
        self._time += 1
        site = source.site(sys._getframe(depth))
        taken = tuple([t.node is not None for t in made])
        self.calls.append(Call(type_, reads, writes, passes, halted, taken, key, why, site, self._time))
        if made:
            self._last = made[0].array, writes[0]
        if len(self.calls) >= 2 * LIMIT:
            del self.calls[:LIMIT]
            self.forgotten = True

    def event(self, kind: str, number: int, how: str, depth: int = 2) -> None:
        """Note what happened to a value."""
        if not self.silent:
            self._time += 1
            site = source.site(sys._getframe(depth))
            self.events.setdefault(number, []).append(Event(kind, self._time, how, site))

    def copied(self, how: str, given: Sequence[Tensor], made: Tensor) -> None:
        """Note that *made* got the values of others without a way back."""
        if not self.silent:
            self._note(how, given, [made], (True,) * len(given), None, Verdict.DETACHED, 3)

    def layer(self, name: str, read: Sequence[Tensor], reads: Sequence[int], made: Sequence[Tensor]) -> None:
        """Note the call of a PyLayer, after it was recorded."""
        key = next((t.node.key for t in made if t.node is not None), None)
        self._time += 1
        writes = tuple(map(self.number, made))
        halted = tuple(t._stop for t in read)
        site = source.site(sys._getframe(2))
        why = Verdict.NON_DIFFERENTIABLE if key is None else None
        passes = (True,) * len(halted)
        taken = tuple(t.node is not None for t in made)
        self.calls.append(Call(name, tuple(reads), writes, passes, halted, taken, key, why, site, self._time))

    def written(self, t: Tensor, array: Any, writer: str) -> None:
        """Note that the values of *t* were overwritten."""
        if self.silent:
            return
        if t.node is None and t._stop and not t.persistable:
            # The tensor holds something else from now on: what was just computed, or plain values.
            self._give(t, self._last[1] if array is self._last[0] else None)
        self.event("written", self.number(t), writer, 3)

    def stepped(self, leaves: Sequence[Tensor]) -> None:
        """Note that an optimizer updated."""
        for t in leaves:
            self.event("step", self.number(t), "step", 3)


def _passes(op: OpDef, operands: Sequence[Any]) -> tuple[bool, ...]:
    wrt = set(op.rule.wrt) if op.rule is not None else set()
    found: list[bool] = []
    for i, value in enumerate(operands):
        found += [i in wrt] * (len(value) if isinstance(value, (list, tuple)) else 1)
    return tuple(found)
