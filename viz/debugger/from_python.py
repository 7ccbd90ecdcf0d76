"""``gradtool.debug`` and ``gradtool.breakpoint``: the debugger, opened from a program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from types import FrameType
from typing import Any

import gradtool
from gradtool.engine.autodiff.backward import append_backward
from gradtool.engine.autodiff.existing_gradients import gradients_of_parameters
from gradtool.engine.core import source, state
from gradtool.engine.core.command_errors import raise_for_python
from gradtool.engine.core.errors import ArgumentTypeError, LossError, UsageError
from gradtool.engine.core.notes import SILENT
from gradtool.engine.eager import passes
from gradtool.engine.eager.recorded_calls import nodes_behind
from gradtool.engine.eager.tape import restore
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.executor.executor import Executor
from gradtool.engine.files import overlay
from gradtool.engine.ir.variable import Variable
from gradtool.engine.loading.recorded_run import RunOfLoop
from gradtool.engine.recorders import live
from gradtool.engine.request.options import Debug
from gradtool.engine.runs import of_program, of_tape, running_pass
from gradtool.engine.runs.branch import disable_breakpoints, is_rerunning
from gradtool.engine.runs.calls import PassRecord
from gradtool.engine.runs.recorder import Recorder, recording_now
from gradtool.engine.runs.retrace import retrace
from gradtool.engine.runs.timeline import Timeline
from gradtool.paddle.nn import Layer

from ...engine.core.identity import identity
from ..notebook import notebook_display
from . import screen, show, terminal, verbs
from .errors import VerbError
from .from_models import open_notebook
from .notebook import Notebook
from .session import Session

_HERE = "gradtool.debug"


def debug(
    model: Any,
    feed: Mapping[str, Any] | None = None,
    *,
    parameter_list: Sequence[Variable] | None = None,
    no_grad_set: Iterable[Any] = (),
    catch: str | Sequence[str] = (),
    history: int | None = None,
    prompt: bool = True,
) -> Notebook:
    """Walk through the backward pass of a model at a prompt, forwards and backwards, and try changes.

    Nothing of the program changes: no ``.grad`` is filled, graphs are kept, edits belong to the session.

    Args:
        model: a loss Tensor, whose backward pass is run and recorded (of the operators before it, what the tape retains
            is known); a function, which is recorded as a whole, and whose loss is differentiated if it does not run
            backward itself; the loss Variable of a static program, a copy of which is run; or what
            :func:`gradtool.recording` gave.
        feed: what to feed to a static program.
        parameter_list, no_grad_set: of a static program, as for ``append_backward``.
        catch: kinds to stop at: ``nan``, ``inf``, ``big=1e4``, ``zero``, ``none``.
        history: bytes of values to hold; others are computed again. Without it, all are held.
        prompt: False opens no prompt; cells can be run by ``execute``.

    Returns:
        The notebook: ``book.execute("step")`` runs a cell and returns it with its reply.

    Raises:
        ArgumentTypeError: *model* is none of these, or gives no loss (a TypeError).
        LossError: nothing was recorded for the loss.
        UsageError: *catch* names no kind (a ValueError).

    Without a terminal the prompt reads from stdin. In a notebook, whose kernel has no prompt to give, none is opened:
    ``%gdebug loss`` begins a session there, whose verbs are magics (``%gstep``).

    >>> import gradtool
    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    >>> book = gradtool.debug(paddle.sqrt(x).sum(), catch="nan", prompt=False)
    >>> cell, reply = book.execute("continue")
    >>> print(cell.text.splitlines()[0].partition("   ")[0])
    ■ catch inf at ▶ 4/4 sqrt_grad.0
    """
    if isinstance(model, RunOfLoop):
        return _ask_run(model, catch, history, prompt)
    model = live.stand_in(model)
    names = _names(_namespaces(sys._getframe(1)))
    ask: Callable[[str], Any] | None = None
    if isinstance(model, Variable):
        timeline = _timeline_of_variable(model, feed, parameter_list, no_grad_set, history)
        ask = _make_why(model, names, {"feed": feed, "parameter_list": parameter_list, "no_grad_set": no_grad_set})
    elif isinstance(model, Tensor):
        timeline = _timeline_of_tensor(model, names, history)
        ask = _make_why(model, names, {})
    elif callable(model):
        timeline = _timeline_of_function(model, feed, names, history)
    else:
        raise ArgumentTypeError(
            f"{_HERE}: expected a loss Tensor, a loss Variable or a function, but received {type(model).__name__}."
        )
    book = Notebook(Session(timeline, {"why": ask} if ask is not None else {}))
    _catch(book, [catch] if isinstance(catch, str) else catch)
    return _open_notebook(book) if prompt and notebook_display() is None else book


def breakpoint() -> None:
    """Open the debugger here: in a hook, in ``PyLayer.backward``, or anywhere in a model; ``continue`` goes on.

    In a backward pass the cursor stands at the operator whose gradient is being computed; what the pass is yet to do is
    computed in the session when it is asked for. Under ``gradtool debug`` everything recorded so far is there; in plain
    Python the forward operators, as far as the tape retains what they read, and the gradients that have arrived.
    The variables of the function that calls it are in scope. Edits are tried in the session: they do not change the
    running program. When the debugger itself runs operators again, it stops nothing.
    """
    if is_rerunning():
        return
    frame = sys._getframe(1)
    names = _names(_namespaces(frame))
    running = passes.running()
    going = recording_now()
    held = [t for t in frame.f_locals.values() if isinstance(t, Tensor)]
    if going is not None and not going.closed:
        recorder = going.snapshot()
    else:
        recorder = Recorder()
        roots = running.roots if running is not None else [t for t in held if t.node is not None]
        retrace(recorder, roots, [*held, *names])
    done = running_pass.lay_out(recorder, running) if running is not None and not running.create_graph else None
    if running is None and recorder.last is not None and recorder.calls_since_pass:
        recorder.last = PassRecord(())  # the next step of training has begun
    timeline = of_tape.timeline(recorder, title="breakpoint", named=names)
    session = Session(timeline)
    session.locals = dict(frame.f_locals)
    if done is not None:
        session.start = timeline.begin + done
    elif running is None:
        session.start = len(timeline.entries)
    session.branch.cursor = session.start
    _open_notebook(Notebook(session), leaving=("continue", "c"))


def _open_notebook(book: Notebook, leaving: Sequence[str] = ()) -> Notebook:
    book.opening = show.show_opening(book.session)
    book.leaving = frozenset(leaving)
    with overlay.leave_overlay(), disable_breakpoints(), redirect_stdout(screen.current()):
        terminal.interact(book)
    return book


def _ask_run(run: RunOfLoop, catch: str | Sequence[str], history: int | None, prompt: bool) -> Notebook:
    """Go through the last backward pass of a run that was recorded."""
    asked = Debug(catch=(catch,) if isinstance(catch, str) else tuple(catch), history=history)
    with raise_for_python(_HERE), open_notebook(run.request, asked, SILENT) as book:
        return _open_notebook(book) if prompt and notebook_display() is None else book


def _catch(book: Notebook, kinds: Sequence[str]) -> None:
    verb = verbs.find_verb("catch")
    assert verb is not None
    for kind in kinds:
        try:
            verb.act(book, kind)
        except VerbError as error:
            raise UsageError(f"{_HERE}: {error.message}", hint=error.hint) from None


def _make_why(model: Any, names: Mapping[Tensor, str], options: dict[str, Any]) -> Callable[[str], Any]:
    """Answers of ``gradtool.why``."""

    def ask(name: str) -> Any:
        target: Any = None
        if name and isinstance(model, Variable):
            target = model.block.program.global_block().vars.get(name)
        elif name:
            target = next((t for t, n in names.items() if name in (n, t.name)), None)
        if name and target is None:
            raise VerbError(f"there is no tensor {name!r} where the debugger was opened.")
        return gradtool.why(model, target, **options)

    return ask


# -- names ------------------------------------------------------------------------------------------------------------


def _namespaces(frame: FrameType | None) -> Iterator[Mapping[str, Any]]:
    """The variables of the user's functions that are running, the innermost first, and those of their modules."""
    modules: dict[int, Mapping[str, Any]] = {}
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module != "gradtool" and not module.startswith("gradtool."):
            yield frame.f_locals
            modules.setdefault(identity(frame.f_globals), frame.f_globals)
        elif module == source.BOUNDARY:
            break
        frame = frame.f_back
    yield from modules.values()


