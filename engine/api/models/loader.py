"""Loading a model file: ``model.py``, ``model.py:build``, ``pkg.mod:build``, ``-`` for stdin, or a saved program.

While the file runs, ``import paddle`` finds gradtool, and the default programs, the scope, unique names and seeds are
fresh. The frames above this module's belong to the user; those below it to the tool (``engine/core/source.py`` knows
this module by name).
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from gradtool import _alias
from gradtool.engine.core import source, state
from gradtool.engine.core.errors import FileFormatError, GradtoolError, UninitializedError
from gradtool.engine.core.near_names import near, shortened
from gradtool.engine.eager.journal import Journal
from gradtool.engine.eager.parameter import TensorParameter, living
from gradtool.engine.eager.tape import keeping_graphs
from gradtool.engine.eager.tensor import Tensor, fresh_names
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.utils import unique_name

from . import cells as notebooks
from . import importers, imports, scripts, sessions
from .calls import PassCalls, Stopped
from .errors import CommandError, ModelError, ScriptExit, Terminated, unknown
from .limits import ALL, ENOUGH
from .notes import SILENT, Notes

MODULE = "__gradtool_model__"
"""The name that a model file runs under; scripts (:mod:`.scripts`) run under ``__main__``."""


_LONGEST_PATH = 4096
"""Bytes of a path, by the longest that systems take."""


@dataclass(frozen=True)
class Request:
    """What to load; made from the options of ``context.model_options``."""

    model: str
    loss: str | None = None
    arg: tuple[str, ...] = ()
    seed: int = 0
    mode: str = "auto"
    stdin_filename: str = "<stdin>"
    script: tuple[str, ...] = ()
    """The arguments of a script, which are not gradtool's."""
    as_module: bool = False
    """The model is a module that is run as by ``python -m``."""
    backward: str | None = None
    """The backward pass that is asked about, of several that the file makes: a number, or ``line:FILE:LINE``."""
    steps: int = ENOUGH
    """The file is stopped where it asks for more backward passes."""
    full_stacks: bool = False
    need_loss: bool = True
    journal: bool = False
    post_mortem: bool = False
    """Go on with what is there when the file or its function raises; the error is then in :attr:`Loaded.error`."""
    spared: tuple[tuple[str, int], ...] = ()
    """Lines at which a model of dynamic mode is not cut, see ``gradtool.engine.eager.journal.Journal``."""

    @classmethod
    def take(cls, options: dict[str, Any], **more: Any) -> Request:
        """The model options of a command, taken out of *options*."""
        names = ("model", "loss", "arg", "seed", "mode", "stdin_filename", "script", "as_module", "backward")
        taken = {n: options.pop(n) for n in names}
        steps = more.pop("steps", None) or options.pop("steps", None) or ENOUGH
        return cls(**taken, steps=steps, **more)

    def words(self) -> list[str]:
        """The words that other commands need to load the same model."""
        words = ["-m", self.model] if self.as_module else [self.model]
        for option, value, usual in (
            ("--loss", self.loss, None),
            ("--seed", self.seed, 0),
            ("--mode", self.mode, "auto"),
            ("--backward", self.backward, None),
        ):
            if value != usual:
                words += [option, str(value)]
        if self.steps != ENOUGH:
            words += ["--steps", "all" if self.steps == ALL else str(self.steps)]
        for pair in self.arg:
            words += ["--arg", pair]
        return words + (["--", *self.script] if self.script else [])


@dataclass
class Loaded:
    """What a model file left behind, before anyone has looked for the loss.

    Attributes:
        name: the file's name, for people.
        namespace: the module's names.
        function: the function that was called, if one was.
        result: what it returned.
        main, startup: the default programs.
        journal: what happened in dynamic mode, if the request asked for a journal.
        calls: the backward passes that the file asked for.
        error: what the file raised, for a post-mortem.
        live: whether the model was there before the command and is not run again: a tensor in a notebook.
        earlier: the parameters that there were before, by identity.
    """

    name: str
    namespace: dict[str, Any]
    main: Program
    startup: Program
    function: str | None = None
    result: Any = None
    journal: Journal | None = None
    calls: PassCalls = field(default_factory=PassCalls)
    error: CommandError | GradtoolError | None = None
    live: bool = False
    earlier: Mapping[int, TensorParameter] | None = None

    def parameters(self) -> list[TensorParameter]:
        """The living parameters of dynamic mode that were made while the file ran; none of a live model."""
        earlier = self.earlier
        return [] if earlier is None else [p for p in living() if earlier.get(id(p)) is not p]

    def must_run(self, what: str) -> None:
        """Raise :class:`CommandError` for a live model: *what* watches the model while it computes."""
        if self.live:
            raise over_already(what, self.name)


