"""What happens inside branches and loops, run by run of their block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradtool.engine.answers import magnitudes
from gradtool.engine.executor.plan import Step
from gradtool.engine.ir.operator import Operator
from gradtool.engine.rows import RowArray
from gradtool.engine.source import Location
from gradtool.engine.view import op_names

from . import show
from .branch import Branch
from .timeline import Entry


@dataclass(slots=True)
class Inner:
    """One operator of a block, in one of its runs.

    Attributes:
        name: ``sqrt.1``.
        made: its results and what they are, in words.
        born: ``nan``, ``inf`` if its results hold that and what it read does not.
        runs: the runs of its own block, if it has one.
    """

    name: str
    loc: Location
    made: list[tuple[str, str]]
    born: str = ""
    runs: list[list[Inner]] = field(default_factory=list)


def runs(branch: Branch, entry: Entry) -> list[list[Inner]]:
    """The operators of every run of the block of *entry*, by running it again.

    Raises:
        GradtoolError: it fails.
    """
    reader = _Reader(entry.origin)
    branch.inside(entry, reader)
    return reader.found()


def births(found: Sequence[Sequence[Inner]], inside: str = "") -> Iterator[tuple[Inner, str]]:
    """Where numbers go wrong, with the run in words: ``run 4 of 5``; blocks within blocks come with theirs."""
    stack = [(iter(_placed(found, inside)))]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        inner, place = step
        if inner.runs:
            stack.append(iter(_placed(inner.runs, f"{place}, {inner.name} ")))
        elif inner.born:
            yield inner, place


def _placed(found: Sequence[Sequence[Inner]], before: str) -> Iterator[tuple[Inner, str]]:
    for n, run in enumerate(found, 1):
        for inner in run:
            yield inner, f"{before}run {n} of {len(found)}"


class _Reader:
    """Reads the steps as they come. Those of a block within a block come before the step of its operator."""

    def __init__(self, op: Operator) -> None:
        self._names = op_names(o for block in op.block.program.blocks for o in block.ops)
        self._blocks = op.sub_blocks
        self._open: dict[Any, list[list[Inner]]] = {}
        self._last: dict[Any, int] = {}

    def __call__(self, step: Step) -> None:
        op = step.op
        block = op.block
        nested = [run for b in op.sub_blocks for run in self._close(b)]
        found = self._open.setdefault(block, [])
        if not found or step.index <= self._last[block]:
            found.append([])
        self._last[block] = step.index
        flat = [v for value in op.outputs for v in (value if isinstance(value, tuple) else (value,))]
        made = [
            (v.name, show.in_words(array))
            for v, array in zip(flat, step.outputs, strict=True)
            if v is not None and _is_array(array)
        ]
        bad = _worst(step.outputs)
        found[-1].append(Inner(self._names[op], op.loc, made, bad if bad and not _worst(step.inputs) else "", nested))

    def _close(self, block: Any) -> list[list[Inner]]:
        self._last.pop(block, None)
        return self._open.pop(block, [])

    def found(self) -> list[list[Inner]]:
        return [run for block in self._blocks for run in self._close(block)]


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, RowArray)


def _worst(arrays: Sequence[Any]) -> str:
    found = {kind for a in arrays if _is_array(a) for kind in magnitudes.kinds(a, None, False)}
    return next((k for k in magnitudes.KINDS if k in found), "")