def _names(namespaces: Iterable[Mapping[str, Any]]) -> dict[Tensor, str]:
    """Return the names of tensors in the user's functions, and of the parameters of layers."""
    labels: dict[Tensor, str] = {}
    for namespace in namespaces:
        for name, value in list(live.names(namespace).items()):
            if isinstance(value, Tensor):
                labels.setdefault(value, name)
            elif isinstance(value, Layer):
                for path, p in value.named_parameters():
                    if isinstance(p, Tensor):
                        labels.setdefault(p, f"{name}.{path}")
    return labels


def _session_leaves(names: Mapping[Tensor, str], leaves: Iterable[Leaf]) -> dict[Leaf, str] | None:
    """The leaves that a session is about: those that the pass can reach, and the parameters that it cannot."""
    labels = {t.leaf: n for t, n in names.items() if t.node is None and getattr(t, "is_parameter", False)}
    if not labels:
        return None
    trainable = {t.leaf: n for t, n in names.items() if t.node is None and not t.stop_gradient}
    for leaf in leaves:
        labels.setdefault(leaf, trainable.get(leaf, leaf.name))
    return labels


# -- what is recorded -------------------------------------------------------------------------------------------------


def _timeline_of_tensor(loss: Tensor, names: Mapping[Tensor, str], history: int | None) -> Timeline:
    recorder = Recorder(history)
    _check(loss)
    retrace(recorder, [loss], names)
    return _record_pass(recorder, loss, names)


