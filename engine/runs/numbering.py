"""Numbers for the arrays of a record: calls, passes, and what is freed between passes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from ..core import watch
from ..core.identity import identity
from ..core.source import NOWHERE, Location
from ..eager.saved import PackedValue
from ..eager.tape import Freed, GradNode, PackedValues
from ..eager.tensor import Leaf
from ..ops.opdef import Read, Trait
from .calls import CallRecord, Failure, Hooked, PassRecord, Pull, UsersOp, UsersSlot, flat
from .changes import KeptValues
from .ledger import Ledger
from .overwriting import OVERWRITTEN, Torn, Write
from .timeline import NOBODY, FixedOperand

_OVERWRITTEN = UsersOp("overwritten", (UsersSlot("Before"), UsersSlot("Written", many=True)), (UsersSlot("Out"),))
_THROUGH_ANOTHER = "its storage was overwritten: in part, in another dtype, or with values from outside"

_SLACK = 16
"""So many calls that no pass can come to any more are nothing to look for."""


class Numbering(KeptValues):
    """Numbers, calls and passes, made of the events of a run in their order.

    Args:
        budget: bytes of values to hold, beside those that were there before the run; None for no limit.
        holds_gradients: whether gradients on their way are held; those of leaves are in any case.
    """

    def __init__(self, budget: int | None, holds_gradients: bool = True) -> None:
        super().__init__(Ledger(budget))
        self._holds_gradients = holds_gradients
        self._hooked: dict[int, Any] = {}
        """Hooks on the results of pulled nodes, by the identity of the event."""
        self._saved: dict[int, Any] = {}
        """What PyLayers saved that were pulled, likewise: they let go of it next."""
        self._failure: Failure | None = None
        self._older: list[CallRecord] = []
        """Calls before those, which passes may still come to; the store does not hold what they made."""
        self._alive = 0
        self._last: PassRecord | None = None
        self._begun_at = 0
        self._leaves: set[int] = set()
        """Values that no operator made, since a pass was last forgotten."""
        self._lines: dict[int, Location] = {}
        """Of values that operators made which are forgotten, the user's lines: a mask of a layer, say."""

    # -- operators ----------------------------------------------------------------------------------------------------

    def _number_computed(self, event: watch.Computed) -> None:
        self._record_call(event)
        self._store.settle_writes()

    def _number_copy(self, event: watch.Doubled) -> None:
        self._store.expect(event.array)
        self._store.double(event.copy, self._number(event.array))

    def _record_call(self, event: watch.Computed) -> None:
        number_made, op = self._store.number_result, event.op
        operands = [self._operand(v) for v in event.inputs]
        # What is made of nothing (first values of parameters, data) is there before the run, like what is drawn.
        for_good = bool(op.trait & Trait.RANDOM) or not flat(operands)
        outs: list[Any] = []
        for a in event.outputs:
            if a is None:
                outs.append(NOBODY)
            elif type(a) in (list, tuple):
                outs.append([NOBODY if v is None else number_made(v, for_good) for v in a])
            else:
                outs.append(number_made(a, for_good))
        call = CallRecord(
            op, event.attrs, operands, outs, event.loc, event.key, backend=event.backend, again=event.again
        )
        self._add(call)

    def _operand(self, value: Any) -> Any:
        if value is None:
            return None
        if type(value) in (list, tuple):
            return [self._operand(v) for v in value]
        return self._number(value)

    def _add(self, call: CallRecord) -> None:
        if self._calls and call.key == self._calls[-1].key - 1:
            self._calls[-1].recorded = False  # its key was left over
        self._by_key[call.key] = call
        self._calls.append(call)

    def _number(self, array: Any) -> int:
        number = self._store.find_number(array)
        if number is not None and self._store.has_changed(number, array):
            return self._number_after_others(number, array)
        if number is None:
            torn = self._store.find_torn(array)
            if torn is not None and torn.waits:
                return self._number_before_write(torn)
            number = self._store.number_input(array)
            if torn is None:
                self._leaves.add(number)
            else:
                self._overwritten(torn, number)
        return number

    def _number_after_others(self, before: int, array: Any) -> int:
        """Return the number of what an array holds since others wrote its memory; of data that is a new beginning."""
        self._store.forget_array(array)
        number = self._store.number_input(array)
        self._outside[number] = self._store.find_lender(array) or ("", NOWHERE)
        if before in self._leaves:
            self._leaves.add(number)
            return number
        write = Write(None, None, None, self._outside[number][1])
        self._overwritten(Torn(before, [write], weakref.ref(array)), number)
        return number

    def _number_before_write(self, torn: Torn) -> int:
        """The number of what an array held before the operator wrote that is being recorded."""
        done = [w for w in torn.writes if not w.waits]
        if done:
            number = self._store.new()
            self._overwritten(Torn(torn.before, done, torn.array), number)
            torn.before, torn.writes = number, [w for w in torn.writes if w.waits]
        return torn.before

    def _overwritten(self, torn: Torn, number: int) -> None:
        """Write down how the value *number* came of one before and of writes to other arrays of its storage."""
        key = self._calls[-1].key if self._calls else 0
        value = torn.before
        if not torn.is_known:  # known, but nothing makes it again
            operands: list[Any] = [value, [w.number for w in torn.writes if w.number is not None]]
            loc = torn.writes[-1].loc
            call = CallRecord(_OVERWRITTEN, {}, operands, [number], loc, key, _THROUGH_ANOTHER, recorded=False)
            self._calls.append(call)
            return
        for i, write in enumerate(torn.writes, 1):
            made = number if i == len(torn.writes) else self._store.new()
            operands = [value, write.number]
            self._calls.append(CallRecord(OVERWRITTEN, write.attrs, operands, [made], write.loc, key, recorded=False))
            value = made

    def _note_pull(self, event: watch.Pulled) -> None:
        work, node = self._last, event.node
        assert work is not None
        hooks = self._hooked.pop(identity(event), None) or {}
        arriving = [self._number_gradient(work, node, i, g, hooks.get(i)) for i, g in enumerate(event.arriving)]
        operands = self._read(node, arriving, event.kept)
        self._compare_kept(event, arriving, operands)
        totals = work.totals
        outs, sums = [], []
        for place, gradient in zip(event.wrt, event.gradients, strict=True):
            if place is None or gradient is None:
                outs.append(NOBODY)
                continue
            number = self._gave(node, gradient)
            outs.append(number)
            before = totals.get(place)
            if before is not None:
                total = self._store.new()
                sums.append((total, before, number))
                number = total
            totals[place] = number
        values = self._saved.pop(identity(event), None) or ()
        self._compare_saved(node, values)
        saved = [self._user_value(v) for v in values]
        pull = Pull(node, operands, arriving, event.wrt, outs, sums, saved)
        work.events.append(pull)
        if not self._holds_gradients:
            self._drop_gradients(work, pull)

    def _drop_gradients(self, work: PassRecord, pull: Pull) -> None:
        """Let go of what has arrived at an operator and of what it gave, but for what starts a pass or ends it."""
        for i, number in enumerate(pull.arriving):
            if number is not None and work.seeds.get((pull.node, i)) != number:
                self._store.drop(number)
        for place, number in zip(pull.wrt, pull.outs, strict=True):
            if number != NOBODY and type(place) is not Leaf:
                self._store.drop(number)

    def _gave(self, node: GradNode, gradient: Any) -> int:
        """The number of a gradient that *node* gave."""
        return self._store.number_result(gradient)

    def _user_value(self, value: Any) -> Any:
        array = getattr(value, "array", None)
        return FixedOperand(value) if array is None else self._number(array)

    def _note_seeds(self, event: watch.Began) -> None:
        work = self._last
        assert work is not None
        for place, gradient in event.seeds.items():
            number = self._store.new()
            self._store.keep(number, gradient)
            work.totals[place] = work.seeds[place] = number

    def _number_gradient(self, work: PassRecord, node: GradNode, index: int, gradient: Any, hooks: Any) -> int | None:
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

    def _read(self, node: GradNode, arriving: Sequence[int | None], retained: Any) -> list[Any] | None:
        """The operands of a gradient operator; None where they are not known one by one."""
        rule = node.op.rule
        if isinstance(retained, Freed) or getattr(node.op, "grad_op", None) is None or rule is None:
            return None
        call = None
        if isinstance(retained, PackedValues):
            call = self._call_of_pack(node, retained)
            if call is None:
                return None
        sizes = iter(node.out_sizes if node.out_sizes is not None else [None] * len(arriving))
        numbers, shapes = iter(arriving), iter(node.shapes)

        def gradients(takes_none: bool) -> Any:
            """Return the gradients for the next slot."""
            size = next(sizes, None)
            arrived = [
                self._or_zeros(next(numbers, None), next(shapes), takes_none)
                for _ in range(1 if size is None else size)
            ]
            return arrived[0] if size is None else arrived

        operands: list[Any] = []
        for read, value in zip(rule.reads, retained, strict=True):
            if read.kind == "dout":
                operands.append(gradients(rule.takes_none or read.late))
            else:
                operands.append(self._value_for_backward(read, value, call))
        return operands

    def _call_of_pack(self, node: GradNode, packed: PackedValues) -> CallRecord | None:
        """The call whose operands and results hooks packed, if they are to give these back."""
        call = self._by_key.get(node.key)
        return call if call is not None and call.op is node.op and all(map(_comes_back, packed)) else None

    def _value_for_backward(self, read: Read, value: Any, call: CallRecord | None) -> Any:
        """A value that was retained of the forward operator; *call* says which where hooks packed it."""
        if value is None:
            return None
        if read.like:
            return _each(value, lambda v: FixedOperand(getattr(v, "array", v)))
        if call is None:
            return _each(value, lambda v: self._number(getattr(v, "array", v)))
        return call.operands[read.place] if read.kind == "in" else call.outs[read.place]

    def _or_zeros(self, number: int | None, shape: Any, takes_none: bool) -> Any:
        if number is not None or takes_none:
            return number
        return FixedOperand(np.zeros(*shape))

    # -- between passes -----------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Let go of the pass before, and of the operators that no pass can come to any more.

        Operators that are recorded on the tape and were not freed stay, without what they made: that is there as long
        as the program or its tape holds it, or can be computed again. What was made off the tape is there before the
        next pass, like data.
        """
        if self._last is None:
            return
        freed = self._drop_pass(self._last)
        self._outside.clear()
        old, self._calls = self._calls[: self._begun_at], self._calls[self._begun_at :]
        self._begun_at = 0
        read = _read_by(self._calls)
        held = cache(self._store.arrays_still_held)
        stays = []
        for call in old:
            if call.recorded and call.key not in freed:
                stays.append(call)
                for n in {*flat(call.outs)} - read:
                    self._store.release(n)
            elif self._can_be_let_go(call, read, held):
                self._let_go(call, read, held)
            else:
                stays.append(call)
        read |= _read_by(stays)
        self._keep_leaves(read)
        self._older += stays
        for key in freed - {c.key for c in stays}:
            self._by_key.pop(key, None)
        if len(self._older) > 2 * self._alive + _SLACK:
            self._sweep()
        self._store.clear_up()

    def _drop_pass(self, before: PassRecord) -> set[int]:
        """Let go of the values of a pass; the keys of the operators that it freed."""
        drop, freed = self._store.drop, set()
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
        return freed

    def _can_be_let_go(self, call: CallRecord, read: set[Any], held: Callable[[], dict[int, Any]]) -> bool:
        """Return whether all results of an operator that somebody reads are there without computing them again."""
        missing = [n for n in flat(call.outs) if n in read and n not in self._store]
        return not missing or all(n in held() for n in missing)

    def _let_go(self, call: CallRecord, read: set[Any], held: Callable[[], dict[int, Any]]) -> None:
        """Forget an operator; results that somebody reads are data from now on."""
        self._by_key.pop(call.key, None)
        for n in flat(call.outs):
            if n not in read:
                self._store.drop(n)
                continue
            self._store.keep(n, self._store.get(n) if n in self._store else held()[n])
            self._leaves.add(n)
            self._lines[n] = call.loc

    def _keep_leaves(self, read: set[Any]) -> None:
        """Drop the data that nobody reads."""
        for n in self._leaves - read:
            self._store.drop(n)
            self._lines.pop(n, None)
        self._leaves &= read

    def _sweep(self) -> None:
        """Forget older calls whose results nobody holds."""
        needed = set(self._store.arrays_still_held())
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
        self._keep_leaves(needed)


def _comes_back(value: Any) -> bool:
    """Return whether a packed value is the one that the operator read or made."""
    return all(v.exact for v in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(v, PackedValue))


def _read_by(calls: Iterable[CallRecord]) -> set[int]:
    return {*chain.from_iterable(flat(c.operands) for c in calls)}


def _each(value: Any, change: Any) -> Any:
    if value is None:
        return None
    return [_each(v, change) for v in value] if type(value) in (list, tuple) else change(value)
