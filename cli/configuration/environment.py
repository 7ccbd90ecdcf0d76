"""Options from the environment: ``GRADTOOL_SEED`` for the commands that have ``--seed``, ``GRADTOOL_WHY_SEED`` for one.

click reads the variables: a switch is ``1`` or ``0``, what may be said several times stands between blanks.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from gradtool.engine.core.near_names import find_near

from . import PREFIX, options


def names(command: str, key: str) -> list[str]:
    """The variables of an option, the stronger one first."""
    setting = options.options_by_command()[command][key]
    own = "_".join([*options.section(command), setting.variable]).upper()
    return [PREFIX + own, PREFIX + setting.variable] if options.takes(setting) else [PREFIX + own]


def attach(name: str, command: click.Command, variables: Sequence[str]) -> None:
    """Have click look at the variables of a command's options, and say which of *variables* nobody looks at."""
    for key, setting in options.command_options(name, command).items():
        option = next(p for p in command.params if p.name == setting.name)
        option.envvar = names(name, key)
    unknown = set(variables).difference(variable_names())
    if unknown:
        for variable in sorted(unknown):
            close = find_near(variable, variable_names(), 1)
            hint = f", closest: {close[0]}" if close else ""
            click.echo(f"note: {variable} in the environment is no option of gradtool{hint}", err=True)


def variable_names() -> list[str]:
    """The variables of all options of all commands."""
    told = {
        variable: None
        for c, settings in options.options_by_command().items()
        for key in settings
        for variable in names(c, key)
    }
    return list(told)
