"""A timeline of dynamic mode, written down from the step events of a run.

What is recorded is the last backward pass so far (or the one asked for) with the operators before it that it needs.
Arrays are held by reference. What is about to be overwritten in place is copied first.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from gradtool.engine import watch
from gradtool.engine.eager.parameter import parameters_at
from gradtool.engine.eager.saved import writes
from gradtool.engine.eager.tape import GradNode
from gradtool.engine.eager.tensor import Keep, Tensor

from .records import Call, Failure, Hooked, Pass, Pull, flat, leaf_places
from .store import Store
from .timeline import NOBODY, Given

_recording: ContextVar[Recorder | None] = ContextVar("gradtool_recorder", default=None)

recording_now = _recording.get
"""The recorder that writes down what this thread does, or None."""


class Recorder:
    """A watcher that writes down; use it as ``with recorder.recording(): …``.

    Args:
        budget: bytes of values to hold, beside those of leaves; None for no limit.
        which: the number of the backward pass to record, from 1; None for the last one.
        until: asked after each pass whether it is the one to record; see :mod:`.firing`.

    Attributes:
        calls: forward operators in the order of the run; None where one was forgotten.
        last: the pass that was recorded last.
        passes: how many passes there were.
        failure: the operator that raised last; the user's program may have gone on.
        begun_at: how many operators there were when the last pass began.
    """

    def __init__(
        self,
        budget: int | None = None,
        which: int | None = None,
        until: Callable[[Recorder], bool] | None = None,
    ) -> None:
        self.store = Store(budget)
        self.which = which
        self.until = until
        self.failure: Failure | None = None
        self.calls: list[Call | None] = []
        self.last: Pass | None = None
        self.passes = 0
        self.closed = False
        self.count = 0
        self.leaves: dict[int, int] = {}
        """Number -> identity of the array, of values that no operator made."""
        self._numbers: dict[int, tuple[int, Callable[[], Any]]] = {}
        self._sharing: dict[int, list[tuple[int, int, bool]]] = {}
        self._by_key: dict[int, int] = {}
        self._depth = 0
        self._recorded_passes = 0
        self.begun_at = 0

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Inside, everything that this thread computes is recorded."""
        outer = writes.get()
        recorder_token = _recording.set(self)

        def before(tensor: Tensor) -> None:
            self._about_to_write(tensor)
            if outer is not None:
                outer(tensor)

        token = writes.set(before)
        try:
            with watch.watched(self, self._tensors):
                yield self
        finally:
            writes.reset(token)
            _recording.reset(recorder_token)

    def snapshot(self) -> Recorder:
        """What was written down so far, for a look at it while the recording goes on."""
        made = copy(self)
        made.calls, made.leaves = list(self.calls), dict(self.leaves)
        made.store = self.store.copied()
        made._numbers, made._by_key = dict(self._numbers), dict(self._by_key)
        made._sharing = {k: list(v) for k, v in self._sharing.items()}
        if self.last is not None:
            last = self.last
            made.last = replace(last, events=list(last.events), totals=dict(last.totals), seeds=dict(last.seeds))
        return made

    def __call__(self, event: Any) -> None:
        if self.closed:
            return
        if isinstance(event, watch.Computed):
            if not self._depth:
                self._computed(event)
        elif isinstance(event, watch.Pulled):
            if self._depth == 1 and not event.recorded:
                self._pulled(event)
        elif isinstance(event, watch.Failed):
            self._failed(event)
        elif isinstance(event, watch.Began):
            self._begin(event)
        elif isinstance(event, watch.Ended):
            self._end()

    # -- passes ---------------------------------------------------------------------------------------------------

    def _begin(self, event: watch.Began) -> None:
        if event.recorded and not self._depth:
            self._recorded_passes += 1  # its rules are computed on tensors, as any other operators are
            return
        self._depth += 1
        if self._depth == 1:
            if not any(t.node is not None and t.node.freed is not None for t in event.roots):
                self._forget()  # a graph that was freed and is gone through again is shown whole when that fails
            self.passes += 1
            self.begun_at = len(self.calls)
            self.last = Pass(event.roots)

    def _end(self) -> None:
        if self._recorded_passes and not self._depth:
            self._recorded_passes -= 1
            return
        self._depth -= 1
        if not self._depth and self.last is not None:
            failed = self.failure is not None and self.last.events[-1:] == [self.failure.of]
            self.last.done = not failed
            self.last.parameters = [*parameters_at(leaf_places(self.last)).values()]
            self.closed = (self.which is not None and self.passes >= self.which) or (
                self.until is not None and not failed and self.until(self)
            )

    def _forget(self) -> None:
        """Let go of the pass before, and of the operators that no pass can come to any more."""
        before = self.last
        if before is None:
            return
        numbers = [*before.totals.values(), *before.seeds.values()]
        for event in before.events:
            if isinstance(event, Hooked):
                numbers.append(event.after)
                continue
            numbers += [n for n in event.outs if n >= 0]
            numbers += [n for n, _, _ in event.sums]
            at = self._by_key.get(event.node.key)
            if at is not None and event.node.freed is not None:
                self._forget_call(at)
        for i in range(self.begun_at):
            call = self.calls[i]
            if call is not None and call.key not in self._by_key:
                self._forget_call(i)
        for number in numbers:
            self.store.drop(number)
        self._compact()

    def _compact(self) -> None:
        """Let go of what belongs to nothing any more, so that a pass costs what it holds, however many went before."""
        self.calls = [call for call in self.calls if call is not None]
        self._by_key = {call.key: i for i, call in enumerate(self.calls) if call is not None}
        self._numbers = {key: known for key, known in self._numbers.items() if known[1]() is not None}
        alive = {number for number, _ in self._numbers.values()}
        for base, sharing in list(self._sharing.items()):
            left = [s for s in sharing if s[0] in self._numbers and self._numbers[s[0]][0] == s[1]]
            if left:
                self._sharing[base] = left
            else:
                del self._sharing[base]
        read = {n for call in self.calls if call is not None for n in flat(call.operands)}
        for number in [n for n in self.leaves if n not in alive and n not in read]:
            del self.leaves[number]
            self.store.drop(number)

    def _forget_call(self, at: int) -> None:
        call = self.calls[at]
        if call is not None:
            for number in flat(call.outs):
                self.store.drop(number)
            self._by_key.pop(call.key, None)
            self.calls[at] = None

    # -- values ---------------------------------------------------------------------------------------------------

    def unknown(self) -> int:
        """A number for a value that nobody has computed yet."""
        self.count += 1
        return self.count - 1

    def _give(self, array: Any) -> int:
        """A number for what an operator made."""
        number = self.unknown()
        self.store.put(number, array)
        # An operator may give what it took; the tensor of the result has an array of its own then (see _tensors).
        if self.known(array) is None:
            self._know(array, number, True)
        return number

    def _know(self, array: Any, number: int, holds: bool) -> None:
        """Know *array* by *number* from now on.

        Args:
            holds: whether it is the array that is stored; else another one with the same values.
        """
        self._numbers[id(array)] = number, _reference(array)
        base = array
        while getattr(base, "base", None) is not None:
            base = base.base
        self._sharing.setdefault(id(base), []).append((id(array), number, holds))

    def known(self, array: Any) -> int | None:
        """The number of an array, or None where it has none."""
        found = self._numbers.get(id(array))
        return found[0] if found is not None and found[1]() is array else None

    def index_of(self, key: int) -> int | None:
        """Where the call of a recorded operator stands in :attr:`calls`."""
        return self._by_key.get(key)

    def number_of(self, array: Any) -> int:
        """The number of a value that is read; a new one if no operator made it."""
        number = self.known(array)
        if number is None:
            number = self.unknown()
            self.store.keep(number, array)
            self._know(array, number, True)
            self.leaves[number] = id(array)
        return number

    def _about_to_write(self, tensor: Tensor) -> None:
        """Copy what is held of storage that is about to be overwritten."""
        base = tensor.array
        while getattr(base, "base", None) is not None:
            base = base.base
        for key, number, holds in self._sharing.pop(id(base), ()):
            known = self._numbers.get(key)
            if known is not None and known[0] == number:
                del self._numbers[key]
            if holds and number in self.store:
                self.store.replace(number, self.store.get(number).copy())

    def _tensors(self, event: Any) -> None:
        """What becomes of tensors: the arrays in which the results of an operator end up."""
        if self.closed or self._depth:
            return
        if isinstance(event, watch.Called):
            call = self.calls[-1] if self.calls else None
            if call is None or call.op is not event.op:
                return
            for tensor, number in _side_by_side(event.results, call.outs):
                if tensor is not None and number >= 0 and self.known(tensor.array) is None:
                    self._know(tensor.array, number, False)
        elif isinstance(event, watch.Written):
            written = self.known(event.array)
            if written is not None:
                self._know(event.tensor.array, written, False)

    # -- operators ------------------------------------------------------------------------------------------------

    def _computed(self, event: watch.Computed) -> None:
        operands = [self._operand(v) for v in event.inputs]
        outs = [[self._give(a) for a in v] if type(v) in (list, tuple) else self._made(v) for v in event.outputs]
        if not flat(operands):  # the first values of parameters, data: they are there before the run
            for number in flat(outs):
                if number in self.store:
                    self.store.keep(number, self.store.get(number))
        self.add(Call(event.op, event.attrs, operands, outs, event.loc, event.key))

    def add(self, call: Call) -> None:
        """Write down a forward operator, after those that made what it reads."""
        self._by_key[call.key] = len(self.calls)
        self.calls.append(call)

    def _made(self, array: Any) -> int:
        return NOBODY if array is None else self._give(array)

    def _operand(self, value: Any) -> Any:
        if value is None:
            return None
        if type(value) in (list, tuple):
            return [self._operand(v) for v in value]
        return self.number_of(value)

    def _pulled(self, event: watch.Pulled) -> None:
        work, node = self.last, event.node
        assert work is not None
        arriving = [self._arriving(work, node, i, g) for i, g in enumerate(event.arriving)]
        operands = self.read(node, arriving)
        outs, sums = [], []
        for place, gradient in zip(event.wrt, event.gradients, strict=True):
            if place is None or gradient is None:
                outs.append(NOBODY)
                continue
            number = self.unknown()
            self.store.put(number, gradient)
            outs.append(number)
            before = work.totals.get(place)
            if before is not None:
                total = self.unknown()
                sums.append((total, before, number))
                number = total
            work.totals[place] = number
        work.events.append(Pull(node, operands, arriving, event.wrt, outs, sums))

    def _failed(self, event: watch.Failed) -> None:
        if event.node is None:
            if not self._depth and event.op is not None:
                operands = [self._operand(v) for v in event.inputs]
                outs = [self.unknown() for _ in event.op.outputs]
                call = Call(event.op, event.attrs, operands, outs, event.loc, 0)
                self.failure = Failure(call, event.error)
        elif self._depth == 1 and self.last is not None:
            work, node = self.last, event.node
            arriving = [self._arriving(work, node, i, g, hooks=False) for i, g in enumerate(event.arriving)]
            outs = [NOBODY if p is None else self.unknown() for p in node.wrt]
            pull = Pull(node, self.read(node, arriving), arriving, node.wrt, outs, [])
            work.events.append(pull)
            self.failure = Failure(pull, event.error)

    def _arriving(self, work: Pass, node: GradNode, index: int, gradient: Any, hooks: bool = True) -> int | None:
        if gradient is None:
            return None
        place = (node, index)
        number = work.totals.get(place)
        called = [h for h in (node.hooks or {}).get(index, {}).values() if hooks and not isinstance(h, Keep)]
        if number is None:
            number = work.totals[place] = work.seeds[place] = self.unknown()
            self.store.keep(number, gradient)
        elif not called:
            self.store.put(number, gradient)
        if called:
            before, number = number, self.unknown()
            self.store.keep(number, gradient)
            work.totals[place] = number
            work.events.append(Hooked(before, number, place, called, node.loc))
        return number

    def read(self, node: GradNode, arriving: Sequence[int | None]) -> list[Any] | None:
        """The operands of a gradient operator; None where its rule is the user's, or what it retained is gone."""
        rule, kept = node.op.rule, node.args
        if getattr(node.op, "grad_op", None) is None or rule is None or kept is None:
            return None
        sizes = iter(node.out_sizes if node.out_sizes is not None else [None] * len(arriving))
        numbers, shapes = iter(arriving), iter(node.shapes)
        operands: list[Any] = []
        for read, value in zip(rule.reads, kept, strict=True):
            if read.kind == "dout":
                size = next(sizes, None)
                found = [
                    self._or_zeros(next(numbers, None), next(shapes), rule.takes_none or read.late)
                    for _ in range(1 if size is None else size)
                ]
                operands.append(found if size is not None else found[0])
            elif read.like:
                operands.append(_each(value, lambda v: Given(getattr(v, "array", v))))
            else:
                operands.append(_each(value, lambda v: self.number_of(getattr(v, "array", v))))
        return operands

    def _or_zeros(self, number: int | None, shape: Any, takes_none: bool) -> Any:
        if number is not None or takes_none:
            return number
        return Given(np.zeros(*shape))


def _reference(array: Any) -> Callable[[], Any]:
    """What gives *array* as long as somebody holds it."""
    try:
        return weakref.ref(array)
    except TypeError:
        return lambda: array


def _side_by_side(results: Sequence[Any], outs: Sequence[Any]) -> Iterator[tuple[Tensor | None, int]]:
    """Each tensor of a call's results with the number of its value."""
    for r, n in zip(results, outs, strict=False):
        if isinstance(r, (list, tuple)):
            yield from zip(r, n if isinstance(n, list) else [n], strict=False)
        else:
            yield r, n


def _each(value: Any, change: Any) -> Any:
    if value is None:
        return None
    return [_each(v, change) for v in value] if type(value) in (list, tuple) else change(value)
