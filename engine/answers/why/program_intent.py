"""Other uses of parameters of a static program: other backward calls, and their arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from ...autodiff.values import Value
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...ir.strip import forward_part
from ...ir.variable import Parameter, Variable
from .case import TensorSubject
from .intent import IntentEvidence
from .of_program import ProgramReasons, explain


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
        """Return whether the parameter of that name gets a gradient."""
        return name in self._reach and (self.listed is None or name in self.listed)

    def uses(self, name: str) -> bool:
        """Return whether its loss is computed from the parameter of that name."""
        return any(p.name == name and self._reasons.value(p) in self._reasons.depends for p in self._parameters)

    @cached_property
    def _reach(self) -> frozenset[str]:
        reasons = self._reasons
        return frozenset(p.name for p in self._parameters if reasons.value(p) in reasons.reached)

    @property
    def _parameters(self) -> list[Parameter]:
        return self.loss.block.program.all_parameters()

    @cached_property
    def _reasons(self) -> ProgramReasons:
        return explain(forward_part(self.loss.block.ops, [self.loss]), [self.loss], self.no_grad)


class ProgramEvidence(IntentEvidence[Value]):
    """Evidence from the backward calls of a file.

    Args:
        own: the parameter list of the call that is asked about; None where it has none.
        others: the other calls.
    """

    def __init__(self, own: Collection[str] | None, others: Sequence[BackwardCall]) -> None:
        self._own = own
        self._others = others

    def elsewhere(self, subject: TensorSubject[Value]) -> Location | None:
        return next((call.at for call in reversed(self._others) if call.gives(subject.tensor)), None)

    def is_behind_others(self, subject: TensorSubject[Value]) -> bool:
        return any(call.uses(subject.tensor) for call in self._others)

    def describe_omission(self, subject: TensorSubject[Value]) -> str:
        lists = [self._own, *(call.listed for call in self._others)]
        held = any(names is None or subject.tensor in names for names in lists)
        return "" if held else "no parameter list holds it"
