"""``gradients``: gradients of chosen targets by chosen inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import loader, opening
from ..answered import Answered
from ..gradients import GradientRow
from ..model import About, Model
from ..notes import SILENT, Notes
from ..request import Request
from ..wording import repeated
from .question import Question


@dataclass(frozen=True, slots=True)
class Derivatives(Answered):
    """Gradients of targets by inputs.

    Attributes:
        targets: names and shapes of what is differentiated.
        rows: one for each input.
        added: how many operators were added to the program.
    """

    about: About
    targets: Sequence[tuple[str, Sequence[int]]]
    rows: Sequence[GradientRow]
    added: int


@dataclass(frozen=True, kw_only=True)
class Gradients(Question[Derivatives]):
    """What is differentiated by what.

    Attributes:
        target: selectors; the loss when empty.
        input: selectors; the parameters when empty.
        target_grad: for each target the tensor to start from, or ``ones``.
        no_grad: selectors of what counts as constant.
        run: run the program and add statistics of the gradients.
        feed: a file of arrays to feed, which implies *run*.
        backend: what the kernels run on; what is in use if None.
    """

    target: tuple[str, ...] = ()
    input: tuple[str, ...] = ()
    target_grad: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()
    run: bool = False
    feed: str | None = None
    backend: str | None = None

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        words = [*repeated("--target", self.target), *repeated("--input", self.input)]
        return [*words, *repeated("--target-grad", self.target_grad), *repeated("--no-grad", self.no_grad)]

    def ask(self, request: Request, notes: Notes = SILENT) -> Derivatives:
        """As in the base; targets take the place of a loss."""
        request = replace(request, need_loss=not self.target)
        with loader.executed(request, notes) as left:
            kind = opening.kind_of(left, request)
            refused = kind.refusal("gradients", left.name)
            if refused is not None:
                raise refused
            return self.answer(kind.found_in(left, request), notes)

    def answer(self, model: Model, notes: Notes = SILENT) -> Derivatives:
        """The gradients; programs have them."""
        return model.derivatives(self, notes)
