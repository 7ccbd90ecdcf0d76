"""The commands of ``gradtool``: a file each, with a click command called ``command``.

The docstring of a file is a line that says what its command does; ``gradtool --help`` reads it there, so that it loads
none of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import click

_FIRST = (
    *("backward", "gradients", "program", "graph", "dump", "why", "where", "nan", "stats", "saved", "profile"),
    *("gradcheck", "debug", "report", "ops", "doctor"),
)
"""The order in which they are listed; others follow by name."""


@cache
def names() -> list[str]:
    """The names of the commands, in the order in which they are listed."""
    there = {module.name for module in pkgutil.iter_modules(__path__)}
    return [*(name for name in _FIRST if name in there), *sorted(there.difference(_FIRST))]


def summary(name: str) -> str:
    """What a command does, in one sentence."""
    source = (pkgutil.get_data(__name__, f"{name}.py") or b"").decode()
    lines = (line for line in source.splitlines() if line.startswith('"""'))
    return next(lines, "").strip('"')


def loaded(name: str) -> click.Command:
    """A command, which is loaded."""
    command: click.Command = importlib.import_module(f".{name}", __name__).command
    return command
