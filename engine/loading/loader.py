"""Loading a model file: ``model.py``, ``model.py:build``, ``pkg.mod:build``, ``-`` for stdin, or a saved program.

While the file runs, ``import paddle`` finds gradtool, and the default programs, the scope, unique names and seeds are
fresh.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gradtool.paddle import _alias
from gradtool.paddle.utils import unique_name

from .. import importers
from ..answers import backend_replay
from ..core import deviations, source, state, watch
from ..core.command_errors import CommandError, ModelError, ScriptExit
from ..core.errors import FileFormatError, GradtoolError, UninitializedError
from ..core.notes import SILENT, Notes
from ..core.scoped_variables import set_inside
from ..core.vocabulary import PADDLE, use_vocabulary
from ..eager.journal import Journal, keep_journal
from ..eager.tape import keep_graphs
from ..eager.tensor import Tensor, fresh_names
from ..executor.scope import Scope, scope_guard
from ..files.overlay import Overlay, activate
from ..ir import default
from ..ir.program import Program
from ..ir.variable import Variable
from ..kinds import run_notes
from ..recorders.real_paddle import running as real
from ..request.limits import ENOUGH, PATIENCE
from ..request.request import Request
from ..script import cells as notebooks
from ..script import effects, imports, model_output, process_state, scripts, seeds, sessions
from ..script.attributes import is_a
from ..script.calls import PassCalls, Stopped
from ..script.exit_functions import run_exit_functions
from ..script.interrupting import interruptible
from ..script.script_state import MODULE, Loaded
from ..script.target import Target
from ..script.users_code import call, compile_file, execute
from . import entries, open_sizes, targets

if TYPE_CHECKING:
    from ..recorders.recorded.running import Watched


@contextlib.contextmanager
def run_model(request: Request, notes: Notes = SILENT, enough: Callable[[], bool] = lambda: False) -> Iterator[Loaded]:
    """Run the model file and its function; what it set up stays in place inside the ``with`` block.

    Args:
        notes: is told where the file was stopped, if it was.
        enough: says that the backward pass that is asked about is over; the file goes on.

    Raises:
        CommandError: there is no such file, module or function.
        ModelError: the file is no Python, raises, or calls ``sys.exit``.
        GradtoolError: the engine refused what the file asked for.
    """
    session = sessions.current()
    live = session.live(request) if session is not None else None
    if live is not None:
        with live as left:
            yield left
        return
    target = targets.target(request.model, request.stdin_filename, request.as_module)
    if target.saved is None:
        effects.begin_run(target.file, target.name)
    with contextlib.ExitStack() as stack:
        stack.enter_context(use_vocabulary(PADDLE))
        if real.is_elsewhere(request):
            target = stack.enter_context(real.replay(target, request))
        overlay = None if request.run.write else Overlay()
        stack.enter_context(activate(overlay))
        absent: list[str] = []
        main, startup = stack.enter_context(_environment(request, target, absent))
        steps = request.run.steps
        calls = PassCalls(request.backward, steps or ENOUGH, PATIENCE if steps is None else None, enough=enough)
        journal = stack.enter_context(_journal(request)) if request.record.journal else None
        loaded = Loaded(target.name, {}, main, startup, journal=journal, calls=calls)
        loaded.otherwise = stack.enter_context(deviations.watch_run())
        for watching in (
            state.appended.watch(calls.note_append),
            state.derived.watch(calls.note_gradients),
            state.passes.watch(calls.began),
            state.swept.watch(calls.gave),
            state.passed.watch(calls.note_end),
            state.updating.watch(calls.note_update),
            state.taken.watch(calls.note_pairs),
            state.written.watch(calls.note_write),
            state.runs.watch(calls.ran),
            state.made.watch(loaded.births.append),
        ):
            stack.enter_context(watching)
        if target.saved is not None:
            _import(loaded, target.saved, target, request, notes)
            run_notes.stand_ins(loaded, notes)
            stack.enter_context(_values_wanted())
        else:
            stack.enter_context(model_output.run_of(target.shown))
            stack.enter_context(_note_computation(loaded, target, request, notes))
        calls.over = True
        if request.inputs.arrays is not None and loaded.error is None:
            entries.must_take(loaded, request)
        run_notes.stop(loaded, notes)
        run_notes.absent(loaded, absent, notes)
        run_notes.elsewhere(loaded, notes)
        run_notes.tell_otherwise(loaded, notes)
        try:
            yield loaded
        except (CommandError, GradtoolError):
            if calls.interrupted:
                raise KeyboardInterrupt from None
            if loaded.error is None:
                raise
            raise loaded.error from loaded.error.__cause__  # what had run is not enough for an answer
        for read in _readers.get():
            read(loaded)
        _report_end(loaded, request, overlay, target, notes)


def _report_end(loaded: Loaded, request: Request, overlay: Overlay | None, target: Target, notes: Notes) -> None:
    """Report the error that ended a file, and what it would have written."""
    if not request.record.post_mortem:
        run_notes.error(loaded, notes)
    if overlay is not None:
        run_notes.files(loaded, overlay, notes)
        run_notes.processes(loaded, target.file, notes)


_readers: ContextVar[tuple[Callable[[Loaded], None], ...]] = ContextVar("gradtool_readers_at_end", default=())


def read_at_end(reader: Callable[[Loaded], None]) -> contextlib.AbstractContextManager[object]:
    """Inside, *reader* reads what a file left behind when everything has been read of it that was asked."""
    return set_inside(_readers, (*_readers.get(), reader))


@contextlib.contextmanager
def _note_computation(loaded: Loaded, target: Target, request: Request, notes: Notes) -> Iterator[None]:
    """Run the file, with what it computes noted for a backend that compiles, unless who asks listens himself."""
    listened = backend_replay.noting_now() is not None
    with backend_replay.note_computation() as retelling:
        with contextlib.ExitStack() as stack:
            with watch.watch(None if listened else retelling):
                stack.enter_context(_run(loaded, target, request, notes))
            yield
        if retelling is not None:
            run_notes.users_own(loaded, retelling.own, notes)


@contextlib.contextmanager
def _run(loaded: Loaded, target: Target, request: Request, notes: Notes) -> Iterator[None]:
    """Run the file and its function; its module is there as long as it is asked about."""
    data = target.read()
    wanted = request.as_module or bool(request.run.script)
    function = target.function is not None or bool(request.run.arg)
    whole = wanted or (not function and _is_torchs(target, data))
    parts = None if whole or function else scripts.parts(data)
    if parts is not None and parts.goes_on:
        whole, parts = True, None
    with _module_of(target, "__main__" if whole or parts is not None or target.cells else MODULE) as module:
        loaded.namespace = module.__dict__
        with _recorder(loaded, target, request, data) as watching:
            _watch_file(loaded, target, request, data, parts, wanted, notes)
            if watching is not None:
                watching.translate()
                _note_failure(loaded, watching.failed, request)
        yield


def _note_failure(loaded: Loaded, failed: Exception | None, request: Request) -> None:
    """Note that a run was recorded only in part; the file itself ran as without that.

    Raises:
        GradtoolError: nobody wants an answer about a part.
        Exception: a fault of gradtool's own.
    """
    if failed is None or loaded.error is not None:
        return
    if not isinstance(failed, GradtoolError) or not request.record.unfinished:
        raise failed
    run_notes.explain(failed, request)
    loaded.error = failed


def _is_torchs(target: Target, data: bytes) -> bool:
    """Return whether a file is a script of PyTorch's, which runs whole and under the name that Python gives it."""
    if b"torch" not in data or target.cells:
        return False
    from ..recorders.pytorch.running import is_torchs

    return is_torchs(data)


