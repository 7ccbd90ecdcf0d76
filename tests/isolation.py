"""What tests have to themselves, and what they have to leave as it was."""

from __future__ import annotations

import _signal  # without the names that signal puts around each handler
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final

import numpy as np
import pytest

import gradtool
from gradtool.engine.core import state, watch
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default
from gradtool.engine.kernels import choice
from gradtool.paddle import ParamAttr, Tensor, _variable_methods
from gradtool.paddle._late_method import LateMethod
from gradtool.paddle._lazy import fields
from gradtool.paddle.autograd import PyLayer
from gradtool.paddle.nn import Layer
from gradtool.paddle.optimizer import Optimizer
from gradtool.paddle.static import Program, Variable
from gradtool.paddle.utils import unique_name

_HOMES: Final = tuple(
    os.path.join(os.path.abspath(folder), "")
    for folder in (sys.prefix, sys.base_prefix, Path(__file__).parents[1], *gradtool.__path__)
)
"""What lies here is installed or ours. A module from elsewhere is of a model."""

_SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)
_PRIVATE: Final = ("gradtool.cli.", "gradtool.engine.", "gradtool.viz.")
"""Packages whose classes users do not write to."""

_VENDORED: Final = os.path.join("setuptools", "_vendor")
"""What setuptools adds to the path when it is imported."""

_OF_OTHERS: Final = (
    *("PYTEST_CURRENT_TEST", "GOMP_SPINCOUNT", "KMP_DUPLICATE_LIB_OK", "TF_CPP_MIN_LOG_LEVEL", "TPU_SKIP_MDS_QUERY"),
    "CRC32C_SW_MODE",
)
"""Variables that pytest, the kernels of oneDNN, threadpoolctl, JAX and tensorboardX set when they begin."""

_COMMON: Final = (Layer, Optimizer, ParamAttr, Program, PyLayer, Tensor, Variable)
"""Classes that most users write to. They are loaded with this file and looked at after each test; others after
each module, where they were loaded before it."""

_OF_PYTHON: Final = frozenset({"__slotnames__", "__abstractmethods__", "__annotations__", "__doc__"})
"""What Python itself sets on classes whose objects are copied or inspected."""


@contextmanager
def clean() -> Iterator[None]:
    """Empty programs, an empty scope, names that count from 0, and random numbers from the beginning."""
    state.random.reset(0)
    with default.fresh_programs(), scope_guard(Scope()), unique_name.guard():
        yield


@contextmanager
def own_modules() -> Iterator[None]:
    """Forget afterwards what is imported inside from folders of the test."""
    before = dict(sys.modules)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name not in before and _is_of_a_model(name)]:
            del sys.modules[name]


@contextmanager
def interruptible() -> Iterator[None]:
    """Hear Ctrl-C, here and in processes that are started: it is ignored where the tests run in the background."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def unchanged(reported: set[str], *, every_class: bool = False) -> Iterator[None]:
    """Leave the process as it was: what comes next would otherwise depend on what was inside.

    Args:
        reported: changes that an earlier failure has named; those of this one are added.
        every_class: look at all public classes that are loaded, which takes longer than many a test, not only at those
            that users write to most.

    Raises:
        pytest.fail.Exception: something was changed and not put back. It names each such thing.
    """
    choice.current()  # where nobody has chosen, the first who asks decides: that is no change
    modules = _Loaded.names()
    kinds = _Loaded.classes if every_class else _COMMON
    before, tables = {name: read() for name, read in _READ.items()}, [(kind, _Loaded.table(kind)) for kind in kinds]
    yield
    changes = [_said(name, before[name], now) for name, read in _READ.items() if (now := read()) != before[name]]
    changes += [change for kind, table in tables for change in _changed_attributes(kind, table)]
    if (now := _Loaded.names()) is not modules:
        changes += [f"the module {name}" for name in sorted(now - modules) if _is_of_a_model(name)]
    changes = [change for change in changes if change not in reported]
    if changes:
        reported.update(changes)
        pytest.fail(f"left behind for the tests that come next: {'; '.join(changes)}", pytrace=False)


class _Loaded:
    """What is loaded, as it was when it was last looked at.

    Attributes:
        classes: the public classes.
    """

    classes: ClassVar[dict[type, None]] = dict.fromkeys(_COMMON)
    _names: frozenset[str] = frozenset()
    _last: str | None = None
    _tables: Final[dict[type, dict[str, Any]]] = {}

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the names of all modules; the same object where none has come or gone."""
        last = next(reversed(sys.modules))
        if len(sys.modules) != len(cls._names) or last != cls._last:
            names = frozenset(sys.modules)
            for name in filter(_is_public, names - cls._names):
                kinds = [kind for kind in fields(sys.modules[name]).values() if isinstance(kind, type)]
                cls.classes.update(dict.fromkeys(k for k in kinds if k.__module__.startswith("gradtool")))
            cls._names, cls._last = names, last
        return cls._names

    @classmethod
    def table(cls, kind: type) -> dict[str, Any]:
        """Return the attributes of a class; the same object where none has changed."""
        table = cls._tables.get(kind)
        if table is None or vars(kind) != table:
            table = cls._tables[kind] = {**vars(kind)}
        return table


