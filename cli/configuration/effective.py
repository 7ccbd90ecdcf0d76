"""Settings in effect for commands, and their origins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import click

from gradtool.engine.core.command_errors import unknown

from .. import commands
from . import environment, gate, options
from .settings import Settings

NOBODY = "default"


def files(found: Settings) -> list[str]:
    """The files that were read, the stronger one first."""
    return [source.place(()).partition(":")[0] for source in reversed(found.sources)]


def settings(found: Settings, names: Sequence[str], all_: bool) -> list[dict[str, Any]]:
    """Options with command, value and origin.

    Args:
        names: of commands, whose forms are among them; all of them when empty.
        all_: also those that nobody has set.

    Raises:
        CommandError: there is no command of a name.
    """
    known = [name for name in commands.every() if " " not in name]
    for name in names:
        if name not in known:
            raise unknown("command", name, known)
    wanted = [each for name in names or known for each in (name, *commands.forms(name))]
    rows = [row for name in wanted for row in _command_rows(found, name)]
    return [row for row in rows if all_ or row["origin"] != NOBODY]


def _command_rows(found: Settings, name: str) -> Iterator[dict[str, Any]]:
    command = commands.load(name)
    said = {
        setting.key: (value, source.place(path)) for setting, value, source, path in found.option_values(name, command)
    }
    for key, setting in sorted(options.command_options(name, command).items()):
        option = next(p for p in command.params if p.name == setting.name)
        value, origin = said.get(key, (_default(option), NOBODY))
        variable = next((v for v in environment.names(name, key) if os.environ.get(v)), None)
        if variable is not None:
            value, origin = os.environ[variable], variable
        yield {"command": name, "option": key, "value": value, "origin": origin}


def _default(option: click.Parameter) -> Any:
    """Return the default of an option, in JSON's types."""
    assert isinstance(option, click.Option)
    value = option.default
    if option.multiple:
        return []
    if isinstance(value, (bool, int, float, str)):
        return value
    return False if option.is_flag else None


def tables(found: Settings) -> list[dict[str, Any]]:
    """Return the rows of the gate's tables: key, value and origin, the stronger file's where both set it."""
    told: dict[tuple[str, str], dict[str, Any]] = {}
    for name in gate.TABLES:
        for values, source in found.tables(name):
            if isinstance(values, list):
                told = {key: row for key, row in told.items() if key[0] != name}
            for key, value in values.items() if isinstance(values, dict) else enumerate(values):
                path = (name, key)
                row = {"table": name, "key": str(key), "value": value, "origin": source.place(path)}
                told[name, str(key)] = row
    return [*told.values()]