def _timeline_of_function(
    function: Callable[[], Any], feed: Mapping[str, Any] | None, names: Mapping[Tensor, str], history: int | None
) -> Timeline:
    recorder = Recorder(history)
    with recorder.record(), live.listen():
        result = function()
    entries = [*map(live.stand_in, result if isinstance(result, (tuple, list)) else [result])]
    loss = next((v for v in entries if isinstance(v, (Tensor, Variable))), None)
    if isinstance(loss, Variable):
        return _timeline_of_variable(loss, feed, None, (), history)
    if recorder.last is not None:
        restore(nodes_behind(recorder.last.roots))
        return of_tape.timeline(
            recorder, title="function", named=names, shown=_session_leaves(names, _reachable_parameters(recorder))
        )
    if loss is None:
        raise ArgumentTypeError(
            f"{_HERE}: the function must return a loss or run backward itself, but it returned {type(result).__name__}."
        )
    _check(loss)
    return _record_pass(recorder, loss, names)


def _reachable_parameters(recorder: Recorder) -> list[Leaf]:
    return [p for p in recorder.last.totals if isinstance(p, Leaf)] if recorder.last is not None else []


def _record_pass(recorder: Recorder, loss: Tensor, names: Mapping[Tensor, str]) -> Timeline:
    """Run backward from *loss* and record it."""
    work = passes.Pass(retain_graph=True, fill=False)
    work.seed(loss, None)
    with recorder.record():
        work.run()
    named = {loss: "loss", **names}
    return of_tape.timeline(
        recorder, title="loss", named=named, shown=_session_leaves(names, _reachable_parameters(recorder))
    )


def _check(loss: Tensor) -> None:
    if loss.stop_gradient:
        raise LossError(
            f"{_HERE}: '{loss.name}' has no recorded graph: its stop_gradient is True.",
            variable=loss.name,
            hint="it was computed from tensors with stop_gradient=True only, under no_grad, or was detached",
        )


def _timeline_of_variable(
    loss: Variable,
    feed: Mapping[str, Any] | None,
    listed: Sequence[Variable] | None,
    no_grad: Iterable[Any],
    history: int | None,
) -> Timeline:
    """A copy of the program is differentiated and run; random numbers go on as if it had not."""
    program = loss.block.program.clone()
    block = program.global_block()
    mine = block.vars[loss.name]
    there = gradients_of_parameters(mine)
    if there is not None:
        pairs = {p: there.get(p) for p in program.all_parameters()}
    else:
        chosen = None if listed is None else [block.vars[v.name] for v in listed]
        stopped = {str(getattr(v, "name", v)) for v in no_grad}
        by_parameter = dict(append_backward(mine, parameter_list=chosen, no_grad_set=stopped))
        pairs = {p: by_parameter.get(p) for p in (*program.all_parameters(), *by_parameter)}
    gradients = {getattr(p, "layer_path", None) or p.name: g for p, g in pairs.items()}
    fetch = [mine, *(g for g in gradients.values() if g is not None)]
    before = state.random.position
    try:
        with Executor().hold(program, feed=feed, fetch_list=fetch) as (plan, registers):
            timeline = of_program.record(
                program, plan, registers, gradients, title=loss.name, loss=mine, shown=_paths, budget=history
            )
    finally:
        state.random.position = before
    if timeline.failed is not None:
        raise timeline.failed[1]
    return timeline


def _paths(v: Variable) -> list[str]:
    path = getattr(v, "layer_path", None)
    return [path] if path else []
