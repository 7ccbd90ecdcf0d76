"""Names of operators and tensors in a static program."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...ir import roles
from ...ir.operator import Operator
from ...ir.program import Program
from ...view.from_program import layers_of
from ...view.graph import op_names
from ..names import Names
from .model import ProgramModel


def names(model: ProgramModel) -> ProgramNames:
    """Return the names in a model's program."""
    return ProgramNames(model.program)


class ProgramNames(Names):
    """Names that are put together when the first of them is asked for: there are as many as operators.

    Args:
        program: as it is when the names are made; operators that join it later have none.
    """

    def __init__(self, program: Program) -> None:
        paths = {p.name: getattr(p, "layer_path", None) or p.name for p in program.all_parameters()}
        self._ops: list[Operator] = [op for b in program.blocks for op in b.ops]
        self.written, self.tensors, self.arrays = {}, paths, []

    @cached_property
    def operators(self) -> dict[Any, str]:  # type: ignore[override]
        """As in the base."""
        return dict(op_names(self._ops))

    @cached_property
    def layers(self) -> dict[Any, str]:  # type: ignore[override]
        """As in the base."""
        of_forward = layers_of([op for op in self._ops if roles.is_forward(op.role) or op.saves])
        layers = {op: op.scope.strip("/") or of_forward.get(op.origin or op, "") for op in self._ops}
        return {op: layer for op, layer in layers.items() if layer}
