"""Dependencies of a model's run other than its settings: files, folders, variables, modules; and what forbids a cache.

Inside :func:`record_usage` Python reports every file that is opened (its audit events), the environment each look-up,
and a few functions each request for the time or for randomness. A process knows this of the first model that it runs:
what that one has loaded is there for the next one, which opens it no more.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any, Final

import gradtool

from ..core import audit, source
from ..core.source import is_installed
from ..files import layer, native, overlay
from .file_state import digest, environment, find_shadows, folder_digest, hash_text

_REASONS: Final[Mapping[str, str]] = {
    "socket": "the network",
    "subprocess": "another process",
    "os.system": "another process",
    "os.exec": "another process",
    "os.fork": "another process",
    "os.forkpty": "another process",
    "os.posix_spawn": "another process",
    "os.spawn": "another process",
    "os.startfile": "another process",
    "sqlite3": "a database",
    "ctypes": "a library of the system",
}
"""Audit events, or what stands before their first dot, and what they mean."""

_FOLDERS: Final = ("os.listdir", "os.scandir")

_CLOCKS: Final = (
    *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
    *("process_time", "process_time_ns", "thread_time", "localtime", "gmtime", "ctime", "asctime", "strftime"),
)

_TODAY: Final = frozenset({"now", "utcnow", "today", "uuid1"})
"""Names in code of the user's that ask what time it is, of types that cannot be watched."""

_SYSTEM: Final = ("/dev/", "/proc/", "/sys/")

_MARGIN: Final = 20_000_000
"""Nanoseconds by which the time of a file may be behind that of the clock."""


class Usage:
    """Files and values that a run has used.

    Attributes:
        reasons: why what came of it holds for this run alone.
        files: those that were opened or looked for, absolute.
        folders: those that were listed.
        variables: of the environment, and their values.
        everything: whether all of the environment was looked at.
    """

    def __init__(self) -> None:
        self.reasons: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.folders: dict[str, None] = {}
        self.variables: dict[str, str | None] = {}
        self.everything = False
        self.begun = time.time_ns()
        self._code: list[CodeType] = []
        self._busy = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event."""
        if native.is_busy():
            return
        if event == "open":
            self._note_open(*arguments)
        elif event in _FOLDERS:
            self._note_listing(arguments[0])
        elif event == "exec":
            self._note_code(arguments[0])
        else:
            reason = _REASONS.get(event) or _REASONS.get(event.partition(".")[0])
            if reason is not None:
                self.reasons[reason] = None

    def _note_open(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int) or self._busy:
            return
        name = os.fsdecode(path)
        if name.startswith(_SYSTEM):
            if name != os.devnull:
                self.reasons[name] = None
            return
        writing = bool(isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if not writing and not name.endswith(".pyc"):
            self.files[os.path.abspath(name)] = None

    def _note_listing(self, path: Any) -> None:
        # What looks for modules lists the folders that they may lie in: what stands for that is in `beside`.
        caller = str(sys._getframe(4).f_globals.get("__name__", ""))
        ours = source.is_ours(caller) and caller not in (overlay.__name__, layer.__name__)
        if isinstance(path, int) or ours or caller.startswith(("importlib.", "_frozen_importlib")):
            return
        self.folders[os.path.abspath(os.fsdecode(path if path is not None else os.curdir))] = None

    def note_path(self, path: str) -> None:
        """The user's code asks about a path: whether it is there, what it is."""
        self.files[os.path.abspath(path)] = None

    def _note_code(self, code: Any) -> None:
        if isinstance(code, CodeType):
            self._code.append(code)

    def note_call(self, what: str) -> None:
        """Somebody calls a function whose answers nothing fixes; the user's code, or a library for it."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") in ("random", "secrets", __name__):
            frame = frame.f_back
        module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
        if module != "tempfile" and not source.is_ours(module):
            self.reasons[what] = None

    def note_call_in_code(self, what: str) -> None:
        """The same, where libraries ask for their own purposes: only a caller in the user's code counts."""
        frame = sys._getframe(2)
        module = str(frame.f_globals.get("__name__", ""))
        if not source.is_ours(module) and not is_installed(frame.f_code.co_filename):
            self.reasons[what] = None

    def data(self, origins: Mapping[str, str], folder: str | None, more: Iterable[str]) -> dict[str, Any] | None:
        """All of it as JSON's types; None where nothing may be kept.

        Args:
            origins: by name, the files of modules that were looked for.
            folder: where the model lies.
            more: files that were read before this was watched.
        """
        self._busy = True
        self._look_at_modules(origins)
        for code in self._code:
            if not is_installed(code.co_filename) and not _is_package(code.co_filename) and _asks_for_today(code):
                self.reasons["the date"] = None
        if self.reasons:
            return None
        own = [f for n, f in origins.items() if not source.is_ours(n) and os.path.isfile(f)]
        own = [*map(os.path.abspath, (*more, *own))]
        files = {f for f in (*self.files, *own) if not _is_known(f)}
        if any(_has_changed(f, self.begun - _MARGIN) for f in (*files, *self.folders)):
            return None
        names = sorted({part for name in origins if not source.is_ours(name) for part in name.split(".")})
        places = {os.path.dirname(f) for f in own if not _is_known(f)} | ({folder} if folder is not None else set())
        return {
            "files": {f: digest(f) for f in sorted(files)},
            "folders": {f: folder_digest(f) for f in sorted(self.folders) if not _is_known(f)},
            "beside": {f: find_shadows(f, names) for f in sorted(map(os.path.abspath, places))},
            "names": names,
            "variables": {n: hash_text(v) for n, v in sorted(self.variables.items())},
            "environment": environment() if self.everything else None,
        }

    def _look_at_modules(self, origins: Mapping[str, str]) -> None:
        """Libraries that are no Python open files without saying so."""
        for name, file in origins.items():
            if not file.endswith((".py", ".pyc")) and file not in ("built-in", "frozen"):
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and not source.is_ours(name):
                    self.reasons[f"the library {top}"] = None