def _recorder(
    loaded: Loaded, target: Target, request: Request, data: bytes
) -> contextlib.AbstractContextManager[Watched | None]:
    """Watches the file from inside the framework that it is written for, where that is another one."""
    if request.run.engine == real.ENGINE:
        return real.watch_file(loaded, request)
    if b"torch" not in data and not target.cells:
        return contextlib.nullcontext()
    from ..recorders.pytorch import running

    return running.watch_file(target, data, loaded, request)


def _watch_file(
    loaded: Loaded,
    target: Target,
    request: Request,
    data: bytes,
    parts: scripts.ScriptParts | None,
    wanted: bool,
    notes: Notes,
) -> None:
    """Run the file as far as it is wanted, and as far as it comes."""
    try:
        with (
            interruptible(loaded.calls, request.run.limit, request.record.unfinished),
            effects.watch_file(target.file, request.run.write),
            run_exit_functions(target.name),
        ):
            _run_file(loaded, target, request, data, parts, wanted, notes)
    except (ModelError, GradtoolError) as error:
        if not _is_done(loaded, request, error):
            loaded.error = error
            run_notes.explain(error, request)
            if not request.record.unfinished and not request.record.post_mortem:
                raise
    except Stopped:
        pass  # the calls know where
    except KeyboardInterrupt:
        if not loaded.calls.interrupted:
            raise


