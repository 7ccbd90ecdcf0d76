"""Callbacks of commands: a file each, named as the command's, whose function ``run`` takes the options.

A callback imports what its command needs, and is loaded when the command runs: help, completion and configuration
load the options alone (``cli/commands``).
"""

from __future__ import annotations

import importlib
from typing import Any

import click


def call(name: str, values: dict[str, Any]) -> int:
    """Run a command with the options in *values*; return its exit code."""
    code: int = importlib.import_module(f".{name}", __name__).run(values) or 0
    return code


def call_in_context(name: str, context: click.Context, values: dict[str, Any]) -> int:
    """Run a command that needs to know where its options come from; return its exit code."""
    code: int = importlib.import_module(f".{name}", __name__).run(context, values) or 0
    return code