def _is_package(file: str) -> bool:
    """Return whether a file is gradtool's own."""
    return any(file.startswith(os.path.join(folder, "")) for folder in gradtool.__path__)


def _is_known(file: str) -> bool:
    """Return whether a file belongs to the installation, which the key of an entry knows by itself."""
    return _is_package(file) or (is_installed(file) and not os.path.basename(file).startswith("__init__."))


def _has_changed(path: str, when: int) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return max(status.st_mtime_ns, status.st_ctime_ns) > when


def _asks_for_today(code: CodeType) -> bool:
    left = [code]
    while left:
        each = left.pop()
        if not _TODAY.isdisjoint(each.co_names):
            return True
        left += [c for c in each.co_consts if isinstance(c, CodeType)]
    return False


_heard: list[Usage] = []
"""Whoever records what is used; what hears it stays until the process ends."""

_earlier: list[str] = []
"""Why this process knows no more what a model uses."""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for used in _heard:
        used.hear(event, arguments)


@cache
def _hear() -> None:
    audit.listen(_hook, _is_meant)


def _is_meant(event: str) -> bool:
    """Return whether :meth:`Usage.hear` looks at events of that name."""
    return event in ("open", "exec", *_FOLDERS) or event in _REASONS or event.partition(".")[0] in _REASONS


@contextmanager
def record_usage() -> Iterator[Usage]:
    """Record what is used inside."""
    import random

    used = Usage()
    used.reasons.update(dict.fromkeys(_earlier))
    _earlier[:] = ["what an earlier model has loaded"]
    clock = "the clock"
    replaced: list[tuple[Any, str, Callable[[Any], Any]]] = [
        *((time, name, _report_calls(used.note_call_in_code, clock)) for name in _CLOCKS if hasattr(time, name)),
        (os, "getpid", _report_calls(used.note_call_in_code, "the number of the process")),
        *((m, n, _report_calls(used.note_call, _RANDOM)) for m, n in ((os, "urandom"), (random, "_urandom"))),
        (random.Random, "seed", lambda seed: _report_unseeded(seed, used)),
    ]
    with ExitStack() as stack:
        for owner, name, replacing in replaced:
            before = getattr(owner, name)
            stack.callback(setattr, owner, name, before)
            setattr(owner, name, replacing(before))
        stack.callback(setattr, random, "seed", random.seed)
        random.seed = random._inst.seed
        stack.enter_context(_watch_environment(used))
        _hear()
        _heard.append(used)
        stack.callback(_heard.clear)
        stack.callback(setattr, overlay, "asked", overlay.asked)
        overlay.asked = used.note_path
        yield used


_RANDOM: Final = "randomness of the system"


def _report_calls(tell: Callable[[str], None], what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a wrapper that reports each call of a function."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            tell(what)
            return function(*args, **options)

        return call

    return wrap


def _report_unseeded(seed: Callable[..., None], used: Usage) -> Callable[..., None]:
    """Return a function that reports generators that nobody seeds."""

    def seed_or_report(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None:
            used.note_call(_RANDOM)
        seed(self, a, version)

    return seed_or_report


@contextmanager
def _watch_environment(used: Usage) -> Iterator[None]:
    class Watched(os._Environ):  # type: ignore[type-arg]
        def __getitem__(self, key: Any) -> Any:
            try:
                value = super().__getitem__(key)
            except KeyError:
                used.variables.setdefault(key, None)
                raise
            used.variables.setdefault(key, value)
            return value

        def __iter__(self) -> Any:
            used.everything = True
            return super().__iter__()

        def __len__(self) -> int:
            used.everything = True
            return super().__len__()

    class WatchedBytes(os._Environ):  # type: ignore[type-arg]
        def __getitem__(self, key: Any) -> Any:
            used.everything = True
            return super().__getitem__(key)

    with ExitStack() as stack:
        for name, kind in (("environ", Watched), ("environb", WatchedBytes)):
            environ = getattr(os, name, None)
            if environ is not None:
                stack.callback(setattr, environ, "__class__", type(environ))
                environ.__class__ = kind
        yield
