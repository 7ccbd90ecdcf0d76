"""The MODEL argument: ``model.py``, ``model.py:build``, ``pkg.mod:build``, ``-`` for stdin, or a saved program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

from .. import importers
from ..core import source
from ..core.command_errors import CommandError, MissingModel
from ..core.errors import FileFormatError
from ..core.near_names import find_near, shorten
from ..script import cells as notebooks
from ..script import sessions
from ..script.target import Target

STARTED = "__main__.py"
"""What Python runs of a folder, and of a package."""

_LONGEST_PATH = 4096
"""Bytes of a path, by the longest that systems take."""


def target(text: str, stdin_filename: str = "<stdin>", as_module: bool = False) -> Target:
    """Return the target that a MODEL argument names.

    Args:
        text: the argument.
        stdin_filename: what to call what comes from stdin.
        as_module: it is a module, as behind ``python -m``: a package is its ``__main__``.

    Raises:
        CommandError: there is nothing of that name, or it is no model.
    """
    before, colon, after = text.rpartition(":")
    if colon and before and after.isidentifier() and not exists(text):
        where, function = before, after
    else:
        where, function = text, None
    if where == "-":
        name = stdin_filename
        return Target(sys.stdin.buffer.read, name, name, source.last_part(name), "", function)
    session = sessions.current()
    text_there = session.source(where) if session is not None else None
    if text_there is not None:
        return Target(text_there.encode, where, where, where, "", function)
    if as_module:
        started = _module(where, function, started=True)
        if started is not None:
            return started
        if not os.path.isfile(where):
            raise _not_started(where)
    return _file_target(where, function)


def _not_started(name: str) -> CommandError:
    """The error for what ``python -m`` cannot run."""
    folder = Path(*name.split("."))
    if _module(name, None) is None and not folder.is_dir():
        return MissingModel(f"-m {shorten(name)}: there is no module of that name", _python_files(Path(), f"{name}.py"))
    inside = [f"{name}.{p.stem}" for p in sorted(folder.glob("*.py")) if not p.stem.startswith("__")][:3]
    hint = f"a module in it: -m {', -m '.join(inside)}" if inside else f"a function in it: {name}:FUNCTION, without -m"
    return MissingModel(f"-m {name}: a package without {STARTED}, which python -m cannot run either", hint)


def _file_target(where: str, function: str | None) -> Target:
    """A file, or a module that is named as if it were one."""
    path = Path(where)
    if exists(where) and (path / STARTED).is_file():
        path = path / STARTED  # as ``python FOLDER`` does
        where = str(path)
    if not exists(where):
        module = None if importers.is_file_name(path) else _module(where, function)
        if module is not None:
            return module
        beside = path.parent if exists(str(path.parent)) else Path()
        raise MissingModel(f"no such file: {shorten(where)}", _python_files(beside, path.name))
    if path.is_dir():
        raise MissingModel(f"{where} is a folder, not a model file", _python_files(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MissingModel(f"cannot read {where}: {error.strerror}") from None
    name, file, folder = source.last_part(where), str(path.resolve()), str(path.resolve().parent)
    if path.suffix == notebooks.ENDING:
        try:
            texts = notebooks.cells(data, where)
        except FileFormatError as error:
            raise MissingModel(f"{name} is no notebook: {error}") from None
        return Target(lambda: b"", where, file, name, folder, function, texts)
    saved = importers.reader(path, data)
    if saved is None:
        return Target(lambda: data, where, file, name, folder, function)
    sized = importers.takes_sizes(path)
    return Target(lambda: data, where, file, name, None, function, saved=saved, takes_sizes=sized)


def exists(path: str) -> bool:
    """Return whether there is a file or a folder of that name; what cannot be a name is none."""
    return len(path) <= _LONGEST_PATH and os.path.exists(path)


def is_model(text: str) -> bool:
    """Return whether a MODEL argument can be *text*, as far as its name says."""
    where, session = text.partition(":")[0], sessions.current()
    return exists(where) or (session is not None and session.has(where))


def _python_files(folder: Path, like: str | None = None) -> str | None:
    names = sorted(p.name for p in folder.glob("*.py"))
    close = names[:3] if like is None else find_near(like, names)
    return f"there is {', '.join(close)}" if close else None


def _module(name: str, function: str | None, started: bool = False) -> Target | None:
    """A module by its dotted name, looked up with the current folder first; None when there is none.

    Args:
        started: of a package, its ``__main__`` is meant.

    Nothing is imported: the packages around it are imported when it runs.
    """
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    spec: ModuleSpec | None = None
    sys.path.insert(0, "")
    try:
        for i in range(1, len(parts) + 1):
            folders = None if spec is None else _copy_list(spec.submodule_search_locations)
            if i > 1 and folders is None:
                return None
            spec = _spec(parts[i - 1], folders)
            if spec is None:
                return None
        inside = None if spec is None else _copy_list(spec.submodule_search_locations)
        if started and inside is not None and not name.endswith("__main__"):
            name = f"{name}.__main__"
            spec = _spec("__main__", inside)
    finally:
        sys.path.remove("")
    if spec is None or spec.origin is None or not hasattr(spec.loader, "get_source"):
        return None
    origin = spec.origin
    return Target(Path(origin).read_bytes, origin, origin, name, "", function, package=name.rpartition(".")[0])


def _copy_list(folders: Sequence[str] | None) -> list[str] | None:
    return None if folders is None else list(folders)


def _spec(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec that Python's finders give for a module in the folders of its package.

    Args:
        name: without its package: finders would ask an imported package for its path, and none is imported.
    """
    specs = (finder.find_spec(name, folders) for finder in sys.meta_path)
    return next((spec for spec in specs if spec is not None), None)
