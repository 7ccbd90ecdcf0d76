"""A second run of a model file in one command: announced, or refused where the first one had effects.

A command may run a file again, to prove an answer or with other seeds: it says so, and why. Processes that the file
starts, ports that it listens at, and files that it writes with ``--write`` would be there twice.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from types import FrameType
from typing import Any, Final

from ..core import audit
from ..core.cache_folders import is_in_cache
from ..core.command_errors import CommandError
from ..core.scoped_variables import set_inside

_PROCESSES: Final = "starts processes"

_EFFECTS: Final = {
    **dict.fromkeys(("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"), _PROCESSES),
    **dict.fromkeys(("os.exec", "os.startfile", "subprocess.Popen"), _PROCESSES),
    "socket.bind": "listens at a port",
}
"""What a file does, by Python's audit event of it."""

_SPAWNING: Final = "multiprocessing.popen_spawn_posix"
"""A module of Python that is imported before the first process is spawned: no audit event is raised for that."""

_ON_BEHALF: Final = ("torch.multiprocessing", "torch.distributed")
"""Packages that start processes as the file says; those that load data start theirs anew in every run."""

_PASSING_ON: Final = frozenset(
    {
        "asyncio",
        "concurrent",
        "http",
        "importlib",
        "multiprocessing",
        "os",
        "socket",
        "socketserver",
        "subprocess",
        "threading",
    }
)
"""Modules of Python that do what others ask of them."""

_IMPORTING: Final = f"{__package__}.imports"
"""The module of gradtool that imports what a file asks for."""

_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_noted: ContextVar[dict[str, dict[str, None]] | None] = ContextVar("gradtool_effects", default=None)
"""By file, its effects in this command, the first one first; None where somebody asked for every run himself."""

_transformed: ContextVar[list[str]] = ContextVar("gradtool_transformed")
"""Functions that computed gradients in this command, and that nobody can listen to."""

_again: ContextVar[tuple[Callable[[str], None], dict[tuple[str, str], None]]] = ContextVar("gradtool_runs_again")
"""Who hears of another run of a file, and which files have run for which reasons."""

_reason: ContextVar[str] = ContextVar("gradtool_reason_to_run", default="one of its answers needs a run of its own")
"""Why a file runs now, if it has run before."""

_watched: ContextVar[tuple[str, bool] | None] = ContextVar("gradtool_effects_watched", default=None)
"""The file that runs, and whether what it writes stays."""


def _nobody(text: str) -> None:
    """Hear of nothing."""


@contextmanager
def command_scope(announce: Callable[[str], None] = _nobody) -> Iterator[None]:
    """Inside, one command runs; none of its files runs again after an effect, nor without a word.

    Args:
        announce: receives the sentence about a file that runs again, once for each reason.
    """
    token, again, transformed = _noted.set({}), _again.set((announce, {})), _transformed.set([])
    try:
        yield
    finally:
        _transformed.reset(transformed)
        _again.reset(again)
        _noted.reset(token)


def run_because(reason: str) -> AbstractContextManager[object]:
    """Inside, a file that has run before runs again for this reason."""
    return set_inside(_reason, reason)


def begin_run(file: str, name: str) -> None:
    """Announce that a file runs again in this command; refuse that where it had an effect.

    Raises:
        CommandError: it had one.
    """
    noted = _noted.get()
    if noted is None:
        return
    effects = noted.get(file)
    if effects:
        raise CommandError(
            f"{name} {next(iter(effects))}, so it is not run a second time",
            "put what does that under a condition, and run the command on the rest",
        )
    # A command with a hundred passes says it once for each reason, not a hundred times.
    announce, runs = _again.get()
    has_run, reason = any(known == file for known, _ in runs), _reason.get()
    if has_run and (file, reason) not in runs:
        announce(f"{name} runs again: {reason}")
    runs[file, reason if has_run else ""] = None


def starts_processes(file: str) -> bool:
    """Return whether a file has started a process in this command: what that writes goes past an overlay."""
    return _PROCESSES in (_noted.get() or {}).get(file, {})


def note_transformed(function: str) -> None:
    """Note that gradients were computed by a function, such as ``torch.func.grad``, whose operators are not seen."""
    functions = _transformed.get([])
    if function not in functions:
        functions.append(function)


def explain_missing_loss() -> str:
    """Return why no loss may have been seen in this command, and what to do; empty if nothing is known."""
    if any(_PROCESSES in effects for effects in (_noted.get() or {}).values()):
        return "it starts processes, and what they compute is not seen: call what trains in this process alone"
    if functions := _transformed.get([]):
        return f"{functions[0]} computes gradients here, and is not seen: call backward() on the loss of one batch"
    return ""


@contextmanager
def watch_file(file: str, writes: bool) -> Iterator[None]:
    """Note the effects of a file that runs inside.

    Args:
        writes: whether what it writes stays.
    """
    if _noted.get() is None:
        yield
        return
    _hear()
    token = _watched.set((file, writes))
    try:
        yield
    finally:
        _watched.reset(token)


@cache
def _hear() -> None:
    audit.listen(_note, lambda event: event in _EFFECTS or event in ("open", "import"))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    """Note an audit event."""
    if event == "import":
        if arguments[0] != _SPAWNING:
            return
        event = "os.spawn"
    running, noted = _watched.get(), _noted.get()
    if running is None or noted is None:
        return
    file, stays = running
    effects = noted.get(file, {})
    if event == "open":
        effect = _file_write(*arguments) if stays and not effects else ""
    else:
        effect = _EFFECTS[event] if _EFFECTS[event] not in effects and _is_users(sys._getframe(2)) else ""
    if effect:
        noted.setdefault(file, {})[effect] = None


def _file_write(path: Any, mode: Any, flags: Any) -> str:
    """Return that a file is written; empty where it is read, or no file."""
    if isinstance(path, int) or not (isinstance(flags, int) and flags & _WRITING):
        return ""
    name = os.fsdecode(path)
    is_cache = name.endswith(".pyc") or is_in_cache(name)
    return "" if is_cache or name.startswith(("/dev/", "/proc/")) else f"writes {os.path.basename(name)}"


def _is_users(frame: FrameType | None) -> bool:
    """Return whether the user's code called, or a package on its behalf; others look at the system for themselves."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_ON_BEHALF):
            return True
        if module.partition(".")[0] not in _PASSING_ON and module != _IMPORTING:
            from ..core import source  # not before a file runs: help does not need it

            return not source.is_ours(module) and not source.is_installed(frame.f_code.co_filename)
        frame = frame.f_back
    return False
