"""The commands of ``gradtool``: a file each, with a click command called ``command``.

The docstring of a file is a line that says what its command does; ``gradtool --help`` reads it there, so that it loads
none of them.
"""

from __future__ import annotations

import importlib
import os
from functools import cache

import click

from .. import configuration

_FOLDER = os.path.dirname(__file__)
_FIRST = (
    *("backward", "gradients", "program", "graph", "dump", "why", "where", "nan", "stats", "saved", "profile"),
    *("gradcheck", "flow", "diff", "sweep", "check", "rules", "rule", "explain", "debug", "report", "ops"),
    *("config", "doctor", "samples", "help", "completion", "man"),
)
"""The order in which they are listed; others follow by name."""


@cache
def names() -> list[str]:
    """The names of the commands, in the order in which they are listed."""
    there = {file.removesuffix(".py") for file in os.listdir(_FOLDER) if file.endswith(".py") and file[0] != "_"}
    return [*[name for name in _FIRST if name in there], *sorted(there.difference(_FIRST))]


def summary(name: str) -> str:
    """What a command does, in one sentence."""
    with open(os.path.join(_FOLDER, f"{name}.py"), encoding="utf-8") as source:
        return next((line for line in source if line.startswith('"""')), "").strip('"\n')


def loaded(name: str) -> click.Command:
    """A command, which is loaded."""
    command: click.Command = importlib.import_module(f".{name}", __name__).command
    if all(option.name != "isolated" for option in command.params):
        command.params += configuration.everywhere()
    return command