def over_already(what: str, name: str) -> CommandError:
    """The error for a model that has been computed before it could be watched."""
    return CommandError(
        f"{what} watches the model compute, and {name} has been computed",
        "begin the cell that computes it with %%gradtool and the command, or put it into a file",
    )


@dataclass(frozen=True)
class _Target:
    """A MODEL argument, taken apart."""

    read: Callable[[], bytes]
    shown: str
    """What tracebacks and messages call the file."""
    file: str
    name: str
    folder: str | None
    """Where its own modules lie; None for what is not Python."""
    function: str | None
    cells: Sequence[tuple[str, bytes]] = ()
    """Names and texts of the code cells of a notebook."""
    saved: Callable[[], Any] | None = None
    """Reads the model, if the file holds something else than Python."""


@contextlib.contextmanager
def executed(request: Request, notes: Notes = SILENT) -> Iterator[Loaded]:
    """Run the model file and its function; what it set up stays in place inside the ``with`` block.

    Args:
        notes: is told where the file was stopped, if it was.

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
    target = _target(request)
    with contextlib.ExitStack() as stack:
        main, startup = stack.enter_context(_environment(request, target))
        calls = PassCalls(request.backward, request.steps)
        journal = stack.enter_context(_journal(request)) if request.journal else None
        loaded = Loaded(target.name, {}, main, startup, journal=journal, calls=calls)
        for watching in (
            state.appended.watched(calls.called),
            state.passes.watched(calls.began),
            state.runs.watched(calls.ran),
        ):
            stack.enter_context(watching)
        if target.saved is not None:
            _import(loaded, target.saved, target, request)
            stack.enter_context(_values_wanted())
        else:
            stack.enter_context(_run(loaded, target, request))
        calls.over = True
        _tell_stop(loaded, notes)
        yield loaded


@contextlib.contextmanager
def _run(loaded: Loaded, target: _Target, request: Request) -> Iterator[None]:
    """Run the file and its function; its module is there as long as it is asked about."""
    data = target.read()
    wanted = request.as_module or bool(request.script)
    parts = None if wanted or target.function is not None or request.arg else scripts.parts(data)
    with _module_of(target, "__main__" if wanted or parts is not None else MODULE, request) as module:
        loaded.namespace = module.__dict__
        loaded.earlier = weakref.WeakValueDictionary({id(p): p for p in living()})
        try:
            if parts is not None:
                _run_parts(loaded, target, request, data, parts)
            else:
                for name, text in target.cells or ((target.shown, data),):
                    call(target.name, _execute, call(target.name, _compiled, text, name), module.__dict__)
                if not wanted:
                    _call_function(loaded, target, request)
        except (ModelError, GradtoolError) as error:
            if module.__name__ == "__main__" and isinstance(error, ScriptExit) and error.succeeded:
                pass  # a script that is done
            elif request.post_mortem:
                loaded.error = error
            else:
                raise
        except Stopped:
            pass  # the calls know where
        yield


def _tell_stop(left: Loaded, notes: Notes) -> None:
    """Say where a file was stopped, if it was: what would have happened later is not part of any answer."""
    if left.calls.stopped is not None:
        passes = left.calls.passes
        notes.note(
            f"{left.name} was stopped at {source.short(left.calls.stopped)} after {passes} "
            f"backward pass{'' if passes == 1 else 'es'}; --steps all lets it run to its end"
        )


def _import(loaded: Loaded, read: Callable[[], Any], target: _Target, request: Request) -> None:
    """Have an importer read what is no Python.

    Raises:
        CommandError: a function, arguments or a mode are asked for that it does not have.
    """
    if target.function is not None or request.arg:
        raise CommandError(f"{target.name} holds a program: it has no functions")
    if request.mode == "eager":
        raise CommandError(f"{target.name} holds a static program", "leave out --mode eager")
    # What an importer builds was made by the file, as far as people are told: by its first line.
    names: dict[str, Any] = {"__name__": MODULE, "read": read}
    call(target.name, _execute, compile("result = read()", target.file, "exec"), names)
    loaded.result = names["result"]
    if isinstance(loaded.result, Program):
        loaded.main, loaded.startup = loaded.result, Program()
    else:
        loaded.function = "the importer"


@contextlib.contextmanager
def _values_wanted() -> Iterator[None]:
    """Inside, a program that lacks values says where they come from."""
    try:
        yield
    except UninitializedError as error:
        error.hint = "the file holds no values: static.save(program, NAME) writes NAME.pdmodel, and them beside it"
        raise


def _run_parts(loaded: Loaded, target: _Target, request: Request, data: bytes, parts: scripts.Parts) -> None:
    """Run a file with a guard; what is behind it only if there is nothing to be asked about without."""
    code = call(target.name, _compiled, data, target.shown, parts.module)
    call(target.name, _execute, code, loaded.namespace)
    try:
        _call_function(loaded, target, request)
    except (CommandError, GradtoolError):
        if loaded.function not in parts.calls:
            raise
        loaded.function = None  # the file calls it itself, where it has made ready for it
    if loaded.function is None and not _is_there(loaded):
        code = call(target.name, _compiled, data, target.shown, parts.guarded)
        call(target.name, _execute, code, loaded.namespace)


def _is_there(loaded: Loaded) -> bool:
    """Whether the file has left something to be asked about: a backward pass, a program, or what may be a loss."""
    if loaded.calls.swept or loaded.calls.appended or loaded.main.global_block().ops:
        return True
    return any(
        isinstance(value, (Variable, Program)) or (isinstance(value, Tensor) and value.node is not None)
        for value in loaded.namespace.values()
    )


@contextlib.contextmanager
def _module_of(target: _Target, name: str, request: Request) -> Iterator[types.ModuleType]:
    """The module that a file runs as, which others find by its name."""
    module = types.ModuleType(name)
    module.__file__ = target.file
    if request.as_module:
        module.__package__ = target.name.rpartition(".")[0]
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
    from gradtool.engine.eager.journal import keeping

    return keeping(request.spared)


@contextlib.contextmanager
def _environment(request: Request, target: _Target) -> Iterator[tuple[Program, Program]]:
    """Everything that a model file may change, fresh inside and restored afterwards."""
    argv = sys.argv
    with (
        _alias.active(),
        default.fresh_programs() as (main, startup),
        scope_guard(Scope()),
        unique_name.guard(),
        fresh_names(),
        source.full_stacks(request.full_stacks),
        keeping_graphs(),
        state.kept(),
        imports.of_models(target.folder) if target.folder is not None else imports.guarded(),
    ):
        if request.mode == "static":
            state.enable_static()
        else:
            state.disable_static()
        state.random.reset(request.seed)
        sys.argv = [target.shown, *request.script]
        try:
            yield main, startup
        finally:
            sys.argv = argv


# -- the MODEL argument -----------------------------------------------------------------------------------------------


def _target(request: Request) -> _Target:
    text = request.model
    before, colon, after = text.rpartition(":")
    if colon and before and after.isidentifier() and not exists(text):
        where, function = before, after
    else:
        where, function = text, None
    if where == "-":
        name = request.stdin_filename
        return _Target(sys.stdin.buffer.read, name, name, _short(name), "", function)
    session = sessions.current()
    text_there = session.source(where) if session is not None else None
    if text_there is not None:
        return _Target(text_there.encode, where, where, where, "", function)
    path = Path(where)
    if not exists(where):
        module = None if importers.is_file_name(path) else _module(where, function)
        if module is not None:
            return module
        folder = path.parent if exists(str(path.parent)) else Path()
        raise CommandError(f"no such file: {shortened(where)}", _python_files(folder, path.name))
    if path.is_dir():
        raise CommandError(f"{where} is a folder, not a model file", _python_files(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {where}: {error.strerror}") from None
    if path.suffix == notebooks.ENDING:
        try:
            texts = notebooks.cells(data, where)
        except FileFormatError as error:
            raise CommandError(f"{_short(where)} is no notebook: {error}") from None
        return _Target(
            lambda: b"", where, str(path.resolve()), _short(where), str(path.resolve().parent), function, texts
        )
    saved = importers.reader(path, data)
    folder_of = None if saved is not None else str(path.resolve().parent)
    return _Target(lambda: data, where, str(path.resolve()), _short(where), folder_of, function, saved=saved)


def exists(path: str) -> bool:
    """Whether there is a file or a folder of that name; what cannot be a name is none."""
    return len(path) <= _LONGEST_PATH and os.path.exists(path)


def is_model(text: str) -> bool:
    """Whether a MODEL argument can be *text*, as far as its name says."""
    where, session = text.partition(":")[0], sessions.current()
    return exists(where) or (session is not None and session.has(where))


def _short(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _python_files(folder: Path, like: str | None = None) -> str | None:
    names = sorted(p.name for p in folder.glob("*.py"))
    close = names[:3] if like is None else near(like, names)
    return f"there is {', '.join(close)}" if close else None


def _module(name: str, function: str | None) -> _Target | None:
    """A module by its dotted name, looked up with the current folder first; None when there is none."""
    if not all(part.isidentifier() for part in name.split(".")):
        return None
    sys.path.insert(0, "")
    try:
        spec = call(name, util.find_spec, name)
    except ModelError as error:
        if isinstance(error.__cause__, ModuleNotFoundError) and error.__cause__.name in _prefixes(name):
            return None
        raise
    finally:
        sys.path.remove("")
    if spec is None or spec.origin is None or not hasattr(spec.loader, "get_source"):
        return None
    origin = spec.origin
    return _Target(Path(origin).read_bytes, origin, origin, name, "", function)


def _prefixes(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:i]) for i in range(1, len(parts) + 1)}


def _compiled(data: bytes, name: str, part: ast.Module | None = None) -> CodeType:
    """The code of a file; its lines are remembered, so that messages can quote them whatever happens to the file.

    Args:
        part: what of it to compile; all when None.
    """
    text = data.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        return compile(data if part is None else part, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        frames = [f'File "{_short(name)}", line {error.lineno}'] if error.lineno else []
        if error.text:
            frames.append(f"    {error.text.strip()}")
        raise ModelError(f"{_short(name)} is not Python: {error.msg}", frames) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"{_short(name)} is not Python: {error or type(error).__name__}") from None


def _execute(code: CodeType, namespace: dict[str, Any]) -> None:
    exec(code, namespace)


def run_file(where: str, namespace: dict[str, Any]) -> None:
    """Run another file or module of the user's (callbacks) with *namespace* as its names."""
    target = _target(Request(where))
    if target.saved is not None:
        raise CommandError(f"{target.name} holds a program: it has no functions")
    namespace["__file__"] = target.file
    for name, text in target.cells or ((target.shown, target.read()),):
        call(target.name, _execute, call(target.name, _compiled, text, name), namespace)


