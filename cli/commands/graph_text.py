"""Print the program, operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gradtool.viz.views.view import View

from ..context import Output, backward_options, model_options, output_options
from ..help_pages import Command

F = TypeVar("F", bound=Callable[..., Any])


def operator_options(command: F) -> F:
    """Add the options of a list of operators."""
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
@operator_options
@click.option("--source", "source_", is_flag=True, help="Add the line that made each operator.")
def command(**values: Any) -> None:
    """Print MODEL's program with the backward part of its loss; in dynamic mode the tape behind the loss.

    \b
    gradtool graph --text model.py
    gradtool graph --text model.py --part bwd --source
    """
    sources = values.pop("source_")
    print_operators(values, lambda view, answer, as_table: view.view(answer, sources, as_table))


def print_operators(values: dict[str, Any], show: Callable[[Any, Any, bool], View]) -> None:
    """Ask for the operators, and print the view that *show* makes of them.

    Args:
        values: the options of :func:`operator_options`.
        show: takes the module of views, the answer, and True where a table is wanted.
    """
    out = Output.take(values)
    from gradtool.engine.questions.program import Operators
    from gradtool.engine.request.request import Request
    from gradtool.viz.views import program

    values["fed"] = values.pop("feed")
    question = Operators.take(values)
    answer = question.ask(Request.take(values), out)
    out.emit(show(program, answer, out.format in ("tsv", "markdown")))
