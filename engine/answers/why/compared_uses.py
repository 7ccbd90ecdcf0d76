"""Outcomes of comparisons that a loss computes with as if they were measured: zeros and ones that nothing can push.

A comparison of a trained value is a mask as a rule: it is multiplied with what it chooses, counted, or compared with
labels. Where a product of matrices, a convolution or a sum takes it as one of its own values, the value that was
compared gives its gradient by other ways alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Generic

from .intended_cuts import COPIES, FAR, LAYOUTS, MeantCuts
from .lost_uses import LostUse
from .reasons import C, Cut, Reasons, V
from .verdicts import Verdict

COMPARISONS: Final = frozenset(
    ("greater_than", "greater_equal", "less_than", "less_equal", "gt", "ge", "lt", "le", "equal", "not_equal")
)
_MATRICES: Final = frozenset(
    (
        *("matmul_v2", "mul", "bmm", "mm", "mv", "addmm", "linear", "einsum", "conv1d", "conv2d", "conv3d"),
        *("depthwise_conv2d", "conv2d_transpose", "conv3d_transpose", "elementwise_add", "elementwise_sub"),
    )
)
"""Operators that take all their operands as numbers: of these, a mask is none."""


class ComparedUses(Generic[V, C]):
    """The comparisons of one backward pass whose outcomes are numbers.

    Args:
        recognition: of the same pass.
    """

    def __init__(self, reasons: Reasons[V, C], recognition: MeantCuts[V, C]) -> None:
        self._reasons = reasons
        self._recognition = recognition

    def find(self) -> Iterator[LostUse]:
        """Yield the uses, the last one first."""
        reasons, flow = self._reasons, self._reasons.flow
        readers: dict[V, list[tuple[C, Sequence[V]]]] = {}
        compared: list[tuple[C, Sequence[V | None], V]] = []
        for call, read, written in flow.links():
            if reasons.depends.isdisjoint(written):
                continue
            for value in dict.fromkeys(v for v in read if v is not None):
                readers.setdefault(value, []).append((call, written))
            if flow.call_type(call) in COMPARISONS and self._is_number(written[0], readers):
                compared.append((call, read, written[0]))
        for call, read, outcome in compared:
            source = self._find_source(read)
            if source is not None and not self._recognition.is_meant(Cut(Verdict.NON_DIFFERENTIABLE, outcome, call)):
                yield LostUse(flow.name(source), Verdict.NON_DIFFERENTIABLE, flow.call_line(call))

    def _find_source(self, values: Sequence[V | None]) -> V | None:
        """Return the nearest value that gradients come to among *values* and what they were computed from."""
        todo, seen = [v for v in values if v is not None], set[V]()
        for value in todo:
            if value in self._reasons.reached:
                return value
            before = [v for v in self._makers.get(value, ()) if v is not None and v not in seen]
            seen.update(before)
            todo += before if len(seen) < FAR else []
        return None

    @cached_property
    def _makers(self) -> dict[V, Sequence[V | None]]:
        """By value what the call that made it read."""
        return {w: read for _, read, written in self._reasons.flow.links() for w in written}

    def _is_number(self, outcome: V, readers: dict[V, list[tuple[C, Sequence[V]]]]) -> bool:
        """Return whether an operator with gradients takes an outcome, in whatever layout, for a number."""
        todo, seen = [outcome], {outcome}
        while todo:
            for call, written in readers.get(todo.pop(), ()):
                kind = self._reasons.flow.call_type(call)
                if kind in _MATRICES and not self._reasons.reached.isdisjoint(written):
                    return True
                fresh = [w for w in written if w not in seen] if kind in COPIES | LAYOUTS else []
                todo += fresh
                seen.update(fresh)
        return False
