"""A static program as Paddle itself reads it."""

from __future__ import annotations

from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir import roles

from ..notes import Notes
from ..questions.backward import Backward
from ..questions.export import Export, Exported
from . import feeds
from .model import ProgramModel


def exported(model: ProgramModel, asked: Export, notes: Notes) -> Exported:
    """The program with its backward part, if there is a loss, and the values of its variables."""
    if model.loss is None and not asked.forward_only:
        notes.note(f"{model.name} has no loss, so that its forward part is written alone; --loss NAME names one")
    if model.loss is not None and not asked.forward_only:
        model.differentiate(Backward(params=asked.params, no_grad=asked.no_grad), notes)
    program = model.program
    feeds.initialise(model, Executor())
    values = global_scope().values
    living = [v for v in program.list_vars() if v.persistable and v.name in values]
    ops = [op for block in program.blocks for op in block.ops]
    backward = sum(roles.is_backward(op.role) for op in ops)
    return Exported(
        model.about,
        program.to_desc(),
        {v.name: values[v.name] for v in living if v.is_parameter},
        {v.name: values[v.name] for v in living if not v.is_parameter},
        len(ops) - backward,
        backward,
        tuple(v.name for v in model.inputs()),
        model.target_name(),
    )
