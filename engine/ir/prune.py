"""Reduce a program to what it needs to get from fed variables to fetched ones."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import chain

from ..core.collector import pause_gc
from ..core.errors import UsageError
from .blocks import leave
from .checking import check_program
from .operator import Operator, each
from .program import Block, Program
from .variable import Variable


class UnfedError(UsageError):
    """A variable to be fed that nothing needs, or one that is needed and not fed."""


def prune(program: Program, feeds: Sequence[str], fetches: Sequence[str], *, skip: bool = False) -> Program:
    """A copy of *program* in test form that computes *fetches* from *feeds*.

    Operators of block 0 stay if a fetched variable needs them; a variable that is fed is not computed. Blocks that
    operators hold stay whole.

    Args:
        skip: keep all operators of the forward part.

    Raises:
        UnfedError: a fed variable that nothing needs, or a data variable that is needed and not fed (a ValueError).
    """
    with pause_gc():
        new = program.clone(for_test=True)
        block = new.global_block()
        fed = set(feeds)
        ops = list(block.ops) if skip else _operators_between(block.ops, fed, fetches)
        used = set(chain.from_iterable(map(_operand_variables, ops)))
        for v in block.vars.values():
            v.op = None
        for op in ops:
            for v in each(op.outputs):
                v.op = op
        _mark_fed(block, used, feeds, fetches)
        used.update(block.vars[name] for name in (*feeds, *fetches))
        block.vars = {name: v for name, v in block.vars.items() if v in used}
        removed = set(block.ops).difference(ops)
        block._replace_ops(ops)
        leave(new, removed)
        return check_program(new, "prune")


def _mark_fed(block: Block, used: Container[Variable], feeds: Sequence[str], fetches: Sequence[str]) -> None:
    """Make data of the variables called *feeds*; raises :class:`UnfedError` if they are not those that are needed."""
    for name in feeds:
        v = block.vars.get(name)
        if v is None or (v not in used and name not in fetches):
            raise UnfedError(
                f"feed variable '{name}' is not needed to compute {', '.join(fetches)}.",
                hint="leave it out of feed_vars",
            )
        v.is_data = True
    missing = [v.name for v in block.vars.values() if v.is_data and v in used and v.name not in set(feeds)]
    if missing:
        raise UnfedError(
            f"{', '.join(fetches)} cannot be computed without {', '.join(map(repr, missing))}.",
            hint="add it to feed_vars",
        )


def _operators_between(ops: Sequence[Operator], fed: set[str], fetches: Iterable[str]) -> list[Operator]:
    """The operators that lead from *fed* to *fetches*, in order."""
    needed = set(fetches) - fed
    path = []
    for op in reversed(ops):
        written = {v.name for v in each(op.outputs)}
        if needed.isdisjoint(written):
            continue
        path.append(op)
        if op.sub_blocks:  # a block may leave a variable as it was
            needed |= {v.name for v in _operand_variables(op)} - fed
        else:
            needed -= written
            needed |= {v.name for v in each(op.inputs)} - fed
    path.reverse()
    return path


def _operand_variables(op: Operator) -> Iterable[Variable]:
    """Yield what the operator reads and writes, in the blocks that it holds too."""
    todo = [op]
    for inner in todo:  # grows while it is walked
        yield from inner.input_variables()
        yield from inner.output_variables()
        for block in inner.sub_blocks:
            todo += block.ops
