"""What else a file does with the parameters of a static program: its other backward calls, and what they are given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...autodiff.values import Value
from ...core.source import NOWHERE, Location
from ...ir.strip import forward_part
from ...ir.variable import Variable
from .case import Subject
from .intent import Evidence
from .of_program import explain


@dataclass(frozen=True)
class BackwardCall:
    """A call of ``append_backward`` or ``minimize``.

    Attributes:
        listed: the names in its parameter list; None where it has none.
        no_grad: the variables and names in its no-grad set.
        at: the user's line.
    """

    loss: Variable
    listed: Collection[str] | None = None
    no_grad: Collection[Variable | str] = ()
    at: Location = NOWHERE

    def gives(self, name: str) -> bool:
        """Whether the parameter of that name gets a gradient."""
        return name in self._reached and (self.listed is None or name in self.listed)

    @cached_property
    def _reached(self) -> frozenset[str]:
        ops = forward_part(self.loss.block.ops, [self.loss])
        reasons = explain(ops, [self.loss], self.no_grad)
        parameters = self.loss.block.program.all_parameters()
        return frozenset(p.name for p in parameters if reasons.value(p) in reasons.reached)


class ProgramEvidence(Evidence[Value]):
    """What the backward calls of a file do.

    Args:
        own: the parameter list of the call that is asked about; None where it has none.
        others: the other calls.
    """

    def __init__(self, own: Collection[str] | None, others: Sequence[BackwardCall]) -> None:
        self._own = own
        self._others = others

    def elsewhere(self, subject: Subject[Value]) -> Location | None:
        return next((call.at for call in reversed(self._others) if call.gives(subject.tensor)), None)

    def left_out(self, subject: Subject[Value]) -> str:
        lists = [self._own, *(call.listed for call in self._others)]
        held = any(names is None or subject.tensor in names for names in lists)
        return "" if held else "no parameter list holds it"
