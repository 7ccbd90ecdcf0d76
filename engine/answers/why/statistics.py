"""Parameters that operators keep for themselves, as batch norm keeps its running mean: nobody trains them.

Such an operator reads a slot and writes it back (``Mean`` and ``MeanOut``). Updates of optimizers do so as well; what
they write is trained.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ...eager.journal import Journal
from ...ir.operator import Operator, each
from ...ir.variable import Variable
from ...ops import registry

LABEL = "running statistics"
"""What tables say of them in the place of a reason."""


@cache
def state_places(op_type: str) -> tuple[int, ...]:
    """Return the places of the inputs that an operator writes back; none of an optimizer's."""
    op = registry.find(op_type)
    if op is None or "Param" in op.input_index or any(slot.many for slot in op.inputs):
        return ()
    return tuple(i for slot, i in op.input_index.items() if f"{slot}Out" in op.output_index)


def find_in_journal(journal: Journal) -> set[int]:
    """The numbers of the values that operators of a program of dynamic mode keep."""
    found: set[int | None] = set()
    for call in journal.calls:
        places = state_places(call[0])
        if places:
            found.update(call[1][i] for i in places if i < len(call[1]))
    return {value for value in found if value is not None}


def find_in_program(ops: Iterable[Operator], parameters: Iterable[Variable]) -> set[Variable]:
    """Those of the parameters that operators of a static program keep; they get no gradient."""
    stopped = {v for v in parameters if v.stop_gradient}
    if not stopped:
        return stopped
    return {v for op in ops for i in state_places(op.type) for v in each(op.inputs[i : i + 1]) if v in stopped}
