"""Paths in configuration files: relative to the folder of the file, and below it once their links are resolved."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from typing import Any, Final

from gradtool.engine.core.command_errors import ConfigurationError
from gradtool.engine.files import confined_paths
from gradtool.engine.files.schema import Path

from .files import ConfigurationFile
from .permitted import READ, Form, Inside

_ENDS: Final[dict[Form, re.Pattern[str]]] = {"rows": re.compile(r"\[[^\]]*\]$"), "batch": re.compile(r":[^:/\\]*$")}
"""What may stand behind a path."""

_HINT: Final = "say it on the command line: a file in a folder decides about that folder alone"


def resolve(value: str, use: Inside, source: ConfigurationFile, key: Path) -> str:
    """Return *value* with its path as the current folder has it, without links.

    Raises:
        ConfigurationError: it lies outside the folder of the file, behind a protocol, or is a link to elsewhere.
    """
    form, equals, rest = value.partition("=") if use.form == "form" else ("", "", value)
    end = _ENDS[use.form].search(rest) if use.form in _ENDS else None
    file, after = (rest, "") if end is None else (rest[: end.start()], end.group())
    if not file or file == "-":
        return value
    place = f"{source.place(key)}: {key[-1]}"
    return f"{form}{equals}{resolve_inside(file, source.folder, place, use)}{after}"


def resolve_inside(file: str, folder: str, place: str, use: Inside = READ) -> str:
    """Return the path *file*, which a configuration file in *folder* names, as the current folder has it.

    Args:
        place: the file, its line and key, for messages.
        use: whether it is a glob, and whether it is written to.

    Raises:
        ConfigurationError: it lies elsewhere.
    """
    if "://" in file or "\0" in file:
        raise ConfigurationError(f"{place}: {file} is no path below the folder of the file", _HINT)
    real = os.path.realpath(folder)
    if use.form == "glob" and glob.has_magic(file):
        return _glob(file, real, place)
    whole = confined_paths.resolve(os.path.join(real, file), real)
    if whole is None:
        raise _error_outside(file, real, place)
    for path in () if use.writes else _links(whole):
        if confined_paths.resolve(path, real) is None:
            raise _error_outside(os.path.relpath(path, real), real, place)
    return shorten(whole)


def _glob(pattern: str, folder: str, place: str) -> str:
    """A pattern; all files that it stands for lie below *folder*."""
    if os.pardir in pattern.replace(os.sep, "/").split("/") or os.path.isabs(pattern):
        raise _error_outside(pattern, folder, place)
    whole = os.path.join(glob.escape(folder), pattern)
    for path in glob.glob(whole, recursive=True):
        resolve_inside(os.path.relpath(path, folder), folder, place)
    return whole


def _links(path: str) -> Iterator[str]:
    """The links in a folder and below."""
    for at, folders, files in os.walk(path):
        yield from (p for p in (os.path.join(at, name) for name in (*folders, *files)) if os.path.islink(p))


def _error_outside(file: str, folder: str, place: str) -> ConfigurationError:
    lexically = os.path.normpath(os.path.join(folder, file))
    leads = confined_paths.resolve(os.path.dirname(lexically), folder) is not None and os.path.lexists(lexically)
    what = "is a link that leads" if leads and os.path.islink(lexically) else "lies"
    return ConfigurationError(f"{place}: {file} {what} outside the folder of {place.partition(':')[0]}", _HINT)


def shorten(path: str) -> str:
    """A path as a message has it: relative where that is shorter."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def output_paths(values: Any, use: Inside) -> Iterator[str]:
    """Yield the paths in a resolved value at which something is written."""
    if not use.writes:
        return
    for value in values if isinstance(values, list) else [values]:
        path = value.partition("=")[2] if use.form == "form" else value
        if path and path != "-":
            yield path
