"""Print the program, operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..context import Output, backward_options, model_options, output_options
from ..help_pages import Command

F = TypeVar("F", bound=Callable[..., Any])


def listing_options(command: F) -> F:
    """Which operators are listed."""
    for option in reversed(
        (
            model_options,
            backward_options,
            click.option(
                "--part", type=click.Choice(["fwd", "bwd", "both"]), default="both", help="Choose which operators."
            ),
            click.option("--blocks", is_flag=True, help="Print all blocks, not only block 0."),
            click.option(
                "--feed", metavar="FILE[ROWS]", help="Call a function of dynamic mode with the arrays in FILE."
            ),
            output_options,
        )
    ):
        command = option(command)
    return command


@click.command("graph --text", cls=Command)
@listing_options
@click.option("--source", "source_", is_flag=True, help="Add the line that made each operator.")
def command(**values: Any) -> None:
    """Print MODEL's program with the backward part of its loss; in dynamic mode the tape behind the loss.

    \b
    gradtool graph --text model.py
    gradtool graph --text model.py --part bwd --source
    """
    out = Output.take(values)
    from gradtool.engine.questions.program import Operators
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import program

    sources = values.pop("source_")
    values["fed"] = values.pop("feed")
    question = Operators.take(values)
    answer = question.ask(Request.take(values), out)
    out.emit(program.view(answer, sources, out.format in ("tsv", "markdown")))
