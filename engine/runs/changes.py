"""Values that operators kept for backward, and that were others when backward read them: the gradients are wrong then.

Write counters find what the program wrote through tensors. They do not see ``.data``, nor arrays that have the memory
of a tensor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core import watch
from ..core.errors import GradtoolError
from ..core.source import NOWHERE, Location
from ..eager.tape import GradNode, PackedValues
from . import operator_reruns
from .bound_kernels import kernel
from .calls import CallRecord, Changed, flat
from .ledger import Ledger
from .timeline import FixedOperand


class KeptValues(ABC):
    """Compares what gradient operators read with what their operators read and made.

    Attributes:
        passes: how many passes there were.
        changes: values that were others when backward read them, by who wrote them and where.
        compares: whether the pass that runs is one of the program's.
    """

    def __init__(self, store: Ledger) -> None:
        self.passes = 0
        self.changes: dict[Any, Changed] = {}
        self.compares = True
        self._store = store
        self._calls: list[CallRecord] = []
        self._by_key: dict[int, CallRecord] = {}
        self._outside: dict[int, tuple[str, Location]] = {}
        """Values that others wrote into memory that they have: how they came to have it, and where."""

    @abstractmethod
    def _number(self, array: Any) -> int:
        """Return the number of what an array holds now."""

    def _compare_kept(
        self, event: watch.Pulled, arriving: Sequence[int | None], operands: Sequence[Any] | None
    ) -> None:
        """Note what has changed of what an operator kept, where the gradients are others for it.

        Args:
            arriving: numbers of the gradients that arrive.
            operands: what was read, slot by slot; None where another framework's operator has no rule here.
        """
        node = event.node
        call = self._by_key.get(node.key)
        if not self.compares or call is None or call.op is not node.op or type(event.kept) is PackedValues:
            return
        if operands is not None:
            self._compare_own(event, call, operands)
        elif getattr(node, "read", ()) and getattr(node.op.rule, "again", None) is not None:
            self._compare_framework(event, call, arriving)

    def _compare_own(self, event: watch.Pulled, call: CallRecord, operands: Sequence[Any]) -> None:
        assert event.node.op.rule is not None
        for i, (read, now) in enumerate(zip(event.node.op.rule.reads, operands, strict=True)):
            if read.kind == "dout" or read.like or now is None:
                continue
            is_operand = read.kind == "in"
            then = (call.operands if is_operand else call.outs)[read.place]
            if then == now or not self._differ(then, now):
                continue
            before = [*operands[:i], then, *operands[i + 1 :]]
            if self._gives_others(_own_gradient(event), before, operands):
                self._note_change(event.node, "what it read" if is_operand else "what it made", then, now)

    def _compare_framework(self, event: watch.Pulled, call: CallRecord, arriving: Sequence[int | None]) -> None:
        """Compare what an operator of another framework read with what is there now, as that computes gradients."""
        numbers = flat(call.operands)
        now = list(self._read_again(event.node, numbers))
        if now == numbers:
            return
        mask = [place is not None for place in event.wrt]
        gradient = operator_reruns.bind_framework(event.node, mask, len(arriving))
        for i, (before, after) in enumerate(zip(numbers, now, strict=False)):
            one = [*arriving, *now[:i], before, *now[i + 1 :]]
            if self._differ(before, after) and self._gives_others(gradient, one, [*arriving, *now]):
                self._note_change(event.node, "what it read", before, after)

    def _read_again(self, node: GradNode, numbers: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of what the operands hold now; as they were where an array is gone."""
        arrays = [reference() for reference in getattr(node, "read", ())]
        if len(arrays) != len(numbers):
            arrays = [None] * len(numbers)
        for number, array in zip(numbers, arrays, strict=True):
            yield number if array is None else self._number(array)

    def _compare_saved(self, node: GradNode, saved: Sequence[Any]) -> None:
        """Compare what the user's own operator saved with what is there now, where others may have written it."""
        if not self._store.is_lent:
            return
        values = saved or getattr(getattr(node, "ctx", None), "_saved", None) or ()
        for array in [v.array for v in values if getattr(v, "array", None) is not None]:
            before, now = self._store.find_number(array), self._number(array)
            if before not in (None, now):
                self._note_change(node, "what it saved", before, now)

    def _gives_others(self, gradient: Any, before: Sequence[Any], after: Sequence[Any]) -> bool:
        """Return whether a gradient operator gives other gradients of other operands: it may not read all it keeps."""
        try:
            with watch.pause_watchers(), np.errstate(all="ignore"):
                one, other = (gradient(*map(self._array_of, operands)) for operands in (before, after))
        except GradtoolError:
            return False
        return any(_count_changed(a, b)[0] for a, b in zip(one, other, strict=True))

    def _array_of(self, operand: Any) -> Any:
        if isinstance(operand, list):
            return [*map(self._array_of, operand)]
        if isinstance(operand, FixedOperand):
            return operand.value
        return None if operand is None else self._store.get(operand)

    def _differ(self, then: Any, now: Any) -> bool:
        """Return whether the values of a slot differ."""
        return any(self._count(a, b)[0] for a, b in zip(flat([then]), flat([now]), strict=False))

    def _count(self, before: int, after: int) -> tuple[int, int]:
        if before == after:
            return 0, 0
        return _count_changed(self._store.get(before), self._store.get(after))

    def _note_change(self, node: GradNode, kept: str, then: Any, now: Any) -> None:
        """Note a change; what one line wrote is one change, whoever kept it."""
        pairs = [(a, b) for a, b in zip(flat([then]), flat([now]), strict=False) if a != b]
        how, where = self._find_writer(pairs[0][1])
        key = how, where or node.loc
        known = self.changes.get(key)
        if known is None:
            count, total = map(sum, zip(*(self._count(a, b) for a, b in pairs), strict=True))
            self.changes[key] = Changed(node.op.type, node.loc, kept, count, total, how, where, self.passes)
        elif node.loc != known.loc and (node.op.type, node.loc) not in known.others:
            known.others.append((node.op.type, node.loc))

    def _find_writer(self, number: int) -> tuple[str | None, Location]:
        """Return who wrote a value that an operator had kept: see :class:`~.calls.Changed`."""
        if number in self._outside:
            return self._outside[number]
        return None, next((c.loc for c in reversed(self._calls) if number in flat(c.outs)), NOWHERE)


def _own_gradient(event: watch.Pulled) -> Any:
    """Return the kernel of the gradient operator that ran."""
    node = event.node
    assert node.op.rule is not None
    sizes = node.wrt_sizes if node.wrt_sizes is not None else [None] * len(node.op.rule.wrt)
    return kernel(operator_reruns.bind_gradient(node, [place is not None for place in event.wrt], sizes))


def _count_changed(before: Any, after: Any) -> tuple[int, int]:
    """Return how many elements differ, and how many there are; none where one of both is not held."""
    if type(before) is not np.ndarray or type(after) is not np.ndarray or before.shape != after.shape:
        return 0, 0
    same = before == after
    if before.dtype.kind in "fc" and after.dtype.kind in "fc":
        same |= np.isnan(before) & np.isnan(after)
    return int(before.size - np.count_nonzero(same)), before.size
