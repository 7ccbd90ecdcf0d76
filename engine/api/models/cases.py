"""From a model file to a case of ``gradtool why``: which loss, which tensors, what the file asked for."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.case import Case
from gradtool.engine.answers.why.failures import explained
from gradtool.engine.answers.why.program_case import Asked, ProgramCase
from gradtool.engine.answers.why.tensor_case import Named, TensorCase
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.core.source import NOWHERE
from gradtool.engine.eager.tape import FreedGraphError, InplaceError
from gradtool.engine.ir.variable import Variable

from . import feeds, loader, opening
from .errors import CommandError
from .loader import Request
from .notes import SILENT, Notes
from .program_model import ProgramModel
from .selectors import Selectors
from .tape_model import TapeModel
from .tape_selectors import TapeSelectors


@dataclass
class Opened:
    """A model with its case.

    Attributes:
        chosen: whether tensors were asked for by name.
        failure: the answer about the error that the model raised, where it explains itself.
        model: what the case is about; None where the error is all there is.
        error: what the file raised, if it did.
    """

    name: str
    mode: str
    loss: str
    case: Case[Any, Any] | None
    chosen: bool
    failure: Answer | None = None
    model: ProgramModel | TapeModel | None = None
    error: CommandError | GradtoolError | None = None


@contextlib.contextmanager
def opened(
    request: Request,
    names: Sequence[str],
    options: dict[str, Any],
    out: Notes,
    amend: Callable[[ProgramModel], None] | None = None,
) -> Iterator[Opened]:
    """Load a model, also one that raises on the way, and set up its case.

    Args:
        names: selectors of what is asked about.
        options: ``params``, ``no_grad``, ``feed``, ``backend``, ``seed`` and ``run_`` of the command.
        amend: changes a static model before it is looked at.

    Raises:
        CommandError: no loss, or a selector selects nothing.
        GradtoolError: the engine refused.
        ModelError: the file raised before it had computed a loss.
    """
    with loader.executed(request) as left:
        error = left.error
        if isinstance(error, (FreedGraphError, InplaceError)):
            failure = explained(error, loader.raised_at(error))
            yield Opened(left.name, "eager", "", None, False, failure, error=error)
            return
        try:
            model = opening.model_in(left, request)
            if amend is not None and isinstance(model, ProgramModel):
                amend(model)
            case = case_of(model, names, options, out)
        except CommandError:
            if error is not None:
                raise error from error.__cause__
            raise
        mode = "eager" if isinstance(model, TapeModel) else "static"
        yield Opened(left.name, mode, case.target_name(), case, bool(names), model=model, error=error)


def case_of(
    model: ProgramModel | TapeModel, names: Sequence[str], options: dict[str, Any], out: Notes
) -> Case[Any, Any]:
    """The case of a model that is loaded; arguments as for :func:`opened`."""
    if isinstance(model, TapeModel):
        return _tensors(model, names, options, out)
    return _program(model, names, options, out)


def _tensors(model: TapeModel, names: Sequence[str], options: dict[str, Any], out: Notes) -> TensorCase:
    for option, given in (("--feed", options["feed"]), ("--backend", options["backend"] != "numpy")):
        if given:
            raise CommandError(f"{option} works on static programs, and {model.name} works in dynamic mode")
    select = TapeSelectors(model, model.graph)
    chosen = select.select("why", names, out) if names else None
    constants = select.select("--no-grad", options["no_grad"], out)
    known = [Named(e.tensor, e.shown, e.tensor.loc) for e in model.entries]
    known += [Named(t, t.name, t.loc) for t in chosen or () if t not in {e.tensor for e in model.entries}]
    if model.journal is None:
        raise CommandError(
            f"{model.name} was not watched while it was computed",
            "run its cell again: %load_ext gradtool, or %watching on, comes before",
        )
    return TensorCase(model.journal, model.loss, model.loss_name, known, constants, chosen)


def _program(model: ProgramModel, names: Sequence[str], options: dict[str, Any], out: Notes) -> ProgramCase:
    select = Selectors(model.program, model.named)
    chosen = select.select("why", names, out) if names else None
    listed = select.select("--params", options["params"], out, parameters_only=True) if options["params"] else None
    stopped = select.select("--no-grad", options["no_grad"], out)
    asked = _asked(model, listed, stopped)
    python = {v: n for n, v in reversed(model.named.items())}

    def shown(v: Variable) -> str:
        return getattr(v, "layer_path", None) or (v.name if v.is_parameter else python.get(v, v.name))

    notes = [out]

    def run(fetch: Sequence[Variable]) -> Sequence[Any]:
        program = fetch[0].block.program if fetch else model.program
        told = notes.pop() if notes else SILENT
        same = dataclasses.replace(model, program=program)
        return feeds.run(same, fetch, options["feed"], options["backend"], options["seed"], told)

    return ProgramCase(model.the_loss, asked, shown, run if options["run_"] else None, chosen)


def _asked(model: ProgramModel, listed: Iterable[Variable] | None, stopped: Iterable[Variable]) -> Asked:
    """What the command line asks backward for; where it says nothing, what the file asked for."""
    constants = list(stopped)
    if listed is None and not constants and model.made:
        _, theirs, no_grad, at = model.made[-1]
        return Asked(None if theirs is None else {v.name for v in theirs}, list(no_grad), at)
    return Asked(None if listed is None else {v.name for v in listed}, constants, NOWHERE)
