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
from itertools import chain
from typing import Any

from ..core import source, watch
from ..core.identity import identity
from ..core.listeners import handles
from ..core.source import NOWHERE, Location
from ..eager.parameter import parameters_at
from ..eager.pylayer import LayerNode
from ..eager.tape import GradNode
from ..eager.tensor import Keep, Leaf, Tensor, writes
from .calls import CallRecord, Failure, PassRecord, Pull, flat
from .ledger import Ledger, guard, stand_guard
from .numbering import Numbering
from .timeline import NOBODY

_recording: ContextVar[Recorder | None] = ContextVar("gradtool_recorder", default=None)

recording_now = _recording.get
"""The recorder that writes down what this thread does, or None."""


class Recorder(Numbering):
    """A watcher that writes down; use it as ``with recorder.recording(): …``.

    Args:
        budget: bytes of values to hold, beside those of leaves; None for no limit.
        which: the number of the backward pass to record, from 1; None for the last one.
        until: asked after each pass whether it is the one to record; see :mod:`.firing`.
        holds_gradients: whether the gradients between operators are held: half of the memory of a record.

    Attributes:
        forgetting: called with the recorder before it forgets a pass, in the script that runs.
        closed: whether the pass to record is over.
    """

    def __init__(
        self,
        budget: int | None = None,
        which: int | None = None,
        until: Callable[[Recorder], bool] | None = None,
        holds_gradients: bool = True,
    ) -> None:
        super().__init__(budget, holds_gradients)
        self.which = which
        self.until = until
        self.forgetting: Callable[[Recorder], None] | None = None
        self.closed = False
        self._log: list[Any] = []
        self._waiting = 0
        """Bytes of what waits in the log, where there is a budget."""
        self._ended_at = 0
        """Where the last pass ended in the log."""
        self._depth = 0
        self._recorded_passes = 0

    @contextmanager
    def record(self) -> Iterator[Recorder]:
        """Inside, everything that this thread computes is recorded."""
        stand_guard()
        outer = writes.get()
        recorder_token = _recording.set(self)

        def number_before(tensor: Tensor, array: Any) -> None:
            self.settle()
            if outer is not None:
                outer(tensor, array)
            if outer is not guard:
                guard(tensor, array)

        token = writes.set(number_before)
        try:
            with watch.watch(self):
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
        """Number of values so far."""
        self.settle()
        return self._store.count

    @property
    def calls(self) -> list[CallRecord]:
        """Forward operators in the order of the run."""
        self.settle()
        return [*self._older, *self._calls]

    @property
    def calls_since_pass(self) -> list[CallRecord]:
        """The forward operators after the last pass began."""
        self.settle()
        return self._calls[self._begun_at :]

    @property
    def calls_before_pass(self) -> list[CallRecord]:
        """The forward operators before the last pass began, without those that passes before it knew."""
        self.settle()
        return self._calls[: self._begun_at]

    @property
    def last(self) -> PassRecord | None:
        """The pass that was recorded last."""
        self.settle()
        return self._last

    @last.setter
    def last(self, work: PassRecord | None) -> None:
        self.settle()
        self._last = work

    @property
    def failure(self) -> Failure | None:
        """The operator that raised last; the user's program may have gone on."""
        self.settle()
        return self._failure

    def snapshot(self) -> Recorder:
        """Return a copy of the record so far, for a look at it while the recording goes on."""
        self.settle()
        snapshot = copy(self)
        snapshot._store = self._store.copy()
        snapshot._log, snapshot._hooked, snapshot._saved = [], {}, {}
        snapshot._calls, snapshot._older, snapshot._by_key = list(self._calls), list(self._older), dict(self._by_key)
        snapshot._leaves = set(self._leaves)
        if self._last is not None:
            last = self._last
            snapshot._last = replace(last, events=list(last.events), totals=dict(last.totals), seeds=dict(last.seeds))
        return snapshot

    # -- events -------------------------------------------------------------------------------------------------------

    def __call__(self, event: Any) -> None:
        if self.closed:
            return
        note = _NOTED.get(type(event))
        if note is not None:
            note(self, event)

    @handles(watch.Lent)
    def note_lent(self, event: watch.Lent) -> None:
        """Have values that others may write be compared when backward reads them: a listener to tensors' events."""
        if not self.closed:
            self.settle()
            self._store.lend(event.tensor.array, event.how, source.here())

    def _note_computed(self, event: watch.Computed) -> None:
        if self._depth:
            return
        self._log.append(event)
        self._settle_lent()
        if self._store.budget is not None:
            self._wait(event.outputs)

    def _note_doubled(self, event: watch.Doubled) -> None:
        if not self._depth:
            self._log.append(event)

    def _note_pulled(self, event: watch.Pulled) -> None:
        if self._depth != 1 or event.recorded:
            return
        self._log.append(event)
        if isinstance(event.node, LayerNode):
            self._saved[identity(event)] = event.node.ctx._saved
        if event.node.hooks is not None:
            self._hooked[identity(event)] = active_hooks(event.node)
        if self._store.budget is not None:
            self._wait(event.gradients)
        if not self._holds_gradients:
            self.settle()

    def _wait(self, arrays: Sequence[Any]) -> None:
        for a in arrays:
            if a is not None:
                self._waiting += sum(v.nbytes for v in a) if isinstance(a, (list, tuple)) else getattr(a, "nbytes", 0)
        assert self._store.budget is not None
        if self._waiting > self._store.budget // 4:
            self.settle()

    def _settle_lent(self) -> None:
        """Take what was read and made while it is there: others may write it before anyone is asked."""
        if self._store.is_lent:
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
                self._number_computed(event)
            elif kind is watch.Pulled:
                self._note_pull(event)
            elif kind is watch.Began:
                self._note_seeds(event)
            else:
                self._number_copy(event)

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
                if self.forgetting is not None and self._last is not None:
                    self.forgetting(self)
                self._forget()  # a graph that was freed and is gone through again is shown whole when that fails
            self.passes += 1
            self._begun_at = len(self._calls) + sum(type(e) is watch.Computed for e in self._log)
            self._last = PassRecord(event.roots)
            self._log.append(event)

    def _end(self, event: watch.Ended) -> None:
        if self._recorded_passes and not self._depth:
            self._recorded_passes -= 1
            return
        self._depth -= 1
        work = self._last
        if self._depth or work is None:
            return
        failed = self._failure is not None and bool(work.events) and work.events[-1] is self._failure.of
        self._settle_lent()
        self._ended_at = len(self._log)
        work.done = not failed
        pulled = [e.wrt for e in (*work.events, *self._log) if isinstance(e, (Pull, watch.Pulled))]
        leaves = {p for p in chain.from_iterable(pulled) if type(p) is Leaf}
        work.parameters = [*parameters_at(leaves).values()]
        self.closed = self._is_wanted(failed)

    def _is_wanted(self, failed: bool) -> bool:
        """Return whether the pass that has just ended is the one to record: then nothing more is."""
        if self.which is not None and self.passes >= self.which:
            return True
        return self.until is not None and not failed and self.until(self)

    # -- values -------------------------------------------------------------------------------------------------------

    def unknown(self) -> int:
        """A number for a value that nobody has computed yet."""
        self.settle()
        return self._store.new()

    def find_number(self, array: Any) -> int | None:
        """The number of an array, or None where it has none."""
        self.settle()
        return self._store.find_number(array)

    def line_of(self, array: Any) -> Location:
        """Return the user's line that made an array; nowhere if no recorded operator did."""
        number = self.find_number(array)
        if number is None:
            return NOWHERE
        if number not in self._lines:
            made = {n: call.loc for call in self.calls for n in flat(call.outs)}
            self._lines = made | self._lines
        return self._lines.get(number, NOWHERE)

    def number_of(self, array: Any) -> int:
        """The number of a value that is read; a new one if no operator made it."""
        self.settle()
        return self._number(array)

    def call_of(self, key: int) -> CallRecord | None:
        """The call of a recorded operator, by the key of its node."""
        self.settle()
        return self._by_key.get(key)

    def add(self, call: CallRecord) -> None:
        """Write down a forward operator, after those that made what it reads."""
        self.settle()
        self._add(call)

    # -- operators ----------------------------------------------------------------------------------------------------

    def _note_failure(self, event: watch.OpFailed) -> None:
        self.settle()
        if event.node is None:
            if not self._depth and event.op is not None:
                operands = [self._operand(v) for v in event.inputs]
                outs = [self._store.new() for _ in event.op.outputs]
                call = CallRecord(event.op, event.attrs, operands, outs, event.loc, 0)
                self._failure = Failure(call, event.error)
        elif self._depth == 1 and self._last is not None:
            work, node = self._last, event.node
            arriving = [self._number_gradient(work, node, i, g, None) for i, g in enumerate(event.arriving)]
            outs = [NOBODY if p is None else self._store.new() for p in node.wrt]
            pull = Pull(node, self._read(node, arriving, node.kept), arriving, node.wrt, outs, [])
            work.events.append(pull)
            self._failure = Failure(pull, event.error)

    def read(self, node: GradNode, arriving: Sequence[int | None]) -> list[Any] | None:
        """The operands of a gradient operator; None where its rule is the user's, or what it retained is gone."""
        self.settle()
        return self._read(node, arriving, node.kept)


_NOTED: dict[type, Callable[[Recorder, Any], None]] = {
    watch.Computed: Recorder._note_computed,
    watch.Pulled: Recorder._note_pulled,
    watch.Doubled: Recorder._note_doubled,
    watch.Began: Recorder._begin,
    watch.Ended: Recorder._end,
    watch.OpFailed: Recorder._note_failure,
}


def active_hooks(node: GradNode) -> dict[int, list[Any]]:
    """The hooks on the results of a node that can change a gradient."""
    acting = {}
    for i, hooks in (node.hooks or {}).items():
        changing = [h for h in hooks.values() if not isinstance(h, Keep)]
        if changing:
            acting[i] = changing
    return acting
