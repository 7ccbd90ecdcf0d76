"""A timeline of dynamic mode, written down from the step events of a run.

What is recorded is the last backward pass so far (or the one asked for) with the operators before it that it needs.

While the program runs, events are only put on a list. Numbers are given to their arrays when somebody asks, when
something is about to be overwritten, or when what waits holds more than the budget: :meth:`Recorder.settle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from gradtool.engine import watch
from gradtool.engine.eager.parameter import parameters_at
from gradtool.engine.eager.pylayer import LayerNode
from gradtool.engine.eager.saved import Packed, writes
from gradtool.engine.eager.tape import Freed, GradNode, PackedValues
from gradtool.engine.eager.tensor import Keep, Leaf, Tensor
from gradtool.engine.ops.opdef import Trait
from gradtool.engine.source import NOWHERE

from .ledger import Ledger, guard, stand_guard
from .records import Call, Failure, Hooked, Pass, Pull, UsersOp, UsersSlot, flat
from .timeline import NOBODY, Given

_recording: ContextVar[Recorder | None] = ContextVar("gradtool_recorder", default=None)

recording_now = _recording.get
"""The recorder that writes down what this thread does, or None."""

_OVERWRITTEN = UsersOp("overwritten", (UsersSlot("Before"), UsersSlot("Written")), (UsersSlot("Out"),))
_THROUGH_ANOTHER = "its storage was overwritten: in part, in another dtype, or with values from outside"

_SLACK = 16
"""So many calls that no pass can come to any more are nothing to look for."""


class Recorder:
    """A watcher that writes down; use it as ``with recorder.recording(): …``.

    Args:
        budget: bytes of values to hold, beside those of leaves; None for no limit.
        which: the number of the backward pass to record, from 1; None for the last one.
        until: asked after each pass whether it is the one to record; see :mod:`.firing`.

    Attributes:
        passes: how many passes there were.
        closed: whether the pass to record is over.
    """

    def __init__(
        self,
        budget: int | None = None,
        which: int | None = None,
        until: Callable[[Recorder], bool] | None = None,
    ) -> None:
        self.which = which
        self.until = until
        self.passes = 0
        self.closed = False
        self._store = Ledger(budget)
        self._log: list[Any] = []
        self._hooked: dict[int, Any] = {}
        """Hooks on the results of pulled nodes, by the identity of the event."""
        self._saved: dict[int, Any] = {}
        """What PyLayers saved that were pulled, likewise: they let go of it next."""
        self._waiting = 0
        """Bytes of what waits in the log, where there is a budget."""
        self._ended_at = 0
        """Where the last pass ended in the log."""
        self._failure: Failure | None = None
        self._calls: list[Call] = []
        self._older: list[Call] = []
        """Calls before those, which passes may still come to; the store does not hold what they made."""
        self._alive = 0
        self._last: Pass | None = None
        self._begun_at = 0
        self._leaves: set[int] = set()
        """Values that no operator made, since a pass was last forgotten."""
        self._by_key: dict[int, Call] = {}
        self._depth = 0
        self._recorded_passes = 0

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Inside, everything that this thread computes is recorded."""
        stand_guard()
        outer = writes.get()
        recorder_token = _recording.set(self)

        def before(tensor: Tensor, array: Any) -> None:
            self.settle()
            if outer is not None:
                outer(tensor, array)
            if outer is not guard:
                guard(tensor, array)

        token = writes.set(before)
        try:
            with watch.watched(self):
                yield self
        finally:
            writes.reset(token)
            _recording.reset(recorder_token)
            self.settle()

    # -- what was written down ----------------------------------------------------------------------------------------

    @property
    def store(self) -> Ledger:
        """The values."""
        self.settle()
        return self._store

    @property
    def count(self) -> int:
        """How many numbers were given to values."""
        self.settle()
        return self._store.count

    @property
    def calls(self) -> list[Call]:
        """Forward operators in the order of the run."""
        self.settle()
        return [*self._older, *self._calls]

    @property
    def since(self) -> list[Call]:
        """The forward operators after the last pass began."""
        self.settle()
        return self._calls[self._begun_at :]

    @property
    def last(self) -> Pass | None:
        """The pass that was recorded last."""
        self.settle()
        return self._last

    @last.setter
    def last(self, work: Pass | None) -> None:
        self.settle()
        self._last = work

    @property
    def failure(self) -> Failure | None:
        """The operator that raised last; the user's program may have gone on."""
        self.settle()
        return self._failure

    def snapshot(self) -> Recorder:
        """What was written down so far, for a look at it while the recording goes on."""
        self.settle()
        made = copy(self)
        made._store = self._store.copied()
        made._log, made._hooked, made._saved = [], {}, {}
        made._calls, made._older, made._by_key = list(self._calls), list(self._older), dict(self._by_key)
        made._leaves = set(self._leaves)
        if self._last is not None:
            last = self._last
            made._last = replace(last, events=list(last.events), totals=dict(last.totals), seeds=dict(last.seeds))
        return made

    # -- events -------------------------------------------------------------------------------------------------------

    def __call__(self, event: Any) -> None:
        if self.closed:
            return
        kind = type(event)
        if kind is watch.Computed:
            if not self._depth:
                self._log.append(event)
                if self._store.budget is not None:
                    self._wait(event.outputs)
        elif kind is watch.Pulled:
            if self._depth == 1 and not event.recorded:
                self._log.append(event)
                if isinstance(event.node, LayerNode):
                    self._saved[id(event)] = event.node.ctx._saved
                if event.node.hooks is not None:
                    self._hooked[id(event)] = _acting(event.node)
                if self._store.budget is not None:
                    self._wait(event.gradients)
        elif kind is watch.Doubled:
            if not self._depth:
                self._log.append(event)
        elif kind is watch.Began:
            self._begin(event)
        elif kind is watch.Ended:
            self._end()
        elif kind is watch.Failed:
            self.settle()
            self._failed(event)

    def _wait(self, arrays: Sequence[Any]) -> None:
        for a in arrays:
            if a is not None:
                self._waiting += sum(v.nbytes for v in a) if isinstance(a, (list, tuple)) else getattr(a, "nbytes", 0)
        assert self._store.budget is not None
        if self._waiting > self._store.budget // 4:
            self.settle()

    def settle(self) -> None:
        """Give numbers to the arrays of what happened since this was last called."""
        if self._log:
            self._settle(len(self._log))

    def _settle(self, count: int) -> None:
        log = self._log
        waiting, log[:count] = log[:count], []
        self._waiting = 0
        self._ended_at = max(self._ended_at - count, 0)
        for event in waiting:
            kind = type(event)
            if kind is watch.Computed:
                self._computed(event)
            elif kind is watch.Pulled:
                self._pulled(event)
            elif kind is watch.Began:
                self._seeded(event)
            else:
                self._store.same(event.copy, self._number(event.array))

    # -- passes -------------------------------------------------------------------------------------------------------

    def _begin(self, event: watch.Began) -> None:
        if event.recorded and not self._depth:
            self._recorded_passes += 1  # its rules are computed on tensors, as any other operators are
            return
        self._depth += 1
        if self._depth == 1:
            if self._ended_at:
                self._settle(self._ended_at)
            if not any(t.node is not None and t.node.freed is not None for t in event.roots):
                self._forget()  # a graph that was freed and is gone through again is shown whole when that fails
            self.passes += 1
            self._begun_at = len(self._calls) + sum(type(e) is watch.Computed for e in self._log)
            self._last = Pass(event.roots)
            self._log.append(event)

    def _end(self) -> None:
        if self._recorded_passes and not self._depth:
            self._recorded_passes -= 1
            return
        self._depth -= 1
        work = self._last
        if not self._depth and work is not None:
            failed = self._failure is not None and bool(work.events) and work.events[-1] is self._failure.of
            self._ended_at = len(self._log)
            work.done = not failed
            pulled = [e.wrt for e in (*work.events, *self._log) if isinstance(e, (Pull, watch.Pulled))]
            work.parameters = [*parameters_at({p for wrt in pulled for p in wrt if type(p) is Leaf}).values()]
            self.closed = (self.which is not None and self.passes >= self.which) or (
                self.until is not None and not failed and self.until(self)
            )

    def _forget(self) -> None:
        """Let go of the pass before, and of the operators that no pass can come to any more.

        Operators that are recorded on the tape and were not freed stay, without what they made: that is there as long
        as the program or its tape holds it, or can be computed again. What was made off the tape is there before the
        next pass, like data.
        """
        before = self._last
        if before is None:
            return
        drop = self._store.drop
        freed = set()
        for event in before.events:
            if isinstance(event, Hooked):
                drop(event.after)
                continue
            for n in event.outs:
                if n >= 0:
                    drop(n)
            for n, _, _ in event.sums:
                drop(n)
            if event.node.freed is not None:
                freed.add(event.node.key)
        for n in (*before.totals.values(), *before.seeds.values()):
            drop(n)
        old, self._calls = self._calls[: self._begun_at], self._calls[self._begun_at :]
        self._begun_at = 0
        read = {n for c in self._calls for n in flat(c.operands)}
        stays = []
        held: dict[int, Any] | None = None
        for call in old:
            if call.recorded and call.key not in freed:
                stays.append(call)
                for n in flat(call.outs):
                    if n not in read:
                        self._store.release(n)
                continue
            outs = flat(call.outs)
            wanted = [n for n in outs if n in read]
            if any(n not in self._store for n in wanted):
                held = self._store.held_elsewhere() if held is None else held
                if any(n not in self._store and n not in held for n in wanted):
                    stays.append(call)  # can be computed again
                    continue
            self._by_key.pop(call.key, None)
            for n in outs:
                if n not in read:
                    drop(n)
                else:
                    self._store.keep(n, self._store.get(n) if n in self._store else (held or {})[n])
                    self._leaves.add(n)
        read.update(n for c in stays for n in flat(c.operands))
        for n in self._leaves - read:
            drop(n)
        self._leaves &= read
        self._older += stays
        for key in freed - {c.key for c in stays}:
            self._by_key.pop(key, None)
        if len(self._older) > 2 * self._alive + _SLACK:
            self._sweep()
        self._store.clear_up()

    def _sweep(self) -> None:
        """Forget older calls whose results nobody holds."""
        needed = set(self._store.held_elsewhere())
        needed.update(n for c in self._calls for n in flat(c.operands))
        stays = []
        for call in reversed(self._older):
            if self._by_key.get(call.key) is not call:
                continue
            outs = flat(call.outs)
            if needed.isdisjoint(outs):
                del self._by_key[call.key]
                continue
            stays.append(call)
            needed.update(flat(call.operands))
        self._older = stays[::-1]
        self._alive = len(stays)
        for n in self._leaves - needed:
            self._store.drop(n)
        self._leaves &= needed

    # -- values -------------------------------------------------------------------------------------------------------

    def unknown(self) -> int:
        """A number for a value that nobody has computed yet."""
        self.settle()
        return self._store.new()

    def known(self, array: Any) -> int | None:
        """The number of an array, or None where it has none."""
        self.settle()
        return self._store.known(array)

    def number_of(self, array: Any) -> int:
        """The number of a value that is read; a new one if no operator made it."""
        self.settle()
        return self._number(array)

    def call_of(self, key: int) -> Call | None:
        """The call of a recorded operator, by the key of its node."""
        self.settle()
        return self._by_key.get(key)

    def add(self, call: Call) -> None:
        """Write down a forward operator, after those that made what it reads."""
        self.settle()
        self._add(call)

    def _add(self, call: Call) -> None:
        if self._calls and call.key == self._calls[-1].key - 1:
            self._calls[-1].recorded = False  # its key was left over
        self._by_key[call.key] = call
        self._calls.append(call)

    def _number(self, array: Any) -> int:
        number = self._store.known(array)
        if number is None:
            before = self._store.torn(array)
            number = self._store.given(array)
            if before is None:
                self._leaves.add(number)
            else:  # known, but nothing makes it again
                key = self._calls[-1].key if self._calls else 0
                call = Call(_OVERWRITTEN, {}, before, [number], NOWHERE, key, _THROUGH_ANOTHER, recorded=False)
                self._calls.append(call)
        return number

    # -- operators ----------------------------------------------------------------------------------------------------

    def _computed(self, event: watch.Computed) -> None:
        made, op = self._store.made, event.op
        operands = [self._operand(v) for v in event.inputs]
        # What is made of nothing (first values of parameters, data) is there before the run, like what is drawn.
        for_good = bool(op.trait & Trait.RANDOM) or not flat(operands)
        outs: list[Any] = []
        for a in event.outputs:
            if a is None:
                outs.append(NOBODY)
            elif type(a) in (list, tuple):
                outs.append([NOBODY if v is None else made(v, for_good) for v in a])
            else:
                outs.append(made(a, for_good))
        self._add(Call(op, event.attrs, operands, outs, event.loc, event.key))

    def _operand(self, value: Any) -> Any:
        if value is None:
            return None
        if type(value) in (list, tuple):
            return [self._operand(v) for v in value]
        return self._number(value)

    def _pulled(self, event: watch.Pulled) -> None:
        work, node = self._last, event.node
        assert work is not None
        hooks = self._hooked.pop(id(event), None) or {}
        arriving = [self._arriving(work, node, i, g, hooks.get(i)) for i, g in enumerate(event.arriving)]
        operands = self._read(node, arriving, event.kept)
        made, totals = self._store.made, work.totals
        outs, sums = [], []
        for place, gradient in zip(event.wrt, event.gradients, strict=True):
            if place is None or gradient is None:
                outs.append(NOBODY)
                continue
            number = made(gradient)
            outs.append(number)
            before = totals.get(place)
            if before is not None:
                total = self._store.new()
                sums.append((total, before, number))
                number = total
            totals[place] = number
        saved = [self._kept_by_user(v) for v in self._saved.pop(id(event), None) or ()]
        work.events.append(Pull(node, operands, arriving, event.wrt, outs, sums, saved))

    def _kept_by_user(self, value: Any) -> Any:
        array = getattr(value, "array", None)
        return Given(value) if array is None else self._number(array)

    def _seeded(self, event: watch.Began) -> None:
        work = self._last
        assert work is not None
        for place, gradient in event.seeds.items():
            number = self._store.new()
            self._store.keep(number, gradient)
            work.totals[place] = work.seeds[place] = number

    def _failed(self, event: watch.Failed) -> None:
        if event.node is None:
            if not self._depth and event.op is not None:
                operands = [self._operand(v) for v in event.inputs]
                outs = [self._store.new() for _ in event.op.outputs]
                call = Call(event.op, event.attrs, operands, outs, event.loc, 0)
                self._failure = Failure(call, event.error)
        elif self._depth == 1 and self._last is not None:
            work, node = self._last, event.node
            arriving = [self._arriving(work, node, i, g, None) for i, g in enumerate(event.arriving)]
            outs = [NOBODY if p is None else self._store.new() for p in node.wrt]
            pull = Pull(node, self._read(node, arriving, node.kept), arriving, node.wrt, outs, [])
            work.events.append(pull)
            self._failure = Failure(pull, event.error)

    def _arriving(self, work: Pass, node: GradNode, index: int, gradient: Any, hooks: Any) -> int | None:
        if gradient is None:
            return None
        place = (node, index)
        number = work.totals.get(place)
        if number is None:
            number = work.totals[place] = work.seeds[place] = self._store.new()
            self._store.keep(number, gradient)
        elif not hooks:
            self._store.put(number, gradient)
        if hooks:
            before, number = number, self._store.new()
            self._store.keep(number, gradient)
            work.totals[place] = number
            work.events.append(Hooked(before, number, place, hooks, node.loc))
        return number

    def read(self, node: GradNode, arriving: Sequence[int | None]) -> list[Any] | None:
        """The operands of a gradient operator; None where its rule is the user's, or what it retained is gone."""
        self.settle()
        return self._read(node, arriving, node.kept)

    def _read(self, node: GradNode, arriving: Sequence[int | None], kept: Any) -> list[Any] | None:
        rule = node.op.rule
        if isinstance(kept, Freed) or getattr(node.op, "grad_op", None) is None or rule is None:
            return None
        call = None
        if isinstance(kept, PackedValues):
            call = self._by_key.get(node.key)
            if call is None or call.op is not node.op or not all(map(_comes_back, kept)):
                return None
        sizes = iter(node.out_sizes if node.out_sizes is not None else [None] * len(arriving))
        numbers, shapes = iter(arriving), iter(node.shapes)
        operands: list[Any] = []
        for (kind, at, like, late), value in zip(rule.reads, kept, strict=True):
            if kind == "dout":
                size = next(sizes, None)
                found = [
                    self._or_zeros(next(numbers, None), next(shapes), rule.takes_none or late)
                    for _ in range(1 if size is None else size)
                ]
                operands.append(found if size is not None else found[0])
            elif value is None:
                operands.append(None)
            elif call is not None and not like:
                operands.append(call.operands[at] if kind == "in" else call.outs[at])
            elif like:
                operands.append(_each(value, lambda v: Given(getattr(v, "array", v))))
            else:
                operands.append(_each(value, lambda v: self._number(getattr(v, "array", v))))
        return operands

    def _or_zeros(self, number: int | None, shape: Any, takes_none: bool) -> Any:
        if number is not None or takes_none:
            return number
        return Given(np.zeros(*shape))


def _acting(node: GradNode) -> dict[int, list[Any]]:
    """The hooks on the results of a node that can change a gradient."""
    found = {i: [h for h in hooks.values() if not isinstance(h, Keep)] for i, hooks in (node.hooks or {}).items()}
    return {i: hooks for i, hooks in found.items() if hooks}


def _comes_back(value: Any) -> bool:
    """Whether a packed value is the one that the operator read or made."""
    return all(v.exact for v in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(v, Packed))


def _each(value: Any, change: Any) -> Any:
    if value is None:
        return None
    return [_each(v, change) for v in value] if type(value) in (list, tuple) else change(value)
