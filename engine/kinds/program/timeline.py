"""One run of a static program, as the debugger goes through it."""

from __future__ import annotations

from collections.abc import Callable

from ...core import names
from ...core.command_errors import CommandError
from ...core.notes import Notes
from ...ir.operator import each
from ...ir.variable import Variable
from ...request.options import BackwardOptions, Debug
from ...request.request import Request
from ...runs import of_program
from ...runs.recorder import Recorder
from ...runs.timeline import Timeline
from ...script.script_state import Loaded
from . import feeds, finding
from .model import ProgramModel


def timeline(
    left: Loaded, request: Request, recorder: Recorder, asked: Debug, notes: Notes
) -> tuple[Timeline, ProgramModel | None]:
    """The run and its model; of a file that raised, what can be run of its program."""
    refused = ProgramModel.refusal("--step", left.name) if asked.step is not None else None
    if refused is not None:
        raise refused
    model = _model(left, request)
    known = _names(model)
    gradients, fetch = _differentiate(model, asked, known, notes)
    executor, feed = feeds.ready(model, asked.feed, notes)
    with executor.hold(model.program, feed=feed, fetch_list=fetch) as (plan, registers):
        run = of_program.record(
            model.program,
            plan,
            registers,
            gradients,
            title=model.name,
            loss=model.loss,
            shown=lambda v: _all_names(v, known),
            budget=asked.history,
        )
    if run.failed is not None and not request.record.post_mortem:
        notes.note(f"gradtool debug --on-error stops where {model.name} fails")
        raise run.failed[1]
    if left.error is not None:
        at = run.failed[0] if run.failed is not None else len(run.entries)
        run.failed = at, left.error
    return run, (model if model.loss is not None else None)


def _model(left: Loaded, request: Request) -> ProgramModel:
    """The model; of a file that raised before it had a loss, what it had built until then."""
    try:
        return finding.find(left, request)
    except CommandError:
        if left.error is None:
            raise
    model = finding.find(left, request.change(need_loss=False))
    if not model.program.global_block().ops:
        raise left.error
    return model


def _differentiate(
    model: ProgramModel, asked: Debug, known: Callable[[Variable], list[str]], notes: Notes
) -> tuple[dict[str, Variable | None], list[Variable]]:
    """Gradients by the names of what they belong to, and what the run has to give."""
    if model.loss is None:
        ops = model.program.global_block().ops
        return {}, list(dict.fromkeys(v for op in ops for v in each(op.outputs)))
    table = model.differentiate(BackwardOptions(params=asked.params, no_grad=asked.no_grad), notes)
    variables = model.program.global_block().vars
    gradients: dict[str, Variable | None] = {}
    for row in table.rows:
        people = known(row.subject)
        name = people[0] if people and people[0] not in gradients else row.name
        gradients[name] = variables[row.gradient] if row.has_gradient and row.gradient is not None else None
    return gradients, [model.loss, *(g for g in gradients.values() if g is not None)]


def _names(model: ProgramModel) -> Callable[[Variable], list[str]]:
    """The names of a variable for people, the one that says most first."""
    python: dict[Variable, list[str]] = {}
    for name, v in model.named.items():
        python.setdefault(v, []).append(name)

    def collect_names(v: Variable) -> list[str]:
        return list(dict.fromkeys(n for n in (*python.get(v, ()), getattr(v, "layer_path", None)) if n))

    return collect_names


def _all_names(v: Variable, known: Callable[[Variable], list[str]]) -> list[str]:
    """The names of a variable; of a gradient, those of its variable with ``@GRAD``."""
    names_of = known(v)
    if v.name.endswith(names.GRAD):
        owner = v.block._find_var_recursive(names.forward(v.name))
        if owner is not None:
            names_of += [names.grad(n) for n in known(owner)]
    return names_of