# -- the user's function ----------------------------------------------------------------------------------------------


def _call_function(loaded: Loaded, target: _Target, request: Request) -> None:
    names = loaded.namespace
    if target.function is not None:
        if not callable(names.get(target.function)):
            functions = [n for n, v in names.items() if isinstance(v, types.FunctionType)]
            raise unknown(f"function in {loaded.name}:", target.function, functions)
        chosen: str | None = target.function
    else:
        chosen = next((n for n in scripts.ENTRIES if _is_entry(names.get(n), loaded, request)), None)
    if chosen is None:
        if request.arg:
            raise CommandError(
                f"--arg needs a function, and {loaded.name} has neither build() nor model()",
                f"name the function: {request.model}:FUNCTION",
            )
        return
    function = names[chosen]
    arguments = dict(map(_argument, request.arg))
    loaded.function = chosen
    _check_arguments(chosen, function, arguments)
    loaded.result = call(loaded.name, function, **arguments)


def _is_entry(value: Any, loaded: Loaded, request: Request) -> bool:
    """Whether a function is called by itself; a helper that wants arguments is not, in a file that has computed."""
    if not isinstance(value, types.FunctionType):
        return False
    code, defaults = value.__code__, value.__defaults__ or ()
    needs = code.co_argcount > len(defaults) or code.co_kwonlyargcount > len(value.__kwdefaults__ or {})
    if not needs or request.arg:
        return True
    computed = any(isinstance(v, (Tensor, Variable)) for v in loaded.namespace.values())
    return not (computed or loaded.calls.swept or loaded.calls.appended)


