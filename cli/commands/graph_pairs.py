"""Print each forward operator next to its gradient operators."""

from __future__ import annotations

from typing import Any

import click

from ..context import Output
from ..help_pages import Command
from .graph_text import listing_options


@click.command("graph --pairs", cls=Command)
@listing_options
def command(**values: Any) -> None:
    """Print each forward operator of MODEL next to its gradient operators, with what is saved and the line.

    \b
    gradtool graph --pairs model.py
    """
    out = Output.take(values)
    from gradtool.engine.questions.program import Operators
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import program

    values["fed"] = values.pop("feed")
    question = Operators.take(values)
    out.emit(program.pairs(question.ask(Request.take(values), out)))
