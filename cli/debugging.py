"""From a model file to a session of the debugger: what is recorded, under which names, and where it begins."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradtool.engine.core import names, watch
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.eager.backward import Pass
from gradtool.engine.eager.recorded import nodes_behind
from gradtool.engine.eager.tape import restore
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.ir.operator import each
from gradtool.engine.ir.variable import Variable
from gradtool.engine.runs import of_program, of_tape
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.retrace import retrace
from gradtool.engine.runs.timeline import Timeline
from gradtool.models import backward_part, cases, feeds, loader, opening, sessions, tape_model
from gradtool.models.errors import CommandError
from gradtool.models.loader import Loaded, Request
from gradtool.models.program_model import ProgramModel
from gradtool.models.tape_model import Entry, TapeModel
from gradtool.models.tape_selectors import TapeSelectors
from gradtool.models.wording import repeated
from gradtool.viz.debugger import firing, show, verbs
from gradtool.viz.debugger.errors import VerbError
from gradtool.viz.debugger.from_python import shown_on
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.session import Session
from gradtool.viz.document.session import line_of

from .context import Output


@contextlib.contextmanager
def opened(request: Request, options: dict[str, Any], out: Output) -> Iterator[Notebook]:
    """Load a model, record its backward pass, and set the stops of the command line.

    Args:
        options: ``params``, ``no_grad``, ``feed``, ``history`` (bytes, or None), ``step``, ``on_error``, ``catch``,
            ``break_`` and ``watch`` of the command.

    Raises:
        CommandError: no loss, a selector that selects nothing, an option that fits no such model.
        ModelError: the user's code raised; not with ``on_error``.
        GradtoolError: the engine refused; not with ``on_error``.
    """
    try:
        until = firing.first_with(options["catch"]) if options["step"] is None else None
    except VerbError as error:
        raise _refused("--catch", error) from None
    # Ahead of anything that is imported while the file runs: what was computed is told to the recorder alone.
    recorder = Recorder(options["history"], options["step"], until)
    with shown_on(sys.stdout), recorder.recording(), loader.executed(request) as left, watch.unwatched():
        timeline = _recorded(left, request, recorder, options, out)
        session = Session(timeline, {"why": _why(request, options, out)})
        if timeline.failed is not None:
            session.locals = _locals(timeline.failed[1])
            for line in loader.stack_of(timeline.failed[1]):
                timeline.failed[1].add_note(line)
        elif request.post_mortem:
            out.note(f"{left.name} raised no error")
        book = Notebook(session, line_of(_words(request, options)))
        for option, verb in (("catch", "catch"), ("break_", "break"), ("watch", "watch")):
            for text in options[option]:
                _set(book, verb, text)
        halt = session.begin()
        book.opening = book.here() if halt is None else show.halted(session, halt)
        yield book


def _words(request: Request, options: dict[str, Any]) -> list[str]:
    """What the command needs to open the same session again."""
    words = request.words()
    for option, name in _REPEATED:
        words += repeated(option, options[name])
    for option, value in (("--feed", options["feed"]), ("--step", options["step"]), ("--history", options["history"])):
        if value is not None:
            words += [option, str(value)]
    return [*words, "--on-error"] if request.post_mortem else words


_REPEATED = (
    ("--params", "params"),
    ("--no-grad", "no_grad"),
    ("--catch", "catch"),
    ("--break", "break_"),
    ("--watch", "watch"),
)


def _recorded(left: Loaded, request: Request, recorder: Recorder, options: dict[str, Any], out: Output) -> Timeline:
    dynamic = tape_model.is_eager(left, request) or (
        request.mode == "auto" and bool(recorder.passes or left.error) and not left.main.global_block().ops
    )
    if dynamic:
        if options["feed"]:
            raise CommandError(f"--feed works on static programs, and {left.name} works in dynamic mode")
        return _of_tensors(left, request, recorder, options, out)
    if options["step"] is not None:
        raise CommandError(f"--step works in dynamic mode: {left.name} is a static program, which is run once")
    return _of_program(left, request, options, out)


# -- a static program -------------------------------------------------------------------------------------------------


def _of_program(left: Loaded, request: Request, options: dict[str, Any], out: Output) -> Timeline:
    try:
        model = opening.model_in(left, request)
    except CommandError:
        if left.error is None:
            raise
        model = opening.model_in(left, dataclasses.replace(request, need_loss=False))
        assert isinstance(model, ProgramModel)
        if not model.program.global_block().ops:
            raise left.error from None
    assert isinstance(model, ProgramModel)
    known = _names(model)
    gradients: dict[str, Variable | None] = {}
    if model.loss is None:
        ops = model.program.global_block().ops
        fetch = list(dict.fromkeys(v for op in ops for v in each(op.outputs)))
    else:
        part = backward_part.append(model, options["params"], options["no_grad"], out)
        for row in part.rows:
            people = known(row.variable)
            name = people[0] if people and people[0] not in gradients else row.variable.name
            gradients[name] = row.gradient if row.ok else None
        fetch = [model.loss, *(g for g in gradients.values() if g is not None)]
    executor, feed = feeds.ready(model, options["feed"], "numpy", request.seed, out)
    with executor.held(model.program, feed=feed, fetch_list=fetch) as (plan, registers):
        timeline = of_program.record(
            model.program,
            plan,
            registers,
            gradients,
            title=model.name,
            loss=model.loss,
            shown=lambda v: _all_names(v, known),
            budget=options["history"],
        )
    if timeline.failed is not None and not request.post_mortem:
        out.note(f"gradtool debug --on-error stops where {model.name} fails")
        raise timeline.failed[1]
    if left.error is not None:
        at = timeline.failed[0] if timeline.failed is not None else len(timeline.entries)
        timeline.failed = at, left.error
    return timeline


def _names(model: ProgramModel) -> Callable[[Variable], list[str]]:
    """The names of a variable for people, the one that says most first."""
    python: dict[Variable, list[str]] = {}
    for name, v in model.named.items():
        python.setdefault(v, []).append(name)

    def known(v: Variable) -> list[str]:
        return list(dict.fromkeys(n for n in (*python.get(v, ()), getattr(v, "layer_path", None)) if n))

    return known


def _all_names(v: Variable, known: Callable[[Variable], list[str]]) -> list[str]:
    """The names of a variable; of a gradient, those of its variable with ``@GRAD``."""
    found = known(v)
    if v.name.endswith(names.GRAD):
        owner = v.block._find_var_recursive(names.forward(v.name))
        if owner is not None:
            found += [names.grad(n) for n in known(owner)]
    return found


# -- dynamic mode -----------------------------------------------------------------------------------------------------


def _of_tensors(left: Loaded, request: Request, recorder: Recorder, options: dict[str, Any], out: Output) -> Timeline:
    for option, given in (("--step", options["step"] is not None), ("--on-error", request.post_mortem)):
        if given:
            left.must_run(option)
    error: BaseException | None = left.error
    model = _model(left, request, recorder)
    if model is None:
        entries = tape_model.entries_in(left)
        if error is not None and not recorder.calls and recorder.failure is None:
            raise error
        if recorder.last is not None:
            restore(nodes_behind(recorder.last.roots))
        return _timeline(recorder, left.name, entries, None, error)
    if left.live:
        _graph(model)
        restore(nodes_behind([model.loss]))
        retrace(recorder, [model.loss], [e.tensor for e in model.entries])
    chosen = None
    constants: list[Tensor] = []
    if options["params"] or options["no_grad"]:
        select = TapeSelectors(model, _graph(model))
        chosen = select.select("--params", options["params"], out, parameters_only=True) if options["params"] else None
        constants = select.select("--no-grad", options["no_grad"], out)
    error = error or _passed(model, recorder, constants, request, options)
    missed = options["step"] is not None and recorder.passes < options["step"]
    if missed:
        raise CommandError(
            f"--step {options['step']}: {left.name} runs {recorder.passes} backward passes",
            f"--step takes 1 to {recorder.passes}",
        )
    if recorder.passes > 1:
        out.note(f"recorded: backward pass {recorder.passes} of {left.name}; --step N takes another")
    return _timeline(recorder, left.name, model.entries, chosen, error)


def _model(left: Loaded, request: Request, recorder: Recorder) -> TapeModel | None:
    """The model around the loss of the pass that was recorded, or that is to be run; None for a failure before it."""
    if left.error is not None:
        return None
    if recorder.last is None or request.loss is not None:
        return tape_model.find(left, request)
    return tape_model.around(left, recorder.last.roots[0])


def _graph(model: TapeModel) -> Any:
    from gradtool.models.tape_model import recorded

    return recorded(model)


def _passed(
    model: TapeModel, recorder: Recorder, constants: Sequence[Tensor], request: Request, options: dict[str, Any]
) -> BaseException | None:
    """Run backward if the file did not, or not the pass that was asked for; what it raised, for a post-mortem."""
    last = recorder.last
    if last is not None and not constants and any(t is model.loss for t in last.roots):
        return None
    _graph(model)  # says what is wrong with a loss that has none
    recorder.closed, recorder.which, recorder.until = False, None, None
    if options["step"] not in (None, 1) and last is None:
        raise CommandError(
            f"--step {options['step']}: {model.name} runs no backward pass itself", "one pass is run and recorded"
        )
    work = Pass(retain_graph=True, fill=False, constants=frozenset(t.on_tape() for t in constants))
    work.seed(model.loss, None)
    try:
        with recorder.recording():
            model.call(work.run)
    except (CommandError, GradtoolError) as error:
        if not request.post_mortem:
            raise
        return error
    return None


def _timeline(
    recorder: Recorder,
    title: str,
    entries: Sequence[Entry],
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
            shown[t.leaf] = e.shown if e.shown not in shown.values() else e.name
    named = {e.tensor: e.shown for e in entries if e.tensor.node is None or e.python is not None}
    return of_tape.timeline(recorder, title=title, named=named, shown=shown, also=also, failed=error)


# -- what a session knows beside the run ------------------------------------------------------------------------------


def _why(request: Request, options: dict[str, Any], out: Output) -> Callable[[str], Sequence[Any]]:
    """Answers of ``gradtool why``; the file runs once more for them, with a journal. A loss in a notebook does not."""
    there = _there(request)
    known: dict[str, Sequence[Any]] = {}

    def ask(name: str) -> Sequence[Any]:
        if request.model.partition(":")[0] == "-":
            raise VerbError("the model came from stdin, which cannot be read a second time.")
        if _there(request) is not there:
            raise VerbError(f"{request.model} is another one by now.", hint=f"%gdebug {request.model} begins anew")
        if name not in known:
            known[name] = answered(name)
        return known[name]

    def answered(name: str) -> Sequence[Any]:
        again = dataclasses.replace(request, journal=True, post_mortem=True)
        quiet = dataclasses.replace(out, quiet=True)
        asked = {**options, "backend": "numpy", "seed": request.seed, "run_": True}
        try:
            with cases.opened(again, [name] if name else [], asked, quiet) as found:
                if found.failure is not None:
                    return [found.failure]
                assert found.case is not None
                if found.chosen:
                    return [found.case.answer(s, contributions=True) for s in found.case.subjects()]
                return found.case.answers()
        except CommandError as error:
            raise VerbError(error.message, hint=error.hint) from None

    return ask


def _there(request: Request) -> Any:
    session = sessions.current()
    return None if session is None else session.value(request.model)


def _locals(error: BaseException) -> Mapping[str, Any]:
    """The user's variables where *error* was raised."""
    frame = loader.raised_in(error)
    return dict(frame.f_locals) if frame is not None else {}


def _set(book: Notebook, verb: str, text: str) -> None:
    found = verbs.named(verb)
    assert found is not None
    try:
        found.act(book, text)
    except VerbError as error:
        raise _refused(f"--{verb}", error) from None


def _refused(option: str, error: VerbError) -> CommandError:
    return CommandError(f"{option}: {error.message}", error.hint)