def _argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise CommandError(f"--arg {text}: expected NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


def _check_arguments(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise CommandError(f"{name}{signature}: {error}", "--arg NAME=VALUE gives an argument") from None


# -- the boundary between the tool and the user's code ----------------------------------------------------------------


def call(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the user's code; what it raises becomes a :class:`ModelError` with the user's frames.

    Errors of the engine pass, with the user's line filled in. What it prints goes to stderr: stdout is for results,
    except within a session, which shows results in its own way.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr) if sessions.current() is None else contextlib.nullcontext():
            return function(*args, **kwargs)
    except (KeyboardInterrupt, Terminated, CommandError, Stopped):
        raise
    except SystemExit as error:
        said = "" if error.code is None else repr(error.code)
        raise ScriptExit(
            f"{name} called sys.exit({said})",
            _frames(error.__traceback__),
            "put what only a script does under: if __name__ == '__main__':",
            succeeded=not error.code,
        ) from None
    except GradtoolError as error:
        if error.made is None:
            user = _user_frames(error.__traceback__)
            error.made = source.describe(((user[-1]),)) if user else None
        raise
    except BaseException as error:
        first, *more = _said(error).split("\n")
        frames = [*_frames(error.__traceback__), *(line.strip() for line in more), *_causes(error)]
        raise ModelError(f"{name} raised {first}", frames) from error


def _said(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _causes(error: BaseException) -> Iterator[str]:
    seen = {id(error)}
    while True:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen:
            return
        seen.add(id(cause))
        yield f"after {_said(cause).partition(chr(10))[0]}"
        error = cause


def _user_frames(traceback: TracebackType | None) -> list[tuple[CodeType, int]]:
    """The frames of *traceback* that are neither gradtool's, nor Python's, nor an installed package's."""
    inside = []
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if not _is_ours(module):
            inside.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    return list(users_own(inside))


def users_own(frames: Sequence[tuple[CodeType, int]]) -> Sequence[tuple[CodeType, int]]:
    """The frames that are neither Python's nor an installed package's; all of them if there is no other."""
    own = [f for f in frames if not _installed(f[0].co_filename)]
    return own or frames


def _installed(file: str) -> bool:
    if file.startswith("<frozen "):
        return True
    import sysconfig

    paths = sysconfig.get_paths()
    return any(file.startswith(paths[k]) for k in ("stdlib", "platstdlib", "purelib", "platlib"))


def _frames(traceback: TracebackType | None) -> list[str]:
    frames = _user_frames(traceback)
    if len(frames) > 20:  # endless recursion: its ends say all
        return [*source.stack(tuple(reversed(frames[:10]))), "…", *source.stack(tuple(reversed(frames[-10:])))]
    return list(source.stack(tuple(reversed(frames))))


def variables_of(namespace: Mapping[str, Any]) -> dict[str, Variable]:
    """The names of a module that are bound to variables."""
    return {name: value for name, value in namespace.items() if isinstance(value, Variable)}


def raised_in(error: BaseException) -> FrameType | None:
    """The user's innermost frame in the traceback of *error*, or of what it was raised from."""
    frame = None
    traceback = _origin(error).__traceback__
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if not _is_ours(module) and not _installed(traceback.tb_frame.f_code.co_filename):
            frame = traceback.tb_frame
        traceback = traceback.tb_next
    return frame


def stack_of(error: BaseException) -> list[str]:
    """What was noted of *error*, and the user's frames in its traceback, outermost first, with their lines."""
    origin = _origin(error)
    notes = getattr(origin, "__notes__", []) if origin is not error else []
    return [*notes, *_frames(origin.__traceback__)]


def _origin(error: BaseException) -> BaseException:
    while error.__cause__ is not None and isinstance(error, ModelError):
        error = error.__cause__
    return error


def _is_ours(module: str) -> bool:
    return module == "gradtool" or module.startswith("gradtool.")


def raised_at(error: BaseException) -> source.Location:
    """The user's innermost line in the traceback of *error*."""
    frames = _user_frames(error.__traceback__)
    return tuple(frames[-1:])