def _run_file(
    loaded: Loaded,
    target: Target,
    request: Request,
    data: bytes,
    parts: scripts.ScriptParts | None,
    wanted: bool,
    notes: Notes,
) -> None:
    if target.package:
        call(target.name, importlib.import_module, target.package)
    if parts is not None:
        _run_parts(loaded, target, request, data, parts)
        return
    if target.cells:
        _run_cells(loaded, target, notes)
    else:
        call(target.name, execute, call(target.name, compile_file, data, target.code_path), loaded.namespace)
    script = loaded.namespace["__name__"] == "__main__" and not target.cells
    if not wanted and not (script and loaded.calls.every):
        entries.call_entry(loaded, target.function, request)


def _run_cells(loaded: Loaded, target: Target, notes: Notes) -> None:
    """Run the cells of a notebook, as far as its author's kernel ran them."""
    loaded.namespace.update(notebooks.names())
    for name, text, may_raise in target.cells:
        try:
            call(target.name, execute, call(target.name, compile_file, text, name), loaded.namespace)
        except (ModelError, GradtoolError) as error:
            if not may_raise:
                raise
            notes.note(f"{name}: {error}; the cells after it run, as they did when the notebook was saved")


def _is_done(loaded: Loaded, request: Request, error: Exception) -> bool:
    """Return whether what a file has raised is how it ends."""
    if not isinstance(error, ScriptExit):
        return False
    if loaded.calls.interrupted:
        return True  # it leaves at Ctrl-C
    script = loaded.namespace["__name__"] == "__main__"
    return error.succeeded and (script or (request.record.unfinished and _is_there(loaded)))


def _import(loaded: Loaded, read: Callable[..., Any], target: Target, request: Request, notes: Notes) -> None:
    """Have an importer read what is no Python.

    Raises:
        CommandError: a function, arguments or a mode are asked for that it does not have.
    """
    if target.function is not None or (request.run.arg and not target.takes_sizes):
        raise CommandError(f"{target.name} holds a program: it has no functions")
    if target.takes_sizes:
        read = functools.partial(read, open_sizes.read_sizes(request))
    if target.is_run:
        _replay(loaded, read, target, request)
        return
    if request.run.mode == "eager":
        raise CommandError(f"{target.name} holds a static program", "remove --mode eager")
    # What an importer builds was made by the file, as far as people are told: by its first line.
    names: dict[str, Any] = {"__name__": MODULE, "read": read}
    call(target.name, execute, compile("result = read()", target.file, "exec"), names)
    loaded.result = names["result"]
    outputs: Sequence[str] | None = None
    if isinstance(loaded.result, importers.Imported):
        outputs = loaded.outputs = loaded.result.outputs
        for text in loaded.result.notes:
            notes.note(f"{target.name}: {text}")
        if loaded.result.feed:
            loaded.calls.fed.append((loaded.result.program, loaded.result.feed))
        loaded.result = loaded.result.program
    if isinstance(loaded.result, Program):
        loaded.main, loaded.startup = loaded.result, Program()
        if outputs is not None or request.objective.loss_fn is not None:
            from . import added_losses

            loaded.loss = added_losses.add_loss(loaded, outputs, request, notes)
    else:
        loaded.function = "the importer"


