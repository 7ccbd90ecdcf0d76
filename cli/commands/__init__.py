"""The commands of ``gradtool``: a file each, with a click command called ``command``.

A file ``NAME.py`` is the command NAME. A file ``NAME_FORM.py`` is a form of it, with options of its own:
``graph_dump.py`` is ``gradtool graph --dump``. The forms of ``self`` are words: ``gradtool self cache``.

The docstring of a file is a line that says what its command does; ``gradtool --help`` reads it there, so that it loads
none of them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import cache

import click

from gradtool.engine.core.command_errors import CommandError, unknown

from .. import configuration

_FOLDER = os.path.dirname(__file__)

FIRST = (
    *("backward", "why", "nan", "stats", "check", "gradcheck"),
    *("flow", "graph", "diff", "debug", "export", "explain"),
)
"""The commands of the first group of ``gradtool --help``; others follow in a second one."""

_SECOND = ("sweep", "report", "gradients")
"""The order in which others are listed; those that are not here follow by name."""

OF_A_MODEL = "checkup"
"""The command that a model without a command runs. Nobody types its name."""

HOUSE = "self"
"""The command whose forms are words."""


@cache
def every() -> list[str]:
    """Return the names of all commands and of all their forms: ``stats``, ``stats --memory``, ``self cache``."""
    # The folder is the table: whoever adds a file has added a command.
    files = [file.removesuffix(".py") for file in os.listdir(_FOLDER) if file.endswith(".py") and file[0] != "_"]
    return [_name(file) for file in sorted(files, key=_place)]


def _place(file: str) -> tuple[int, str, str]:
    """Return the place of a file in the list: by the rank of its command, then by name, forms behind their command."""
    head, _, form = file.partition("_")
    ranks = {name: rank for rank, name in enumerate((OF_A_MODEL, *FIRST, *_SECOND))}
    return len(ranks) + 1 if head == HOUSE else ranks.get(head, len(ranks)), head, form


def _name(file: str) -> str:
    """Return the name of the command in a file."""
    head, _, form = file.partition("_")
    if not form:
        return head
    return f"{head} {form}" if head == HOUSE else f"{head} --{form}"


def file_name(name: str) -> str:
    """The name of a command's file, without its ending."""
    return name.replace(" --", "_").replace(" ", "_")


@cache
def names() -> list[str]:
    """The names of the commands, in the order in which they are listed."""
    return [name for name in every() if " " not in name and name != OF_A_MODEL]


def forms(name: str) -> list[str]:
    """The names of the forms of a command."""
    return [form for form in every() if form.startswith(f"{name} ")]


def choose_form(name: str, words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command or the form of it that the words behind *name* choose, and the words that are left.

    Raises:
        CommandError: they choose two, or one that there is not.
    """
    if name == HOUSE:
        return _find_in_house(words)
    # Only the names of forms are looked for here: click parses the words with the options of the form.
    there = {form.partition(" ")[2]: form for form in forms(name)}
    flags = [flag for flag in there if any(word.partition("=")[0] == flag for word in words)]
    if len(flags) > 1:
        raise CommandError(f"{flags[0]} and {flags[1]} exclude each other", f"gradtool {name} --help")
    return there[flags[0]] if flags else name, list(words)


def _find_in_house(words: Sequence[str]) -> tuple[str, list[str]]:
    if not words or words[0].startswith("-"):
        return HOUSE, list(words)
    form = f"{HOUSE} {words[0]}"
    if form not in every():
        raise unknown(f"command of gradtool {HOUSE}", words[0], [each.partition(" ")[2] for each in forms(HOUSE)])
    return form, list(words[1:])


def summary(name: str) -> str:
    """Return one sentence about what a command does."""
    with open(os.path.join(_FOLDER, f"{file_name(name)}.py"), encoding="utf-8") as source:
        return next((line for line in source if line.startswith('"""')), "").strip('"\n')


def load(name: str) -> click.Command:
    """A command or a form, which is loaded."""
    command: click.Command = importlib.import_module(f".{file_name(name)}", __name__).command
    if all(option.name != "isolated" for option in command.params):
        flag = name.partition(" ")[2]
        # A form without a value is a switch; one with a value declares its option itself.
        if flag.startswith("--") and all(flag not in option.opts for option in command.params):
            command.params.insert(0, click.Option([flag], is_flag=True, expose_value=False, help=summary(name)))
        command.params += configuration.everywhere()
    return command
