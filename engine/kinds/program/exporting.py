"""A static program as Paddle itself reads it, or as an ONNX model."""

from __future__ import annotations

from ...core.notes import Notes
from ...executor.executor import Executor
from ...executor.scope import global_scope
from ...ir import roles
from ...ir.operator import Operator
from ...ir.variable import Variable
from ...request.options import BackwardOptions, ExportOptions
from ..export import Exported
from . import feeds
from .model import ProgramModel


def export(model: ProgramModel, asked: ExportOptions, notes: Notes) -> Exported:
    """The program with its backward part, if there is a loss, and the values of its variables."""
    if model.loss is None and not asked.forward_only:
        notes.note(f"{model.name} has no loss, so that its forward part is written alone; --loss NAME names one")
    pairs: list[str] = []
    if model.loss is not None and not asked.forward_only:
        table = model.differentiate(BackwardOptions(params=asked.params, no_grad=asked.no_grad), notes)
        pairs = [gradient for _, gradient in table.pairs]
    program = model.program
    feeds.initialise(model, Executor())
    values = global_scope().values
    living = [v for v in program.list_vars() if v.persistable and v.name in values]
    ops = [op for block in program.blocks for op in block.ops]
    backward = sum(roles.is_backward(op.role) for op in ops)
    return Exported(
        model.about,
        _onnx(model, pairs) if asked.form == "onnx" else program.to_desc(),
        {v.name: values[v.name] for v in living if v.is_parameter},
        {v.name: values[v.name] for v in living if not v.is_parameter},
        len(ops) - backward,
        backward,
        tuple(v.name for v in model.inputs()),
        model.target_name(),
    )


def _onnx(model: ProgramModel, gradients: list[str]) -> bytes:
    """The program as an ONNX model: it gives the outputs, the loss, and the gradients of the parameters.

    Outputs are what the program's file calls so, else what nobody reads.
    """
    from ...importers.onnx.writing import write

    program = model.program
    ops = [op for op in program.global_block().ops if roles.is_forward(op.role)]
    read = {v for op in ops for v in op.input_variables()}
    ends = [op for op in ops if read.isdisjoint(op.output_variables())]
    outputs = [*model.outputs] or [v.name for v in map(_result, ends) if v is not None and not v.persistable]
    if model.loss is not None and model.loss.name not in outputs:
        outputs.append(model.loss.name)
    return write(program, global_scope().values, [*dict.fromkeys([*outputs, *gradients])])


_RESULTS = ("Out", "Y", "Output", "Loss")
"""Slots of what an operator is there for; others hold what its gradient needs."""


def _result(op: Operator) -> Variable | None:
    by_slot = dict(zip((s.name for s in op.op.outputs), op.outputs, strict=False))
    made = next((by_slot[name] for name in _RESULTS if by_slot.get(name) is not None), None)
    return made if isinstance(made, Variable) else next(iter(op.output_variables()), None)
