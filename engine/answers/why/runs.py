"""What every operator of a static program read and made while it ran, in blocks too: run by run of each block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...executor.plan import Step
from ...ir.operator import Operator
from ...ir.program import Block


@dataclass(slots=True)
class Run:
    """One run of a block.

    Attributes:
        held: the arrays that an operator read and made, by slot; a list for a list slot.
        inner: of operators with blocks: the runs of these, the first one first.
    """

    held: dict[Operator, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    inner: dict[Operator, list[Run]] = field(default_factory=dict)


class Recorder:
    """Writes down the last run of a program; a watcher of steps for :func:`gradtool.engine.core.watch.watched`."""

    def __init__(self) -> None:
        self._runs: dict[Block, list[Run]] = {}
        self._last: dict[Block, int] = {}

    def __call__(self, event: Any) -> None:
        if not isinstance(event, Step):
            return
        op = event.op
        block = op.block
        runs = self._runs.setdefault(block, [])
        if not runs or event.index <= self._last[block]:
            runs.append(Run())
        self._last[block] = event.index
        if op.sub_blocks:  # its blocks are told of before it
            runs[-1].inner[op] = [r for b in op.sub_blocks for r in self._runs.pop(b, ())]
        else:
            runs[-1].held[op] = _nested(op.inputs, event.inputs, True), _nested(op.outputs, event.outputs, False)

    def of(self, block: Block) -> Run:
        """The last run of *block*, which stands in no operator."""
        runs = self._runs.get(block)
        return runs[-1] if runs else Run()


def _nested(slots: Iterable[Any], arrays: Sequence[Any], skip: bool) -> list[Any]:
    """*arrays* as they stand in the slots; those of inputs leave out empty places, those of outputs do not."""
    rest = iter(arrays)

    def one(v: Any) -> Any:
        return None if v is None and skip else next(rest, None)

    return [[one(e) for e in v] if isinstance(v, tuple) else one(v) for v in slots]


def flat(operands: Iterable[Any]) -> Iterator[Any]:
    """Everything in slots, list slots laid flat."""
    for v in operands:
        if isinstance(v, (list, tuple)):
            yield from v
        else:
            yield v
