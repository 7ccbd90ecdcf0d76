"""The backward pass of dynamic mode that the debugger goes through: one that the file ran, or one more."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.command_errors import CommandError
from ...core.errors import GradtoolError
from ...core.notes import Notes
from ...eager.pass_start import Start
from ...eager.recorded_calls import nodes_behind
from ...eager.tape import restore
from ...eager.tensor import Leaf, Tensor
from ...kernels.choice import current
from ...request.options import Debug
from ...request.request import Request
from ...runs import backend_run, of_tape
from ...runs.recorder import Recorder
from ...runs.retrace import retrace
from ...runs.timeline import Timeline
from ...script.script_state import Loaded
from . import finding
from .model import TapeEntry, TapeModel, record_graph


def timeline(
    left: Loaded, request: Request, recorder: Recorder, asked: Debug, notes: Notes
) -> tuple[Timeline, TapeModel | None]:
    """The recorded pass and its model; of a file that raised, what it had computed until then."""
    refused = TapeModel.refusal("--feed", left.name) if asked.feed else None
    if refused is not None:
        raise refused
    for option, wanted in (("--step", asked.step is not None), ("--on-error", request.record.post_mortem)):
        if wanted:
            left.must_run(option)
    error: BaseException | None = left.error
    model = _model(left, request, recorder)
    if model is None:
        entries = finding.entries_in(left)
        if error is not None and not recorder.calls and recorder.failure is None:
            raise error
        if recorder.last is not None:
            restore(nodes_behind(recorder.last.roots))
        return _timeline(recorder, left.name, entries, None, error), None
    if left.live:
        record_graph(model)
        restore(nodes_behind(model.start.differentiated))
        retrace(recorder, model.start.differentiated, [e.tensor for e in model.entries])
    chosen = None
    constants: list[Tensor] = []
    if asked.params or asked.no_grad:
        record_graph(model)  # says what is wrong with a loss that has none
        select = model.selection()
        chosen = select.select("--params", asked.params, notes, parameters_only=True) if asked.params else None
        constants = select.select("--no-grad", asked.no_grad, notes)
    recorder.compares = not left.passes  # what a pass after the file's reads, updates may have written
    error = error or _run_backward(model, recorder, constants, request, asked)
    missed = asked.step is not None and recorder.passes < asked.step
    if missed:
        raise CommandError(
            f"--step {asked.step}: {left.name} runs {recorder.passes} backward passes",
            f"--step takes 1 to {recorder.passes}",
        )
    if recorder.passes > 1:
        notes.note(f"recorded: backward pass {recorder.passes} of {left.name}; --step N takes another")
    return _timeline(recorder, left.name, model.entries, chosen, error), model


def _model(left: Loaded, request: Request, recorder: Recorder) -> TapeModel | None:
    """The model around the loss of the pass that was recorded, or that is to be run; None for a failure before it."""
    if left.error is not None:
        return None
    if recorder.last is None or request.objective.loss is not None:
        return finding.find(left, request)
    left.calls.mean(recorder.last.roots)
    return finding.make_model(left, Start.of(recorder.last.roots).loss, request)


def _run_backward(
    model: TapeModel, recorder: Recorder, constants: Sequence[Tensor], request: Request, asked: Debug
) -> BaseException | None:
    """Run backward if the file did not, or not the pass that was asked for; what it raised, for a post-mortem."""
    last = recorder.last
    if last is not None and not constants and any(t is model.loss for t in last.roots):
        return None
    record_graph(model)  # says what is wrong with a loss that has none
    recorder.closed, recorder.which, recorder.until = False, None, None
    if asked.step not in (None, 1) and last is None:
        raise CommandError(
            f"--step {asked.step}: {model.name} runs no backward pass itself", "one pass is run and recorded"
        )
    work = model.start.begin(constants=[t.tape_place() for t in constants])
    try:
        with recorder.record():
            model.call(work.run)
    except (CommandError, GradtoolError) as error:
        if not request.record.post_mortem:
            raise
        return error
    return None


def _timeline(
    recorder: Recorder,
    title: str,
    entries: Sequence[TapeEntry],
    chosen: Sequence[Tensor] | None,
    error: BaseException | None,
) -> Timeline:
    shown: dict[Leaf, str] = {}
    also: dict[Leaf, list[str]] = {}
    for e in entries:
        t = e.tensor
        if t.node is not None or (t.stop_gradient and not e.is_parameter):
            continue
        also[t.leaf] = e.names
        if chosen is None or any(t is c for c in chosen):
            shown[t.leaf] = e.display_name if e.display_name not in shown.values() else e.name
    named = {e.tensor: e.display_name for e in entries if e.tensor.node is None or e.python is not None}
    buffers = {e.tensor for e in entries if e.is_buffer}
    run = of_tape.timeline(recorder, title=title, named=named, shown=shown, also=also, buffers=buffers, failed=error)
    if current().compiles and error is None:
        backend_run.compute(run, current())
    return run
