"""Names that are no commands of their own any more, and what to type instead."""

from __future__ import annotations

from typing import Final

from gradtool.engine.core.command_errors import CommandError, UnknownName, unknown

from . import commands

MOVED: Final = {
    "saved": "stats --memory MODEL",
    "profile": "stats --time MODEL",
    "program": "graph --text MODEL",
    "dump": "graph --dump DIR MODEL",
    "where": "graph --where OP MODEL",
    "rule": "explain CODE",
    "rules": "explain --rules",
    "ops": "explain --ops",
    "help": "explain SYMPTOM",
    "doctor": "MODEL",
    commands.OF_A_MODEL: "MODEL",
    **{form.partition(" ")[2]: form for form in commands.forms(commands.HOUSE)},
}
"""What people may type -> what stands behind ``gradtool`` instead."""


def unknown_command(name: str) -> CommandError:
    """The error for a command that there is not."""
    if name in MOVED:
        return UnknownName(f"there is no command {name!r}", f"gradtool {MOVED[name]}")
    return unknown("command", name, commands.names())
