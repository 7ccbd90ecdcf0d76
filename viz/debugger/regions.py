"""Events inside branches and loops, run by run of their block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gradtool.engine.answers import magnitudes
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.rows import RowArray
from gradtool.engine.executor.plan import Step
from gradtool.engine.ir import blocks
from gradtool.engine.ir.operator import Operator
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.of_program import flatten
from gradtool.engine.runs.rounds import Round, Rounds
from gradtool.engine.runs.timeline import Entry
from gradtool.engine.view.graph import op_names

from . import show


@dataclass(slots=True)
class Inner:
    """One operator of a block, in one of its rounds.

    Attributes:
        name: ``sqrt.1``.
        outputs: its results and what they are, in words.
        born: ``nan``, ``inf`` if its results hold that and what it read does not.
        rounds: those of its own block, if it has one.
    """

    op: Operator
    name: str
    outputs: list[tuple[str, str]]
    born: str
    rounds: list[Round[Inner]]


def rounds(branch: Branch, entry: Entry) -> list[Round[Inner]]:
    """The rounds of the block of *entry*, in the order of their happening, by running it again.

    Raises:
        GradtoolError: it fails.
    """
    op = entry.origin
    names = op_names(o for block in op.block.program.blocks for o in block.ops)
    watcher = Rounds(partial(_inner, names))
    branch.run_inside(entry, watcher)
    return watcher.take(op)


def iterates(op: Operator) -> bool:
    """Return whether the rounds of the block of *op* are iterations of a loop, or of backward through one."""
    return blocks.run_by(op)[1]


def describe_round(block: Round[Inner], op: Operator, name: str) -> str:
    """A round in words; *name* is that of *op*, the operator with the block."""
    return f"iteration {block.number + 1} of {name}" if iterates(op) else f"branch {name}"


def births(block_rounds: Sequence[Round[Inner]], op: Operator, name: str) -> Iterator[tuple[Inner, str]]:
    """Yield where numbers go wrong, with a description of the rounds around; *name* is that of *op*, the operator
    with the block.
    """
    stack = [_place_steps(block_rounds, op, name, "")]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        inner, place = step
        if inner.rounds:
            stack.append(_place_steps(inner.rounds, inner.op, inner.name, f"{place}, "))
        elif inner.born:
            yield inner, place


def _place_steps(
    block_rounds: Sequence[Round[Inner]], op: Operator, name: str, before: str
) -> Iterator[tuple[Inner, str]]:
    for block in block_rounds:
        place = before + describe_round(block, op, name)
        for inner in block.steps:
            yield inner, place


def _inner(names: Mapping[Operator, str], step: Step, own: list[Round[Inner]]) -> Inner:
    op = step.op
    outputs = [
        (v.name, show.describe(array))
        for v, array in zip(flatten(op.outputs), step.outputs, strict=True)
        if v is not None and _is_array(array)
    ]
    bad = _worst(step.outputs)
    born = bad if bad and not _worst(step.inputs) else ""
    return Inner(op, names[op], outputs, born, own)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, RowArray)


def _worst(arrays: Sequence[Any]) -> str:
    kinds = {kind for a in arrays if _is_array(a) for kind in magnitudes.kinds(a, None, False)}
    return next((k for k in magnitudes.KINDS if k in kinds), "")
