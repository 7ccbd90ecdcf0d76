"""The boundary between the tool and the user's code: calling it, and what is told of an error that it raised.

The frames above this module's belong to the user; those below it to the tool (``engine/core/source.py`` knows this
module by name).
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any

from ..core import source
from ..core.command_errors import CommandError, ModelError, NotPython, ScriptExit, Terminated
from ..core.errors import GradtoolError, message
from ..core.identity import identity
from ..files import overlay
from . import sessions, streams
from .calls import Stopped


def call(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the user's code; what it raises becomes a :class:`ModelError` with the user's frames.

    Errors of the engine pass, with the user's line filled in. What it prints goes to stderr: stdout is for results,
    except within a session, which shows results in its own way.
    """
    try:
        with (
            streams.give_streams() if sessions.current() is None else streams.silence(),
            overlay.active(),
        ):
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
        _place(error, error.__traceback__)
        raise
    except BaseException as error:
        explained = getattr(error, _EXPLAINED, None)
        if isinstance(explained, GradtoolError):
            _place(explained, error.__traceback__)
            raise explained from None
        first, *more = _describe(error).split("\n")
        frames = [*_frames(error.__traceback__), *(line.strip() for line in more), *_causes(error)]
        raise ModelError(f"{name} raised {first}", frames, _python_hint(error)) from error


_EXPLAINED = "__gradtool__"
"""The attribute of an error of a framework that holds what is known of it."""


def explain(error: Exception, explained: GradtoolError) -> None:
    """Have an error stand for *explained* where it ends the user's code; in there, it stays what it is."""
    setattr(error, _EXPLAINED, explained)


def _place(error: GradtoolError, traceback: TracebackType | None) -> None:
    """Fill in the user's line."""
    if error.made is None:
        user = _user_frames(traceback)
        error.made = source.describe(((user[-1]),)) if user else None


def _python_hint(error: BaseException) -> str | None:
    """Return the hint for an error, where another Python than gradtool's may well have what is missing."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or error.name.partition(".")[0] == "paddle":
        return None
    return f"gradtool runs models in its own Python: install {error.name.partition('.')[0]} there"


def _describe(error: BaseException) -> str:
    text = message(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _causes(error: BaseException) -> Iterator[str]:
    seen = {identity(error)}
    while True:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or identity(cause) in seen:
            return
        seen.add(identity(cause))
        yield f"after {_describe(cause).partition(chr(10))[0]}"
        error = cause


def _user_frames(traceback: TracebackType | None) -> list[tuple[CodeType, int]]:
    """The frames of *traceback* that are neither gradtool's, nor Python's, nor an installed package's."""
    inside = []
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if not source.is_ours(module):
            inside.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    return list(users_own(inside))


def users_own(frames: Sequence[tuple[CodeType, int]]) -> Sequence[tuple[CodeType, int]]:
    """The frames that are neither Python's nor an installed package's; all of them if there is no other."""
    own = [f for f in frames if not source.is_installed(f[0].co_filename)]
    return own or frames


def _frames(traceback: TracebackType | None) -> list[str]:
    frames = _user_frames(traceback)
    if len(frames) > 20:  # endless recursion: its ends say all
        return [*source.stack(tuple(reversed(frames[:10]))), "…", *source.stack(tuple(reversed(frames[-10:])))]
    return list(source.stack(tuple(reversed(frames))))


def error_frame(error: BaseException) -> FrameType | None:
    """The user's innermost frame in the traceback of *error*, or of what it was raised from."""
    frame = None
    traceback = _origin(error).__traceback__
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if not source.is_ours(module) and not source.is_installed(traceback.tb_frame.f_code.co_filename):
            frame = traceback.tb_frame
        traceback = traceback.tb_next
    return frame


def stack_of(error: BaseException) -> list[str]:
    """Return the notes on *error*, and the user's frames in its traceback, outermost first, with their lines."""
    origin = _origin(error)
    notes = getattr(origin, "__notes__", []) if origin is not error else []
    return [*notes, *_frames(origin.__traceback__)]


def _origin(error: BaseException) -> BaseException:
    while error.__cause__ is not None and isinstance(error, ModelError):
        error = error.__cause__
    return error


def error_line(error: BaseException) -> source.Location:
    """The user's innermost line in the traceback of *error*."""
    frames = _user_frames(error.__traceback__)
    return tuple(frames[-1:])


def compile_file(data: bytes, name: str, part: ast.Module | None = None) -> CodeType:
    """The code of a file; its lines are remembered, so that messages can quote them whatever happens to the file.

    Args:
        part: what of it to compile; all when None.
    """
    text = data.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        return compile(data if part is None else part, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        frames = [f'File "{source.last_part(name)}", line {error.lineno}'] if error.lineno else []
        if error.text:
            frames.append(f"    {error.text.strip()}")
        raise NotPython(f"{source.last_part(name)} is not Python: {error.msg}", frames) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotPython(f"{source.last_part(name)} is not Python: {error or type(error).__name__}") from None


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """Run *code* with *namespace* as its names."""
    exec(code, namespace)