def _changed_attributes(kind: type, before: dict[str, Any]) -> list[str]:
    """Return the attributes of a class that are others than in an earlier table of them."""
    now = _Loaded.table(kind)
    if now is before:
        return []
    names = [name for name in before.keys() | now.keys() if before.get(name, before) is not now.get(name, before)]
    return [f"{kind.__name__}.{name}" for name in sorted(names) if not _is_of_use(name, before.get(name))]


def _is_of_use(name: str, before: Any) -> bool:
    """Return True for what appears on classes that are used: a method that is loaded late, what Python notes."""
    return isinstance(before, LateMethod) or before is _variable_methods._getitem or name in _OF_PYTHON


def _is_public(module: str) -> bool:
    """Return True for a module whose classes users derive from and write to."""
    return module.partition(".")[0] == "gradtool" and not f"{module}.".startswith(_PRIVATE)


def _environment() -> dict[bytes | str, bytes | str]:
    """Return the variables as they are held: to decode all of them takes longer than many a test."""
    held = dict(vars(os.environ)["_data"])
    for name in _OF_OTHERS:
        held.pop(name, None)
        held.pop(name.encode(), None)
    return held


_READ: Final[Mapping[str, Callable[[], Any]]] = {
    "the backend": lambda: choice._Process.chosen,
    "who watches": lambda: (watch.watcher(), watch._tensor_watcher.get(), watch._watching, watch.noting),
    "the current folder": os.getcwd,
    "the environment": _environment,
    "sys.path": lambda: [path for path in sys.path if not path.endswith(_VENDORED)],
    "sys.argv": lambda: list(sys.argv),
    "sys.meta_path": lambda: [finder for finder in sys.meta_path if _is_ours(finder)],
    "hooks of sys": lambda: (sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()),
    "the limit of recursion": sys.getrecursionlimit,
    "handlers of signals": lambda: dict(zip(_SIGNALS, map(_signal.getsignal, _SIGNALS), strict=True)),
    "errors of NumPy": np.geterr,
}
"""What is one for the process, and how it is read. Filters of warnings are not here: pytest puts them back itself."""


def _is_ours(finder: Any) -> bool:
    """Return True for a finder of gradtool's or of a test: those of libraries come when they are loaded, and stay."""
    kind = finder if isinstance(finder, type) else type(finder)
    return kind.__module__.partition(".")[0] not in sys.stdlib_module_names and not _is_installed(kind.__module__)


def _is_installed(module: str) -> bool:
    """Return True for a module of a library."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and f"{os.sep}site-packages{os.sep}" in file and not module.startswith("gradtool")


def _said(name: str, before: Any, now: Any) -> str:
    """Return what has become of one of them: of a table only the rows that differ."""
    if isinstance(before, dict):
        rows = sorted((key for key in before.keys() | now.keys() if before.get(key) != now.get(key)), key=str)
        return f"{name}: {', '.join(f'{key!s} was {before.get(key)!r}, is {now.get(key)!r}' for key in rows)}"
    return f"{name} was {before!r}, is {now!r}"


def _is_of_a_model(name: str) -> bool:
    """Return True for a module from a folder of a test, or a name that stands for none; extensions need no file."""
    if name.partition(".")[0] == "gradtool":
        return False
    module: ModuleType | None = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    return module is None or (file is not None and not os.path.abspath(file).startswith(_HOMES))
