"""Files laid over each other, and what they say for a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import click

from gradtool.engine.core.command_errors import ConfigurationError
from gradtool.engine.core.records import dataclass
from gradtool.engine.files.schema import Fault, Path, TableSchema

from .. import commands
from . import files, gate, options, paths
from .files import ConfigurationFile
from .options import OptionSetting
from .shapes import describe_fault


@cache
def table() -> TableSchema:
    """Everything that may stand in a file."""
    by_command = options.options_by_command()
    every = [setting for settings in by_command.values() for setting in settings.values()]
    refused = {setting.key: setting.refusal for setting in every if setting.refusal is not None}
    some = {setting.key for setting in every if setting.refusal is None}
    # One that is refused in some commands alone is set in the tables of the others.
    shared = {key: node for key, node in options.common_options().items() if key not in refused}
    members: dict[str, Any] = {
        **shared,
        **gate.TABLES,
        **{name: _command_table(name) for name in commands.every() if " " not in name},
    }
    why = {
        key: refused.get(key, _MEANINGS) if key not in some else _MEANINGS
        for key in {setting.key for setting in every}.difference(members)
    }
    return TableSchema(members, None, (), "option, command or table", why, "Settings of gradtool.")


_MEANINGS: Final = "it means different things in different commands: set it in the table of one"


@cache
def _command_table(name: str) -> TableSchema:
    """Return the shape of the table of a command."""
    settings = options.command_options(name, commands.load(name)).values()
    refused = {s.key: s.refusal for s in settings if s.refusal is not None}
    own = {s.key: s.node for s in settings if s.refusal is None}
    forms = {options.section(form)[-1]: _command_table(form) for form in commands.forms(name)}
    return TableSchema({**own, **forms}, None, (), "option", refused, _doc(name))


def _faults(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the faults of a file; where possible, only commands that it has tables of are loaded."""
    names = frozenset(commands.every())
    if not all(key in gate.TABLES or (key in names and isinstance(value, dict)) for key, value in values.items()):
        yield from table().faults(values, ())
        return
    for key, value in values.items():
        # --backward has the name of a command.
        part = _command_table(key) if key in names else gate.TABLES[key]
        yield from part.faults(value, (key,))


def _doc(name: str) -> str:
    typed = "MODEL" if name == commands.OF_A_MODEL else name
    return f"Options of gradtool {typed}: {commands.summary(name)}"


@dataclass(frozen=True)
class Said:
    """Settings of files for one command.

    Attributes:
        values: by parameter.
        places: by parameter, where they say so.
        written: paths at which something is written, and the folders of the files that name them.
    """

    values: dict[str, Any]
    places: dict[str, str]
    written: dict[str, str]


@dataclass(frozen=True)
class Settings:
    """Settings of files.

    Attributes:
        sources: the files, the stronger one last.
    """

    sources: Sequence[ConfigurationFile]

    def command_settings(self, name: str, command: click.Command) -> Said:
        """Return the settings for a command."""
        told = Said({}, {}, {})
        for setting, value, source, path in self.option_values(name, command):
            resolved = _resolve(value, setting, source, path)
            told.values[setting.name] = resolved
            told.places[setting.name] = f"{source.place(path)}: {path[-1]}"
            if setting.path_form is not None:
                told.written.update(dict.fromkeys(paths.output_paths(resolved, setting.path_form), source.folder))
        return told

    def option_values(
        self, name: str, command: click.Command
    ) -> Iterator[tuple[OptionSetting, Any, ConfigurationFile, Path]]:
        """Yield the settings for a command, the stronger later: option, value, file and key."""
        settings = options.command_options(name, command) if self.sources else {}
        tables = {*gate.TABLES, *commands.every()}  # --backward has the name of a command
        section = options.section(name)
        for source in self.sources:
            for key, setting in settings.items():
                if key in source.values and key not in tables and setting.refusal is None and options.takes(setting):
                    yield setting, source.values[key], source, (key,)
            table = source.values
            for part in section:
                table = table.get(part, {})
            for key, value in table.items():
                if key in settings:  # else it is the table of a form
                    yield settings[key], value, source, (*section, key)

    def tables(self, name: str) -> Iterator[tuple[Any, ConfigurationFile]]:
        """Yield the entries in a table of the gate, the stronger later."""
        for source in self.sources:
            if name in source.values:
                yield source.values[name], source

    def table(self, name: str) -> dict[str, Any]:
        """A table of the gate, key by key; the stronger file's keys count."""
        told: dict[str, Any] = {}
        for values, _ in self.tables(name):
            told |= values
        return told

    def list_tables(self, name: str) -> tuple[list[Mapping[str, Any]], ConfigurationFile | None]:
        """A list of tables of the gate, from the strongest file that has it, and that file."""
        *_, (values, source) = [([], None), *self.tables(name)]
        return list(values), source


def _resolve(value: Any, setting: OptionSetting, source: ConfigurationFile, path: Path) -> Any:
    """A value with its paths as they are meant: relative to the folder of the file, and below it."""
    if setting.path_form is None:
        return value
    if isinstance(value, list):
        return [_resolve(v, setting, source, path) for v in value]
    return paths.resolve(value, setting.path_form, source, path)


def read(names: Sequence[str]) -> Settings:
    """Read the settings in files.

    Raises:
        CommandError: a file cannot be read, or holds what it cannot; all of that is told.
    """
    sources = [source for source in map(files.read, names) if source is not None]
    faults = [(source, *describe_fault(fault)) for source in sources for fault in _faults(source.values)]
    if faults:
        lines = [f"{source.place(path)}: {_key(path)}{message}" for source, path, message in faults]
        more = "".join(f"\n  {line}" for line in lines[1:10])
        raise ConfigurationError(f"{lines[0]}{more}", "gradtool self config --schema prints what can stand there")
    return Settings(sources)


def _key(path: Path) -> str:
    """Return the name of a key in messages."""
    keys = [str(key) for key in path if not isinstance(key, int)]
    return f"{'.'.join(keys)}: " if keys else ""
