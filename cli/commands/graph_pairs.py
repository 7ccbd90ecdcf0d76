"""Print each forward operator next to its gradient operators."""

from __future__ import annotations

from typing import Any

import click

from ..callbacks import call
from ..help_pages import Command
from .graph_text import operator_options


@click.command("graph --pairs", cls=Command)
@operator_options
def command(**values: Any) -> int:
    """Print each forward operator of MODEL next to its gradient operators, with what is saved and the line.

    \b
    gradtool graph --pairs model.py
    """
    return call("graph_pairs", values)
