"""What happens inside branches and loops, run by run of their block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradtool.engine.answers import magnitudes
from gradtool.engine.core import watch
from gradtool.engine.core.rows import RowArray
from gradtool.engine.core.source import Location
from gradtool.engine.executor.plan import Step
from gradtool.engine.ir import blocks
from gradtool.engine.ir.operator import Operator
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.timeline import Entry
from gradtool.engine.view.graph import op_names

from . import show


@dataclass(slots=True)
class Inner:
    """One operator of a block, in one of its runs.

    Attributes:
        name: ``sqrt.1``.
        outputs: its results and what they are, in words.
        born: ``nan``, ``inf`` if its results hold that and what it read does not.
        runs: the runs of its own block, if it has one.
    """

    name: str
    loc: Location
    outputs: list[tuple[str, str]]
    born: str = ""
    runs: list[BlockRun] = field(default_factory=list)


@dataclass(slots=True)
class BlockRun:
    """One run of a block.

    Attributes:
        number: which iteration of a loop, from 1; None for a branch. Backward goes through the iterations of forward.
        steps: its operators, in order.
    """

    number: int | None
    steps: list[Inner] = field(default_factory=list)

    def told(self, name: str) -> str:
        """The run in words; *name* is that of the operator with the block."""
        return f"branch {name}" if self.number is None else f"iteration {self.number} of {name}"


def runs(branch: Branch, entry: Entry) -> list[BlockRun]:
    """The runs of the block of *entry*, in the order of their happening, by running it again.

    Raises:
        GradtoolError: it fails.
    """
    reader = _StepReader(entry.origin)
    branch.inside(entry, reader)
    return reader.done.get(entry.origin, [])


def births(block_runs: Sequence[BlockRun], name: str) -> Iterator[tuple[Inner, str]]:
    """Where numbers go wrong, with the runs around in words; *name* is that of the operator with the block."""
    stack = [_placed(block_runs, name, "")]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        inner, place = step
        if inner.runs:
            stack.append(_placed(inner.runs, inner.name, f"{place}, "))
        elif inner.born:
            yield inner, place


def _placed(block_runs: Sequence[BlockRun], name: str, before: str) -> Iterator[tuple[Inner, str]]:
    for run in block_runs:
        for inner in run.steps:
            yield inner, before + run.told(name)


class _StepReader:
    """Reads the steps as they come.

    Attributes:
        done: the runs that are over, by the operator with the block, until its own step comes.
    """

    def __init__(self, op: Operator) -> None:
        self._names = op_names(o for block in op.block.program.blocks for o in block.ops)
        self._open: list[tuple[Operator, BlockRun]] = []
        self.done: dict[Operator, list[BlockRun]] = {}

    def __call__(self, event: Step | watch.Entered | watch.Exited) -> None:
        if isinstance(event, watch.Entered):
            _, loops = blocks.run_by(event.op)
            self._open.append((event.op, BlockRun(event.run + 1 if loops else None)))
        elif isinstance(event, watch.Exited):
            op, run = self._open.pop()
            self.done.setdefault(op, []).append(run)
        elif self._open:
            self._open[-1][1].steps.append(self._inner(event))

    def _inner(self, step: Step) -> Inner:
        op = step.op
        flat = [v for value in op.outputs for v in (value if isinstance(value, tuple) else (value,))]
        outputs = [
            (v.name, show.in_words(array))
            for v, array in zip(flat, step.outputs, strict=True)
            if v is not None and _is_array(array)
        ]
        bad = _worst(step.outputs)
        born = bad if bad and not _worst(step.inputs) else ""
        return Inner(self._names[op], op.loc, outputs, born, self.done.pop(op, []))


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, RowArray)


def _worst(arrays: Sequence[Any]) -> str:
    kinds = {kind for a in arrays if _is_array(a) for kind in magnitudes.kinds(a, None, False)}
    return next((k for k in magnitudes.KINDS if k in kinds), "")
