"""All or nothing: functions that edit programs in several steps, and must leave them alone when a step fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .edit import find_writer
from .operator import Operator
from .program import Block, Program
from .variable import restore_variable


@contextmanager
def restore_on_failure(*programs: Program) -> Iterator[None]:
    """Bring *programs* back to what they are now if the code inside raises."""
    before = [_Snapshot(p) for p in dict.fromkeys(programs)]
    try:
        yield
    except BaseException:
        for snapshot in before:
            snapshot.restore()
        raise


@contextmanager
def restore(*programs: Program) -> Iterator[None]:
    """Bring *programs* back to what they are now when the code inside is over."""
    before = [_Snapshot(p) for p in dict.fromkeys(programs)]
    try:
        yield
    finally:
        for snapshot in before:
            snapshot.restore()


class _Snapshot:
    """State that appending to a program can change."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blocks = [(b, list(b.ops), dict(b.vars)) for b in program.blocks]
        self.ops = [(o, o.role, o.role_var, o.inputs, o.attrs) for b in program.blocks for o in b.ops]
        self.variables = [(v, v.op, v.spec, v.stop_gradient, v.standing) for v in program.list_vars()]
        self.counts = program.names.copy()
        self.scope_names = dict(program.scope_names)
        self.live = dict(program.live)
        self.calls = program._appending_grad_times

    def restore(self) -> None:
        program = self.program
        program.blocks = [b for b, _, _ in self.blocks]
        for block, ops, variables in self.blocks:
            block.ops, block.vars = ops, variables
        for op, role, role_var, inputs, attrs in self.ops:
            op.role, op.role_var, op.inputs, op.attrs = role, role_var, inputs, attrs
        for v, writer, spec, stop, standing in self.variables:
            v.op, v.spec = writer, spec
            restore_variable(v, stop, standing)
        program.names.become(self.counts)
        program.scope_names = self.scope_names
        program.live = self.live
        program._appending_grad_times = self.calls
        program.version += 1


@contextmanager
def append_or_nothing(*programs: Program) -> Iterator[None]:
    """Take back what the code inside appended to the current block of *programs* and those around it, if it raises.

    Unlike :func:`restore_on_failure` it costs nothing that grows with the program unless there is something to take
    back, so a program may hold any number of blocks that were built inside.
    """
    marks = [_Mark(p) for p in dict.fromkeys(programs)]
    try:
        yield
    except BaseException:
        for mark in marks:
            mark.undo()
        raise
    finally:
        for mark in marks:
            mark.close()


class _Mark:
    """Current end of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.current = program.current_block_idx
        self.count = len(program.blocks)
        self.ends: list[tuple[Block, Operator | None, int]] = []
        """The block, its last operator, and how many variables it has."""
        index = program.current_block_idx
        while index >= 0:
            block = program.blocks[index]
            self.ends.append((block, block.ops[-1] if block.ops else None, len(block.vars)))
            index = block.parent_idx
        self.names = program.names
        self.opened = self.names.journal is None
        if self.names.journal is None:
            self.names.journal = []
        self.noted = len(self.names.journal)

    def undo(self) -> None:
        program = self.program
        del program.blocks[self.count :]
        program.current_block_idx = self.current
        for block, last, variables in self.ends:
            removed = self._cut(block, last, variables)
            for v in {v: None for op in removed for v in op.output_variables()}:
                if v.block.vars.get(v.name) is v:
                    find_writer(v)
            if not 0 <= block.backward_block_idx < self.count:
                block.backward_block_idx = -1
        journal = self.names.journal
        assert journal is not None
        self.names.take_back(journal[self.noted :])
        del journal[self.noted :]
        program.version += 1

    def _cut(self, block: Block, last: Operator | None, variables: int) -> list[Operator]:
        """Take out of *block* what was added; returns the operators."""
        added = {block.vars.pop(name) for name in list(block.vars)[variables:]}
        removed = []
        while block.ops and block.ops[-1] is not last:
            removed.append(block.ops.pop())
        # A value from before a loop that is complete is saved in front of that loop.
        saves = [op for op in block.ops if not added.isdisjoint(op.output_variables())] if added else []
        if saves:
            gone = set(saves)
            block.ops = [op for op in block.ops if op not in gone]
        return removed + saves

    def close(self) -> None:
        if self.opened:
            self.names.journal = None
