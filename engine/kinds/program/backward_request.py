"""Request for a backward pass of a program: the lists of the command line, else those that the file gave."""

from __future__ import annotations

from collections.abc import Sequence

from ...autodiff.backward_part import BackwardPart, differentiate
from ...core import source
from ...core.notes import SILENT, Notes
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...ir.variable import Variable
from ...request.options import Cuts
from .model import ProgramModel


@dataclass(frozen=True, slots=True)
class Wanted:
    """A parameter list and a no-grad set.

    Attributes:
        listed: None where there is no list.
        no_grad: variables, or names of some.
        at: the user's line that gave them; none where they are the command line's, or where there are none.
    """

    listed: Sequence[Variable] | None = None
    no_grad: Sequence[Variable | str] = ()
    at: Location = NOWHERE

    @property
    def is_of_file(self) -> bool:
        """True if the file says more than its loss."""
        return bool(self.at) and (self.listed is not None or bool(self.no_grad))


def find_wanted(model: ProgramModel, cuts: Cuts, notes: Notes = SILENT) -> Wanted:
    """Return the request in *cuts*; where they request nothing, that of the file when it backpropagated this loss.

    Raises:
        CommandError: a selector selects nothing.
    """
    select = model.selection()
    listed = select.select("--params", cuts.params, notes, parameters_only=True) if cuts.params else None
    stopped = select.select("--no-grad", cuts.no_grad, notes)
    own = file_request(model)
    if listed is None and not stopped:
        return own
    if own.is_of_file:
        options = " and ".join(o for o, given in (("--params", cuts.params), ("--no-grad", cuts.no_grad)) if given)
        notes.note(f"{options}: in place of the lists at {source.short(own.at)}")
    return Wanted(listed, stopped)


def file_request(model: ProgramModel) -> Wanted:
    """Return the request of the file when it backpropagated the loss; nothing where it did not."""
    if not model.calls:
        return Wanted()
    call = model.calls[-1]
    # A set of Python has no order of its own: that of addresses would differ from run to run.
    return Wanted(call.listed, sorted(call.no_grad or (), key=lambda v: getattr(v, "name", v)), call.location)


def append(model: ProgramModel) -> BackwardPart | None:
    """The backward part that the file asked for; None where it asked for no more than there is without lists."""
    own = file_request(model)
    if not own.is_of_file:
        return None
    part: BackwardPart = model.call(differentiate, model.the_loss, own.no_grad, own.listed)
    return part
