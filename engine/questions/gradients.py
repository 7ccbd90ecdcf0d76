"""``gradients``: gradients of chosen targets by chosen inputs."""

from __future__ import annotations

from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..kinds.derivatives import Derivatives
from ..kinds.model import Model
from ..loading import loader, opening
from ..request.options import GradientsOptions
from ..request.request import Request
from .question import Question


@dataclass(frozen=True, kw_only=True)
class Gradients(GradientsOptions, Question[Derivatives]):
    """Gradients of chosen targets by chosen inputs."""

    def ask(self, request: Request, notes: Notes = SILENT) -> Derivatives:
        """As in the base; targets take the place of a loss."""
        request = request.change(need_loss=not self.target)
        with loader.run_model(request, notes) as left:
            kind = opening.kind_of(left, request)
            refused = kind.refusal("gradients", left.name)
            if refused is not None:
                raise refused
            return self.answer(kind.find_in(left, request), notes)

    def answer(self, model: Model, notes: Notes = SILENT) -> Derivatives:
        """The gradients; programs have them."""
        return model.derivatives(self, notes)
