"""Files laid over each other, and what they say for a command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import click

from gradtool.models.errors import ConfigurationError

from .. import commands
from . import files, gate, options
from .files import Source
from .nodes import Path, Problem, Table
from .options import Setting


@cache
def table() -> Table:
    """Everything that may stand in a file."""
    members: dict[str, Any] = {**options.shared(), **gate.TABLES}
    elsewhere = {key for settings in options.by_command().values() for key in settings} - set(members)
    refused = dict.fromkeys(elsewhere, "it means different things in different commands: set it in the table of one")
    said: dict[str, str] = {}
    for name in options.by_command():
        members[name] = _of(name)
        said |= members[name].refused
    for key in said:
        members.pop(key, None)
    return Table("option, command or table", members, refused=refused | said, doc="Settings of gradtool.")


@cache
def _of(name: str) -> Table:
    """What may stand in the table of a command."""
    settings = options.of(commands.loaded(name))
    refused = {s.key: options.NOT_IN_FILES[s.name] for s in settings.values() if s.name in options.NOT_IN_FILES}
    own = {key: setting.node for key, setting in settings.items() if key not in refused}
    return Table("option", own, refused=refused, doc=_doc(name))


def _problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with what a file says; as far as can be, only commands that it has tables of are loaded."""
    names = frozenset(commands.names())
    if not all(key in gate.TABLES or (key in names and isinstance(value, dict)) for key, value in values.items()):
        yield from table().problems(values, ())
        return
    for key, value in values.items():
        # --backward has the name of a command.
        part = _of(key) if key in names else gate.TABLES[key]
        yield from part.problems(value, (key,))


def _doc(name: str) -> str:
    return f"Options of gradtool {name}: {commands.summary(name)}"


@dataclass(frozen=True)
class Settings:
    """What files say.

    Attributes:
        sources: the files, the stronger one last.
    """

    sources: Sequence[Source]

    def of_command(self, name: str, command: click.Command) -> tuple[dict[str, Any], dict[str, str]]:
        """By parameter, what the files say for a command; and by parameter, the places where they say so."""
        values: dict[str, Any] = {}
        places: dict[str, str] = {}
        for setting, value, source, path in self.said(name, command):
            values[setting.name] = _resolved(value, setting, source, path)
            places[setting.name] = f"{source.place(path)}: {path[-1]}"
        return values, places

    def said(self, name: str, command: click.Command) -> Iterator[tuple[Setting, Any, Source, Path]]:
        """What the files say for a command, the stronger later: option, value, file and key."""
        settings = options.of(command) if self.sources else {}
        tables = {*gate.TABLES, *commands.names()}  # --backward has the name of a command
        for source in self.sources:
            for key, setting in settings.items():
                if key in source.values and key not in tables and options.takes(setting):
                    yield setting, source.values[key], source, (key,)
            for key, value in source.values.get(name, {}).items():
                yield settings[key], value, source, (name, key)

    def tables(self, name: str) -> Iterator[tuple[Any, Source]]:
        """What the files say in a table of the gate, the stronger later."""
        for source in self.sources:
            if name in source.values:
                yield source.values[name], source

    def merged(self, name: str) -> dict[str, Any]:
        """A table of the gate, key by key; the stronger file's keys count."""
        told: dict[str, Any] = {}
        for values, _ in self.tables(name):
            told |= values
        return told

    def listed(self, name: str) -> tuple[list[Mapping[str, Any]], Source | None]:
        """A list of tables of the gate, from the strongest file that has it, and that file."""
        *_, (values, source) = [([], None), *self.tables(name)]
        return list(values), source


def _resolved(value: Any, setting: Setting, source: Source, path: Path) -> Any:
    """A value with its paths as they are meant: relative to the folder of the file."""
    if not setting.path:
        return value
    if isinstance(value, list):
        return [_resolved(v, setting, source, path) for v in value]
    form, equals, file = value.partition("=") if setting.path == "form" else ("", "", value)
    if not file or file == "-":
        return value
    whole = os.path.normpath(os.path.join(source.folder, file))
    if not setting.is_read and os.path.relpath(whole, source.folder).split(os.sep)[0] == os.pardir:
        raise ConfigurationError(
            f"{source.place(path)}: {path[-1]}: {file} lies outside the folder of {os.path.basename(source.path)}",
            "say it on the command line: a file in a folder decides about that folder alone",
        )
    return f"{form}{equals}{_shown(whole)}"


def _shown(path: str) -> str:
    """A path as a message has it: relative where that is shorter."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def read(paths: Sequence[str]) -> Settings:
    """What files say.

    Raises:
        CommandError: a file cannot be read, or holds what it cannot; all of that is told.
    """
    sources = [source for source in map(files.read, paths) if source is not None]
    problems = [(source, problem) for source in sources for problem in _problems(source.values)]
    if problems:
        lines = [f"{s.place(p.path)}: {_key(p.path)}{p.message}" for s, p in problems]
        more = "".join(f"\n  {line}" for line in lines[1:10])
        raise ConfigurationError(f"{lines[0]}{more}", "gradtool config --schema says what can stand there")
    return Settings(sources)


def _key(path: Path) -> str:
    """What a message calls a key."""
    keys = [str(key) for key in path if not isinstance(key, int)]
    return f"{'.'.join(keys)}: " if keys else ""
