"""Coverage of a search: operators that were not run, branches that were not taken."""

from __future__ import annotations

from collections import Counter

from ..core import source
from ..core.summary import Asked
from ..ir import blocks
from ..ir.operator import Operator
from ..ir.program import Block, Program
from ..view.graph import BACKWARD, FORWARD
from .events import Begin, End, Listener, OpEvent, Quiet, part_of

FORWARD_IS_OVER = "the forward pass, which was over before the search began: pass a function that computes the loss"
"""What is not looked at where a computed loss is all there is."""


class Coverage:
    """Notes which operators of programs a listener is told of."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._seen: set[Operator] = set()
        self._entered: set[Operator] = set()
        self._programs: dict[Program, None] = {}
        self._quiet: dict[Quiet, None] = {}

    @property
    def summary_needs(self) -> Asked | None:
        """Return what the listener needs in place of arrays."""
        return getattr(self.listener, "summary_needs", None)

    def uneventful(self, quiet: Quiet) -> None:
        """Operators of a program, told in one."""
        self._quiet[quiet] = None
        quiet.tell(self.listener)

    def __call__(self, event: OpEvent | Begin | End) -> None:
        self._note(event)
        self.listener(event)

    def _note(self, event: OpEvent | Begin | End) -> None:
        if isinstance(event, OpEvent) and isinstance(event.origin, Operator):  # a recorded call is not kept alive
            self._seen.add(event.origin)
            self._entered.update(op for op, _ in event.inside)
            if event.part == BACKWARD:
                self._programs[event.origin.block.program] = None

    def find_missing(self) -> list[str]:
        """Return what of the programs that ran backward was not looked at, in words."""
        for quiet in self._quiet:
            for event in quiet.events:
                self._note(event)
        counts = Counter(text for program in self._programs for text in self._find_missing(program))
        return [f"{text} (×{n})" if n > 1 else text for text, n in counts.items()]

    def _find_missing(self, program: Program) -> list[str]:
        # Gradients that minimize has appended are the program's own copy of those that the search computes.
        ops = program.global_block().ops
        left_out = [op for op in ops if op not in self._seen and part_of(op) == FORWARD]
        told = []
        if left_out:
            told.append(
                f"{_ops(left_out)} not run, since neither the loss nor a gradient needs "
                f"{'it' if len(left_out) == 1 else 'them'}: {_types(left_out)}"
            )
        passed_by = (op for block in program.blocks for op in block.ops if self._is_passed_by(op))
        told += [_describe_inside(op, inner) for op in passed_by if (inner := _inner_operators(op))]
        return told

    def _is_passed_by(self, op: Operator) -> bool:
        """Return whether a forward operator ran without any of the operators in its blocks."""
        # An operator that did not run itself is reported as such, and not once more for its blocks.
        if not op.sub_blocks or op not in self._seen or op in self._entered:
            return False
        return part_of(op) == FORWARD


def _describe_inside(op: Operator, inner: list[Operator]) -> str:
    """Return the words about the operators in the blocks of *op*, none of which ran."""
    kind = "a loop that ran no iteration" if blocks.region(op).loops else "a branch that was not taken"
    where = source.short(inner[0].loc or op.loc)
    return f"{_ops(inner)} in {kind}{f' ({where})' if where else ''}: {_types(inner)}"


def _inner_operators(op: Operator) -> list[Operator]:
    """The operators in the blocks of *op*, at any depth, in order."""
    inside: list[Operator] = []
    todo: list[Block] = [*op.sub_blocks]
    while todo:
        ops = todo.pop().ops
        inside += ops
        todo += [block for inner in ops for block in inner.sub_blocks]
    return inside


def _ops(ops: list[Operator]) -> str:
    return "1 operator" if len(ops) == 1 else f"{len(ops)} operators"


def _types(ops: list[Operator]) -> str:
    types = [*dict.fromkeys(op.type for op in ops)]
    return ", ".join(types[:3]) + (", …" if len(types) > 3 else "")
