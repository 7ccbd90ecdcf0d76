"""Configuration: what holds where the command line does not say it.

``command line > environment > gradtool.toml > pyproject.toml``. The files are looked for upwards from the current
folder; the nearest folder that has one counts, as ruff's does.

============  ===========================================================================================
shapes.py     what values may stand in a file, and what a message says of a wrong one
options.py    the part that is made of the commands' options, read from click
permitted.py  the class of each option: harmless, a path below the folder, or never from a file
paths.py      paths in files: relative to the folder of the file, and below it
gate.py       the part that is no option of a command: models, rules, what is ignored where
files.py      reading TOML, and the line of each key
settings.py   files laid over each other, and what they and the environment say for a command
schema.py     the JSON schema for editors
============  ===========================================================================================

This module alone is loaded where there is no configuration.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from gradtool.engine.core.command_errors import ConfigurationError
from gradtool.viz.text import legible

from ..rare_options import RareOption

if TYPE_CHECKING:
    from .settings import Settings

PLACES: Final = "gradtool.places"
"""Where click's context keeps, by a parameter's name, the place in a file that its value is from."""

SETTINGS: Final = "gradtool.settings"
"""Where click's context keeps what files say."""

PREFIX: Final = "GRADTOOL_"
"""How the names of environment variables begin."""

NOT_OPTIONS: Final = frozenset({"GRADTOOL_VERIFY", "GRADTOOL_CONFIG", "GRADTOOL_ISOLATED", "GRADTOOL_PYTHON"})
"""Variables that say something else than the value of an option."""

FILE: Final = "gradtool.toml"
PROJECT: Final = "pyproject.toml"


def everywhere() -> list[click.Option]:
    """``--config`` and ``--isolated``, which every command has."""
    return [
        RareOption(
            ["--config", "config_file"],
            metavar="FILE",
            envvar="GRADTOOL_CONFIG",
            expose_value=False,
            help="Read settings from FILE only.",
        ),
        RareOption(
            ["--isolated"],
            is_flag=True,
            envvar="GRADTOOL_ISOLATED",
            expose_value=False,
            help="Read no settings from files.",
        ),
    ]


def nearest(folder: str, notes: list[str] | None = None) -> list[str]:
    """Return the files in the nearest folder, from *folder* upwards, that has some; the stronger one last.

    Files that belong to another user than this one and the system's do not count: anybody can put one into ``/tmp``.

    Args:
        notes: is given a line for each of those.
    """
    strange: list[str] = []
    while True:
        project, own = os.path.join(folder, PROJECT), os.path.join(folder, FILE)
        there = [path for path in (project, own) if _counts(path, strange)]
        if own in there or (there and _is_about_us(project)):
            break
        above = os.path.dirname(folder)
        if above == folder:
            there = []
            break
        folder = above
    if notes is not None:
        notes += [_note(path) for path in strange if path.endswith(FILE) or _is_about_us(path)]
    return there


def _counts(path: str, strange: list[str]) -> bool:
    """Return whether a configuration file is there and belongs to the user or to root; else it goes to *strange*."""
    if not os.path.isfile(path):
        return False
    ours = is_owned(os.lstat(path)) and is_owned(os.stat(path))
    if not ours:
        strange.append(path)
    return ours


def is_owned(status: os.stat_result) -> bool:
    """Return whether a file belongs to the user or to root; True where the system has no such users."""
    return not hasattr(os, "geteuid") or status.st_uid in (0, os.geteuid())


def _note(path: str) -> str:
    return f"{path} belongs to another user and is ignored; --config {path} takes it"


def _is_about_us(project: str) -> bool:
    """Return whether a ``pyproject.toml`` has a table of ours; one that only names us is not read further."""
    with open(project, "rb") as file:
        data = file.read()
    if b"tool" not in data or b"gradtool" not in data:
        return False
    from . import files

    return files.read(project) is not None


def set_defaults(context: click.Context, name: str, command: click.Command, words: Sequence[str]) -> None:
    """Make what files and the environment say the defaults of *command*.

    Args:
        context: the group's.
        words: the command's, which may say where to look.

    Raises:
        CommandError: a file cannot be read, or holds what it cannot.
    """
    variables = [v for v in os.environ if v.startswith(PREFIX) and v not in NOT_OPTIONS]
    paths = _paths(command, words)
    if not variables and not paths:
        return
    from . import settings

    found = settings.read(paths)
    context.meta[SETTINGS] = found
    said = found.command_settings(name, command)
    context.meta[PLACES] = said.places
    context.default_map = {name: said.values}
    for path, folder in said.written.items():
        stays(context, path, folder)
    if variables:
        from . import environment

        environment.attach(name, command, variables)


def stays(context: click.Context, path: str, folder: str) -> None:
    """Have what is written at *path* stay below *folder*, and follow no link there, as long as the command runs."""
    from gradtool.engine.files import confined_paths

    context.with_resource(confined_paths.confine(path, folder))


def _paths(command: click.Command, words: Sequence[str]) -> list[str]:
    given, isolated = _configuration_choice(command, words)
    if isolated:
        return []
    if given is None:
        notes: list[str] = []
        try:
            return nearest(os.getcwd(), notes)
        except OSError:  # the folder has been deleted, or a file in it is not ours to read
            return []
        finally:
            for note in notes:
                _say(note)
    if not os.path.isfile(given):
        raise ConfigurationError(f"--config: no such file: {given}")
    return [given]


def _say(note: str) -> None:
    click.echo(f"note: {legible(note)}", err=True)


def _configuration_choice(command: click.Command, words: Sequence[str]) -> tuple[str | None, bool]:
    """Return the values of ``--config`` and ``--isolated`` on the command line or in the environment."""
    given, isolated = os.environ.get("GRADTOOL_CONFIG"), os.environ.get("GRADTOOL_ISOLATED", "")
    if any(word.startswith(("--con", "--iso")) for word in words):
        context = click.Context(command, ignore_unknown_options=True, resilient_parsing=True)
        values, _, _ = command.make_parser(context).parse_args(list(words))
        # click has a mark of its own for what is not said.
        config, flag = values.get("config_file"), values.get("isolated")
        given = config if isinstance(config, str) else given
        isolated = "1" if flag is True else isolated
    return given or None, isolated.lower() in ("1", "true", "t", "yes", "y", "on")


def explain(error: click.BadParameter) -> Exception:
    """The error for a value that an option does not take: where it was said, if that was not the command line."""
    context, option = error.ctx, error.param
    if context is None or option is None or option.name is None:
        return error
    source = context.get_parameter_source(option.name)
    if source is click.core.ParameterSource.DEFAULT_MAP and option.name in context.meta.get(PLACES, {}):
        return ConfigurationError(f"{context.meta[PLACES][option.name]}: {error.message}")
    if source is click.core.ParameterSource.ENVIRONMENT:
        names = [option.envvar] if isinstance(option.envvar, str) else [*(option.envvar or ())]
        said = next((n for n in names if os.environ.get(n)), "the environment")
        return click.BadParameter(f"{said}: {error.message}", context, option)
    return error


def settings_of(context: click.Context) -> Settings:
    """Return the settings from files; empty where there are none."""
    found: Settings | None = context.meta.get(SETTINGS)
    if found is None:
        from . import settings

        return settings.read([])
    return found