def _replay(loaded: Loaded, read: Callable[[], Any], target: Target, request: Request) -> None:
    """Play a run that was recorded; it ends as the program did."""
    if request.run.spared and not target.replayed:
        raise CommandError(
            f"{target.name} is a run that is over, and gradients can only be proved by another one",
            "ask the script itself where its framework is installed",
        )
    run = call(target.name, read)
    loaded.namespace = {"__name__": "__main__"}
    try:
        with interruptible(loaded.calls, request.run.limit, request.record.unfinished):
            call(target.name, run.play, loaded)
    except FileFormatError:
        raise
    except (ModelError, GradtoolError) as error:
        loaded.error = error
        run_notes.explain(error, request)
        if not request.record.unfinished and not request.record.post_mortem:
            raise
    except Stopped:
        pass  # the calls know where


@contextlib.contextmanager
def _values_wanted() -> Iterator[None]:
    """Inside, a program that lacks values says where they come from."""
    try:
        yield
    except UninitializedError as error:
        error.hint = (
            "the file holds no values: static.save(program, NAME) writes NAME.pdmodel, and the values next to it"
        )
        raise


def _run_parts(loaded: Loaded, target: Target, request: Request, data: bytes, parts: scripts.ScriptParts) -> None:
    """Run a file with a guard; what is behind it only if there is nothing to be asked about without."""
    code = call(target.name, compile_file, data, target.code_path, parts.module)
    call(target.name, execute, code, loaded.namespace)
    try:
        entries.call_entry(loaded, target.function, request, parts.helpers)
    except (CommandError, GradtoolError):
        if loaded.function not in parts.calls:
            raise
        loaded.function = None  # the file calls it itself, where it has made ready for it
    if loaded.function is None and not _is_there(loaded):
        code = call(target.name, compile_file, data, target.code_path, parts.guarded)
        call(target.name, execute, code, loaded.namespace)


def _is_there(loaded: Loaded) -> bool:
    """Return whether the file has left something to answer questions about: a backward pass, a program, or what
    may be a loss.
    """
    if loaded.calls.swept or loaded.calls.appended or loaded.main.global_block().ops:
        return True
    return any(
        is_a(value, (Variable, Program)) or (is_a(value, Tensor) and value.node is not None)
        for value in loaded.namespace.values()
    )


@contextlib.contextmanager
def _module_of(target: Target, name: str) -> Iterator[types.ModuleType]:
    """The module that a file runs as, which others find by its name."""
    module = types.ModuleType(name)
    module.__file__ = target.file
    if name == "__main__":
        vars(module)["__builtins__"] = builtins
    if target.package is not None:
        module.__package__ = target.package
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield module
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before


def _journal(request: Request) -> contextlib.AbstractContextManager[Journal]:
    return keep_journal(request.run.spared)


def _is_real(request: Request) -> bool:
    """Return whether ``import paddle`` is to find Paddle itself."""
    return request.run.engine == real.ENGINE and not real.is_elsewhere(request)


@contextlib.contextmanager
def _environment(request: Request, target: Target, absent: list[str]) -> Iterator[tuple[Program, Program]]:
    """Everything that a model file may change, fresh inside and restored afterwards."""
    argv = sys.argv
    with (
        contextlib.nullcontext() if _is_real(request) else _alias.active(),
        default.fresh_programs() as (main, startup),
        scope_guard(Scope()),
        unique_name.guard(),
        fresh_names(),
        source.full_stacks(request.record.full_stacks),
        keep_graphs(),
        state.keep_state(),
        process_state.keep(),
        seeds.seed_modules(request.run.seed),
        imports.model_imports(target.folder, absent) if target.folder is not None else imports.guard_imports(),
    ):
        if request.run.mode == "static":
            state.enable_static()
        else:
            state.begin_anew()
        state.random.reset(request.run.seed)
        sys.argv = [target.shown, *request.run.script]
        try:
            yield main, startup
        finally:
            sys.argv = argv
