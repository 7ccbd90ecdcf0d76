"""All or nothing: a function that edits programs in several steps, and must leave them alone when a step fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .program import Program


@contextmanager
def unchanged_on_failure(*programs: Program) -> Iterator[None]:
    """Bring *programs* back to what they are now if the code inside raises."""
    before = [_Snapshot(p) for p in dict.fromkeys(programs)]
    try:
        yield
    except BaseException:
        for snapshot in before:
            snapshot.restore()
        raise


class _Snapshot:
    """What appending to a program can change."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blocks = [(b, list(b.ops), dict(b.vars)) for b in program.blocks]
        self.ops = [(o, o.role, o.role_var, o.inputs, o.attrs) for b in program.blocks for o in b.ops]
        self.variables = [(v, v.op, v.spec, v.stop_gradient) for v in program.list_vars()]
        self.counts = program.names.copy().counts
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
        for v, writer, spec, stop in self.variables:
            v.op, v.spec, v.stop_gradient = writer, spec, stop
        program.names.counts = self.counts
        program.scope_names = self.scope_names
        program.live = self.live
        program._appending_grad_times = self.calls
        program.version += 1
