"""Print each forward operator next to its gradient operators."""

from __future__ import annotations

from typing import Any

import click

from ..help_pages import Command
from .graph_text import operator_options, print_operators


@click.command("graph --pairs", cls=Command)
@operator_options
def command(**values: Any) -> None:
    """Print each forward operator of MODEL next to its gradient operators, with what is saved and the line.

    \b
    gradtool graph --pairs model.py
    """
    print_operators(values, lambda view, answer, as_table: view.pairs(answer))
