"""Reading configuration files, and the lines of their keys."""

from __future__ import annotations

import os
from dataclasses import field
from typing import Any

from gradtool.engine.core.command_errors import ConfigurationError
from gradtool.engine.core.records import dataclass
from gradtool.engine.files.schema import Path

from . import PROJECT

INSIDE = {PROJECT: ("tool", "gradtool")}
"""Files that hold other things as well, and under which keys ours stand."""


@dataclass
class ConfigurationFile:
    """A file that was read.

    Attributes:
        path: where it lies, absolute.
        values: what stands in it.
        inside: the keys that ours stand under.
    """

    path: str
    values: dict[str, Any]
    text: str
    inside: Path = ()
    _lines: dict[Path, int] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Folder of the file: what relative paths in it are relative to."""
        return os.path.dirname(self.path)

    def place(self, path: Path) -> str:
        """``pyproject.toml:12``, of a key or the nearest one around it."""
        if not self._lines:
            self._lines = lines(self.text)
        whole = (*self.inside, *path)
        while whole and whole not in self._lines:
            whole = whole[:-1]
        line = self._lines.get(whole)
        try:
            shown = os.path.relpath(self.path)
        except (ValueError, OSError):  # another drive; no current folder
            shown = self.path
        shown = (self.path if shown.startswith("..") else shown).replace(os.sep, "/")
        return shown if line is None else f"{shown}:{line}"


def read(path: str) -> ConfigurationFile | None:
    """A file; None if nothing of ours stands in it.

    Raises:
        CommandError: it cannot be read, or is no TOML.
    """
    import tomllib

    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
        values: Any = tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(
            f"{os.path.basename(path)} is not TOML: {str(error) or 'it is nested too deeply'}"
        ) from None
    inside = INSIDE.get(os.path.basename(path), ())
    for key in inside:
        values = values.get(key) if isinstance(values, dict) else None
    if values is None:
        return None
    if not isinstance(values, dict):
        raise ConfigurationError(f"{os.path.basename(path)}: {'.'.join(inside)}: expected a table")
    return ConfigurationFile(os.path.abspath(path), values, text, inside)


def lines(text: str) -> dict[Path, int]:
    """The line of each key, from 1.

    Each statement of TOML is TOML by itself: lines are taken together until they are, so that no string and no list is
    looked into.

    Args:
        text: TOML.
    """
    import tomllib

    told: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    statement, first = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        first = first if statement else number
        statement += line + "\n"
        try:
            values = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # it goes on
        header = statement.lstrip().startswith("[")
        if header:
            table = _enter_table(values, counts)
            told.setdefault(table, first)
        else:
            for path in _paths(values):
                told.setdefault((*table, *path), first)
        statement = ""
    return told


def _enter_table(values: dict[str, Any], counts: dict[Path, int]) -> Path:
    """The table that a header begins; in a list of tables it is the last one, or a new one."""
    path: Path = ()
    inner: Any = values
    while isinstance(inner, dict) and inner:
        ((key, inner),) = inner.items()
        path = (*path, key)
        new = isinstance(inner, list)
        if new:
            counts[path] = counts.get(path, 0) + 1
            inner = inner[0]
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _paths(values: Any, before: Path = ()) -> list[Path]:
    """The ways to all values in a table, and to the tables on the way."""
    told: list[Path] = [before] if before else []
    members = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in members:
        told += _paths(value, (*before, key))
    return told
